import math

import pytest

from referee.errors import EvaluationError
from referee.stats import average_ranks, mann_whitney, rank_biserial, spearman


def test_the_fixture_of_cross_references_and_specificity() -> None:
    assert spearman([0, 0, 1, 2, 3, 7], [1.5, 2, 2, 2.5, 2.4, 3]) == pytest.approx(0.897059, abs=1e-6)


def test_ties_share_their_mean_rank() -> None:
    assert average_ranks([3, 1, 3, 2]).tolist() == [3.5, 1, 3.5, 2]
    assert average_ranks([]).tolist() == []


def test_a_rank_correlation_is_one_in_order_and_none_where_nothing_varies() -> None:
    assert spearman([1, 2, 30], [0.1, 0.2, 9]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1, 2, 3], [5, 5, 5]) is None
    assert spearman([1], [2]) is None
    assert spearman([], []) is None


def test_a_rank_correlation_needs_pairs_of_numbers() -> None:
    with pytest.raises(EvaluationError, match="pairs"):
        spearman([1, 2], [1])
    with pytest.raises(EvaluationError, match="finite"):
        spearman([1, math.nan], [1, 2])


def test_the_fixture_of_group_tests() -> None:
    first, second = [500, 540, 610, 480, 530], [450, 520, 470, 490]
    normal = mann_whitney(first, second, exact_up_to=0)
    exact = mann_whitney(first, second, exact_up_to=8)
    assert normal is not None
    assert exact is not None
    assert (normal.u, normal.method, exact.u, exact.method) == (17, "normal", 17, "exact")
    assert normal.p == pytest.approx(0.11135, abs=5e-6)
    assert exact.p == pytest.approx(1 / 9)
    assert rank_biserial(first, second) == pytest.approx(0.7)
    assert rank_biserial([], second) is None


def test_nine_values_are_too_many_for_an_exact_test_up_to_eight() -> None:
    nine = mann_whitney(range(9), range(20, 25), exact_up_to=8)
    assert nine is not None
    assert nine.method == "normal"
    unchanged = mann_whitney(range(9), range(20, 25))
    assert unchanged is not None
    assert unchanged.method == "exact"
