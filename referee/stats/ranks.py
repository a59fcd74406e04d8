"""Ranks: Spearman's correlation, and the size of a difference between two samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from referee.errors import EvaluationError
from referee.stats.comparisons import cliffs_delta
from referee.stats.values import Floats, finite


def average_ranks(values: Sequence[float]) -> Floats:
    """Ranks from 1; equal values share the mean of their ranks.

    Raises:
        EvaluationError: A value is not finite.
    """
    found: tuple[Any, Any, Any] = np.unique(finite(values), return_inverse=True, return_counts=True)
    _, codes, counts = found
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[codes.reshape(-1)]
    return ranks


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
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
