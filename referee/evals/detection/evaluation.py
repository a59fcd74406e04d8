"""How good detectors are on a test set: true and realised false positives at fixed thresholds, and their spread.

Thresholds are taken from other papers' human reviews and stay fixed, in resamples too: what varies is the test set. A
review without a score counts as not flagged, since that is what happens to it, and is counted apart. Only a review that
is itself one of Anchor's anchors is in no class: nobody would be asked about it.

Source: the specification's section 8, after "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text Detection in
Peer Review".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from referee.evals.detection.calibration import (
    LAST_CLEAN_DAY,
    NOBODY_KNOWS,
    DetectorCalibration,
    by_venue,
    check_applies,
    late_human,
    named_counts,
)
from referee.evals.detection.columns import Ints, Mask, ScoredRows
from referee.evals.detection.roc import ResampledAuc, partial_auc, pr_auc, resampled_auc, roc_auc
from referee.evals.detection.thresholds import Threshold
from referee.stats.resamples import over, resampled

Cluster = Literal["review", "paper"]
LARGE_TARGET = 0.10
"""Calibrated beside what is asked for: with few human reviews the only target that can be resolved."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of reviews that were flagged, with its spread over resamples.

    Attributes:
        value: In [0, 1]; None without reviews.
        n: Reviews, those without a score included.
        flagged: How many were.
        sd: Standard deviation over resamples, n - 1 below; None where fewer than two units are drawn.
        low: Lower end of the 95% percentile interval.
        high: Upper end.
    """

    value: float | None
    n: int
    flagged: int
    sd: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class AtTarget:
    """What a threshold does on the test set: the target, and what became of it."""

    threshold: Threshold
    true_positive_rate: Rate
    false_positive_rate: Rate


@dataclass(frozen=True, slots=True)
class DetectorReport:
    """A detector on the AI reviews of one model against the human ones.

    Attributes:
        detector: Its name.
        llm: The model, or ``all``.
        at: One entry a target, in their order.
        auc: Area under the ROC curve, over reviews with scores; None where a class has none.
        auc_spread: The same in resamples.
        partial: Standardised area below a false-positive rate of 1%.
        precision_recall: Area under the precision-recall curve.
        unscored: Reviews without a score, by class; they count as not flagged.
        anchors: AI reviews that are themselves the anchors; they count for nothing.
        marks: What was forced, to stand beside every number.
    """

    detector: str
    llm: str
    at: tuple[AtTarget, ...]
    auc: float | None
    auc_spread: ResampledAuc | None
    partial: float | None
    precision_recall: float | None
    unscored: Mapping[str, int]
    anchors: int = 0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Robustness:
    """What another prompt does to a detector: differences, other less usual; None where one side has no value."""

    target: float
    true_positive_rate: float | None
    auc: float | None


def evaluate(
    calibration: DetectorCalibration,
    rows: ScoredRows,
    *,
    seed: int = 0,
    resamples: int = 1000,
    cluster: Cluster = "review",
    forced: bool = False,
    together: str = "",
) -> list[DetectorReport]:
    """A report for each model in the test set, in the order of names; human reviews are shared by all.

    A model whose reviews are all anchors themselves has none.

    Args:
        calibration: The detector's thresholds.
        rows: Scores of human and AI reviews; those of unknown authors count for nothing.
        seed: For the resamples.
        resamples: How many; the benchmark has 100.
        cluster: What is drawn. Reviews of a paper depend on one another, so ``paper`` is the honest choice; the
            benchmark draws reviews.
        forced: Go on where the thresholds do not hold; reports are then marked.
        together: Where there are several models, a report over all of them comes first, under this name.

    Raises:
        EvaluationError: The thresholds do not hold for these scores, or one review has different scores.
    """
    marks = (*check_applies(calibration, rows, forced=forced), *_late_mark(rows))
    once, draws = rows.once(), _Draws(seed, resamples, cluster)
    humans, ai = (once.where(once.is_kind(kind)) for kind in ("human", "ai"))
    sources, names = ai.reviews.source[ai.at], ai.reviews.names
    groups = [(names[code] or "ai", sources == code) for code in np.unique(sources[~ai.is_anchor]).tolist()]
    if together and len(np.unique(sources)) > 1:
        groups.insert(0, (together, np.ones(len(ai), dtype=bool)))
    return [_report(calibration, llm, humans, ai.where(own), draws, marks) for llm, own in groups]


def _late_mark(rows: ScoredRows) -> tuple[str, ...]:
    """What stands beside every number where human reviews are in it of which nobody knows who wrote them."""
    places = np.unique(rows.at[late_human(rows.reviews)[rows.at]])
    counts = by_venue(rows.reviews, places)
    if not counts:
        return ()
    count = f"{sum(counts.values()):,} human reviews tested on ({named_counts(counts)})"
    return (f"{count} are later than {LAST_CLEAN_DAY}: {NOBODY_KNOWS}",)


def flagged_rate(
    threshold: Threshold,
    rows: ScoredRows,
    *,
    seed: int = 0,
    resamples: int = 1000,
    cluster: Cluster = "review",
) -> Rate:
    """The share of reviews that a threshold flags, as of an edit level, or of human text polished by a model.

    The latter is never added to either class: it is neither, and a person stands behind it.
    """
    return _rate(threshold.flagged_of(rows.score), _units(rows, cluster), _Draws(seed, resamples, cluster))


def any_anchor_rate(
    thetas: Mapping[str, float],
    rows: ScoredRows,
    *,
    seed: int = 0,
    resamples: int = 1000,
    cluster: Cluster = "review",
) -> Rate:
    """The share of reviews of which any anchor's cosine is above that anchor's own threshold."""
    limits = np.array([thetas.get(name, np.inf) for name in rows.anchors])
    flags = np.asarray((rows.cosines > limits).any(axis=1))
    return _rate(flags, _units(rows, cluster), _Draws(seed, resamples, cluster))


def robustness(usual: DetectorReport, other: DetectorReport) -> list[Robustness]:
    """What changes, at the same thresholds, when AI reviews come from another prompt."""
    return [
        Robustness(
            ours.threshold.target,
            _less(theirs.true_positive_rate.value, ours.true_positive_rate.value),
            _less(other.auc, usual.auc),
        )
        for ours, theirs in zip(usual.at, other.at, strict=True)
    ]


def in_order(reports: Sequence[DetectorReport]) -> list[DetectorReport]:
    """The best first: by true positives at the smallest target that flags anyone and is below 10%, then by AUC."""

    def place(report: DetectorReport) -> tuple[float, float]:
        resolved = [at for at in report.at if at.threshold.flags_anyone and at.threshold.target < LARGE_TARGET]
        first = min(resolved, key=lambda at: at.threshold.target, default=None)
        found = first.true_positive_rate.value if first else None
        return -(found or 0.0), -(report.auc or 0.0)

    return sorted(reports, key=place)


@dataclass(frozen=True, slots=True)
class _Draws:
    seed: int
    resamples: int
    cluster: Cluster


def _report(
    calibration: DetectorCalibration,
    llm: str,
    humans: ScoredRows,
    written: ScoredRows,
    draws: _Draws,
    marks: tuple[str, ...],
) -> DetectorReport:
    ai = written.where(~written.is_anchor)
    own, other = (side.where(side.scored) for side in (humans, ai))
    both = bool(len(own) and len(other))
    by_paper = draws.cluster == "paper"
    return DetectorReport(
        detector=calibration.detector,
        llm=llm,
        at=tuple(
            AtTarget(threshold, *(flagged_rate(threshold, side, **asdict(draws)) for side in (ai, humans)))
            for threshold in calibration.thresholds
        ),
        auc=roc_auc(own.score, other.score),
        auc_spread=resampled_auc(
            own.score,
            other.score,
            seed=draws.seed,
            resamples=draws.resamples,
            human_papers=own.papers if by_paper else None,
            ai_papers=other.papers if by_paper else None,
        )
        if both
        else None,
        partial=partial_auc(own.score, other.score) if both else None,
        precision_recall=pr_auc(own.score, other.score) if both else None,
        unscored={"human": len(humans) - len(own), "ai": len(ai) - len(other)},
        anchors=len(written) - len(ai),
        marks=marks,
    )


def _units(rows: ScoredRows, cluster: Cluster) -> Ints:
    return rows.papers if cluster == "paper" else rows.reviews.review[rows.at]


def _rate(flags: Mask, units: Ints, draws: _Draws) -> Rate:
    if not len(flags):
        return Rate(None, 0, 0)
    names, codes = np.unique(units, return_inverse=True)
    counts = [np.bincount(codes, weights=each, minlength=len(names)) for each in (flags.astype(np.float64), None)]
    value, flagged = float(flags.mean()), int(flags.sum())
    if len(names) < 2:
        return Rate(value, len(flags), flagged)
    sums = resampled(np.column_stack(counts), seed=draws.seed, resamples=draws.resamples)
    shares = over(sums[:, 0], sums[:, 1])
    low, high = (float(end) for end in np.quantile(shares, [0.025, 0.975]))
    return Rate(value, len(flags), flagged, float(shares.std(ddof=1)), low, high)


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
