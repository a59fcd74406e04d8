"""Formulas as people read them, and what is no formula left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.reports.formulas import readable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"$\hat\rho_{s} \le 5$", "ρ̂_s ≤5"),
        ("where $t_{G-1}$ is the quantile of $t$", "where t_(G-1) is the quantile of t"),
        (r"\(\tfrac12(\delta-v_g)\) is", "1/2(δ-v_g) is"),
        (r"\[ \sum_{i=1}^{n} x_i^{2} \]", "∑_(i=1)^n x_i²"),
        (r"$$\frac{a}{b}$$", "a/b"),
        (r"$\mathbb{E}[X_{10}]$", "𝔼[X₁₀]"),
        ("$G = 20$ clusters", "G = 20 clusters"),
    ],
)
def test_formulas(text: str, shown: str) -> None:
    assert readable(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "it costs $5 and then $10 more",
        "$5k/$10k",
        "$100 ± 5$",
        "US$ 5 to US$ 10",
        "$HOME and $PATH",
        r"a\_b and \textbf{x}",
        r"$unclosed \frac{1}{2",
        "no formula at all",
        "",
    ],
)
def test_what_is_no_formula_stays(text: str) -> None:
    assert readable(text) == text


@given(st.text(alphabet="$\\()[]{}^_ab1 \n\\frac", max_size=60))
def test_no_text_is_refused(text: str) -> None:
    assert isinstance(readable(text), str)
