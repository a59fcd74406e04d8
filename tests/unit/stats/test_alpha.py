"""Alpha against the specification's table, the package ``krippendorff``, and its own resampled form."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats import krippendorff_alpha
from referee.stats.agreement import AlphaTable
from referee.stats.resamples import drawn_units

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
