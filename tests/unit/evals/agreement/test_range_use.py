from __future__ import annotations

import pytest

from referee.evals.agreement.calibration_curve import range_use
from referee.evals.agreement.scales import Scale

TEN = Scale("neurips-2024", "rating", tuple(range(1, 11)), 6)
ICLR = Scale("iclr-2024", "rating", (1, 3, 5, 6, 8, 10), 6)


def test_what_is_used_of_a_scale() -> None:
    found = range_use([6, 6, 7, 8], TEN)
    assert (found.lowest, found.highest, found.n) == (6, 8, 4)
    assert found.shares == (0, 0, 0, 0, 0, 0.5, 0.25, 0.25, 0, 0)
    assert found.used == pytest.approx(0.3)
    assert found.entropy == pytest.approx(1.5 / 3.321928, abs=1e-6)
    assert (found.low_third, found.high_third, found.extreme) == (0, 0.25, 0.25)


def test_all_values_once_use_the_whole_scale() -> None:
    found = range_use(TEN.allowed, TEN)
    assert (found.used, found.off_scale) == (1, 0)
    assert found.entropy == pytest.approx(1)
    assert (found.low_third, found.high_third, found.extreme) == pytest.approx((0.3, 0.3, 0.6))


def test_values_off_the_form_are_in_no_share_but_in_the_range() -> None:
    found = range_use([7, 7, 6, 12], ICLR)
    assert (found.highest, found.off_scale) == (12, 0.75)
    assert sum(found.shares or ()) == 0.25


def test_no_ratings_are_no_numbers() -> None:
    found = range_use([], TEN)
    assert found.n == 0
    assert found.shares is found.entropy is found.extreme is None
