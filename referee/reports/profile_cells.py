"""Tables of text, and how numbers stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """A title, the names of the columns, and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def number(given: float | None, digits: int) -> str:
    """A number with so many digits; empty for None."""
    return "" if given is None else f"{given:,.{digits}f}"


def interval(low: float | None, high: float | None, digits: int) -> str:
    """An interval; empty where there is none."""
    return "" if low is None or high is None else f"[{low:,.{digits}f}, {high:,.{digits}f}]"


def estimate(given: float | None, low: float | None, high: float | None, digits: int) -> str:
    """A number with its interval; empty for None."""
    return f"{number(given, digits)} {interval(low, high, digits)}".strip()


def pvalue(given: float | None) -> str:
    """A p value; small ones as a bound."""
    return "" if given is None else "< 0.0001" if given < 0.0001 else f"{given:.4f}"
