import math
from itertools import permutations

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.stats import Level, krippendorff_alpha

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
