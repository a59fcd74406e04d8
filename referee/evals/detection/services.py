"""What detectors work with: models and stored AI reviews, each of which may be absent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.evals.detection.features import FittedFeatures
from referee.evals.detection.protocols import Classifier, LogitsProvider, MaskFiller, TextGenerator

if TYPE_CHECKING:
    from referee.llm.embeddings import Embedder


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

    def inputs(self) -> dict[str, str]:
        """What must be the same for a run to be resumed, as it is said where it is not."""
        models = {
            "model of token logits": self.provider and self.provider.model,
            "observer": self.pair and self.pair[0].model,
            "performer": self.pair and self.pair[1].model,
            "generator": self.generator and self.generator.identity,
            "mask filler": self.filler and self.filler.identity,
        }
        anchors = sorted((paper, model, text) for paper, own in self.anchors.items() for model, text in own.items())
        return {
            **{name: f"{model.name} {model.sha256}".strip() for name, model in models.items() if model},
            **({"set of anchors": hashlib.sha256(repr(anchors).encode()).hexdigest()} if anchors else {}),
            **({"embedder": self.embedder.id} if self.embedder else {}),
        }
