"""Two rows compared on the papers that both reviewed: differences paired by paper."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from referee.evals.rows import RowKey, Rows
from referee.evals.table import SEED
from referee.schemas.metric import MetricResult
from referee.stats import holm, paired_interval, permutation_test


@dataclass(frozen=True)
class Difference:
    """First less second in one metric, over papers that both have.

    ``low`` and ``high`` bound the mean difference at 95 percent (bootstrap over papers). ``p`` is two-sided, from
    swapping the two sides of papers at random; ``p_holm`` is corrected for the number of metrics compared.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    papers: int
    p: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class Comparison:
    """All metrics of two rows."""

    first: str
    second: str
    differences: tuple[Difference, ...]


def compare(
    results: Iterable[MetricResult], rows: Rows, metrics: Sequence[str], first: RowKey, second: RowKey
) -> Comparison:
    """Compare two rows. A paper with several reviews of one row counts once, with their mean.

    Args:
        results: Each unit once; those without a value, and papers that one side lacks, are left out.
        rows: The row of each review.
        metrics: What is compared.
        first: What is subtracted from.
        second: What is subtracted.
    """
    values: dict[str, dict[str, dict[RowKey, list[float]]]] = {name: {} for name in metrics}
    for result in results:
        row = rows.of(result.case_id)
        if result.value is not None and result.metric in values and row in (first, second):
            of_paper = values[result.metric].setdefault(result.paper_id, defaultdict(list))
            of_paper[row].append(result.value)
    found = [_difference(name, values[name], first, second) for name in metrics]
    tested = [one for one in found if one.p is not None]
    adjusted = dict(zip((one.metric for one in tested), holm([one.p or 0.0 for one in tested]), strict=True))
    differences = tuple(replace(one, p_holm=adjusted.get(one.metric)) for one in found)
    return Comparison(first.label, second.label, differences)


def _difference(
    metric: str, by_paper: dict[str, dict[RowKey, list[float]]], first: RowKey, second: RowKey
) -> Difference:
    pairs = {
        paper: [(_mean(sides[first]), _mean(sides[second]))]
        for paper, sides in by_paper.items()
        if sides.get(first) and sides.get(second)
    }
    interval = paired_interval(pairs, seed=SEED)
    p = permutation_test(pairs, seed=SEED) if len(pairs) > 1 else None
    return Difference(metric, interval.mean, interval.low, interval.high, interval.clusters, p)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
