"""Test statistics, intervals, and the distributions behind them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.rules.distributions import (
    incomplete_beta,
    p_from_chi2,
    p_from_f,
    p_from_r,
    p_from_t,
    p_from_z,
)

from .test_rules_material import hits, paper


# Critical values as any statistical table prints them, to half a unit of their last digit.
@pytest.mark.parametrize(
    ("computed", "level"),
    [
        (p_from_z(1.959964), 0.05),
        (p_from_z(2.575829), 0.01),
        (p_from_t(12.7062, 1), 0.05),
        (p_from_t(2.2281, 10), 0.05),
        (p_from_t(2.7500, 30), 0.01),
        (p_from_t(3.2905, 1e7), 0.001),
        (p_from_f(4.9646, 1, 10), 0.05),
        (p_from_f(2.9340, 3, 29), 0.05),
        (p_from_f(4.5790, 4, 18), 0.01),
        (p_from_chi2(3.8415, 1), 0.05),
        (p_from_chi2(18.3070, 10), 0.05),
        (p_from_chi2(124.342, 100), 0.05),
        (p_from_chi2(16.2662, 3), 0.001),
        (p_from_r(0.6319, 8), 0.05),
    ],
)
def test_tail_probabilities_agree_with_the_tables(computed: float, level: float) -> None:
    assert computed == pytest.approx(level, rel=2e-3)


def test_edges_of_the_distributions() -> None:
    assert p_from_t(0, 5) == pytest.approx(1)
    assert p_from_f(0, 2, 5) == 1
    assert p_from_chi2(0, 3) == 1
    assert p_from_r(1, 5) == 0
    assert incomplete_beta(2, 3, 0) == 0
    assert incomplete_beta(2, 3, 1) == 1
    assert p_from_chi2(2 * math.log(10), 2) == pytest.approx(0.1)


@given(st.floats(0, 60), st.floats(0.5, 400), st.floats(0.5, 400))
def test_probabilities_stay_in_range_and_agree(value: float, df: float, df2: float) -> None:
    for p in (p_from_z(value), p_from_t(value, df), p_from_f(value, df, df2), p_from_chi2(value, df)):
        assert 0 <= p <= 1
    assert p_from_t(value, df) == pytest.approx(p_from_f(value * value, 1, df), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    "report",
    [
        "t(28) = 1.20, p < .05",
        "t(28) = 3.20, p = 0.21",
        "F(2, 26) = 1.10, p = 0.01",
        "F3,29=1.174, p<0.001",
        "χ2(1, N = 90) = 1.2, p < 0.05",
        "z = 1.20, p = .03",
        "r(28) = .10, p < .01",
        "F(1, 20) = 12.5, p > 0.05",
    ],
)
def test_decision_errors(report: str) -> None:
    (hit,) = hits("statistic_vs_p", paper(f"There was an effect, {report}."))
    assert (hit.kind, len(hit.numbers)) == ("statistics", 2)
    assert "0.05" in hit.claim


@pytest.mark.parametrize(
    "report",
    [
        "t(28) = 2.20, p < .05",
        "t(28) = 2.05, p < .05",
        "t(28) = 2.20, p = 0.02",
        "F3,29=174.077, p<0.001",
        "F3,12=1.338, p=0.308",
        "χ2(1) = 10.2, p < 0.01",
        "z = 2.58, p = 9.9 × 10−3",
        "r(28) = .50, p < .01",
        "t(28) = 1.20, p < .10",
        "t(28) = 1.20, p > .05",
        "F(1, 20) = 12.5, p = 0.05",
        "r(28) = 3.1, p < .01",
    ],
)
def test_consistent_or_undecided_reports_pass(report: str) -> None:
    assert hits("statistic_vs_p", paper(f"There was an effect, {report}.")) == []


def test_one_sided_tests_and_corrections_are_allowed_for() -> None:
    report = "The gain was clear, t(28) = 1.80, p < .05."
    assert len(hits("statistic_vs_p", paper(report))) == 1
    assert hits("statistic_vs_p", paper("All tests are one-tailed.", report)) == []
    assert hits("statistic_vs_p", paper("After Bonferroni correction, t(28) = 2.40, p = .12.")) == []
    assert hits("statistic_vs_p", paper("By permutation, F(1, 20) = 12.5, p = .12.")) == []


@given(st.floats(0.2, 6), st.integers(3, 200))
@settings(max_examples=100, deadline=None)
def test_a_rounded_true_report_never_hits(t: float, df: int) -> None:
    report = f"t({df}) = {t:.2f}, p = {p_from_t(t, df):.3f}"
    assert hits("statistic_vs_p", paper(f"We saw it, {report}.")) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("The ratio was 1.21 (95% CI 1.30 to 1.43).", True),
        ("The ratio was 1.21; 95% confidence interval, 1.015–1.434.", False),
        ("The value was 0.50 (95% CI [0.50, 0.61]).", False),
        ("The value was 0.5 (95% CI 0.52 to 0.61).", False),
        ("The value was -0.1 (95% CI -0.4 to -0.3).", True),
        ("We had p = 0.03 (95% CI 1.2 to 1.4).", False),
        ("It was 12% (95% CI 14% to 20%).", True),
    ],
)
def test_the_estimate_lies_in_its_interval(text: str, wrong: bool) -> None:
    assert bool(hits("interval", paper(text))) is wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("The odds ratio was 1.21 (95% CI 0.90 to 1.43; p = 0.01).", True),
        ("The odds ratio was 1.21 (95% CI 1.05 to 1.43; p = 0.31).", True),
        ("The odds ratio was 1.21 (95% CI 1.05 to 1.43; p = 0.01).", False),
        ("The odds ratio was 1.21 (95% CI 0.99 to 1.43; p = 0.049).", False),
        ("The mean difference was 2.0 (95% CI -1.0 to 5.0; p < 0.05).", True),
        ("The mean difference was 2.0 (95% CI 1.0 to 3.0; p < 0.05).", False),
        ("The mean difference was 2.0 (95% CI 0.5 to 5.0; p < 0.05).", False),
        ("The value was 2.0 (95% CI -1.0 to 5.0; p < 0.05).", False),
        ("The bootstrap odds ratio was 1.21 (95% CI 0.90 to 1.43; p = 0.01).", False),
        ("The hazard ratio was 1.0 (90% CI 0.90 to 1.43; p = 0.01).", False),
    ],
)
def test_the_interval_agrees_with_p_about_no_effect(text: str, wrong: bool) -> None:
    assert bool(hits("interval", paper(text))) is wrong
