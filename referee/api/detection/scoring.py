"""``detect_score``: a review set in, a continuous score of each detector for each review out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.api.detection.opening import (
    LM,
    DetectorModels,
    chosen_detectors,
    open_services,
    pair_of,
    read_anchors,
)
from referee.api.evaluations.evaluating import Evaluation, evaluate
from referee.api.options import RunOptions
from referee.api.session import Session
from referee.evals.detection.services import DetectionServices
from referee.evals.registry import PRESETS
from referee.evals.results import RESULTS, read_results
from referee.schemas.venue import VenueForm


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
        lm: Key of the model whose surprise is measured.
        pair: Keys of observer and performer, for detectors of two models: ``OBSERVER,PERFORMER``.
        venue: The form of reviews that name no known venue themselves.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        services: The models, where a program brings its own; then only ``detectors`` counts of what names models.
        options: How it runs; of a resumed run finished scores are kept.

    Returns:
        Where everything lies, and how many reviews have a score.

    Raises:
        DataError: The reviews, the mapping or the anchors cannot be read.
        SettingsError: A detector is unknown, or what it needs was not given.
        MissingExtra: A model has to be run here, and the extra ``local`` is not installed.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        EvaluationError: Every score failed.
    """
    given = DetectorModels(lm, pair_of(pair), read_anchors(Path(anchors)) if anchors is not None else None)
    if services is None:
        names = chosen_detectors(detectors, given)
    else:
        names = list(detectors if detectors is not None else PRESETS["detection"])

    async def opened(run: Session) -> DetectionServices:
        return services or await open_services(run, names, given)

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
