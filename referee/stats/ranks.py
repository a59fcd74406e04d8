"""Ranks: correlation, tests of samples in clusters, and correlations with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import EvaluationError
from referee.stats.comparisons import cliffs_delta
from referee.stats.intervals import Interval, statistic_intervals
from referee.stats.values import Floats, finite


def average_ranks(values: Sequence[float] | Floats) -> Floats:
    """Ranks from 1; equal values share the mean of their ranks.

    Raises:
        EvaluationError: A value is not finite.
    """
    found: tuple[Any, Any, Any] = np.unique(finite(values), return_inverse=True, return_counts=True)
    _, codes, counts = found
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[codes.reshape(-1)]
    return ranks


def spearman(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Spearman's rho of two lists of values of the same things: the correlation of their average ranks, -1 to 1.

    Returns:
        None for fewer than two values, and where one list is constant.

    Raises:
        EvaluationError: The lists differ in length, or a value is not finite.

    Source: Spearman, "The Proof and Measurement of Association between Two Things", 1904.
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"a rank correlation needs pairs, not {len(first)} and {len(second)} values.", hint="Give the same cases."
        )
    a, b = average_ranks(first), average_ranks(second)
    if a.size < 2 or a.min() == a.max() or b.min() == b.max():
        return None
    a, b = a - a.mean(), b - b.mean()
    rho = float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))
    return max(-1.0, min(1.0, rho))


def rank_biserial(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank-biserial correlation, 2U/(nm) - 1 with U of ``mann_whitney``: from -1 to 1, equal to Cliff's delta.

    Returns:
        None where a sample is empty.

    Raises:
        EvaluationError: A value is not finite.

    Source: Cureton, "Rank-Biserial Correlation", 1956.
    """
    return cliffs_delta(first, second)


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


_MOST_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's rho and Kendall's tau-b of the same pairs, -1 to 1, with 95% intervals by pair; None with a reason."""

    spearman: Interval
    kendall: Interval
    reason: str = ""


def rank_correlation(first: Sequence[float], second: Sequence[float], *, seed: int) -> RankCorrelation:
    """How far two lists of values of the same things (papers) have one order.

    rho is the correlation of average ranks; tau-b = (C - D) / sqrt((P - T1)(P - T2)), with C and D the concordant and
    discordant of the P pairs of papers, T1 and T2 those tied on one side. Ties are frequent on short scales: both
    count them as no order.

    Returns:
        No values for fewer than two pairs, and where one list is constant.

    Raises:
        EvaluationError: The lists differ in length, or a value is not finite.

    Source: Spearman, "The Proof and Measurement of Association between Two Things", 1904; Kendall, "The Treatment of
    Ties in Ranking Problems", 1945.
    """
    if len(first) != len(second):
        raise EvaluationError(
            f"a rank correlation needs pairs, not {len(first)} and {len(second)} values.", hint="Give the same papers."
        )
    finite([*first, *second])
    kinds = Counter(sorted(zip(first, second, strict=True)))
    pairs = list(kinds)
    table = _RankTable([a for a, _ in pairs], [b for _, b in pairs])
    rho, tau = statistic_intervals(list(kinds.values()), table.correlations, seed=seed)
    reason = "" if rho.mean is not None else "too few papers" if len(first) < 2 else "one side rates all papers alike"
    return RankCorrelation(rho, tau, reason)


class _RankTable:
    """Kinds of pairs as cells of a table of both sides' values."""

    def __init__(self, first: Sequence[float], second: Sequence[float]) -> None:
        values, rows = np.unique(finite(first), return_inverse=True)
        others, columns = np.unique(finite(second), return_inverse=True)
        self._shape = (len(values), len(others))
        self._cells = rows.reshape(-1) * len(others) + columns.reshape(-1)

    def correlations(self, drawn: Floats) -> Floats:
        """Resamples x (rho, tau-b), in pieces that need little memory."""
        cells = max(1, self._shape[0] * self._shape[1])
        step = max(1, _MOST_CELLS // cells)
        return np.concatenate([self._piece(drawn[at : at + step]) for at in range(0, len(drawn), step)])

    def _piece(self, drawn: Floats) -> Floats:
        flat = np.zeros((len(drawn), self._shape[0] * self._shape[1]))
        flat[:, self._cells] = drawn
        table = flat.reshape(len(drawn), *self._shape)
        first, second = table.sum(axis=2), table.sum(axis=1)
        return np.stack([_rho(table, first, second), _tau_b(table, first, second)], axis=1)


def _rho(table: Floats, first: Floats, second: Floats) -> Floats:
    a, b = _centred_ranks(first), _centred_ranks(second)
    together = (a[:, :, None] * table * b[:, None, :]).sum(axis=(1, 2))
    return _ratio(together, (first * a**2).sum(axis=1) * (second * b**2).sum(axis=1))


def _tau_b(table: Floats, first: Floats, second: Floats) -> Floats:
    """C - D is the sum over cells of what lies lower on both sides, less what lies lower on the first side alone."""
    lower = 2 * np.cumsum(table, axis=2) - table - first[:, :, None]
    before = np.cumsum(lower, axis=1) - lower
    n = first.sum(axis=1)
    untied = [(n * (n - 1) - (side * (side - 1)).sum(axis=1)) / 2 for side in (first, second)]
    return _ratio((table * before).sum(axis=(1, 2)), untied[0] * untied[1])


def _centred_ranks(counts: Floats) -> Floats:
    """Average ranks of a side's values less their mean, (n + 1)/2."""
    ranks: Floats = np.cumsum(counts, axis=1) - counts / 2 - counts.sum(axis=1, keepdims=True) / 2
    return ranks


def _ratio(above: Floats, squared: Floats) -> Floats:
    out: Floats = np.full(len(above), np.nan)
    np.divide(above, np.sqrt(squared), out=out, where=squared > 0)
    return np.clip(out, -1.0, 1.0)
