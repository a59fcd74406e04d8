"""Arms compared in pairs of the same paper: mean difference, interval, p, and Holm's correction over the whole plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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
) -> tuple[ArmCell, ...]:
    """Each arm's mean of each metric over the papers that count in every arm; ``judged`` are ranges of judged ones."""
    return tuple(_cells(values, arms, metrics, judged or {}))


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
    values: Sequence[PaperValue], arms: Sequence[str], metrics: Sequence[str], judged: Mapping[str, Range]
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
            )
