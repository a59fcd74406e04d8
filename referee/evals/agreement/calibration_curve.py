"""Whether predicted ratings rise with people's as they should, and how much of the form's scale they use."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.evals.agreement.scales import Scale
from referee.stats import Interval, bootstrap_interval
from referee.stats.distances import normalised_entropy
from referee.stats.values import finite

FEWEST_TO_SHOW = 5
NO_SPREAD = "all papers have one mean human rating"


@dataclass(frozen=True, slots=True)
class Bin:
    """Papers whose mean human rating rounds to ``rating``; the mean prediction has a 95% interval by paper."""

    rating: int
    n: int
    mean_human: float
    predicted: Interval

    @property
    def shown(self) -> bool:
        """Whether it holds enough papers to be drawn."""
        return self.n >= FEWEST_TO_SHOW


@dataclass(frozen=True, slots=True)
class Curve:
    """Slope 1, compression 1 and gap 0 are perfect; a slope or compression below 1 says that predictions huddle.

    ``slope`` is of predictions on human means (least squares), ``compression`` the ratio of standard deviations,
    ``gap`` the mean distance of the bins' two means, weighted by papers. None with a ``reason``.
    """

    bins: tuple[Bin, ...]
    slope: float | None
    compression: float | None
    gap: float | None
    reason: str = ""


def calibration_curve(predicted: Sequence[float], human: Sequence[float], *, seed: int = 0) -> Curve:
    """Predictions against mean human ratings; bins are floor(s + 0.5). All bins count for the gap, shown or not.

    Raises:
        EvaluationError: The lists differ in length, or a value is not finite.

    Source: "ReviewArena: A Large-Scale Cross-Conference Dataset and Benchmark for LLM Peer Review" (bins); the rest is
    ours.
    """
    p, s = finite(predicted), finite(human)
    if len(p) != len(s):
        raise EvaluationError(f"{len(p)} predictions do not go with {len(s)} papers.", hint="Give one a paper.")
    if not len(p):
        return Curve((), None, None, None, "no paper can be scored")
    members: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for value, target in zip(p.tolist(), s.tolist(), strict=True):
        members[math.floor(target + 0.5)].append((target, value))
    bins = tuple(_bin(rating, members[rating], seed) for rating in sorted(members))
    gap = sum(b.n * abs((b.predicted.mean or 0.0) - b.mean_human) for b in bins) / len(p)
    if s.min() == s.max():
        return Curve(bins, None, None, gap, NO_SPREAD)
    around = s - s.mean()
    slope = float((around * (p - p.mean())).sum() / (around**2).sum())
    return Curve(bins, slope, float(np.std(p) / np.std(s)), gap)


def _bin(rating: int, members: Sequence[tuple[float, float]], seed: int) -> Bin:
    n = len(members)
    predicted = bootstrap_interval({str(number): [p] for number, (_, p) in enumerate(members)}, seed=seed)
    return Bin(rating, n, sum(s for s, _ in members) / n, predicted)


@dataclass(frozen=True, slots=True)
class RangeUse:
    """What of a scale a set of ratings uses; all None without ratings.

    ``shares`` go with ``scale.allowed`` and are of all ratings, those off the scale too. ``used`` is the share of
    allowed values that occur, ``entropy`` 0 for one value and 1 for all alike, ``low_third`` and ``high_third`` the
    shares strictly within the outer thirds of the span, ``extreme`` their sum.
    """

    scale: Scale
    n: int
    lowest: float | None
    highest: float | None
    shares: tuple[float, ...] | None
    off_scale: float | None
    used: float | None
    entropy: float | None
    low_third: float | None
    high_third: float | None
    extreme: float | None


def range_use(values: Sequence[float], scale: Scale) -> RangeUse:
    """Range, shares and spread of single ratings; means of several ratings would use the middle by themselves."""
    n = len(values)
    if not n:
        return RangeUse(scale, 0, *([None] * 9))
    counts = [sum(value == allowed for value in values) for allowed in scale.allowed]
    third = scale.span / 3
    low = sum(value < scale.low + third for value in values) / n
    high = sum(value > scale.high - third for value in values) / n
    return RangeUse(
        scale=scale,
        n=n,
        lowest=min(values),
        highest=max(values),
        shares=tuple(count / n for count in counts),
        off_scale=(n - sum(counts)) / n,
        used=sum(count > 0 for count in counts) / len(counts),
        entropy=normalised_entropy(counts),
        low_third=low,
        high_third=high,
        extreme=low + high,
    )
