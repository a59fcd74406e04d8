"""How much of a form's scale is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.evals.agreement.scales import Scale
from referee.stats.distances import normalised_entropy


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
