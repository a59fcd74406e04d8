"""All that an evaluation of detectors shows: rates at thresholds, areas, edit levels, prompts, polish, score inflation.

What is neither a person's review nor a model's stays out of both classes: edited versions are shown by level, and human
text that a model polished apart, since a person stands behind it.

Source: the specification's section 8.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from referee.errors import EvaluationError
from referee.evals.detection.calibration import (
    Calibration,
    DetectorCalibration,
    ScoredReview,
    check_applies,
    check_human,
)
from referee.evals.detection.editing import LEVELS, EditOrder, edit_order
from referee.evals.detection.evaluation import (
    Cluster,
    DetectorReport,
    Rate,
    Robustness,
    evaluate,
    flagged_rate,
    in_order,
    robustness,
)
from referee.evals.detection.inflation import AXES, Inflation, matched_pairs, score_inflation
from referee.evals.detection.scores import SOURCE_REVIEW, Scores, is_made_of_another
from referee.evals.detection.thresholds import Threshold
from referee.runs.progress import Event, Progress, silent
from referee.schemas.case import ReviewCase
from referee.stats import holm

ALL = "all"


@dataclass(frozen=True)
class EvaluationAsked:
    """How detectors are evaluated.

    Attributes:
        seed: For resamples.
        resamples: How many.
        cluster: What is drawn; see ``evaluation.evaluate``.
        edit_levels: A column whose value is an edit level, of ``LEVELS``.
        polished: A column that says that a model polished a person's text, or ``COLUMN=VALUE``.
        prompts: A column that names the prompt of an AI review; the most frequent one is the usual.
        forced: Go on where thresholds do not hold; all is then marked.
    """

    seed: int = 0
    resamples: int = 1000
    cluster: Cluster = "paper"
    edit_levels: str = ""
    polished: str = ""
    prompts: str = ""
    forced: bool = False


@dataclass(frozen=True)
class Parts:
    """Reviews by what they are compared as, by ids.

    Attributes:
        usual: People's reviews, and those of models with the usual prompt.
        polished: People's, polished by a model.
        levels: Edited versions, by level.
        prompts: Those of models with another prompt, by its name.
        usual_prompt: The name of the most frequent one.
        unexplained: Reviews that count as human, were made from another one, and are in no other part.
    """

    usual: frozenset[str]
    polished: frozenset[str] = frozenset()
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    prompts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    usual_prompt: str = ""
    unexplained: int = 0


@dataclass(frozen=True)
class Flagged:
    """The share of some reviews that a detector flags at a target."""

    detector: str
    what: str
    threshold: Threshold
    rate: Rate


@dataclass(frozen=True)
class PromptEffect:
    """What another prompt changes for a detector at the same thresholds."""

    detector: str
    prompt: str
    n: int
    changes: tuple[Robustness, ...]


@dataclass(frozen=True)
class Inflated:
    """Differences of matched scores on an axis; ``p`` is corrected over all axes and models."""

    llm: str
    axis: str
    found: Inflation
    p: float | None


@dataclass(frozen=True)
class DetectionResult:
    """The numbers.

    Attributes:
        reports: By detector and model, and over all models where there are several; the best detectors first.
        scores: By detector the scores by class: ``human`` and each model's name; for curves.
        levels: Flagged shares of edited versions.
        orders: By detector how scores follow edit levels.
        polished: Flagged shares of polished human text.
        prompts: What other prompts change.
        inflation: Scores of AI reviews less those of people.
        humans: Human reviews that are tested on.
        facts: How the numbers came about.
        notes: What a reader should know.
        marks: What was forced, over all detectors.
    """

    reports: tuple[DetectorReport, ...]
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    levels: tuple[Flagged, ...] = ()
    orders: Mapping[str, EditOrder] = field(default_factory=dict)
    polished: tuple[Flagged, ...] = ()
    prompts: tuple[PromptEffect, ...] = ()
    inflation: tuple[Inflated, ...] = ()
    humans: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """What was forced, over all detectors, each once."""
        return tuple(dict.fromkeys(mark for report in self.reports for mark in report.marks))

    @property
    def overall(self) -> tuple[DetectorReport, ...]:
        """One report a detector, over all models; the best first."""
        found: dict[str, DetectorReport] = {}
        for report in self.reports:
            if report.llm == ALL or report.detector not in found:
                found[report.detector] = report
        return tuple(in_order(list(found.values())))


def detection_result(
    scores: Scores,
    calibration: Calibration,
    asked: EvaluationAsked,
    facts: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> DetectionResult:
    """Judge the scores by the thresholds.

    Args:
        scores: Those of the test set.
        calibration: The thresholds.
        asked: How.
        facts: How the numbers came about, to stand beside them.
        progress: Told which detector is at work.

    Raises:
        EvaluationError: No detector is in both, an AI review is labelled human, a class is empty, thresholds do not
            hold here, or a column that was asked for is in no review.
    """
    parts = parted(scores.reviews, asked)
    entries = [entry for entry in calibration.detectors if entry.detector in scores.rows]
    if not entries:
        raise EvaluationError(
            f"no detector is in both: the calibration has {', '.join(e.detector for e in calibration.detectors)}.",
            hint=f"The scores are of {', '.join(scores.rows)}.",
        )
    judged = {entry.detector: entry.judged(scores.rows[entry.detector]) for entry in entries}
    for entry in entries:
        check_applies(entry, judged[entry.detector], forced=asked.forced)
        _check_classes(entry.detector, judged[entry.detector], parts)
    reports = []
    for number, entry in enumerate(entries):
        progress(Event("stage", f"resampling {entry.detector}", done=number, total=len(entries)))
        reports += _reports(entry, judged[entry.detector], parts, asked)
    usual = {name: [row for row in rows if row.review_id in parts.usual] for name, rows in judged.items()}
    return DetectionResult(
        reports=tuple(in_order(reports)),
        scores={name: _by_class(rows) for name, rows in usual.items()},
        levels=tuple(flagged for entry in entries for flagged in _levels(entry, judged[entry.detector], parts, asked)),
        orders=dict(_orders(judged, scores.reviews, parts)),
        polished=tuple(one for entry in entries for one in _polished(entry, judged[entry.detector], parts, asked)),
        prompts=tuple(one for entry in entries for one in _prompts(entry, judged[entry.detector], parts, asked)),
        inflation=tuple(_inflation([scores.reviews[name] for name in sorted(parts.usual)])),
        humans=len({row.review_id for row in next(iter(usual.values())) if row.kind == "human"}),
        facts=facts or {},
        notes=(*scores.notes, *_notes(scores, entries, parts)),
    )


def parted(reviews: Mapping[str, ReviewCase], asked: EvaluationAsked) -> Parts:
    """Part reviews by the columns that were asked for.

    Raises:
        EvaluationError: A column is in no review, or its value is no edit level.
    """
    polished = frozenset(name for name, case in reviews.items() if _says(case, asked.polished))
    levels = {name: level for name, case in reviews.items() if (level := _value(case, asked.edit_levels))}
    levels |= {name: "original" for name in _sources(reviews, levels) if name not in levels}
    unknown = sorted(set(levels.values()) - set(LEVELS))
    if unknown:
        raise EvaluationError(
            f"the column {asked.edit_levels!r} has the value {unknown[0]!r}, which is no edit level.",
            hint=f"Levels: {', '.join(LEVELS)}.",
        )
    named = {
        name: text for name, case in reviews.items() if case.kind == "ai" and (text := _value(case, asked.prompts))
    }
    for column, found in ((asked.polished, polished), (asked.edit_levels, levels), (asked.prompts, named)):
        if column and not found:
            raise EvaluationError(
                f"no review has {column!r}.",
                hint=f"The columns are {', '.join(sorted({c for r in reviews.values() for c in r.extra})) or 'none'}.",
            )
    usual_prompt = Counter(named.values()).most_common(1)[0][0] if named else ""
    edited = frozenset(name for name, level in levels.items() if level != "original")
    others = frozenset(name for name, prompt in named.items() if prompt != usual_prompt)
    made = frozenset(name for name, case in reviews.items() if is_made_of_another(case))
    return Parts(
        usual=frozenset(reviews) - polished - edited - others - made,
        unexplained=len(made - polished - edited),
        polished=polished,
        levels={level: frozenset(n for n, own in levels.items() if own == level) for level in LEVELS if levels},
        prompts={p: frozenset(n for n in others if named[n] == p) for p in sorted({named[n] for n in others})},
        usual_prompt=usual_prompt,
    )


def _sources(reviews: Mapping[str, ReviewCase], versions: Iterable[str]) -> set[str]:
    """The reviews of the set that versions were made from: nobody labels them, and they are the originals."""
    return {_value(reviews[name], SOURCE_REVIEW) for name in versions} & reviews.keys()


def _value(case: ReviewCase, column: str) -> str:
    value = case.extra.get(column) if column else None
    return str(value).strip() if value is not None else ""


def _says(case: ReviewCase, polished: str) -> bool:
    """Whether a review is polished: the column holds anything but a no, or the value that was named."""
    column, _, wanted = polished.partition("=")
    value = _value(case, column)
    return value == wanted if wanted else bool(value) and value.lower() not in ("false", "no", "0", "human", "original")


def _check_classes(detector: str, rows: Sequence[ScoredReview], parts: Parts) -> None:
    own = [row for row in rows if row.review_id in parts.usual]
    humans, ai = ([row for row in own if row.kind == kind] for kind in ("human", "ai"))
    if not humans or not ai:
        raise EvaluationError(
            f"the detector {detector!r} has {len(humans)} human and {len(ai)} AI reviews to tell apart.",
            hint="Score a set that holds both, or give the runs of both.",
        )
    check_human(humans, ai)


def _reports(
    entry: DetectorCalibration, rows: Sequence[ScoredReview], parts: Parts, asked: EvaluationAsked
) -> list[DetectorReport]:
    usual = [row for row in rows if row.review_id in parts.usual]
    single = _evaluated(entry, usual, asked)
    if len(single) < 2:
        return single
    return [*_evaluated(entry, [_pooled(row) for row in usual], asked), *single]


def _evaluated(
    entry: DetectorCalibration, rows: Sequence[ScoredReview], asked: EvaluationAsked
) -> list[DetectorReport]:
    return evaluate(entry, rows, seed=asked.seed, resamples=asked.resamples, cluster=asked.cluster, forced=asked.forced)


def _pooled(row: ScoredReview) -> ScoredReview:
    return replace(row, source=ALL) if row.kind == "ai" else row


def _by_class(rows: Sequence[ScoredReview]) -> dict[str, list[float]]:
    """Scores by class, a review once."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.score is not None and row.kind != "unknown":
            found["human" if row.kind == "human" else row.source][row.review_id] = row.score
    return {name: list(found[name].values()) for name in sorted(found, key=lambda name: (name != "human", name))}


def _flagged(
    entry: DetectorCalibration, what: str, rows: Sequence[ScoredReview], asked: EvaluationAsked
) -> Iterator[Flagged]:
    for threshold in entry.thresholds:
        rate = flagged_rate(threshold, rows, seed=asked.seed, resamples=asked.resamples, cluster=asked.cluster)
        yield Flagged(entry.detector, what, threshold, rate)


def _levels(
    entry: DetectorCalibration, rows: Sequence[ScoredReview], parts: Parts, asked: EvaluationAsked
) -> Iterator[Flagged]:
    for level, names in parts.levels.items():
        if own := [row for row in rows if row.review_id in names]:
            yield from _flagged(entry, level, own, asked)


def _orders(
    judged: Mapping[str, Sequence[ScoredReview]], reviews: Mapping[str, ReviewCase], parts: Parts
) -> Iterator[tuple[str, EditOrder]]:
    """Of source reviews with an edited version and two scores or more."""
    level_of = {name: level for level, names in parts.levels.items() for name in names}
    for detector, rows in judged.items():
        versions: dict[str, dict[str, float]] = defaultdict(dict)
        for row in rows:
            if row.score is not None and (level := level_of.get(row.review_id)):
                versions[_value(reviews[row.review_id], SOURCE_REVIEW) or row.review_id][level] = row.score
        if whole := [one for one in versions.values() if len(one) > 1]:
            yield detector, edit_order(whole)


def _polished(
    entry: DetectorCalibration, rows: Sequence[ScoredReview], parts: Parts, asked: EvaluationAsked
) -> Iterator[Flagged]:
    if own := [row for row in rows if row.review_id in parts.polished]:
        yield from _flagged(entry, "human text polished by a model", own, asked)


def _prompts(
    entry: DetectorCalibration, rows: Sequence[ScoredReview], parts: Parts, asked: EvaluationAsked
) -> Iterator[PromptEffect]:
    humans = [row for row in rows if row.review_id in parts.usual and row.kind == "human"]

    def report(names: frozenset[str]) -> DetectorReport:
        own = [_pooled(row) for row in rows if row.review_id in names and row.kind == "ai"]
        return _evaluated(entry, [*humans, *own], asked)[0]

    for prompt, names in parts.prompts.items():
        yield PromptEffect(entry.detector, prompt, len(names), tuple(robustness(report(parts.usual), report(names))))


def _inflation(reviews: Sequence[ReviewCase]) -> list[Inflated]:
    humans = [case for case in reviews if case.kind == "human"]
    by_model: dict[str, list[ReviewCase]] = defaultdict(list)
    for case in reviews:
        if case.kind == "ai":
            by_model[case.source].append(case)
    origins = {case.case_id: origin for case in reviews if (origin := _value(case, SOURCE_REVIEW))}
    found = [
        (llm, axis, score_inflation(pairs))
        for llm in sorted(by_model)
        for axis in AXES
        if (pairs := matched_pairs(by_model[llm], humans, axis, origins))
    ]
    tested = [one.p for _, _, one in found if one.p is not None]
    corrected = iter(holm(tested))
    return [Inflated(llm, axis, one, None if one.p is None else next(corrected)) for llm, axis, one in found]


def _notes(scores: Scores, entries: Sequence[DetectorCalibration], parts: Parts) -> Iterator[str]:
    without = [name for name in scores.rows if name not in {entry.detector for entry in entries}]
    if without:
        yield f"not calibrated, and left out: {', '.join(without)}"
    unknown = sum(case.kind == "unknown" for name, case in scores.reviews.items() if name in parts.usual)
    if unknown:
        yield f"of {unknown:,} review(s) the data do not say who wrote them; they count for nothing"
    if parts.unexplained:
        yield f"{parts.unexplained:,} review(s) labelled human were made from another one ({SOURCE_REVIEW}): left out"
    if parts.usual_prompt and parts.prompts:
        yield f"the usual prompt is {parts.usual_prompt!r}, the most frequent one"
