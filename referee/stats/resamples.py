"""Intervals of statistics that are no means: what was drawn is counted, and the statistic computed of the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from referee.stats.intervals import Interval
from referee.stats.values import Floats, finite

Statistics = Callable[[Floats], Floats]
"""Of resamples x units, how often each unit was drawn: resamples x statistics, nan where one is undefined."""

_MOST_CELLS = 1 << 20
_RESAMPLES = 2000


def statistic_intervals(
    copies: Sequence[int], statistics: Statistics, *, seed: int, resamples: int = _RESAMPLES
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
        _interval(float(value), None if drawn is None else drawn[:, number], n) for number, value in enumerate(values)
    ]


def drawn_units(copies: Sequence[int], resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each unit is in each resample, in blocks of resamples that need little memory.

    Args:
        copies: How often each unit is in the data; a resample has as many units, drawn with replacement.
        resamples: How many resamples in all.
        rng: Where the draws come from.
    """
    counts = finite(copies)
    total = int(counts.sum())
    block = max(1, _MOST_CELLS // max(1, len(counts)))
    for start in range(0, resamples if total else 0, block):
        yield rng.multinomial(total, counts / total, size=min(block, resamples - start)).astype(np.float64)


def _interval(value: float, drawn: Floats | None, n: int) -> Interval:
    if np.isnan(value):
        return Interval(None, None, None, n, n)
    if drawn is None or np.isnan(drawn).all():
        return Interval(value, None, None, n, n)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high), n, n)
