"""Isotonic regression: the rising step function nearest to the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from referee.errors import EvaluationError
from referee.stats.values import finite


@dataclass(frozen=True, slots=True)
class Knot:
    """A distinct x and the fitted value there."""

    x: float
    y: float


def isotonic_fit(x: Sequence[float], y: Sequence[float], weights: Sequence[float] | None = None) -> tuple[Knot, ...]:
    """The never falling f that minimises sum w (y - f(x))^2, at the distinct x in rising order.

    Points of equal x are first taken together (weighted mean), then neighbours that fall are pooled until none does
    (pool adjacent violators).

    Args:
        x: Where the points lie.
        y: Their values.
        weights: Positive; one each where left out.

    Returns:
        One knot for each distinct x; none without points.

    Raises:
        EvaluationError: The lists differ in length, a number is not finite, or a weight is not positive.

    Source: Barlow, Bartholomew, Bremner and Brunk, "Statistical Inference under Order Restrictions", 1972, chapter 1.
    """
    xs, ys = finite(x), finite(y)
    ws = np.ones(len(xs)) if weights is None else finite(weights)
    if not len(xs) == len(ys) == len(ws) or (ws.size and ws.min() <= 0):
        raise EvaluationError(
            f"a fit needs as many values and positive weights as points, not {len(xs)}, {len(ys)} and {len(ws)}.",
            hint="Give one value and one weight above 0 a point.",
        )
    places, codes = np.unique(xs, return_inverse=True)
    mass = np.bincount(codes, weights=ws, minlength=len(places))
    means = np.bincount(codes, weights=ws * ys, minlength=len(places)) / mass
    fitted = _pooled(means.tolist(), mass.tolist())
    return tuple(Knot(float(place), value) for place, value in zip(places, fitted, strict=True))


def interpolated(knots: Sequence[tuple[float, float]], x: float) -> float:
    """The value at x of the line through the knots; level beyond the first and the last.

    Raises:
        EvaluationError: There are no knots.
    """
    if not knots:
        raise EvaluationError("a line needs a knot.", hint="Fit it on some points.")
    xs, ys = zip(*knots, strict=True)
    return float(np.interp(x, xs, ys))


def _pooled(means: list[float], mass: list[float]) -> list[float]:
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(means, mass, strict=True):
        value, total, width = mean, weight, 1
        while blocks and blocks[-1][0] > value:
            before, before_total, before_width = blocks.pop()
            value = (before * before_total + value * total) / (before_total + total)
            total, width = total + before_total, width + before_width
        blocks.append((value, total, width))
    return [value for value, _, width in blocks for _ in range(width)]
