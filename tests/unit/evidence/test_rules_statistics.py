"""Test statistics and their p values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.rules.statistics import recomputed_p

from .test_rules_material import hits, paper


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
    exact = recomputed_p("t", f"{t:.12f}", df)
    assert exact is not None
    report = f"t({df}) = {t:.2f}, p = {exact[0]:.3f}"
    assert hits("statistic_vs_p", paper(f"We saw it, {report}.")) == []
