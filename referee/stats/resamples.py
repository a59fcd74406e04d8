"""The clustered bootstrap: sums of many columns in resamples of clusters, all columns in the same resamples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from referee.stats.values import Floats, finite

RESAMPLES = 1000
LEVEL = 0.95
_MOST_CELLS = 1 << 20


def resampled(columns: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """The column sums of so many resamples of the rows (clusters, as papers), drawn whole and with replacement.

    Args:
        columns: A row for each cluster.
        seed: Same seed and rows, same resamples.
        resamples: How many.

    Returns:
        A row for each resample.
    """
    papers = len(columns)
    rng = np.random.default_rng(seed)
    block = max(1, _MOST_CELLS // max(papers, 1))
    out = np.empty((resamples, columns.shape[1]))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(papers, size=(size, papers)) + np.arange(size)[:, None] * papers
        weights = np.bincount(drawn.ravel(), minlength=size * papers).reshape(size, papers)
        out[start : start + size] = weights @ columns
    return out


def resampled_means(sums: Floats, counts: Floats, *, seed: int) -> Floats:
    """The means of many columns in resamples of clusters: a row for each resample, NaN where nothing was drawn.

    Args:
        sums: Sums of values, clusters x columns.
        counts: Their numbers, likewise.
        seed: As ``resampled``.
    """
    width = sums.shape[1]
    drawn = resampled(np.hstack([sums, counts]), seed=seed)
    return over(drawn[:, :width], drawn[:, width:])


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


def percentiles(drawn: Floats, papers: int, level: float = LEVEL) -> tuple[float | None, float | None]:
    """The ends of the percentile interval of one statistic; resamples in which it is undefined are left out.

    None below two papers, of whose spread nothing can be said.
    """
    defined = drawn[np.isfinite(drawn)]
    if papers < 2 or defined.size < 2:
        return None, None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def over(sums: Floats, counts: Floats) -> Floats:
    """Sums over counts; NaN where nothing was counted."""
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
