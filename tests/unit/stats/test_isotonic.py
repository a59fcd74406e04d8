from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats.isotonic import interpolated, isotonic_fit


def ys(*args: object) -> list[float]:
    return [knot.y for knot in isotonic_fit(*args)]  # type: ignore[arg-type]


def test_the_textbook_example_pools_neighbours_that_fall() -> None:
    assert ys([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 3.5, 6]) == pytest.approx([1, 2.5, 2.5, 3.75, 3.75, 6])
    assert ys([1, 2, 3], [3, 2, 1]) == pytest.approx([2, 2, 2])
    assert ys([1, 2, 3], [1, 2, 3]) == [1, 2, 3]


def test_weights_count_as_repetitions() -> None:
    weighted = ys([1, 2, 3], [4, 1, 5], [1, 3, 1])
    repeated = ys([1, 2, 2, 2, 3], [4, 1, 1, 1, 5])
    assert weighted == pytest.approx(repeated)
    assert weighted == pytest.approx([1.75, 1.75, 5])


def test_equal_places_are_one_knot_whatever_the_order() -> None:
    knots = isotonic_fit([5, 3, 5, 3], [6, 2, 8, 4])
    assert [(knot.x, knot.y) for knot in knots] == [(3, 3), (5, 7)]


@pytest.mark.parametrize("seed", range(10))
def test_it_never_falls_keeps_the_mean_and_no_rising_change_is_nearer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = np.arange(20.0), rng.normal(size=20).cumsum()
    fitted = np.array(ys(x.tolist(), y.tolist()))
    assert all(a <= b + 1e-12 for a, b in pairwise(fitted))
    assert fitted.mean() == pytest.approx(y.mean())
    loss = ((y - fitted) ** 2).sum()
    for _ in range(200):
        other = np.sort(fitted + rng.normal(scale=0.2, size=20))
        assert ((y - other) ** 2).sum() >= loss - 1e-9


def test_nothing_and_one_point() -> None:
    assert isotonic_fit([], []) == ()
    assert ys([2], [7]) == [7]


@pytest.mark.parametrize(
    ("x", "y", "weights"), [([1], [], None), ([1], [1], [0.0]), ([1, 2], [1, 2], [1.0]), ([1], [math.nan], None)]
)
def test_what_fits_not_together_is_refused(x: list[float], y: list[float], weights: list[float] | None) -> None:
    with pytest.raises(EvaluationError):
        isotonic_fit(x, y, weights)


def test_a_line_through_knots_is_level_beyond_them() -> None:
    knots = [(2.0, 1.0), (4.0, 5.0)]
    assert [interpolated(knots, x) for x in (0, 2, 3, 4, 9)] == [1, 1, 3, 5, 5]
    with pytest.raises(EvaluationError, match="knot"):
        interpolated([], 1)
