"""Alpha against the specification's table, the package ``krippendorff``, and its own resampled form."""

from __future__ import annotations

import math
from itertools import permutations

import krippendorff
import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats import Level, krippendorff_alpha
from referee.stats.agreement import AlphaTable
from referee.stats.resamples import drawn_units

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), example C: four observers, twelve units, gaps.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def units(*observers: tuple[float | None, ...]) -> list[list[float | None]]:
    return [list(unit) for unit in zip(*observers, strict=True)]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example_with_gaps(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(units(*OBSERVERS), level) == pytest.approx(alpha, abs=5e-4)


def test_the_published_examples_of_two_observers() -> None:
    binary = units((0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0))
    assert krippendorff_alpha(binary, "nominal") == pytest.approx(0.095, abs=5e-4)
    first, second = (tuple("abcde".index(kind) for kind in row) for row in ("aabbdcccedda", "babbbccceddd"))
    assert krippendorff_alpha(units(first, second), "nominal") == pytest.approx(0.692, abs=5e-4)


def by_definition(table: list[list[float | None]], level: Level) -> float:
    """Alpha from the coincidence matrix, as the source writes it."""
    rows = [kept for unit in table if len(kept := [v for v in unit if v is not None]) > 1]
    values = sorted({v for row in rows for v in row})
    o = np.zeros((len(values), len(values)))
    for row in rows:
        for a, b in permutations(row, 2):
            o[values.index(a), values.index(b)] += 1 / (len(row) - 1)
    n = o.sum(axis=1)

    def distance(c: int, k: int) -> float:
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return float(values[c] - values[k]) ** 2
        low, high = min(c, k), max(c, k)
        return float(n[low : high + 1].sum() - (n[c] + n[k]) / 2) ** 2

    d = np.array([[distance(c, k) for k in range(len(values))] for c in range(len(values))])
    return float(1 - (n.sum() - 1) * (o * d).sum() / (np.outer(n, n) * d).sum())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_the_short_formulas_agree_with_the_definition_on_ragged_tables(level: Level, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table: list[list[float | None]] = [
        [None if rng.random() < 0.2 else float(rng.integers(4)) for _ in range(rng.integers(0, 6))] for _ in range(30)
    ]
    assert krippendorff_alpha(table, level) == pytest.approx(by_definition(table, level))


@pytest.mark.parametrize("level", LEVELS)
def test_undefined_is_none_and_perfect_is_one(level: Level) -> None:
    for empty in ([], [[]], [[1.0]], [[None, 2.0], [3.0, None]], [[0.1, 0.1], [0.1, 0.1, 0.1]], [[2.0, 2.0]]):
        assert krippendorff_alpha(empty, level) is None
    assert krippendorff_alpha([[1.0, 1.0], [2.0, 2.0, None]], level) == pytest.approx(1)


@pytest.mark.parametrize("level", LEVELS)
def test_chance_is_about_zero_and_contradiction_below(level: Level) -> None:
    rng = np.random.default_rng(1)
    chance = krippendorff_alpha(rng.integers(4, size=(2000, 3)).tolist(), level)
    assert chance == pytest.approx(0, abs=0.04)
    against = krippendorff_alpha([[0.0, 1.0]] * 20, level)
    assert against is not None
    assert against < 0


def test_ordinal_alpha_depends_on_order_alone() -> None:
    stretched = [[None if v is None else v**3 for v in unit] for unit in units(*OBSERVERS)]
    assert krippendorff_alpha(stretched) == krippendorff_alpha(units(*OBSERVERS))


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(EvaluationError, match="finite"):
        krippendorff_alpha([[1.0, math.nan]])


RATINGS: list[list[float]] = [[6, 6, 8], [3, 5], [5, 6, 6, 8], [3, 3, 5, 6], [8, 8]]
EQUAL: list[list[float]] = [[6, 6, 8], [3, 5, 3], [5, 6, 8], [3, 3, 5]]


def ragged(rng: np.random.Generator) -> list[list[float]]:
    """A random table of a form's ratings: some units empty, some with one value, few categories or many."""
    values = [[1, 3, 5, 6, 8, 10], [0, 2, 4, 6, 8, 10], [1, 2, 3, 4, 5], list(range(1, 11)), [1, 2]]
    scale = values[rng.integers(len(values))]
    return [rng.choice(scale, size=rng.integers(0, 7)).astype(float).tolist() for _ in range(rng.integers(3, 40))]


def by_package(units: list[list[float]]) -> float:
    kinds = sorted({value for unit in units for value in unit})
    counts = [[unit.count(kind) for kind in kinds] for unit in units]
    return float(krippendorff.alpha(value_counts=counts, value_domain=kinds, level_of_measurement="ordinal"))


def test_the_specification_s_table() -> None:
    assert krippendorff_alpha(RATINGS) == pytest.approx(0.565517, abs=1e-6)
    assert krippendorff_alpha([*RATINGS, [10]]) == pytest.approx(0.565517, abs=1e-6)
    assert krippendorff_alpha(EQUAL) == pytest.approx(0.632647, abs=1e-6)


def test_the_printed_variant_weighs_pairs_and_counts_single_ratings() -> None:
    assert krippendorff_alpha(RATINGS, weighting="pairs") == pytest.approx(0.485294, abs=1e-6)
    assert krippendorff_alpha([*RATINGS, [10]], weighting="pairs") == pytest.approx(0.551608, abs=1e-6)
    assert krippendorff_alpha(EQUAL, weighting="pairs") == pytest.approx(0.632647, abs=1e-6)
    assert krippendorff_alpha([[3], [5], [8]], weighting="pairs") is None


@pytest.mark.parametrize("seed", range(200))
def test_the_package_agrees_on_random_ragged_tables(seed: int) -> None:
    units = ragged(np.random.default_rng(seed))
    ours = krippendorff_alpha(units)
    if ours is None:
        kept = {value for unit in units if len(unit) > 1 for value in unit}
        assert len(kept) < 2
        return
    assert ours == pytest.approx(by_package([unit for unit in units if len(unit) > 1]), abs=1e-9)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_with_equal_numbers_of_ratings_both_weightings_agree(size: int, level: str) -> None:
    units = np.random.default_rng(size).integers(1, 6, size=(30, size)).astype(float).tolist()
    assert krippendorff_alpha(units, level, weighting="pairs") == pytest.approx(krippendorff_alpha(units, level))  # type: ignore[arg-type]


def test_order_of_units_and_ratings_and_unused_categories_do_not_matter() -> None:
    turned = [unit[::-1] for unit in RATINGS[::-1]]
    assert krippendorff_alpha(turned) == pytest.approx(krippendorff_alpha(RATINGS))
    stretched = [[value * 100 for value in unit] for unit in RATINGS]
    assert krippendorff_alpha(stretched) == pytest.approx(krippendorff_alpha(RATINGS))


def test_one_category_is_undefined_where_the_package_raises() -> None:
    assert krippendorff_alpha([[6, 6], [6, 6, 6]]) is None
    with pytest.raises(ValueError, match="value"):
        by_package([[6, 6], [6, 6, 6]])


@pytest.mark.parametrize("seed", range(20))
def test_a_resample_is_the_alpha_of_the_repeated_units(seed: int) -> None:
    rng = np.random.default_rng(seed)
    units = ragged(rng)
    drawn = np.concatenate(list(drawn_units([1] * len(units), 5, rng)))
    assert drawn.sum(axis=1).tolist() == [len(units)] * 5
    for times, alpha in zip(drawn, AlphaTable(units).alphas(drawn), strict=True):
        repeated = [unit for unit, count in zip(units, times, strict=True) for _ in range(int(count))]
        expected = krippendorff_alpha(repeated)
        assert np.isnan(alpha) if expected is None else alpha == pytest.approx(expected)


def test_resamples_come_in_blocks_and_a_unit_of_many_copies_is_drawn_as_often() -> None:
    blocks = list(drawn_units([1] * 600_000, 3, np.random.default_rng(1)))
    assert [block.shape for block in blocks] == [(1, 600_000)] * 3
    (block,) = drawn_units([900, 100], 400, np.random.default_rng(1))
    assert block[:, 0].mean() == pytest.approx(900, abs=5)
    assert list(drawn_units([], 10, np.random.default_rng(1))) == []


def test_a_missing_value_is_none_and_never_nan_even_beside_none() -> None:
    assert krippendorff_alpha([[6, None, 6, 8], [3, 5, None]]) == krippendorff_alpha([[6, 6, 8], [3, 5]])
    for odd in (float("nan"), float("inf")):
        with pytest.raises(EvaluationError, match="finite"):
            krippendorff_alpha([[6, None, odd], [3, 5]])
