"""Statistics as printed: recomputed p values against the tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.evidence.rules.statistics import Statistic, recomputed_p


# Critical values as any statistical table prints them; their last digit is half a unit away at most.
@pytest.mark.parametrize(
    ("test", "printed", "df", "df2", "level"),
    [
        ("z", "1.959964", 0, 0, 0.05),
        ("z", "2.575829", 0, 0, 0.01),
        ("t", "12.7062", 1, 0, 0.05),
        ("t", "2.2281", 10, 0, 0.05),
        ("t", "-2.7500", 30, 0, 0.01),
        ("t", "3.2905", 1e7, 0, 0.001),
        ("F", "4.9646", 1, 10, 0.05),
        ("F", "2.9340", 3, 29, 0.05),
        ("F", "4.5790", 4, 18, 0.01),
        ("χ²", "3.8415", 1, 0, 0.05),
        ("χ²", "18.3070", 10, 0, 0.05),
        ("χ²", "124.342", 100, 0, 0.05),
        ("χ²", "16.2662", 3, 0, 0.001),
        ("r", "0.6319", 8, 0, 0.05),
    ],
)
def test_p_values_agree_with_the_tables(test: Statistic, printed: str, df: float, df2: float, level: float) -> None:
    found = recomputed_p(test, printed, df, df2)
    assert found is not None
    low, high = found
    assert low <= level * 1.002
    assert level * 0.998 <= high
    assert high - low < 0.002 * level


def test_p_values_at_the_ends() -> None:
    for test in ("t", "F", "χ²", "r", "z"):
        found = recomputed_p(test, "0.0", 5, 5)
        assert found is not None
        assert found[1] == pytest.approx(1)
    perfect = recomputed_p("r", "1.00", 5)
    assert perfect is not None
    assert perfect[0] == 0 < perfect[1] < 1e-5


@pytest.mark.parametrize(
    ("test", "printed", "df"), [("t", "2.1", 0), ("F", "2.1", 3), ("χ²", "2.1", 0), ("r", "1.2", 9), ("z", "1e7", 0)]
)
def test_no_p_value_of_what_no_test_gives(test: Statistic, printed: str, df: float) -> None:
    assert recomputed_p(test, printed, df) is None


@given(st.floats(0, 60), st.integers(1, 400))
def test_t_squared_is_f_and_p_values_stay_in_range(value: float, df: int) -> None:
    t, f = recomputed_p("t", f"{value:.9f}", df), recomputed_p("F", f"{value * value:.9f}", 1, df)
    assert t is not None
    assert f is not None
    assert 0 <= t[0] <= t[1] <= 1
    assert t == pytest.approx(f, rel=1e-5, abs=1e-4 if value < 0.01 else 1e-7)
