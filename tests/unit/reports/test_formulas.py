"""Formulas as people read them, and what is no formula left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.reports.formulas import readable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"$\hat\rho_{s} \le 5$", "ρ̂_s≤ 5"),
        (r"$\frac{a+b}{c}$", "(a+b)/c"),
        (r"$\frac{\frac{a}{b}+1}{2}$", "(a/b+1)/2"),
        (r"$\|x\|_2$", "‖x‖₂"),
        (r"$O(n \log n)$", "O(n log n)"),
        (r"$\left(\frac{\partial f}{\partial x}\right)^{2}$", "(∂ f/(∂ x))²"),
        (r"$s^{*}_b = 0$", "s^∗_b = 0"),
        (r"$\text{acc on test}$", "acc on test"),
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
        "pays $5 for model_a (or 6$)",
        r"regex \[a-z\] and \(see below\)",
        "`$x_1$`",
        r"$\Pr(x>3)$",
        r"$\foo{x}$",
        r"$\begin{cases}a\end{cases}$",
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
