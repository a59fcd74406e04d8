"""Rank correlations of many resamples of the same pairs at once, for intervals around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.stats.intervals import Interval, statistic_intervals
from referee.stats.values import Floats, finite

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
