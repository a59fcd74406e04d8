"""Thresholds from human scores: the largest rate of false accusations that one accepts, and what is known of it.

Of n human scores, k = floor(alpha n) may lie above the threshold theta = h_(k+1), the next lower one; a review is
flagged if its score is above theta and not if it equals it, so that ties are human and at most k of the n are flagged.
How often *other* people would be flagged is not alpha: given theta it follows Beta(k + 1, n - k), whose mean and 95%
interval stand beside every threshold. Below 1/n nothing can be resolved, and such a threshold flags nobody; below 3/n
(rule of three) no rate is claimed.

Source: the specification's sections 6.3 and 6.4, after "Is Your Paper Being Reviewed by an LLM? Benchmarking AI Text
Detection in Peer Review", Eq. 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from referee.errors import EvaluationError
from referee.schemas.base import Frozen
from referee.stats.values import Floats, finite

Mode = Literal["exact", "conservative"]
Resolution = Literal["claimed", "not_claimed", "not_resolvable", "insufficient_calibration"]

# alpha n is a product of floats: 0.001 * 3000 must count as 3.
ROUNDING = 1e-9


class Threshold(Frozen):
    """A threshold for one accepted rate of false positives.

    Attributes:
        target: Alpha, in (0, 1).
        theta: A score above it is flagged; None where no score may be.
        n: Human reviews it was taken from.
        k: How many of them may lie above it.
        flagged: How many do; fewer than k where scores tie.
        low: Lower end of the 95% interval of the rate among other people, from Beta(k + 1, n - k).
        mean: (k + 1) / (n + 1), the rate to expect.
        high: Upper end.
        resolution: ``claimed``; ``not_claimed`` below 3/n; ``not_resolvable`` below 1/n; ``insufficient_calibration``
            where the conservative mode needs more reviews. The last two flag nobody.
    """

    target: float = Field(gt=0, lt=1)
    theta: float | None
    n: int = Field(ge=1)
    k: int = Field(ge=0)
    flagged: int = Field(ge=0)
    low: float
    mean: float
    high: float
    resolution: Resolution

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.theta is None and self.resolution in ("claimed", "not_claimed"):
            raise ValueError(f"a threshold that is {self.resolution!r} needs a theta")
        return self

    @property
    def flags_anyone(self) -> bool:
        """Whether any score may be flagged by it."""
        return self.theta is not None and self.resolution in ("claimed", "not_claimed")

    def flags(self, score: float | None) -> bool:
        """Whether a score is strictly above it; a missing score, or one that is no number, never is."""
        if score is None or self.theta is None or not math.isfinite(score):
            return False
        return self.flags_anyone and score > self.theta

    def flagged_of(self, scores: Floats) -> NDArray[np.bool_]:
        """Whether each score is strictly above it; NaN is a missing score."""
        if self.theta is None or not self.flags_anyone:
            return np.zeros(len(scores), dtype=bool)
        return np.asarray((scores > self.theta) & (scores < np.inf))

    @property
    def claim(self) -> str:
        """What is known of the rate, in a sentence."""
        of = f"{self.target:.2%} of human reviews, from {self.n} of them (k = {self.k})"
        if self.resolution == "not_resolvable":
            fewest = math.ceil(1 / self.target - ROUNDING)
            return f"not resolvable: {of}; at least {fewest} are needed. Nobody is flagged."
        if self.resolution == "insufficient_calibration":
            return f"too few human reviews for the conservative threshold: {of}. Nobody is flagged."
        said = f"expected {self.mean:.2%} of other human reviews, 95% interval {self.low:.2%} to {self.high:.2%}"
        if self.resolution == "not_claimed":
            fewest = math.ceil(3 / self.target - ROUNDING)
            return f"no rate is claimed: {of}; {said}. A claim needs {fewest} human reviews."
        return f"{of}; {said}."


def exact_threshold(humans: Sequence[float] | Floats, alpha: float, mode: Mode = "exact") -> tuple[float, int]:
    """Theta and k of human scores at a target rate.

    ``exact``: k = floor(alpha n), so that at most k of these reviews are flagged. ``conservative``: one fewer of n + 1,
    which keeps the *expected* rate among others at or below alpha.

    Returns:
        Minus infinity for alpha of 1 or more; infinity where the conservative mode has too few reviews (k is then 0).

    Raises:
        EvaluationError: There is no score, one is not finite, or alpha is negative.
    """
    ordered = np.sort(finite(humans))[::-1]
    n = len(ordered)
    if not n or alpha < 0:
        raise EvaluationError(
            f"no threshold follows from {n} human scores at a rate of {alpha!r}.",
            hint="Score human reviews first, and use a rate of 0 or more.",
        )
    if alpha >= 1:
        return -math.inf, n
    if mode == "conservative":
        k = math.floor(alpha * (n + 1) + ROUNDING) - 1
        return (float(ordered[k]), k) if k >= 0 else (math.inf, 0)
    k = min(math.floor(alpha * n + ROUNDING), n - 1)
    return float(ordered[k]), k


def false_positive_interval(k: int, n: int, level: float = 0.95) -> tuple[float, float, float]:
    """Lower end, mean and upper end of the rate among others: Beta(k + 1, n - k)."""
    from scipy.special import betaincinv  # a quarter of a second of imports that most commands do not need

    tail = (1 - level) / 2
    low, high = (float(betaincinv(k + 1, n - k, at)) for at in (tail, 1 - tail))
    return low, (k + 1) / (n + 1), high


def upper_bound_without_any(n: int, level: float = 0.95) -> float:
    """The largest rate that is compatible with no false positive among n: 1 - (1 - level)^(1/n), about 3/n."""
    return float(1 - (1 - level) ** (1 / n))


def threshold_at(humans: Sequence[float] | Floats, target: float, mode: Mode = "exact") -> Threshold:
    """A threshold with all that is known of it.

    Raises:
        EvaluationError: There is no score, or one is not finite.
    """
    theta, k = exact_threshold(humans, target, mode)
    n = len(humans)
    low, mean, high = false_positive_interval(k, n)
    resolution: Resolution = "claimed" if target * n >= 3 - ROUNDING else "not_claimed"
    if target * n < 1 - ROUNDING:
        resolution = "not_resolvable"
    if math.isinf(theta):
        resolution = "insufficient_calibration"
    return Threshold(
        target=target,
        theta=theta if math.isfinite(theta) else None,
        n=n,
        k=k,
        flagged=int((np.asarray(humans) > theta).sum()),
        low=low,
        mean=mean,
        high=high,
        resolution=resolution,
    )


def fairness_note(threshold: Threshold, reviews: int) -> str:
    """What has to stand beside every verdict on a person's review.

    Args:
        threshold: The threshold it was judged by.
        reviews: How many reviews were judged.
    """
    if not threshold.flags_anyone:
        return f"Nothing is flagged. {threshold.claim}"
    low, mean, high = (round(rate * reviews, 1) for rate in (threshold.low, threshold.mean, threshold.high))
    return (
        f"A flag is not proof. If people wrote all {reviews} reviews, about {mean:g} would be flagged "
        f"(95% interval of the rate: {low:g} to {high:g}). {threshold.claim}"
    )
