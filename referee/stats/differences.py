"""Two groups' means compared: paired where clusters (papers) are shared, else by clusters of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from referee.stats.comparisons import permutation_test
from referee.stats.intervals import paired_interval
from referee.stats.ranks import clustered_rank_test
from referee.stats.resamples import percentiles, resampled_means
from referee.stats.values import Floats, sums_by_cluster

ByCluster = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class MeanDifference:
    """First mean less the second, its interval and a two-sided p; None where it is undefined.

    ``clusters`` are those that both have where it is ``paired``, else those of both together.
    """

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    clusters: int
    paired: bool


def mean_difference(first: ByCluster, second: ByCluster, *, seed: int) -> MeanDifference:
    """Compare two groups of values by cluster.

    With a cluster in both, a cluster counts once, by the mean of its values on each side, and only those of both count:
    ``paired_interval`` and ``permutation_test``. With none, every value counts: a percentile bootstrap that draws the
    clusters of each side whole, and ``clustered_rank_test``.

    Args:
        first: Values by cluster.
        second: The same of the other group.
        seed: For the draws.
    """
    ours = {name: values for name, values in first.items() if values}
    theirs = {name: values for name, values in second.items() if values}
    shared = sorted(ours.keys() & theirs.keys())
    if shared:
        pairs = {name: [(_mean(ours[name]), _mean(theirs[name]))] for name in shared}
        interval = paired_interval(pairs, seed=seed)
        p = permutation_test(pairs, seed=seed) if len(pairs) > 1 else None
        return MeanDifference(interval.mean, interval.low, interval.high, p, len(pairs), True)
    return _apart(ours, theirs, seed) if ours and theirs else MeanDifference(None, None, None, None, 0, True)


def _apart(first: ByCluster, second: ByCluster, seed: int) -> MeanDifference:
    sums, counts = sums_by_cluster(first)
    others, other_counts = sums_by_cluster(second)
    drawn = _drawn_means(sums, counts, seed) - _drawn_means(others, other_counts, seed + 1)
    low, high = percentiles(drawn, min(len(sums), len(others)))
    difference = float(sums.sum() / counts.sum() - others.sum() / other_counts.sum())
    ours, own = _flat(first, 0)
    theirs, other = _flat(second, len(first))
    test = clustered_rank_test(ours, own, theirs, other)
    return MeanDifference(difference, low, high, test.p if test else None, len(first) + len(second), False)


def _drawn_means(sums: Floats, counts: Floats, seed: int) -> Floats:
    return resampled_means(sums[:, None], counts[:, None], seed=seed)[:, 0]


def _flat(values: ByCluster, start: int) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """All values, and the number of each one's cluster."""
    given = list(values.values())
    numbers = np.repeat(np.arange(start, start + len(given), dtype=np.int64), [len(own) for own in given])
    return np.concatenate([np.asarray(own, dtype=np.float64) for own in given]), numbers


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
