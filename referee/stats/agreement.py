"""Krippendorff's alpha: agreement of any number of judges, with gaps, beyond what chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from referee.stats.values import Floats, finite

Level = Literal["nominal", "ordinal", "interval"]
_Ints = NDArray[np.intp]


def krippendorff_alpha(units: Sequence[Sequence[float | None]], level: Level = "ordinal") -> float | None:
    """Agreement over units (reviews), each with the values that judges gave it; 1 is perfect, 0 is chance.

    alpha = 1 - D_o / D_e with D_o = (1/n) sum_u (1/(m_u - 1)) sum over ordered pairs of values of u of d(c, k) and
    D_e = (1/(n (n - 1))) sum over ordered pairs of all values of d(c, k); units with fewer than two values are left
    out, m_u counts the values of a unit, n all that remain. d is 1 for unlike values (nominal), (c - k)^2 (interval),
    and (sum of n_g for g from c to k, less (n_c + n_k)/2)^2 (ordinal), which is the squared distance of the values'
    mid ranks.

    Args:
        units: One row a unit; rows may have different lengths, and None is a missing value.
        level: What differences between values mean.

    Returns:
        At most 1; below 0 for less agreement than chance. None where it is undefined: no unit with two values, or one
        value throughout.

    Raises:
        EvaluationError: A value is not finite.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011; "Content Analysis", chapter 11.
    """
    paired = [given for unit in units if len(given := [value for value in unit if value is not None]) > 1]
    values = finite([value for unit in paired for value in unit])
    if not values.size or values.min() == values.max():
        return None
    unit_of = np.repeat(np.arange(len(paired)), [len(unit) for unit in paired])
    if level == "nominal":
        return _nominal(values, unit_of)
    return _interval(values if level == "interval" else _mid_ranks(values), unit_of)


def _interval(values: Floats, unit_of: _Ints) -> float:
    """With squared distances the pair sums are sums of squares: within units against over all."""
    sizes = np.bincount(unit_of)
    means = np.bincount(unit_of, weights=values) / sizes
    within = np.bincount(unit_of, weights=(values - means[unit_of]) ** 2)
    observed = float((within * sizes / (sizes - 1)).sum()) / len(values)
    expected = float(((values - values.mean()) ** 2).sum()) / (len(values) - 1)
    return 1 - observed / expected


def _nominal(values: Floats, unit_of: _Ints) -> float:
    """Unlike pairs are all pairs less the pairs of equal values."""
    sizes = np.bincount(unit_of)
    _, codes = np.unique(values, return_inverse=True)
    kinds = codes.max() + 1
    cells, counts = np.unique(unit_of * kinds + codes, return_counts=True)
    alike = np.bincount(cells // kinds, weights=counts.astype(np.float64) ** 2)
    n, of_kind = len(values), np.bincount(codes).astype(np.float64)
    observed = float(((sizes.astype(np.float64) ** 2 - alike) / (sizes - 1)).sum()) / n
    expected = (n * n - float((of_kind**2).sum())) / (n * (n - 1))
    return 1 - observed / expected


def _mid_ranks(values: Floats) -> Floats:
    counted: tuple[Any, Any, Any] = np.unique(values, return_inverse=True, return_counts=True)
    _, codes, counts = counted
    middles: Floats = np.cumsum(counts) - counts / 2
    ranks: Floats = middles[codes]
    return ranks
