import math
from itertools import combinations

import pytest

from referee.errors import EvaluationError
from referee.stats import average_ranks, mann_whitney, rank_biserial, spearman
from referee.stats.ranks import rank_correlation


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


PREDICTED, HUMAN = [6, 6, 7, 5, 6, 8, 5, 3], [5.5, 4, 6, 5.5, 5, 7.5, 3, 5]


def test_rank_correlations_with_ties_are_those_of_their_definitions() -> None:
    found = rank_correlation(PREDICTED, HUMAN, seed=0)
    assert found.spearman.mean == pytest.approx(spearman(PREDICTED, HUMAN))
    signs = [
        ((a > c) - (a < c)) * ((b > d) - (b < d))
        for (a, b), (c, d) in combinations(zip(PREDICTED, HUMAN, strict=True), 2)
    ]
    untied = [sum(a != b for a, b in combinations(side, 2)) for side in (PREDICTED, HUMAN)]
    assert found.kendall.mean == pytest.approx(sum(signs) / math.sqrt(untied[0] * untied[1]))
    for one in (found.spearman, found.kendall):
        assert one.low is not None
        assert one.high is not None
        assert -1 <= one.low < (one.mean or 0) < one.high <= 1
        assert one.clusters == 8
    assert rank_correlation(PREDICTED[::-1], HUMAN[::-1], seed=0) == found, "the order of papers does not matter"


def test_perfect_order_and_none() -> None:
    rising = rank_correlation([1, 2, 30], [0.1, 0.2, 9], seed=0)
    assert (rising.spearman.mean, rising.kendall.mean) == (pytest.approx(1), pytest.approx(1))
    for first, second in (([1, 1, 1], [1, 2, 3]), ([1], [2]), ([], [])):
        none = rank_correlation(first, second, seed=0)
        assert (none.spearman.mean, none.kendall.mean, none.kendall.low) == (None, None, None)
        assert none.reason
    with pytest.raises(EvaluationError, match="pairs"):
        rank_correlation([1, 2], [1], seed=0)
