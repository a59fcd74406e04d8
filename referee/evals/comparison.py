"""Two rows compared: paired on the papers that both reviewed, else by paper within each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from referee.evals.grouping import RowKey, Rows
from referee.evals.table import SEED
from referee.schemas.metric import MetricResult
from referee.stats import holm
from referee.stats.differences import ByCluster, mean_difference


@dataclass(frozen=True)
class Difference:
    """First less second in one metric; see ``stats.mean_difference``.

    ``low`` and ``high`` bound the mean difference at 95 percent. ``p`` is two-sided; ``p_holm`` is corrected for the
    metrics compared, without variants of another. ``papers`` are those of both where it is ``paired``, else all.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    papers: int
    p: float | None = None
    p_holm: float | None = None
    paired: bool = True


@dataclass(frozen=True)
class Comparison:
    """All metrics of two rows."""

    first: str
    second: str
    differences: tuple[Difference, ...]


def compare(
    results: Iterable[MetricResult],
    rows: Rows,
    metrics: Sequence[str],
    first: RowKey,
    second: RowKey,
    *,
    variants: Collection[str] = (),
) -> Comparison:
    """Compare two rows.

    Args:
        results: Each unit once; those without a value are left out.
        rows: The row of each review.
        metrics: What is compared.
        first: What is subtracted from.
        second: What is subtracted.
        variants: The metrics that are nearly the same as another, for which p is not corrected.
    """
    values: dict[tuple[str, RowKey], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        row = rows.of(result.case_id)
        if result.value is not None and row in (first, second):
            values[result.metric, row][result.paper_id].append(result.value)
    found = [_difference(name, values[name, first], values[name, second]) for name in metrics]
    tested = [one for one in found if one.p is not None and one.metric not in variants]
    adjusted = dict(zip((one.metric for one in tested), holm([one.p or 0.0 for one in tested]), strict=True))
    differences = tuple(replace(one, p_holm=adjusted.get(one.metric)) for one in found)
    return Comparison(first.label, second.label, differences)


def _difference(metric: str, first: ByCluster, second: ByCluster) -> Difference:
    found = mean_difference(first, second, seed=SEED)
    return Difference(metric, found.mean, found.low, found.high, found.clusters, found.p, paired=found.paired)
