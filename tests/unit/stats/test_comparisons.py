import math
from itertools import combinations

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats import cliffs_delta, holm, mann_whitney, permutation_test
from referee.stats.comparisons import rise


def test_all_sign_patterns_are_counted_where_they_are_few() -> None:
    pairs = {f"p{n}": [(1.0, 0.0)] for n in range(5)}
    assert permutation_test(pairs, seed=0) == 2 / 32
    assert permutation_test({"a": [(3, 0)], "b": [(0, 1)], "c": [(2, 0)]}, seed=0) == 4 / 8


def test_a_cluster_is_swapped_whole() -> None:
    together = {"a": [(1.0, 0.0)] * 6}
    apart = {f"p{n}": [(1.0, 0.0)] for n in range(6)}
    assert permutation_test(together, seed=0) == 1.0
    assert permutation_test(apart, seed=0) == 2 / 64


def test_without_pairs_there_is_no_p_and_without_difference_it_is_one() -> None:
    assert permutation_test({}, seed=0) is None
    assert permutation_test({"a": []}, seed=0) is None
    assert permutation_test({f"p{n}": [(0.3, 0.3)] for n in range(30)}, seed=0) == 1.0
    assert permutation_test({"a": [(0.9, 0.1)]}, seed=0) == 1.0


def test_drawn_patterns_agree_with_counted_ones_and_are_never_zero() -> None:
    rng = np.random.default_rng(3)
    pairs = {f"p{n}": [(float(value), 0.0)] for n, value in enumerate(rng.normal(0.4, 1, 12))}
    counted, drawn = permutation_test(pairs, seed=0), permutation_test(pairs, seed=0, permutations=4000)
    assert counted == pytest.approx(drawn, abs=0.03)
    sure = {f"p{n}": [(1.0, 0.0)] for n in range(40)}
    assert permutation_test(sure, seed=0, permutations=999) == 1 / 1000
    assert permutation_test(pairs, seed=7, permutations=500) == permutation_test(pairs, seed=7, permutations=500)


def test_under_the_null_a_twentieth_is_below_a_twentieth() -> None:
    rng = np.random.default_rng(4)
    tests = [
        permutation_test({f"p{n}": [(float(v), 0.0)] for n, v in enumerate(rng.normal(0, 1, 10))}, seed=0)
        for _ in range(400)
    ]
    assert 0.02 <= np.mean([p is not None and p <= 0.05 for p in tests]) <= 0.08


def test_holm_adjusts_in_the_order_given() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.2]) == [0.2]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.02, 0.02, 0.02]) == pytest.approx([0.06] * 3)
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(EvaluationError):
            holm([0.1, bad])


def test_mann_whitney_on_a_worked_example() -> None:
    tested = mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
    assert tested is not None
    assert (tested.u, tested.method) == (17, "exact")
    assert tested.p == pytest.approx(1 / 9)


def test_the_exact_p_is_the_share_of_all_arrangements() -> None:
    ranks = range(1, 10)
    chosen = (1, 2, 4, 8)
    rest = [r for r in ranks if r not in chosen]
    tested = mann_whitney(chosen, rest)
    assert tested is not None

    def u_of(sample: tuple[int, ...]) -> int:
        return sum(a > b for a in sample for b in ranks if b not in sample)

    every = [u_of(sample) for sample in combinations(ranks, 4)]
    below = sum(u <= tested.u for u in every) / len(every)
    assert tested.p == pytest.approx(min(1, 2 * below))


def test_the_largest_exact_table_counts_every_arrangement() -> None:
    tested = mann_whitney(range(20), range(100, 120))
    assert tested is not None
    assert tested.p == pytest.approx(2 / math.comb(40, 20))


def test_ties_and_large_samples_go_by_the_normal_curve() -> None:
    tied = mann_whitney([1, 2, 2, 3, 5], [2, 3, 4, 4, 5, 6])
    assert tied is not None
    assert (tied.u, tied.method) == (7.0, "normal")
    # Groups of 3, 2, 2, 2 ties: the sum of t^3 - t is 42; U is 8 from its mean.
    assert tied.p == pytest.approx(math.erfc(7.5 / math.sqrt(2.5 * (12 - 42 / 110)) / math.sqrt(2)))
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 21), rng.normal(0, 1, 20)
    large = mann_whitney(a.tolist(), b.tolist())
    assert large is not None
    assert large.method == "normal"


def test_the_normal_curve_is_near_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = [0.55 + n for n in range(15)], [n * 1.7 for n in range(15)]
    exact = mann_whitney(a, b)
    monkeypatch.setattr("referee.stats.comparisons.EXACT_UP_TO", 0)
    normal = mann_whitney(a, b)
    assert exact is not None
    assert normal is not None
    assert (exact.method, normal.method) == ("exact", "normal")
    assert exact.p == pytest.approx(normal.p, abs=0.01)


def test_samples_without_values_or_variation() -> None:
    assert mann_whitney([], [1]) is None
    assert mann_whitney([1], []) is None
    equal = mann_whitney([2, 2], [2, 2, 2])
    assert equal is not None
    assert (equal.u, equal.p) == (3.0, 1.0)
    single = mann_whitney([1], [2])
    assert single is not None
    assert (single.u, single.p) == (0.0, 1.0)


def test_swapping_the_samples_mirrors_u_and_keeps_p() -> None:
    a, b = [1.0, 4.0, 4.5, 9.0], [2.0, 3.0, 8.0]
    there, back = mann_whitney(a, b), mann_whitney(b, a)
    assert there is not None
    assert back is not None
    assert there.u + back.u == 12
    assert there.p == pytest.approx(back.p)


def test_cliffs_delta() -> None:
    assert cliffs_delta([], [1]) is None
    assert cliffs_delta([1], []) is None
    assert cliffs_delta([1], [1]) == 0
    assert cliffs_delta([3, 4], [1, 2]) == 1
    assert cliffs_delta([1, 2], [3, 4]) == -1
    assert cliffs_delta([1, 2, 3], [2, 2]) == 0
    a, b = [1.0, 2.0, 5.0], [1.0, 3.0]
    tested = mann_whitney(a, b)
    assert tested is not None
    assert cliffs_delta(a, b) == pytest.approx(2 * tested.u / 6 - 1)


def test_a_test_needs_numbers_and_permutations() -> None:
    with pytest.raises(EvaluationError, match="finite"):
        mann_whitney([math.nan], [1])
    with pytest.raises(EvaluationError, match="finite"):
        permutation_test({"a": [(math.inf, 0)]}, seed=0)
    with pytest.raises(EvaluationError, match="permutations"):
        permutation_test({"a": [(1, 0)]}, seed=0, permutations=0)


def test_a_rise_is_held_against_the_spread_of_the_differences() -> None:
    # mean .15, sd .1, n 4: t = 3.0 with three degrees of freedom
    found = rise([0.05, 0.1, 0.15, 0.3], level=0.05)
    assert found.mean == pytest.approx(0.15)
    t = 0.15 / (math.sqrt((0.1**2 + 0.05**2 + 0.15**2) / 3) / 2)
    assert found.p == pytest.approx(_tail_of_three(t))
    assert found.low == pytest.approx(0.15 - 2.3533634 * 0.15 / t)
    fallen = rise([-0.05, -0.1, -0.15, -0.3], level=0.05)
    assert fallen.p == pytest.approx(1 - found.p if found.p else None)


def _tail_of_three(t: float) -> float:
    """P(T > t) with three degrees of freedom, in closed form."""
    return 0.5 - (math.atan(t / math.sqrt(3)) + math.sqrt(3) * t / (3 + t * t)) / math.pi


@pytest.mark.parametrize(
    ("values", "mean", "p"),
    [
        ([], None, None),
        ([0.2], 0.2, None),
        ([0.1, 0.1, 0.1], 0.1, 1 / 8),
        ([0.0, 0.0], 0.0, 1.0),
        ([-0.1] * 3, -0.1, 1.0),
    ],
)
def test_a_rise_without_spread_goes_by_signs(values: list[float], mean: float | None, p: float | None) -> None:
    found = rise(values, level=0.05)
    assert (found.mean, found.low) == (pytest.approx(mean) if mean is not None else None, None)
    assert found.p == p
