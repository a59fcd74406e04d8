"""Whether one group's values tend to be larger than another's, where values come in clusters such as papers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.stats.ranks import average_ranks
from referee.stats.values import Floats

Clusters = NDArray[np.int64]


@dataclass(frozen=True)
class ClusteredRanks:
    """``t`` is the difference of mean ranks in its standard errors; ``p`` is two-sided, on ``degrees`` of freedom."""

    t: float
    p: float
    degrees: int


def clustered_rank_test(
    first: Floats, first_clusters: Clusters, second: Floats, second_clusters: Clusters
) -> ClusteredRanks | None:
    """Rank test of two samples whose values are independent between clusters only.

    The mean ranks of the two samples among all values are compared; the variance of their difference is summed over
    clusters, V = G/(G - 1) sum over clusters g of (sum of residual ranks of the first sample in g / n1 - that of the
    second / n2)^2, so that reviews of one paper may resemble one another, and a paper with reviews in both samples is
    compared with itself. With one value a cluster this is the Mann-Whitney test with unequal variances allowed.

    Args:
        first: One sample.
        first_clusters: The cluster of each of its values; the same number in both samples is the same cluster.
        second: The other sample.
        second_clusters: Its clusters.

    Returns:
        None where a sample has fewer than two clusters, or no value differs from another within its sample.

    Source: the rank form of the clustered comparison of areas in Obuchowski, "Nonparametric Analysis of Clustered ROC
    Curve Data", 1997; degrees of freedom: the smaller number of clusters less one.
    """
    fewest = min(len(np.unique(first_clusters)), len(np.unique(second_clusters)))
    if fewest < 2:
        return None
    ranks = average_ranks(np.concatenate([first, second]).tolist())
    own, other = ranks[: len(first)], ranks[len(first) :]
    residuals = np.concatenate([(own - own.mean()) / len(own), -(other - other.mean()) / len(other)])
    _, cluster = np.unique(np.concatenate([first_clusters, second_clusters]), return_inverse=True)
    sums = np.bincount(cluster.reshape(-1), weights=residuals)
    variance = len(sums) / (len(sums) - 1) * float(sums @ sums)
    if variance <= 0:
        return None
    t = float(own.mean() - other.mean()) / variance**0.5
    return ClusteredRanks(t, _two_sided(t, fewest - 1), fewest - 1)


def _two_sided(t: float, degrees: int) -> float:
    from scipy.special import stdtr  # half a second of imports that most commands do not need

    return float(2 * stdtr(degrees, -abs(t)))
