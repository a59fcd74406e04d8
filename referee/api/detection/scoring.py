"""``detect_score``: a review set in, a continuous score of each detector for each review out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.api.detection.continuing import OpenedDetectors
from referee.api.detection.opening import LM, chosen_detectors, named_models, open_services
from referee.api.evaluations.evaluating import Evaluation, evaluate
from referee.api.evaluations.job import EvalJob, eval_plan
from referee.api.evaluations.review_set import read_for
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.evals.detection.services import DetectionServices
from referee.evals.registry import PRESETS, find_metrics
from referee.evals.results import RESULTS, read_results
from referee.llm.models import Models
from referee.schemas.estimate import SetEstimate
from referee.schemas.venue import VenueForm
from referee.venues import load_venue


@dataclass(frozen=True)
class DetectorCounts:
    """What became of the reviews with one detector; ``features`` have several numbers and wait for weights."""

    scored: int
    features: int
    without: Mapping[str, int]


@dataclass(frozen=True)
class DetectScoring:
    """Finished scores: their folder, and the counts by detector."""

    run: Path
    counts: Mapping[str, DetectorCounts]
    evaluation: Evaluation


async def detect_score(
    reviews: str | Path,
    *,
    detectors: Sequence[str] | None = None,
    anchors: str | Path | None = None,
    embedder: str | None = None,
    lm: str = LM,
    pair: str | None = None,
    filler: str | None = None,
    generator: str | None = None,
    classifiers: Mapping[str, str] | None = None,
    dtype: str = "float32",
    venue: str | Path | VenueForm | None = None,
    mapping: str | Path | None = None,
    layout: str | None = None,
    services: DetectionServices | None = None,
    options: RunOptions = RunOptions(),
) -> DetectScoring:
    """Score every review of a set by detectors of AI-written text; higher is likelier AI.

    A score is no probability and means nothing without a threshold from human reviews: see ``detect_calibrate``.

    Args:
        reviews: A file or a folder in one of the layouts of ``referee.data``.
        detectors: Their names; by default those that can run with what is given.
        anchors: AI reviews of the same papers: a run of ``referee detect anchors``, or a review set.
        embedder: The embedding model, for detectors that compare.
        lm: The model whose surprise is measured: key of an embedded one, ``torch:FOLDER`` or ``torch:ID``.
        pair: Observer and performer, for detectors of two models, named so: ``OBSERVER,PERFORMER``.
        filler: T5 in torch's format, a folder or an id, for detectors that change words.
        generator: The chat model that writes on, for DNA-GPT; by default that of the settings, role ``generator``.
        classifiers: By name of a classifier a folder or an id that holds it; the others are the published ones.
        dtype: Number format of models in torch's format: ``float32``, ``bfloat16``, ``float16``.
        venue: The form of reviews that name no known venue themselves.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        services: The models, where a program brings its own; then only ``detectors`` counts of what names models.
        options: How it runs; of a resumed run finished scores are kept.

    Returns:
        Where everything lies, and how many reviews have a score. A detector whose model is absent has no number, and
        says what to install or give.

    Raises:
        DataError: The reviews, the mapping or the anchors cannot be read, or no detector's model can be had.
        SettingsError: A detector or a model is unknown, or nothing can run with what was given.
        MissingExtra: Nothing can run, because a package is not installed.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        EvaluationError: Every score failed.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    given = named_models(
        lm=lm,
        pair=pair,
        filler=filler,
        generator=generator,
        classifiers=classifiers,
        dtype=dtype,
        anchors=anchors,
    )
    if services is None:
        names = chosen_detectors(detectors, given)
    else:
        names = list(detectors if detectors is not None else PRESETS["detection"])

    async def opened(run: Session) -> OpenedDetectors:
        return OpenedDetectors(services) if services is not None else await open_services(run, names, given)

    done = await evaluate(
        reviews,
        venue=venue,
        metrics=names,
        embedder=embedder,
        mapping=mapping,
        layout=layout,
        detection=opened,
        command="detect score",
        options=options,
    )
    return DetectScoring(done.run, _counts(done.run, names), done)


async def estimate_detect_score(
    reviews: str | Path,
    *,
    detectors: Sequence[str] | None = None,
    embedder: str | None = None,
    venue: str | Path | VenueForm | None = None,
    mapping: str | Path | None = None,
    layout: str | None = None,
    options: RunOptions = RunOptions(),
    **models: Any,
) -> SetEstimate:
    """What ``detect_score`` would compute and ask, a detector a part. Nothing is downloaded, asked or written.

    Args:
        reviews: As for ``detect_score``, as is all else.
        detectors: Their names.
        embedder: The embedding model.
        venue: The form of reviews that name no known venue themselves.
        mapping: A file that says which key of a row is what.
        layout: The layout's name.
        options: How it would run.
        **models: ``lm``, ``pair``, ``filler``, ``generator``, ``classifiers``, ``dtype``, ``anchors``.

    Raises:
        DataError: The reviews, the mapping or the anchors cannot be read.
        SettingsError: A detector or a model is unknown, or nothing could run with what was given.
    """
    given = named_models(**models)
    names = chosen_detectors(detectors, given)
    settings = options.settled({"embedder": embedder})
    form = load_venue(venue) if isinstance(venue, str | Path) else venue
    async with session("detect score", "detect", Path(reviews).stem, options=options, settings=settings) as run:
        job = EvalJob(
            reviews=read_for(run, reviews, mapping=mapping, layout=layout),
            metrics=find_metrics(names),
            settings=settings,
            models=Models({}),
            repeats=1,
            embedder=None,
            papers=None,
            paper_store=None,
            venue=form,
            progress=run.progress,
            detection=await open_services(run, names, given, download=False),
        )
        return eval_plan(job)


def _counts(run: Path, names: Sequence[str]) -> dict[str, DetectorCounts]:
    scored: Counter[str] = Counter()
    features: Counter[str] = Counter()
    without: dict[str, Counter[str]] = {name: Counter() for name in names}
    for result in read_results(run / RESULTS):
        if result.value is not None:
            scored[result.metric] += 1
        elif result.details.get("features"):
            features[result.metric] += 1
        else:
            without.setdefault(result.metric, Counter())[result.reason] += 1
    return {name: DetectorCounts(scored[name], features[name], dict(without[name].most_common())) for name in names}
