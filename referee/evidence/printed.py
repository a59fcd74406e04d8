"""What printed statistics say about each other, each of them rounded to its last printed digit."""

from __future__ import annotations

import math
from typing import Literal

Statistic = Literal["t", "F", "χ²", "r", "z"]


def recomputed_p(test: Statistic, printed: str, df: float = 0, df2: float = 0) -> tuple[float, float] | None:
    """The least and the greatest p of a test statistic that is printed like this.

    Args:
        test: The statistic; t, r and z are taken two-sided, F and chi-squared by their upper tail.
        printed: Its printed value, whose decimals say how it was rounded; the sign does not matter.
        df: Degrees of freedom (of r: n - 2; of F: the numerator's); none for z.
        df2: Those of F's denominator.

    Returns:
        Two probabilities; None where no test gives such a value.
    """
    value, half = abs(float(printed)), half_digit(printed)
    if (test != "z" and df <= 0) or (test == "F" and df2 <= 0) or value > 1e6 or (test == "r" and value > 1):
        return None
    high, low = (_p(test, max(0.0, value + sign * half), df, df2) for sign in (-1, 1))
    return low, high


def interval_holds(estimate: str, low: str, high: str) -> bool:
    """Whether an estimate can lie in its interval, all three as printed and each rounded."""
    below = float(low) - half_digit(low) - half_digit(estimate)
    return below <= float(estimate) <= float(high) + half_digit(high) + half_digit(estimate)


def half_digit(printed: str) -> float:
    """Half a unit of a printed number's last digit: 0.005 for ``3.40``."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def _p(test: Statistic, value: float, df: float, df2: float) -> float:
    if test == "z":
        return math.erfc(value / math.sqrt(2))
    from scipy import special  # a third of a second of imports, and few papers print such a statistic

    if test == "F":
        return float(special.fdtrc(df, df2, value))
    if test == "χ²":
        return float(special.chdtrc(df, value))
    t = value if test == "t" else value * math.sqrt(df / (1 - value * value)) if value < 1 else math.inf
    return float(2 * special.stdtr(df, -t))
