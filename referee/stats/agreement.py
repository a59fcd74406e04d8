"""Krippendorff's alpha: agreement of any number of judges, with gaps, beyond what chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from referee.stats.values import Floats, finite

Level = Literal["nominal", "ordinal", "interval"]
Weighting = Literal["ratings", "pairs"]
_Ints = NDArray[np.intp]


def krippendorff_alpha(
    units: Sequence[Sequence[float | None]], level: Level = "ordinal", *, weighting: Weighting = "ratings"
) -> float | None:
    """Agreement over units (reviews), each with the values that judges gave it; 1 is perfect, 0 is chance.

    alpha = 1 - D_o / D_e with D_o = (1/n) sum_u (1/(m_u - 1)) sum over ordered pairs of values of u of d(c, k) and
    D_e = (1/(n (n - 1))) sum over ordered pairs of all values of d(c, k); units with fewer than two values are left
    out, m_u counts the values of a unit, n all that remain. d is 1 for unlike values (nominal), (c - k)^2 (interval),
    and (sum of n_g for g from c to k, less (n_c + n_k)/2)^2 (ordinal), which is the squared distance of the values'
    mid ranks.

    Args:
        units: One row a unit; rows may have different lengths, and None is a missing value.
        level: What differences between values mean.
        weighting: ``ratings`` is Krippendorff's alpha: each value weighs the same. ``pairs`` is the variant that PRAIB
            prints, for comparison only: D_o = sum over ordered pairs within units of d / sum_u m_u (m_u - 1), so that
            units with many values dominate, and values of units with one value count in n_c, n and D_e.

    Returns:
        At most 1; below 0 for less agreement than chance. None where it is undefined: no unit with two values, or one
        value throughout.

    Raises:
        EvaluationError: A value is not finite.

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011; "Content Analysis", chapter 11;
    "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing" (``pairs``).
    """
    values, unit_of = _flat(units, fewest=2 if weighting == "ratings" else 1)
    if not values.size or values.min() == values.max():
        return None
    sizes = np.bincount(unit_of)
    if sizes.max() == 1:
        return None
    if level == "nominal":
        within, expected = _nominal(values, unit_of, sizes)
    else:
        within, expected = _interval(values if level == "interval" else _mid_ranks(values), unit_of, sizes)
    if weighting == "pairs":
        return 1 - float(within.sum() / (sizes * (sizes - 1)).sum()) / expected
    return 1 - float((within / (sizes - 1)).sum()) / len(values) / expected


def _flat(units: Sequence[Sequence[float | None]], fewest: int) -> tuple[Floats, _Ints]:
    """The values of units with so many at least, and the unit of each, numbered without gaps."""
    listed = list(chain.from_iterable(units))
    unit_of = np.repeat(np.arange(len(units)), np.fromiter(map(len, units), dtype=np.intp, count=len(units)))
    missing = listed.count(None)
    # As floats, None becomes nan; a nan that was given stays one too many and is refused.
    values = np.array(listed, dtype=np.float64)
    absent = np.isnan(values)
    if missing and int(absent.sum()) == missing:
        values, unit_of = values[~absent], unit_of[~absent]
    values = finite(values)
    enough = np.bincount(unit_of, minlength=len(units)) >= fewest
    number = np.cumsum(enough) - 1
    kept = enough[unit_of]
    return values[kept], number[unit_of[kept]]


def _interval(values: Floats, unit_of: _Ints, sizes: _Ints) -> tuple[Floats, float]:
    """With squared distances the pair sums are sums of squares: within units against over all."""
    means = np.bincount(unit_of, weights=values) / sizes
    squares = np.bincount(unit_of, weights=(values - means[unit_of]) ** 2).astype(np.float64)
    expected = 2 * float(((values - values.mean()) ** 2).sum()) / (len(values) - 1)
    return 2 * squares * sizes, expected


def _nominal(values: Floats, unit_of: _Ints, sizes: _Ints) -> tuple[Floats, float]:
    """Unlike pairs are all pairs less the pairs of equal values."""
    _, codes = np.unique(values, return_inverse=True)
    kinds = codes.max() + 1
    cells, counts = np.unique(unit_of * kinds + codes, return_counts=True)
    alike = np.bincount(cells // kinds, weights=counts.astype(np.float64) ** 2)
    n, of_kind = len(values), np.bincount(codes).astype(np.float64)
    unlike: Floats = sizes.astype(np.float64) ** 2 - alike
    return unlike, (n * n - float((of_kind**2).sum())) / (n * (n - 1))


def _mid_ranks(values: Floats) -> Floats:
    kinds = np.unique(values)
    # A search for 200,000 values among ten is quicker than sorting them.
    codes = np.searchsorted(kinds, values)
    counts = np.bincount(codes)
    middles: Floats = np.cumsum(counts) - counts / 2
    ranks: Floats = middles[codes]
    return ranks


class AlphaTable:
    """Units of ratings, counted once, from which alpha follows for any multiplicities of the units.

    A unit adds its ordered pairs over m_u - 1 to a table of coincidences o(c, k); drawing a unit twice adds them
    twice. With the marginals n_c of the sum, alpha = 1 - (n - 1) sum o d / sum n_c n_k d, where d are the squared
    distances of mid ranks among the values drawn. Equal to ``krippendorff_alpha`` of the repeated units, without
    listing them.
    """

    def __init__(self, units: Sequence[Sequence[float]]) -> None:
        self.values, codes = np.unique(finite([value for unit in units for value in unit]), return_inverse=True)
        kinds = len(self.values)
        unit_of = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
        counts = np.bincount(unit_of * kinds + codes, minlength=len(units) * kinds).astype(np.float64)
        self._coincidences = _coincidences(counts.reshape(len(units), kinds))

    def alphas(self, drawn: Floats) -> Floats:
        """Alpha of each resample; nan where it is undefined.

        Args:
            drawn: Resamples x units: how often each unit was drawn.
        """
        kinds = len(self.values)
        o = (drawn @ self._coincidences).reshape(len(drawn), kinds, kinds)
        marginals = o.sum(axis=2)
        ranks = np.cumsum(marginals, axis=1) - marginals / 2
        distances = (ranks[:, :, None] - ranks[:, None, :]) ** 2
        observed = (o * distances).sum(axis=(1, 2))
        expected = (marginals[:, :, None] * marginals[:, None, :] * distances).sum(axis=(1, 2))
        # Coincidences are sums of fractions: what is one value throughout is 0 but for rounding.
        varied = (marginals > 1e-9).sum(axis=1) > 1
        out: Floats = np.full(len(drawn), np.nan)
        out[varied] = 1 - (marginals[varied].sum(axis=1) - 1) * observed[varied] / expected[varied]
        return out


def _coincidences(counts: Floats) -> Floats:
    """Units x (kinds * kinds): the ordered pairs of each unit over m - 1; none for m < 2."""
    sizes, kinds = counts.sum(axis=1), counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(kinds), np.arange(kinds)] -= counts
    weight = np.where(sizes > 1, 1 / np.maximum(sizes - 1, 1), 0)
    return (pairs * weight[:, None, None]).reshape(len(counts), kinds * kinds)
