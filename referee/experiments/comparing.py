"""Arms compared in pairs of the same paper: mean difference, interval, p, and Holm's correction over the whole plan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, variance

from referee.evals.edges import edges_of
from referee.evals.metric import Range
from referee.schemas.experiment import ArmCell, ArmComparison, PaperValue
from referee.stats import holm, mean_sd, paired_interval
from referee.stats.differences import mean_difference

SEED = 20_260_101
LEVEL = 0.95
METHOD = (
    "mean over seeds for each paper; difference paired by paper; 95 percent interval by expanded percentile bootstrap "
    "over papers; two-sided permutation test; Holm's correction over all comparisons and metrics of the plan"
)


def compared(
    values: Sequence[PaperValue], pairs: Sequence[tuple[str, str]], metrics: Sequence[str]
) -> tuple[ArmComparison, ...]:
    """All comparisons of all metrics, in the order of pairs, then metrics.

    Of each paper that was not excluded a comparison says whether it is a pair, failed, not applicable in one of the
    two arms, or pending.
    """
    by_key = {(value.arm, value.metric, value.paper): value for value in values}
    papers = list(dict.fromkeys(value.paper for value in values))
    found = [_comparison(by_key, papers, first, second, metric) for first, second in pairs for metric in metrics]
    adjusted = iter(holm([one.p for one in found if one.p is not None]))
    return tuple(one.model_copy(update={"p_holm": next(adjusted)}) if one.p is not None else one for one in found)


def cells_of(
    values: Sequence[PaperValue],
    arms: Sequence[str],
    metrics: Sequence[str],
    judged: Mapping[str, Range] | None = None,
    repeats: int = 1,
) -> tuple[ArmCell, ...]:
    """Each arm's mean of each metric over the papers that count in every arm.

    Args:
        values: Of all papers.
        arms: Their names.
        metrics: Their names.
        judged: The ranges of judged metrics.
        repeats: How many seeds each arm has.
    """
    return tuple(_cells(values, arms, metrics, judged or {}, repeats))


def self_difference(by_paper: Sequence[Sequence[float]]) -> float | None:
    """By how much the means over papers of two single repeats differ: the root mean square, in the values' unit.

    The variance between repeats of each paper, summed, is that of the sum over papers; two repeats differ by twice it.
    None without a paper, or with fewer than two repeats.

    Args:
        by_paper: The values of each paper's repeats, two or more.
    """
    if not by_paper or min(map(len, by_paper)) < 2:
        return None
    return math.sqrt(2 * sum(map(variance, by_paper))) / len(by_paper)


def _comparison(
    by_key: Mapping[tuple[str, str, str], PaperValue], papers: Sequence[str], first: str, second: str, metric: str
) -> ArmComparison:
    ours: dict[str, list[float]] = {}
    theirs: dict[str, list[float]] = {}
    counts: Counter[str] = Counter()
    for paper in papers:
        sides = (by_key[first, metric, paper], by_key[second, metric, paper])
        if sides[0].value is not None and sides[1].value is not None:
            ours[paper], theirs[paper] = [sides[0].value], [sides[1].value]
            continue
        statuses = {side.status for side in sides}
        counts[next(s for s in ("failed", "pending", "not_applicable") if s in statuses)] += 1
    found = mean_difference(ours, theirs, seed=SEED)
    return ArmComparison(
        first=first,
        second=second,
        metric=metric,
        n_pairs=len(ours),
        n_failed=counts["failed"],
        n_not_applicable=counts["not_applicable"],
        n_pending=counts["pending"],
        mean_difference=found.mean,
        low=found.low,
        high=found.high,
        level=LEVEL,
        p=found.p,
    )


def _cells(
    values: Sequence[PaperValue],
    arms: Sequence[str],
    metrics: Sequence[str],
    judged: Mapping[str, Range],
    repeats: int,
) -> Iterator[ArmCell]:
    for arm in arms:
        for metric in metrics:
            own = [value for value in values if (value.arm, value.metric) == (arm, metric)]
            counts = Counter(value.status for value in own)
            by_paper = {value.paper: value.value for value in own if value.value is not None}
            # A mean is the mean difference to nothing: the interval for few papers serves both.
            interval = paired_interval({p: [(value, 0.0)] for p, value in by_paper.items()}, seed=SEED, level=LEVEL)
            mean, sd = mean_sd(list(by_paper.values()))
            single = [one for value in own if value.value is not None for one in value.by_seed if one is not None]
            edges = edges_of(single, judged.get(metric))
            yield ArmCell(
                arm=arm,
                metric=metric,
                mean=mean,
                sd=sd,
                low=interval.low,
                high=interval.high,
                n_scored=counts["scored"],
                n_not_applicable=counts["not_applicable"],
                n_failed=counts["failed"],
                n_pending=counts["pending"],
                at_top=edges.at_top,
                at_bottom=edges.at_bottom,
                self_difference=self_difference([_repeats(one, repeats) for one in own if one.value is not None]),
            )


def _repeats(value: PaperValue, repeats: int) -> list[float]:
    """A value for each repeat: the mean over the copies of a planted paper, which stand one copy after another."""
    found = [one for one in value.by_seed if one is not None]
    return [fmean(found[seed::repeats]) for seed in range(min(repeats, len(found)))]
