"""Which models detectors need, and how they are opened: those and no others, until the session ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from referee.api.detection.continuing import DoorGenerator, OpenedDetectors, generator_models
from referee.api.detection.torch_services import NamedClassifier, NamedFiller, Source, here_or_fetched, source_of
from referee.api.session import Session
from referee.data import ReadingNotes, RejectedSink, keys, read_cases, rejected_text
from referee.data.entries import Entry
from referee.data.found import ROW_SUFFIXES, entries, rows_suffix
from referee.data.layouts.flat import FLAGS
from referee.errors import DataError, EvaluationError, MissingExtra, RefereeError, SettingsError
from referee.evals.detection.classifiers import CLASSIFIERS
from referee.evals.detection.detectors.base import Detector
from referee.evals.detection.protocols import Classifier, LogitsProvider
from referee.evals.detection.scores import BULLETS, EDIT, TASK
from referee.evals.detection.services import NEEDED, DetectionServices
from referee.evals.registry import PRESETS, find_metrics
from referee.llm.catalogue import chat_model_key, embedder_key, model_path
from referee.llm.embeddings import Embedder
from referee.llm.llama_library import llama_library
from referee.llm.logits import load_logits, not_here
from referee.llm.models import GENERATOR, JUDGE, Model, Models
from referee.llm.providers import parse_model
from referee.llm.torch_models import TorchLogits, TorchMaskFiller, is_offline
from referee.nearest import did_you_mean
from referee.runs import Event
from referee.schemas.case import ReviewCase

ANCHORS = "anchors.jsonl"
_ANCHOR = frozenset({"paper_id", "model", "review"})
LM = "smollm2-135m"
PAIR = ("qwen-0.5b", "qwen-1.5b")
"""Observer and performer, two of the embedded models with one tokenizer."""

_CALLED = {
    "provider": "the model of token logits",
    "pair": "the pair of models",
    "filler": "the mask filler",
    "generator": "the generator",
    "embedder": "the embedder",
}
_USUAL_LM = Source(LM)
_NEXT = "Give what it needs, or name others with --detectors; docs/detection.md has what each needs."

T = TypeVar("T")


@dataclass(frozen=True)
class AnchorSet:
    """AI reviews by paper, then by the model that wrote them, the digests of their prompts in one string, and notes.

    The notes say what of the set was left out.
    """

    texts: Mapping[str, Mapping[str, str]]
    prompt: str = ""
    notes: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """All models that wrote one."""
        return tuple(sorted({model for own in self.texts.values() for model in own}))


@dataclass(frozen=True)
class DetectorModels:
    """What was named for detectors to work with; the embedder is the settings'.

    Attributes:
        lm: The model whose surprise is measured.
        pair: Observer and performer; None where none was named.
        filler: Fills gaps; None where none was named.
        generator: Who writes on, as chat models are named; None for the settings' model.
        classifiers: By name in ``CLASSIFIERS``, those that were named; the others are the published ones.
        dtype: Number format of the published ones.
        anchors: AI reviews of the same papers; None for none.
    """

    lm: Source = _USUAL_LM
    pair: tuple[Source, Source] | None = None
    filler: Source | None = None
    generator: str | None = None
    classifiers: Mapping[str, Source] = field(default_factory=dict)
    dtype: str = "float32"
    anchors: AnchorSet | None = None


def named_models(
    *,
    lm: str = LM,
    pair: str | None = None,
    filler: str | None = None,
    generator: str | None = None,
    classifiers: Mapping[str, str] | None = None,
    dtype: str = "float32",
    anchors: str | Path | None = None,
) -> DetectorModels:
    """The models as they are named.

    Raises:
        SettingsError: A name is no model, there are not two in ``pair``, or there is no such classifier.
        DataError: There are no anchors.
    """
    for name in classifiers or {}:
        if name not in CLASSIFIERS:
            raise SettingsError(
                f"there is no classifier {name!r}.",
                hint=f"{did_you_mean(name, CLASSIFIERS)}There are: {', '.join(CLASSIFIERS)}.",
            )
    return DetectorModels(
        lm=source_of(lm, dtype),
        pair=_pair_of(pair, dtype),
        filler=source_of(filler, dtype, is_torch=True) if filler is not None else None,
        generator=generator,
        classifiers={name: source_of(one, dtype, is_torch=True) for name, one in (classifiers or {}).items()},
        dtype=dtype,
        anchors=read_anchors(Path(anchors)) if anchors is not None else None,
    )


def _pair_of(named: str | None, dtype: str) -> tuple[Source, Source] | None:
    """Observer and performer as they are named together, ``OBSERVER,PERFORMER``."""
    if named is None:
        return None
    keys = [key.strip() for key in named.split(",")]
    if len(keys) != 2 or not all(keys):
        raise SettingsError(f"{named!r} is no pair of models.", hint="Give --pair OBSERVER,PERFORMER.")
    return source_of(keys[0], dtype), source_of(keys[1], dtype)


def chosen_detectors(names: Sequence[str] | None, given: DetectorModels) -> list[str]:
    """The detectors that are asked for, or those that can run with what was given.

    Raises:
        SettingsError: A name is unknown or no detector, or nothing that is asked for can run with what was given.
    """
    if names is None:
        asked = [one.name for one in _detectors(["detection"]) if one.unasked and is_given(one, given)]
        if not asked:
            raise SettingsError(
                "no detector can run with what was given.",
                hint="Install `pip install 'referee[local]'`, or give --anchors.",
            )
        return asked
    metrics = _detectors(names)
    reasons = [f"{one.name}: {why}" for one in metrics if (why := _not_given(one, given))]
    if len(reasons) == len(metrics):
        raise SettingsError(f"no detector that is asked for can run. {'; '.join(reasons)}.", hint=_NEXT)
    return [metric.name for metric in metrics]


def is_given(detector: Detector, given: DetectorModels) -> bool:
    """Whether a detector's models were named, or are those that need no name."""
    named = {
        "provider": given.lm.is_torch or _is_local_installed(),
        "pair": given.pair is not None,
        "filler": given.filler is not None,
        "generator": given.generator is not None,
        "classifier": detector.name in given.classifiers,
        "anchors": given.anchors is not None,
        "embedder": True,
    }
    return all(named[part] for part in detector.works_with)


def _not_given(detector: Detector, given: DetectorModels) -> str:
    """What a detector needs and has no default for; empty where it may be tried."""
    there = {"anchors": given.anchors is not None, "filler": given.filler is not None}
    return next((NEEDED[part] for part in detector.works_with if not there.get(part, True)), "")


def _detectors(names: Sequence[str]) -> list[Detector]:
    found = []
    for metric in find_metrics(names):
        if not isinstance(metric, Detector):
            raise SettingsError(
                f"{metric.name!r} is no detector.", hint=f"There are {', '.join(PRESETS['detection'])}."
            )
        found.append(metric)
    return found


def read_anchors(path: Path) -> AnchorSet:
    """The AI reviews of a run of ``referee detect anchors``, or those of a review set, by paper and source.

    What a file is its first row tells, whatever its name: an anchor has ``paper_id``, ``model`` and ``review``, and no
    column for who wrote it. A folder without ``anchors.jsonl`` is a review set.
    Of several by one model on one paper the first counts. What was edited or expanded from another review is no anchor.

    Raises:
        DataError: There is none, or a line is no anchor.
    """
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    prompts: set[str] = set()
    notes: list[str] = []
    file = path / ANCHORS if (path / ANCHORS).is_file() else path
    if _holds_anchors(file):
        for entry in entries(file):
            _add_anchor(texts, prompts, file, entry)
    else:
        sink, reading, others = RejectedSink(), ReadingNotes(), 0
        for case in read_cases(path, rejected=sink, notes=reading):
            reading.add(case)
            if _is_anchor(case) and case.source not in texts[case.paper_id]:
                texts[case.paper_id][case.source] = case.text
            else:
                others += 1
        notes += [f"{rejected_text(sink.by_source)}; the log names each"] if sink.count else []
        if others:
            notes.append(
                f"{others:,} review(s) are left out: no AI wrote them of the paper alone, or its model has another"
            )
        notes += reading.notes()
    if not texts:
        raise DataError(
            f"{str(path)!r} holds no AI review to compare with.",
            hint=f"Give a run of `referee detect anchors` (its {ANCHORS}), or a review set with AI reviews.",
        )
    return AnchorSet(
        texts, ",".join(sorted(prompts)), tuple(f"of the anchors in {path.name!r}: {one}" for one in notes)
    )


def _is_anchor(case: ReviewCase) -> bool:
    """Whether a model wrote the review, and wrote it from nothing but the paper."""
    return case.kind == "ai" and bool(case.text.strip()) and case.extra.get(TASK) not in (EDIT, BULLETS)


async def open_services(
    run: Session, names: Sequence[str], given: DetectorModels, *, download: bool = True
) -> OpenedDetectors:
    """Open what the detectors need; all is closed when the session ends.

    A model that is not here or cannot be loaded is named as absent, with the reason, and said to whoever watches.

    Args:
        run: The session.
        names: The detectors.
        given: What was named.
        download: Whether models that are not here are downloaded; the switch ``HF_HUB_OFFLINE`` forbids it too. Without
            it nothing is an error: what is absent is for an estimate.

    Raises:
        MissingExtra: Nothing can run, for want of a package.
        SettingsError: A model is unknown, a key is missing, or the settings name no usable embedder; or nothing can
            run.
        DataError: Nothing can run, because a model could not be had or loaded.
    """
    detectors = _detectors(names)
    opener = _Opener(run, given, download and not is_offline())
    opened = await opener.open([one for one in detectors if not _not_given(one, given)])
    without = [why for one in detectors if (why := one.without(opened.services))]
    if download and len(without) == len(detectors):
        raise next(iter(opener.failures.values()), SettingsError(f"no detector can run: {without[0]}.", hint=_NEXT))
    return opened


class _Closing(LogitsProvider, Protocol):
    def close(self) -> None: ...


class _Opener:
    """Opens models, each once, and remembers why one could not be."""

    def __init__(self, run: Session, given: DetectorModels, download: bool) -> None:
        self.failures: dict[str, RefereeError] = {}
        self._run, self._given, self._download = run, given, download
        self._opened: dict[Source, LogitsProvider] = {}

    async def open(self, detectors: Sequence[Detector]) -> OpenedDetectors:
        """All that the detectors work with."""
        given, parts = self._given, {part for one in detectors for part in one.works_with}
        services = DetectionServices()
        if "provider" in parts:
            services = replace(services, provider=await self._tried("provider", self._logits(given.lm)))
        if "pair" in parts:
            services = replace(services, pair=await self._tried("pair", self._pair()))
        if "filler" in parts and given.filler is not None:
            services = replace(services, filler=await self._tried("filler", self._filler(given.filler)))
        if "classifier" in parts:
            services = replace(services, classifiers=await self._classifiers([one.name for one in detectors]))
        if "anchors" in parts and given.anchors is not None:
            services = replace(
                services,
                anchors=given.anchors.texts,
                anchor_models=given.anchors.models,
                anchor_prompt=given.anchors.prompt,
                embedder=await self._tried("embedder", self._embedder()),
            )
        model = await self._tried("generator", self._generator()) if "generator" in parts else None
        if model is not None:
            services = replace(services, generator=DoorGenerator(None, model))
        services = replace(services, absent={part: str(error) for part, error in self.failures.items()})
        chat = generator_models(model) if model is not None else Models({})
        return OpenedDetectors(services, chat, given.anchors.notes if given.anchors is not None else ())

    async def _tried(self, part: str, opening: Awaitable[T]) -> T | None:
        try:
            return await opening
        except (MissingExtra, DataError, EvaluationError) as error:
            self.failures[part] = error
            self._run.progress(Event("note", f"{_CALLED.get(part, part)} is absent: {error}"))
            return None

    async def _logits(self, source: Source) -> LogitsProvider:
        if source not in self._opened:
            self._opened[source] = await self._loaded(source)
        return self._opened[source]

    async def _loaded(self, source: Source) -> LogitsProvider:
        self._run.progress(Event("stage", f"loading {source.name}"))
        if not source.is_torch:

            def fetched(text: str, done: int, total: int) -> None:
                self._run.progress(Event("fetch", text, done=done, total=total))

            model: _Closing = await load_logits(source.name, download=self._download, progress=fetched)
            self._run.closing(model.close)
            return model

        def make(download: bool) -> TorchLogits:
            return TorchLogits(source.name, dtype=source.dtype, revision=source.revision, download=download)

        return await self._fetched(make, source)

    async def _pair(self) -> tuple[LogitsProvider, LogitsProvider]:
        observer, performer = self._given.pair or (Source(PAIR[0]), Source(PAIR[1]))
        return await self._logits(observer), await self._logits(performer)

    async def _filler(self, source: Source) -> NamedFiller:
        def make(download: bool) -> TorchMaskFiller:
            return TorchMaskFiller(source.name, dtype=source.dtype, revision=source.revision, download=download)

        self._run.progress(Event("stage", f"loading {source.name}"))
        return NamedFiller(await self._fetched(make, source))

    async def _classifiers(self, names: Sequence[str]) -> dict[str, Classifier]:
        found: dict[str, Classifier] = {}
        for name in (name for name in names if name in CLASSIFIERS):
            classifier = await self._tried(name, self._classifier(name))
            if classifier is not None:
                found[name] = classifier
        return found

    async def _classifier(self, name: str) -> NamedClassifier:
        entry = CLASSIFIERS[name]
        source = self._given.classifiers.get(name) or Source(entry.model, True, self._given.dtype)

        def make(download: bool) -> NamedClassifier:
            return NamedClassifier(
                name, source=source.name, dtype=source.dtype, revision=source.revision, download=download
            )

        self._run.progress(Event("stage", f"loading {source.name}"))
        licence = {"licence": entry.licence} if source.name == entry.model else {}
        return await self._fetched(make, source, **licence)

    async def _fetched(self, make: Callable[[bool], T], source: Source, **licence: str) -> T:
        return await here_or_fetched(make, source, self._run.progress, download=self._download, **licence)

    async def _embedder(self) -> Embedder:
        name = self._run.settings.embedder
        if name.startswith("local"):
            self._require_here(embedder_key(name))
        return await self._run.open_embedder()

    def _require_here(self, key: str) -> None:
        if not self._download and model_path(key) is None:
            raise not_here(key)

    async def _generator(self) -> Model:
        settings = self._run.settings.models
        name = self._given.generator or settings.roles.get(GENERATOR, settings.default)
        spec = parse_model(name, settings.base_url)
        if spec.is_local:
            self._require_here(chat_model_key(spec.name))
        return (await self._run.open_models([name]))[JUDGE]


def _is_local_installed() -> bool:
    try:
        llama_library()
    except MissingExtra:
        return False
    return True


def _holds_anchors(file: Path) -> bool:
    if not file.is_file() or rows_suffix(file) not in ROW_SUFFIXES:
        return False
    first = next(entries(file), None)
    row = first.value if first is not None and isinstance(first.value, dict) else {}
    if keys.take(row, (*keys.SOURCE, *keys.KIND, *FLAGS)) is not None:
        return False
    return row.keys() >= _ANCHOR or file.name == ANCHORS


def _add_anchor(texts: dict[str, dict[str, str]], prompts: set[str], file: Path, entry: Entry) -> None:
    row = entry.value if isinstance(entry.value, dict) else {}
    if lacking := sorted(_ANCHOR - row.keys()):
        why = entry.error or f"it has no {', '.join(lacking)}"
        raise DataError(
            f"line {entry.number} of {str(file)!r} is no anchor: {why}.",
            hint="A line has paper_id, model and review; write the anchors anew with `referee detect anchors`.",
        )
    texts[str(row["paper_id"])].setdefault(str(row["model"]), str(row["review"]))
    prompts |= {str(row["prompt_digest"])} if row.get("prompt_digest") else set()
