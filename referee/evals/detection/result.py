"""All that an evaluation of detectors shows: rates at thresholds, areas, edit levels, prompts, polish, score inflation.

What is neither a person's review nor a model's stays out of both classes, since a person stands behind it: edited
versions are shown by level, human text that a model polished and reviews expanded from a person's points apart. What
``referee detect generate`` edited or expanded is known by its own columns, whatever is asked for.

Source: the specification's section 8.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from referee.errors import EvaluationError
from referee.evals.detection.calibration import (
    LAST_CLEAN_DAY,
    NOBODY_KNOWS,
    Calibration,
    DetectorCalibration,
    by_venue,
    check_applies,
    check_human,
    late_human,
    named_counts,
)
from referee.evals.detection.columns import Ints, Mask, Reviews, ScoredRows
from referee.evals.detection.editing import EditOrder, edit_order
from referee.evals.detection.evaluation import (
    DetectorReport,
    Rate,
    Robustness,
    any_anchor_rate,
    evaluate,
    flagged_rate,
    in_order,
    robustness,
)
from referee.evals.detection.inflation import AXES, Inflation, matched, pairs_on, score_inflation
from referee.evals.detection.parts import EvaluationAsked, Parts, parted
from referee.evals.detection.scores import SOURCE_REVIEW, Scores
from referee.evals.detection.thresholds import ROUNDING, Threshold
from referee.runs.progress import Event, Progress, silent
from referee.stats import holm

ALL = "all"
POLISHED = "human text polished by a model"
EXPANDED = "a person's points, expanded by a model"


@dataclass(frozen=True)
class Flagged:
    """The share of some reviews that a detector flags at a target."""

    detector: str
    what: str
    threshold: Threshold
    rate: Rate


@dataclass(frozen=True)
class AnchorVote:
    """What any anchor's vote flags where each has a threshold of its own, at the target over their number or at it."""

    detector: str
    how: str
    target: float
    resolved: bool
    claimed: bool
    true_positive_rate: Rate
    false_positive_rate: Rate


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
        assisted: Flagged shares of reviews expanded from a person's points.
        votes: Of Anchor with several anchors, what thresholds of each would do.
        prompts: What other prompts change.
        inflation: Scores of AI reviews less those of people.
        humans: Human reviews that are tested on.
        late: By venue and year, human reviews that were left out as nobody knows who wrote them.
        facts: How the numbers came about.
        notes: What a reader should know.
        marks: What was forced, over all detectors.
    """

    reports: tuple[DetectorReport, ...]
    scores: Mapping[str, Mapping[str, Sequence[float]]]
    levels: tuple[Flagged, ...] = ()
    orders: Mapping[str, EditOrder] = field(default_factory=dict)
    polished: tuple[Flagged, ...] = ()
    assisted: tuple[Flagged, ...] = ()
    votes: tuple[AnchorVote, ...] = ()
    prompts: tuple[PromptEffect, ...] = ()
    inflation: tuple[Inflated, ...] = ()
    humans: int = 0
    late: Mapping[str, int] = field(default_factory=dict)
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
        EvaluationError: No detector is in both, an AI review is labelled human, a class is empty, all human reviews
            were written too late, thresholds do not hold here, or a column that was asked for is in no review.
    """
    parts, late = _without_late(scores.reviews, parted(scores.reviews, asked), asked)
    entries = [entry for entry in calibration.detectors if entry.detector in scores.rows]
    if not entries:
        raise EvaluationError(
            f"no detector is in both: the calibration has {', '.join(e.detector for e in calibration.detectors)}.",
            hint=f"The scores are of {', '.join(scores.rows)}.",
        )
    judged = {entry.detector: entry.judged(scores.rows[entry.detector]) for entry in entries}
    for entry in entries:
        check_applies(entry, judged[entry.detector], forced=asked.forced)
        _check_classes(entry.detector, judged[entry.detector].of(parts.usual))
    reports = []
    for number, entry in enumerate(entries):
        progress(Event("stage", f"resampling {entry.detector}", done=number, total=len(entries)))
        reports += _evaluated(entry, judged[entry.detector].of(parts.usual), asked)
    each = [(entry, judged[entry.detector]) for entry in entries]
    once = scores.reviews.once()
    return DetectionResult(
        reports=tuple(in_order(reports)),
        scores={entry.detector: _by_class(rows.of(parts.usual)) for entry, rows in each},
        levels=tuple(
            one
            for entry, rows in each
            for level, of_level in parts.levels.items()
            for one in _flagged(entry, level, rows.of(of_level), asked)
        ),
        orders=dict(_orders(judged, parts)),
        polished=tuple(one for e, rows in each for one in _flagged(e, POLISHED, rows.of(parts.polished), asked)),
        assisted=tuple(one for e, rows in each for one in _flagged(e, EXPANDED, rows.of(parts.assisted), asked)),
        votes=tuple(one for e, rows in each for one in _votes(e, rows.of(parts.usual), asked)),
        prompts=tuple(one for entry, rows in each for one in _prompts(entry, rows, parts, asked)),
        inflation=tuple(_inflation(scores.reviews, parts.usual & once)),
        humans=int((parts.usual & once & scores.reviews.is_kind("human")).sum()),
        late=late,
        facts=facts or {},
        notes=(*scores.notes, *_notes(scores, entries, parts, reports)),
    )


def _without_late(reviews: Reviews, parts: Parts, asked: EvaluationAsked) -> tuple[Parts, dict[str, int]]:
    """The parts without human reviews of which nobody knows who wrote them, and how many these are by venue.

    Raises:
        EvaluationError: No other human review is left to be tested on.
    """
    out = late_human(reviews) & parts.any
    if asked.forced or not out.any():
        return parts, {}
    late = by_venue(reviews, np.flatnonzero(out))
    kept = parts.without(out)
    said = f"are later than {LAST_CLEAN_DAY} ({named_counts(late)}), and {NOBODY_KNOWS}"
    if not (kept.usual & reviews.is_kind("human")).any():
        raise EvaluationError(
            f"all {sum(late.values()):,} human reviews of the test set {said}: no false positive can be counted.",
            hint="Score earlier human reviews, or force it (--force); every table is then marked.",
        )
    left_out = {**parts.left_out, f"human review(s) {said}": sum(late.values())}
    return replace(kept, left_out=left_out), late


def _check_classes(detector: str, rows: ScoredRows) -> None:
    humans, ai = (rows.where(rows.is_kind(kind)) for kind in ("human", "ai"))
    anchors = int(ai.is_anchor.sum())
    if not len(humans) or len(ai) == anchors:
        themselves = f", of which {anchors} are the anchors themselves," if anchors else ""
        raise EvaluationError(
            f"the detector {detector!r} has {len(humans)} human and {len(ai)} AI reviews{themselves} to tell apart.",
            hint="Score a set that holds both, or give the runs of both; as anchors take reviews of other models."
            if anchors
            else "Score a set that holds both, or give the runs of both.",
        )
    check_human(humans, ai)


def _evaluated(entry: DetectorCalibration, rows: ScoredRows, asked: EvaluationAsked) -> list[DetectorReport]:
    return evaluate(
        entry,
        rows,
        seed=asked.seed,
        resamples=asked.resamples,
        cluster=asked.cluster,
        forced=asked.forced,
        together=ALL,
    )


def _by_class(rows: ScoredRows) -> dict[str, array[float]]:
    """Scores by class, a review once."""
    once = rows.once()
    once = once.where(once.scored)
    ai = once.where(once.is_kind("ai"))
    sources = ai.reviews.source[ai.at]
    found = {"human": once.score[once.is_kind("human")]}
    found |= {ai.reviews.names[code]: ai.score[sources == code] for code in np.unique(sources).tolist()}
    return {name: array("d", values.tobytes()) for name, values in found.items() if len(values)}


def _flagged(entry: DetectorCalibration, what: str, rows: ScoredRows, asked: EvaluationAsked) -> Iterator[Flagged]:
    once = rows.once()
    once = once.where(~once.is_anchor)
    for threshold in entry.thresholds if len(once) else ():
        rate = flagged_rate(threshold, once, seed=asked.seed, resamples=asked.resamples, cluster=asked.cluster)
        yield Flagged(entry.detector, what, threshold, rate)


def _votes(entry: DetectorCalibration, rows: ScoredRows, asked: EvaluationAsked) -> Iterator[AnchorVote]:
    once = rows.once()
    once = once.where(~once.is_anchor)
    ai, humans = (once.where(once.is_kind(kind)) for kind in ("ai", "human"))
    for number, how in enumerate(("the target shared among anchors", "the target for each anchor")):
        for one in entry.per_anchor:
            thetas, share = (one.plain, one.target) if number else (one.shared, one.target / len(one.shared))
            rates = (
                any_anchor_rate(thetas, side, seed=asked.seed, resamples=asked.resamples, cluster=asked.cluster)
                for side in (ai, humans)
            )
            resolved, claimed = (share * one.n >= fewest - ROUNDING for fewest in (1, 3))
            yield AnchorVote(entry.detector, how, one.target, resolved, claimed, *rates)


def _orders(judged: Mapping[str, ScoredRows], parts: Parts) -> Iterator[tuple[str, EditOrder]]:
    """Of source reviews with an edited version and two scores or more."""
    for detector, rows in judged.items():
        versions: dict[int, dict[str, float]] = defaultdict(dict)
        for level, mask in parts.levels.items():
            own = rows.of(mask)
            own = own.where(own.scored)
            sources = own.reviews.label(SOURCE_REVIEW)[own.at]
            made_of = np.where(sources > 0, sources, own.reviews.review[own.at])
            for source, score in zip(made_of.tolist(), own.score.tolist(), strict=True):
                versions[source][level] = score
        if whole := [versions[one] for one in sorted(versions) if len(versions[one]) > 1]:
            yield detector, edit_order(whole)


def _prompts(
    entry: DetectorCalibration, rows: ScoredRows, parts: Parts, asked: EvaluationAsked
) -> Iterator[PromptEffect]:
    people = parts.usual & rows.reviews.is_kind("human")

    def report(names: Mask) -> DetectorReport:
        return _evaluated(entry, rows.of(people | names), asked)[0]

    for prompt, names in parts.prompts.items():
        if len(own := rows.of(names).once()) > int(own.is_anchor.sum()):
            changes = tuple(robustness(report(parts.usual), report(names)))
            yield PromptEffect(entry.detector, prompt, len(own), changes)


def _inflation(reviews: Reviews, usual: Mask) -> list[Inflated]:
    humans, ai = (usual & reviews.is_kind(kind) for kind in ("human", "ai"))
    sources: Ints = reviews.label(SOURCE_REVIEW)
    found = []
    for code in np.unique(reviews.source[ai]).tolist():
        pairs = matched(reviews, ai & (reviews.source == code), humans, sources)
        of_axes = ((axis, pairs_on(reviews, pairs, axis)) for axis in AXES)
        found += [(reviews.names[code], axis, score_inflation(scores)) for axis, scores in of_axes if len(scores)]
    tested = [one.p for _, _, one in found if one.p is not None]
    corrected = iter(holm(tested))
    return [Inflated(llm, axis, one, None if one.p is None else next(corrected)) for llm, axis, one in found]


def _anchors(reports: Sequence[DetectorReport]) -> dict[str, list[str]]:
    """By how many AI reviews are themselves the anchors, the detectors."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for report in reports:
        found[report.detector][report.llm] = report.anchors
    most = {detector: max(counts.values()) for detector, counts in found.items()}
    by_count: dict[str, list[str]] = defaultdict(list)
    for detector, count in most.items():
        if count:
            by_count[f"{count:,} AI review(s) are the anchors themselves"].append(detector)
    return by_count


def _notes(
    scores: Scores, entries: Sequence[DetectorCalibration], parts: Parts, reports: Sequence[DetectorReport]
) -> Iterator[str]:
    without = [name for name in scores.rows if name not in {entry.detector for entry in entries}]
    if without:
        yield f"not calibrated, and left out: {', '.join(without)}"
    unknown = int((parts.usual & scores.reviews.once() & scores.reviews.is_kind("unknown")).sum())
    if unknown:
        yield f"of {unknown:,} review(s) the data do not say who wrote them; they count for nothing"
    for why, names in _anchors(reports).items():
        yield f"{why}: they count for nothing with {', '.join(names)}, so AI reviews are not the same for all detectors"
    yield from (f"{count:,} {why}: left out" for why, count in parts.left_out.items() if count)
    if parts.usual_prompt and parts.prompts:
        yield f"the usual prompt is {parts.usual_prompt!r}, the most frequent one"
