"""What detectors work with: models and stored AI reviews, each of which may be absent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from referee.evals.detection.features import FittedFeatures
from referee.evals.detection.protocols import Classifier, LogitsProvider, MaskFiller, TextGenerator

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder


Part = Literal["provider", "pair", "filler", "generator", "anchors", "embedder", "classifier"]
"""What a detector works with."""

NO_PROVIDER = (
    "a model whose logits can be read is needed; install it with `pip install 'referee[local]'` and fetch it with "
    "`referee models fetch`, or name one in torch's format, --lm torch:NAME, with `pip install 'referee[detect]'`"
)
NEEDED: Mapping[Part, str] = {
    "provider": NO_PROVIDER,
    "pair": f"two models with one tokenizer are needed: {NO_PROVIDER}",
    "filler": (
        "a model that fills gaps, as T5, is needed; name one with --filler, as t5-large, with "
        "`pip install 'referee[detect]'`"
    ),
    "generator": "a model that writes on is needed; name one with --generator",
    "anchors": (
        "it compares a review with AI reviews of its paper, which it needs, and none were given; give --anchors: a run "
        "of `referee detect anchors`, or a review set with AI reviews by paper"
    ),
    "embedder": "an embedder is needed; name one with --embedder",
}
"""What is missing and how to get it; of classifiers each says it for itself."""


@dataclass(frozen=True)
class DetectionServices:
    """The models that are there. A detector whose model is absent is ``not_applicable``, never a number.

    Attributes:
        provider: The model whose surprise is measured.
        pair: Observer (reference) and performer (scoring), with one tokenizer; the same object twice runs once.
        generator: Writes second halves again.
        filler: Fills gaps.
        classifiers: By name in ``CLASSIFIERS``.
        anchors: AI reviews by paper id, then by the model that wrote them.
        anchor_models: All models that should have written one.
        anchor_prompt: Digest of the prompt that the anchors were written with.
        embedder: For anchors and claims.
        features: Weights of the detectors that have several numbers, by their names.
        absent: By part, or by a classifier's name, why it was asked for and is not there.
    """

    provider: LogitsProvider | None = None
    pair: tuple[LogitsProvider, LogitsProvider] | None = None
    generator: TextGenerator | None = None
    filler: MaskFiller | None = None
    classifiers: Mapping[str, Classifier] = field(default_factory=dict)
    anchors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    anchor_models: tuple[str, ...] = ()
    anchor_prompt: str = ""
    embedder: Embedder | None = None
    features: Mapping[str, FittedFeatures] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    def lacking(self, part: Part) -> str:
        """Why a part is not there and how to get it; empty where it is."""
        return "" if getattr(self, part) else self.absent.get(part, NEEDED[part])

    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed, as it is said where it is not."""
        models = {
            "model of token logits": self.provider and self.provider.model,
            "observer": self.pair and self.pair[0].model,
            "performer": self.pair and self.pair[1].model,
            "generator": self.generator and self.generator.identity,
            "mask filler": self.filler and self.filler.identity,
            **{f"classifier {name}": one.identity for name, one in self.classifiers.items()},
        }
        anchors = sorted((paper, model, text) for paper, own in self.anchors.items() for model, text in own.items())
        return {
            **{name: f"{model.name} {model.sha256}".strip() for name, model in models.items() if model},
            **({"set of anchors": hashlib.sha256(repr(anchors).encode()).hexdigest()} if anchors else {}),
            **({"embedder": self.embedder.id} if self.embedder else {}),
        }
