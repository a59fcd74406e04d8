"""Ordinal alpha of many resamples of the same units at once, for intervals around it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from referee.stats.values import Floats, finite


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
