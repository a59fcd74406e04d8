from __future__ import annotations

import pytest

from referee.errors import EvaluationError
from referee.stats.distances import distances, normalised_entropy

HUMAN = [0.008, 0.080, 0.332, 0.460, 0.121]
DEEPSEEK = [0.001, 0, 0.009, 0.990, 0]


def test_the_specification_s_pair_renormalised() -> None:
    apart = distances(HUMAN, DEEPSEEK, [1, 2, 3, 4, 5])
    assert apart is not None
    assert apart.l1 == pytest.approx(1.060919, abs=1e-6)
    assert apart.total_variation == pytest.approx(0.530460, abs=1e-6)
    assert apart.wasserstein_1 == pytest.approx(0.624364, abs=1e-6)


def test_gaps_of_the_scale_count_in_the_distance_of_transport_alone() -> None:
    apart = distances([1, 0], [0, 1], [6, 10])
    assert apart is not None
    assert (apart.l1, apart.total_variation, apart.wasserstein_1) == (2, 1, 4)


def test_counts_are_scaled_and_equal_ones_are_at_distance_zero() -> None:
    apart = distances([1, 2], [10, 20], [1, 2])
    assert apart is not None
    assert (apart.l1, apart.wasserstein_1) == pytest.approx((0, 0))


def test_nothing_to_compare_is_none() -> None:
    assert distances([0, 0], [1, 1], [1, 2]) is None
    assert distances([], [], []) is None


@pytest.mark.parametrize(
    ("first", "second", "places"), [([1], [1, 2], [1, 2]), ([-1, 2], [1, 1], [1, 2]), ([1, 1], [1, 1], [2, 2])]
)
def test_what_is_no_distribution_is_refused(first: list[float], second: list[float], places: list[float]) -> None:
    with pytest.raises(EvaluationError):
        distances(first, second, places)


def test_entropy_is_zero_for_one_value_and_one_for_all_alike() -> None:
    assert normalised_entropy([0, 5, 0]) == 0
    assert normalised_entropy([2, 2, 2]) == pytest.approx(1)
    assert normalised_entropy([1, 1, 0, 0]) == pytest.approx(0.5)
    assert normalised_entropy([0, 0]) is None
    assert normalised_entropy([3]) is None
    with pytest.raises(EvaluationError, match="negative"):
        normalised_entropy([1, -1])
