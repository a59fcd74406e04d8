from __future__ import annotations

import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.calibration_curve import NO_SPREAD, calibration_curve, range_use
from referee.evals.agreement.scales import Scale

HUMAN = [3.2, 4.0, 4.6, 5.4, 5.6, 6.4, 7.5]
PREDICTED = [5, 5, 6, 6, 6, 7, 7]


def test_the_specification_s_papers() -> None:
    found = calibration_curve(PREDICTED, HUMAN)
    assert {b.rating: b.predicted.mean for b in found.bins} == {3: 5, 4: 5, 5: 6, 6: 6.5, 8: 7}
    assert found.slope == pytest.approx(0.526848, abs=1e-6)
    assert found.compression == pytest.approx(0.560835, abs=1e-6)
    assert found.gap == pytest.approx(0.9, abs=1e-6)


def test_bins_of_fewer_than_five_papers_are_not_shown() -> None:
    found = calibration_curve([6] * 9, [5] * 4 + [6.5] * 5)
    assert [(b.rating, b.n, b.shown) for b in found.bins] == [(5, 4, False), (7, 5, True)]


def test_halves_round_up_and_perfect_is_one_and_nought() -> None:
    found = calibration_curve([2.5, 3.5, 5], [2.5, 3.5, 5])
    assert [b.rating for b in found.bins] == [3, 4, 5]
    assert (found.slope, found.compression, found.gap) == pytest.approx((1, 1, 0))


def test_no_spread_and_no_papers_have_a_reason() -> None:
    found = calibration_curve([6, 7], [5, 5])
    assert (found.slope, found.compression, found.gap, found.reason) == (None, None, 1.5, NO_SPREAD)
    assert calibration_curve([], []).reason
    assert calibration_curve([6, 6], [5, 7]).slope == 0
    with pytest.raises(EvaluationError):
        calibration_curve([1], [])


def test_a_bin_s_mean_prediction_has_an_interval_by_paper() -> None:
    (found,) = calibration_curve([4, 5, 6, 6, 7, 8], [6] * 6).bins
    assert found.predicted.low is not None
    assert found.predicted.high is not None
    assert 4 < found.predicted.low < 6 < found.predicted.high < 8
    assert calibration_curve([4], [6]).bins[0].predicted.low is None


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
