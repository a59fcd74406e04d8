"""Means and how sure they are: bootstrap by cluster, paired intervals, Wilson's interval for a share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from referee.errors import EvaluationError
from referee.stats.resamples import drawn_units, resampled
from referee.stats.values import Floats, differences, finite, sums_by_cluster

Statistics = Callable[[Floats], Floats]
"""Of resamples x units, how often each unit was drawn: resamples x statistics, nan where one is undefined."""


@dataclass(frozen=True)
class Interval:
    """A mean with a confidence interval.

    ``mean`` is None without values; ``low`` and ``high`` are None where nothing can be said of the spread (fewer than
    two clusters). ``n`` counts values, ``clusters`` what was resampled.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int


def bootstrap_interval(
    values_by_cluster: Mapping[str, Sequence[float] | Floats], *, seed: int, resamples: int = 2000, level: float = 0.95
) -> Interval:
    """Percentile bootstrap interval of the mean over all values, with clusters (papers) drawn whole.

    Of C clusters C are drawn with replacement; the statistic of a resample is sum of values / number of values, and
    the interval runs between its (1 - level)/2 and (1 + level)/2 quantiles. Reviews of one paper are not independent:
    drawing them singly would make the interval too narrow. With few clusters (below about 20) a percentile interval
    covers less than it says.

    Args:
        values_by_cluster: Values by cluster; clusters without values are left out.
        seed: Same seed and data, same interval.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Raises:
        EvaluationError: A value is not finite, or ``level`` or ``resamples`` is out of range.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13 (percentile interval); Davison and
    Hinkley, "Bootstrap Methods and their Application", section 3.8 (resampling of clusters).
    """
    _check(level, resamples)
    return _resampled_interval(values_by_cluster, lambda clusters: (1 - level) / 2, seed, resamples)


def paired_interval(
    pairs_by_cluster: Mapping[str, Sequence[tuple[float, float]]],
    *,
    seed: int,
    resamples: int = 4000,
    level: float = 0.95,
) -> Interval:
    """Interval of the mean difference (first minus second) of pairs measured on the same case, by cluster.

    Pairs stay together in every resample, so what makes a paper easy or hard for both cancels. The quantiles are moved
    outwards, so that the interval covers as often as it says: a percentile interval of C clusters is too narrow for two
    reasons: resamples vary by (C - 1)/C of what samples do, and it takes normal quantiles where t quantiles are due.
    Both are put right by the tail probability Phi(-sqrt(C/(C - 1)) t) in place of (1 - level)/2, t being the t quantile
    with C - 1 degrees of freedom. What it covers at 10, 20 and 40 papers is measured by ``benchmarks/comparisons.py``.

    Args:
        pairs_by_cluster: Pairs by cluster; a case that only one side measured must not be in it.
        seed: Same seed and data, same interval.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.

    Raises:
        EvaluationError: As ``bootstrap_interval``.

    Source: Koehn, "Statistical Significance Tests for Machine Translation Evaluation" (paired resampling); Hesterberg,
    "What Teachers Should Know About the Bootstrap", 2015, section 5.3 (expanded percentile).
    """
    _check(level, resamples)
    values = {name: values.tolist() for name, values in differences(pairs_by_cluster).items()}
    return _resampled_interval(values, lambda clusters: _widened_tail(level, clusters), seed, resamples)


def statistic_intervals(
    copies: Sequence[int], statistics: Statistics, *, seed: int, resamples: int = 2000
) -> list[Interval]:
    """Percentile bootstrap intervals, at 95%, of statistics that are computed of the same draws.

    As many units (papers) as there are are drawn with replacement; resamples in which a statistic is undefined, as
    an area under a curve without a rejected paper, are left out of its interval.

    Args:
        copies: How often each unit is in the data; equal papers are drawn as one kind.
        statistics: What is computed.
        seed: Same seed and data, same intervals.
        resamples: How many.

    Returns:
        One for each statistic, ``n`` and ``clusters`` being the papers. No value where it is undefined, no bounds for
        one paper alone.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", chapter 13 (percentile interval).
    """
    n = sum(copies)
    values = statistics(finite(copies)[None, :])[0]
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([statistics(block) for block in drawn_units(copies, resamples, rng)]) if n > 1 else None
    return [
        _of_draws(float(value), None if drawn is None else drawn[:, number], n) for number, value in enumerate(values)
    ]


def wilson(k: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share k/n: honest for small n and near 0 and 1.

    With p = k/n and z the normal quantile: centre (p + z^2/2n) / (1 + z^2/n), half width
    z * sqrt(p(1-p)/n + z^2/4n^2) / (1 + z^2/n).

    Args:
        k: Successes, 0 to n.
        n: Trials; with 0 nothing can be said.
        level: Coverage, between 0 and 1.

    Raises:
        EvaluationError: k is not within 0..n, or ``level`` is out of range.

    Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927.
    """
    _check(level)
    if not 0 <= k <= n:
        raise EvaluationError(f"{k} of {n} is no share.", hint="Give successes between 0 and the number of trials.")
    if n == 0:
        return Interval(None, None, None, 0, 0)
    share, z = k / n, NormalDist().inv_cdf((1 + level) / 2)
    whole = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / whole
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / whole
    # At the ends the two terms are equal but for rounding.
    low = 0.0 if k == 0 else centre - half
    return Interval(share, low, 1.0 if k == n else centre + half, n, n)


def mean_sd(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation (n - 1 in the denominator); None for what n is too small for.

    Raises:
        EvaluationError: A value is not finite.
    """
    array = finite(values)
    if not array.size:
        return None, None
    if array.min() == array.max():
        return float(array[0]), 0.0 if array.size > 1 else None
    return float(array.mean()), float(array.std(ddof=1))


def _resampled_interval(
    values_by_cluster: Mapping[str, Sequence[float] | Floats], tail: Callable[[int], float], seed: int, resamples: int
) -> Interval:
    """The mean, between the quantiles of its resamples that ``tail`` (of the number of clusters) cuts off."""
    sums, counts = sums_by_cluster(values_by_cluster)
    n, clusters = int(counts.sum()), len(counts)
    if not clusters:
        return Interval(None, None, None, 0, 0)
    mean = float(sums.sum() / n)
    if clusters == 1:
        return Interval(mean, None, None, n, 1)
    below = tail(clusters)
    drawn = resampled(np.stack([sums, counts], axis=1), seed=seed, resamples=resamples)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [below, 1 - below])
    return Interval(mean, float(low), float(high), n, clusters)


def _widened_tail(level: float, clusters: int) -> float:
    from scipy.special import stdtrit  # a quarter of a second of imports that most commands do not need

    t = float(stdtrit(clusters - 1, (1 + level) / 2))
    return NormalDist().cdf(-math.sqrt(clusters / (clusters - 1)) * t)


def _check(level: float, resamples: int = 1) -> None:
    if not 0 < level < 1 or resamples < 1:
        raise EvaluationError(
            f"no interval has the level {level!r} from {resamples!r} resamples.",
            hint="Use a level between 0 and 1, as 0.95, and at least one resample.",
        )


def _of_draws(value: float, drawn: Floats | None, n: int) -> Interval:
    if np.isnan(value):
        return Interval(None, None, None, n, n)
    if drawn is None or np.isnan(drawn).all():
        return Interval(value, None, None, n, n)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high), n, n)
