"""Whether two sets of values differ: permutation test, Mann-Whitney, Cliff's delta; Holm for many tests at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from referee.errors import EvaluationError
from referee.stats.values import Floats, differences, finite, sums_by_cluster

# Exact counts up to these sizes fit into 64 bits, and the normal curve is close beyond them.
EXACT_UP_TO = 20

_MOST_CELLS = 1 << 20
# Sums of the same numbers in another order differ by rounding, and would miss a tie.
_TIE = 1e-12


@dataclass(frozen=True)
class MannWhitney:
    """``u`` counts pairs in which the first sample is larger, ties half; ``p`` is two-sided."""

    u: float
    p: float
    method: Literal["exact", "normal"]


def permutation_test(
    pairs_by_cluster: Mapping[str, Sequence[tuple[float, float]]], *, seed: int, permutations: int = 10_000
) -> float | None:
    """Two-sided p value of the mean difference of pairs, the two sides swapped at random in whole clusters.

    Under the null hypothesis the labels of a paper's pairs could as well be exchanged. With C clusters and
    2^C <= ``permutations`` all sign patterns are counted, p = share of them with |sum| at least the observed one; else
    p = (1 + as extreme) / (1 + ``permutations``), which is never 0.

    Args:
        pairs_by_cluster: Pairs measured on the same case, by cluster.
        seed: For the patterns that are drawn.
        permutations: How many are drawn or counted at most.

    Returns:
        None without pairs. With one cluster always 1.

    Raises:
        EvaluationError: A value is not finite, or ``permutations`` is below 1.

    Source: Good, "Permutation, Parametric and Bootstrap Tests of Hypotheses", chapter 3; Phipson and Smyth,
    "Permutation P-values Should Never Be Zero", 2010.
    """
    if permutations < 1:
        raise EvaluationError(f"a test needs permutations, not {permutations!r}.", hint="Use 10000.")
    by_cluster: dict[str, Sequence[float]] = {
        name: values.tolist() for name, values in differences(pairs_by_cluster).items()
    }
    sums, _ = sums_by_cluster(by_cluster)
    if not sums.size:
        return None
    least = abs(float(sums.sum())) - _TIE * float(np.abs(sums).sum())
    if 2 ** len(sums) <= permutations:
        patterns = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1
        return float(np.mean(np.abs((1.0 - 2.0 * patterns) @ sums) >= least))
    extreme = _drawn_as_extreme(sums, least, seed, permutations)
    return (1 + extreme) / (1 + permutations)


@dataclass(frozen=True)
class Rise:
    """A mean of differences, the lower end of its one-sided interval, and a one-sided p; None where undefined."""

    mean: float | None
    low: float | None
    p: float | None


def rise(values: Sequence[float] | Floats, *, level: float) -> Rise:
    """One-sided t test of whether the mean of paired differences is above zero.

    With n differences of mean m and standard deviation s: p = P(T > m sqrt(n) / s), T with n - 1 degrees of freedom.
    Differences that are all alike have no spread to hold m against; p is then that of the signs, 2^-n, where they are
    above zero, and 1 elsewhere.

    Args:
        values: One difference a cluster (paper).
        level: The interval's lower end is m - t s / sqrt(n), t being the quantile at 1 - level.

    Returns:
        No mean without values; no end and no p below two.

    Raises:
        EvaluationError: A value is not finite.

    Source: Student, "The Probable Error of a Mean", 1908.
    """
    from scipy.special import stdtr, stdtrit  # a quarter of a second of imports that most commands do not need

    array = finite(values)
    if array.size < 2:
        return Rise(float(array[0]) if array.size else None, None, None)
    mean, error = float(array.mean()), float(array.std(ddof=1)) / math.sqrt(array.size)
    if np.ptp(array) <= _TIE * np.abs(array).max(initial=1.0):
        return Rise(mean, None, 2.0**-array.size if mean > 0 else 1.0)
    freedom = array.size - 1
    return Rise(mean, mean - float(stdtrit(freedom, 1 - level)) * error, float(stdtr(freedom, -mean / error)))


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given; the chance of any false rejection stays below the level.

    With p sorted, p(1) <= ... <= p(m): adjusted(i) = max over j <= i of min(1, (m - j + 1) p(j)).

    Raises:
        EvaluationError: A value is not within 0..1.

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    array = finite(pvalues)
    if array.size and not (array.min() >= 0 and array.max() <= 1):
        raise EvaluationError("a p value is not within 0..1.", hint="Give p values as they come from a test.")
    order = np.argsort(array, kind="stable")
    raised = np.minimum(1.0, array[order] * np.arange(array.size, 0, -1))
    adjusted = np.empty_like(array)
    adjusted[order] = np.maximum.accumulate(raised)
    return [float(value) for value in adjusted]


def mann_whitney(
    first: Sequence[float], second: Sequence[float], *, exact_up_to: int | None = None
) -> MannWhitney | None:
    """Mann-Whitney U test of two independent samples.

    U = #(a > b) + #(a = b)/2. Without ties and with at most ``exact_up_to`` values a side, p is counted over all
    arrangements: min(1, 2 min(P(U <= u), P(U >= u))). Else z = (|U - nm/2| - 1/2) / s with
    s^2 = (nm/12) (N + 1 - sum(t^3 - t)/(N (N - 1))), N = n + m, t the sizes of the groups of ties; p = 1 where all
    values are equal.

    Args:
        first: One sample.
        second: The other.
        exact_up_to: ``EXACT_UP_TO`` by default, and never more; 0 for the normal curve alone.

    Returns:
        None where a sample is empty.

    Raises:
        EvaluationError: A value is not finite.

    Source: Mann and Whitney, 1947; Hollander and Wolfe, "Nonparametric Statistical Methods", section 4.1.
    """
    a, b = finite(first), finite(second)
    if not a.size or not b.size:
        return None
    greater, less = _dominance(a, b)
    n, m = a.size, b.size
    u = greater + (n * m - greater - less) / 2
    _, ties = np.unique(np.concatenate([a, b]), return_counts=True)
    limit = EXACT_UP_TO if exact_up_to is None else min(exact_up_to, EXACT_UP_TO)
    if ties.max() == 1 and max(n, m) <= limit:
        return MannWhitney(u, _exact_p(round(u), n, m), "exact")
    return MannWhitney(u, _normal_p(u, n, m, ties.astype(np.float64)), "normal")


def cliffs_delta(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Cliff's delta, (#(a > b) - #(a < b)) / (n m): from -1 to 1, 0 where neither sample tends to be larger.

    Returns:
        None where a sample is empty.

    Raises:
        EvaluationError: A value is not finite.

    Source: Cliff, "Dominance Statistics: Ordinal Analyses to Answer Ordinal Questions", 1993.
    """
    a, b = finite(first), finite(second)
    if not a.size or not b.size:
        return None
    greater, less = _dominance(a, b)
    return (greater - less) / (a.size * b.size)


def _dominance(a: Floats, b: Floats) -> tuple[int, int]:
    """How many pairs have the first larger, and how many the second, without a table of all pairs."""
    ordered = np.sort(b)
    greater = int(np.searchsorted(ordered, a, side="left").sum())
    return greater, a.size * b.size - int(np.searchsorted(ordered, a, side="right").sum())


def _exact_p(u: int, n: int, m: int) -> float:
    ways = _arrangements(n, m)
    below, above = int(ways[: u + 1].sum()), int(ways[u:].sum())
    return min(1.0, 2 * min(below, above) / math.comb(n + m, n))


def _arrangements(n: int, m: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many arrangements have U = 0, 1, ..., nm: the coefficients of prod (1 - x^(m+i)) / (1 - x^i), i = 1..n."""
    ways = np.zeros(n * m + 1, dtype=np.int64)
    ways[0] = 1
    for i in range(1, n + 1):
        if m + i < len(ways):
            ways[m + i :] -= ways[: -(m + i)].copy()
        for start in range(min(i, len(ways))):
            ways[start::i] = np.cumsum(ways[start::i])
    return ways


def _normal_p(u: float, n: int, m: int, ties: Floats) -> float:
    total = n + m
    correction = float((ties**3 - ties).sum()) / (total * (total - 1))
    variance = n * m / 12 * (total + 1 - correction)
    if len(ties) == 1:
        return 1.0
    z = max(0.0, abs(u - n * m / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def _drawn_as_extreme(sums: Floats, least: float, seed: int, permutations: int) -> int:
    rng = np.random.default_rng(seed)
    block = max(1, _MOST_CELLS // len(sums))
    extreme = 0
    for start in range(0, permutations, block):
        signs = rng.integers(2, size=(min(block, permutations - start), len(sums))) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ sums) >= least))
    return extreme
