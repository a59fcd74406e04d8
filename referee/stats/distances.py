"""How far apart two distributions over the same ordered values are: L1, total variation, Wasserstein-1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.stats.values import Floats, finite


@dataclass(frozen=True, slots=True)
class Distances:
    """``l1`` is in [0, 2], ``total_variation`` half of it; ``wasserstein_1`` is in units of the values."""

    l1: float
    total_variation: float
    wasserstein_1: float


def distances(first: Sequence[float], second: Sequence[float], positions: Sequence[float]) -> Distances | None:
    """The distances of two distributions given as weights of the same values.

    Both are scaled to sum 1. L1 = sum |p - q|, total variation = L1 / 2, and Wasserstein-1 = the area between the two
    cumulative distributions, so that moving all weight by one point of the scale makes 1.

    Args:
        first: Weights or counts, none negative.
        second: The same for the other distribution.
        positions: The values, in rising order.

    Returns:
        None where one of the distributions has no weight.

    Raises:
        EvaluationError: The lists differ in length, a weight is negative, or the values do not rise.

    Source: "PRAIB: Peer Review AI Benchmark of Behaviour of LLM-Assisted Reviewing", which calls L1 total variation.
    """
    p, q, places = finite(first), finite(second), finite(positions)
    _check(p, q, places)
    if not p.sum() or not q.sum():
        return None
    apart = p / p.sum() - q / q.sum()
    l1 = float(np.abs(apart).sum())
    area = float((np.abs(np.cumsum(apart)[:-1]) * np.diff(places)).sum())
    return Distances(l1, l1 / 2, area)


def normalised_entropy(weights: Sequence[float]) -> float | None:
    """Shannon entropy of a distribution over k values divided by log k: 0 for one value, 1 for all alike.

    Returns:
        None without weight, or over fewer than two values.

    Raises:
        EvaluationError: A weight is negative or not finite.
    """
    array = finite(weights)
    if array.size and array.min() < 0:
        raise EvaluationError("a share is negative.", hint="Give counts or shares.")
    if array.size < 2 or not array.sum():
        return None
    shares = array[array > 0] / array.sum()
    # One value of share 1 would give -0.0.
    return abs(float((shares * np.log(shares)).sum())) / float(np.log(array.size))


def _check(p: Floats, q: Floats, places: Floats) -> None:
    if not len(p) == len(q) == len(places):
        raise EvaluationError(
            f"distributions over {len(p)}, {len(q)} and {len(places)} values cannot be compared.",
            hint="Count both over the same values.",
        )
    if len(p) and (p.min() < 0 or q.min() < 0):
        raise EvaluationError("a share is negative.", hint="Give counts or shares.")
    if (np.diff(places) <= 0).any():
        raise EvaluationError("the values of a distribution do not rise.", hint="Sort them, each once.")
