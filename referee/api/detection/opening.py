"""Which models detectors need, and how they are opened: those and no others, until the session ends."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.api.session import Session
from referee.data import read_cases
from referee.errors import DataError, MissingExtra, SettingsError
from referee.evals.detection.detectors.by_comparison import AnchorDetector
from referee.evals.detection.detectors.by_logits import PairDetector, TokenDetector
from referee.evals.detection.services import DetectionServices
from referee.evals.registry import PRESETS, find_metrics
from referee.llm.llama_library import llama_library
from referee.llm.logits import LlamaLogits, load_logits
from referee.runs import Event

ANCHORS = "anchors.jsonl"
LM = "smollm2-135m"
PAIR = ("qwen-0.5b", "qwen-1.5b")
"""Observer and performer, two of the embedded models with one tokenizer."""


@dataclass(frozen=True)
class AnchorSet:
    """AI reviews by paper, then by the model that wrote them, and the digests of their prompts in one string."""

    texts: Mapping[str, Mapping[str, str]]
    prompt: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """All models that wrote one."""
        return tuple(sorted({model for own in self.texts.values() for model in own}))


@dataclass(frozen=True)
class DetectorModels:
    """What was named for detectors to work with; the embedder is the settings'.

    Attributes:
        lm: Key of the model whose surprise is measured.
        pair: Keys of observer and performer; empty where none was named.
        anchors: AI reviews of the same papers; None for none.
    """

    lm: str = LM
    pair: tuple[str, ...] = ()
    anchors: AnchorSet | None = None


def pair_of(named: str | None) -> tuple[str, ...]:
    """Observer and performer as they are named together, ``OBSERVER,PERFORMER``.

    Raises:
        SettingsError: There are not two.
    """
    keys = tuple(key.strip() for key in named.split(",")) if named is not None else ()
    if named is not None and (len(keys) != 2 or not all(keys)):
        raise SettingsError(f"{named!r} is no pair of models.", hint="Give --pair OBSERVER,PERFORMER.")
    return keys


def chosen_detectors(names: Sequence[str] | None, given: DetectorModels) -> list[str]:
    """The detectors that are asked for, or those that can run with what was given.

    Without names: the statistics of one model where the extra ``local`` is installed; those of two where a pair was
    named; those that compare where there are anchors.

    Raises:
        SettingsError: A name is unknown or no detector, nothing can run, or one needs what cannot be given here.
    """
    asked = names if names is not None else _possible(given)
    if not asked:
        raise SettingsError(
            "no detector can run with what was given.",
            hint="Install `pip install 'referee[local]'`, or give --anchors.",
        )
    metrics = find_metrics(asked)
    for metric in metrics:
        if metric.name not in PRESETS["detection"]:
            raise SettingsError(
                f"{metric.name!r} is no detector.", hint=f"There are {', '.join(PRESETS['detection'])}."
            )
        if isinstance(metric, AnchorDetector) and given.anchors is None:
            raise SettingsError(
                f"the detector {metric.name!r} compares a review with AI reviews of its paper, and none were given.",
                hint="Give --anchors: a run of `referee detect anchors`, or a review set with AI reviews by paper.",
            )
        if not isinstance(metric, TokenDetector | PairDetector | AnchorDetector):
            raise SettingsError(
                f"the detector {metric.name!r} needs a model that only a program can bring.",
                hint="Call referee.detect_score with services; see docs/detection.md.",
            )
    return [metric.name for metric in metrics]


def read_anchors(path: Path) -> AnchorSet:
    """The AI reviews of a run of ``referee detect anchors``, or those of a review set, by paper and source.

    Of several by one model on one paper the first counts.

    Raises:
        DataError: There is none, or a line is no anchor.
    """
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    prompts: set[str] = set()
    file = path / ANCHORS if path.is_dir() else path
    if file.name == ANCHORS and file.is_file():
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            _add_anchor(texts, prompts, file, number, line)
    else:
        for case in read_cases(path):
            if case.kind == "ai" and case.text.strip():
                texts[case.paper_id].setdefault(case.source, case.text)
    if not texts:
        raise DataError(
            f"{str(path)!r} holds no AI review to compare with.",
            hint=f"Give a run of `referee detect anchors` (its {ANCHORS}), or a review set with AI reviews.",
        )
    return AnchorSet(texts, ",".join(sorted(prompts)))


async def open_services(run: Session, names: Sequence[str], given: DetectorModels) -> DetectionServices:
    """Open what the detectors need; all is closed when the session ends.

    Raises:
        MissingExtra: A model has to be run here, and the extra ``local`` is not installed.
        SettingsError: A model is unknown, or the settings name no usable embedder.
        DataError: A model's file could not be had or loaded.
    """
    metrics = find_metrics(names)
    services = DetectionServices()
    if any(isinstance(metric, TokenDetector) for metric in metrics):
        services = replace(services, provider=await _logits(run, given.lm))
    if any(isinstance(metric, PairDetector) for metric in metrics):
        observer, performer = given.pair or PAIR
        first = await _logits(run, observer)
        services = replace(services, pair=(first, first if performer == observer else await _logits(run, performer)))
    if any(isinstance(metric, AnchorDetector) for metric in metrics) and given.anchors is not None:
        services = replace(
            services,
            anchors=given.anchors.texts,
            anchor_models=given.anchors.models,
            anchor_prompt=given.anchors.prompt,
            embedder=await run.open_embedder(),
        )
    return services


async def _logits(run: Session, key: str) -> LlamaLogits:
    run.progress(Event("stage", f"loading {key}"))
    model = await load_logits(key)
    run.closing(model.close)
    return model


def _possible(given: DetectorModels) -> list[str]:
    metrics = find_metrics(["detection"])
    kinds: tuple[type, ...] = (TokenDetector,) if _is_local_installed() else ()
    if given.pair:
        kinds = (*kinds, PairDetector)
    if given.anchors is not None:
        kinds = (*kinds, AnchorDetector)
    return [metric.name for metric in metrics if isinstance(metric, kinds)]


def _is_local_installed() -> bool:
    try:
        llama_library()
    except MissingExtra:
        return False
    return True


def _add_anchor(texts: dict[str, dict[str, str]], prompts: set[str], file: Path, number: int, line: str) -> None:
    if not line.strip():
        return
    try:
        row = json.loads(line)
        paper, model, text = (str(row[name]) for name in ("paper_id", "model", "review"))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"line {number} of {str(file)!r} is no anchor: {error!r}.",
            hint="A line has paper_id, model and review; write the anchors anew with `referee detect anchors`.",
        ) from error
    texts[paper].setdefault(model, text)
    prompts |= {str(row["prompt_digest"])} if row.get("prompt_digest") else set()
