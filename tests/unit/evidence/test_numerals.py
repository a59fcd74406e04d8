from __future__ import annotations

from decimal import Decimal

import pytest

from referee.evidence.numerals import find_numerals


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("8.1M rows", "8100000", "100000"),
        ("8M rows", "8000000", "1000000"),
        ("1.5 million rows", "1500000", "100000"),
        ("2B tokens", "2000000000", "1000000000"),
        ("2 billion tokens", "2000000000", "1000000000"),
        ("3k steps", "3000", "1000"),
        ("3K steps", "3000", "1000"),
        ("3 thousand steps", "3000", "1000"),
        ("3.40 in all", "3.40", "0.01"),
        ("1,234 in all", "1234", "1"),
    ],
)
def test_a_scale_moves_the_value_and_its_last_digit(text: str, value: str, step: str) -> None:
    (found,) = find_numerals(text)
    assert (found.value, found.step) == (Decimal(value), Decimal(step))
    assert (found.low, found.high) == (Decimal(value) - Decimal(step) / 2, Decimal(value) + Decimal(step) / 2)
