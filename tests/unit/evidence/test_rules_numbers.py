"""The rules that compare or recompute printed numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.rules.statistics import Statistic, possible_mean, recomputed_p
from referee.schemas.paper import Block

from .test_rules_material import caption, hits, paper, table

COVERAGE = table(
    "Interval | G = 5 | G = 10 | G = 20",
    "cluster-t | 93.4 | 93.5 | 92.3",
    "cluster-boot | 82.5 | 89.1 | 92.7",
    "cluster-boot-t | 93.7 | 94.1 | 94.4",
)
NOTE = caption("Table 1: Coverage in percent.", "Table 1", id="c1")


def with_table(sentence: str) -> list[Block | str]:
    return [f"Table 1 shows the coverage. {sentence}", NOTE, COVERAGE]


def test_a_value_in_the_text_against_its_cell() -> None:
    (hit,) = hits("text_vs_table", paper(*with_table("With 20 groups, CLUSTER-T covers 94.8% of the truths.")))
    assert hit.numbers == ("94.8%", "92.3")
    assert (hit.kind, hit.severity) == ("contradiction", "major")
    assert [e.role for e in hit.evidence] == ["shows", "contradicts"]
    assert hit.evidence[1].quote == "cluster-t | 93.4 | 93.5 | 92.3"
    assert hit.evidence[0].page == 3


@pytest.mark.parametrize(
    "sentence",
    [
        "With 20 groups, cluster-t covers 92.3% of the truths.",
        "With 20 groups, cluster-t covers 92% of the truths.",
        "With twenty groups, cluster-t covers 92.3% of the truths.",
        "With 20 groups, cluster-t covers 93.5% of the truths.",
        "With 20 groups, cluster-boot-t covers 94.4% of the truths.",
        "With 20 groups, cluster-t loses by 2.7% of the truths.",
        "With 20 groups, cluster-t covers about 95% of the truths.",
        "With 20 groups, cluster-t covers 97.0% and cluster-boot 96.0%.",
        "With 30 groups, cluster-t covers 97.0% of the truths.",
        "With 20 groups, another one covers 97.0% of the truths.",
        "With 20 groups, cluster-t is 10.2% more than that.",
    ],
)
def test_values_that_agree_or_are_not_comparable_pass(sentence: str) -> None:
    assert hits("text_vs_table", paper(*with_table(sentence))) == []


@pytest.mark.parametrize(("said", "differ"), [("81%", 1), ("82%", 0), ("83%", 0), ("84%", 1)])
def test_a_rounded_value_agrees_up_to_one_unit(said: str, differ: int) -> None:
    assert len(hits("text_vs_table", paper(*with_table(f"With 5 groups, cluster-boot covers {said}.")))) == differ


def test_a_fraction_and_its_percentage_agree() -> None:
    grid = table("Task | Val Acc | Loss", "Permutation | 0.3393 | 5.4", "Sum | 0.9998 | 0.1")
    text = "Table 1 has it. The Permutation task ends at a val acc of {} here."
    assert hits("text_vs_table", paper(text.format("33.93%"), grid)) == []
    assert len(hits("text_vs_table", paper(text.format("43.93%"), grid))) == 1


def test_several_columns_of_one_row_and_shortened_names() -> None:
    grid = table("Task | Val Acc | Loss", "Permutation | 0.3393 | 5.4155", "Sum | 0.9998 | 0.0123")
    text = "On the permutation task the validation accuracy is {} and the loss is {}."
    assert hits("text_vs_table", paper(text.format("33.93%", "5.42"), grid)) == []
    wrong = hits("text_vs_table", paper(text.format("43.93%", "6.42"), grid))
    assert [hit.numbers for hit in wrong] == [("43.93%", "0.3393"), ("6.42", "5.4155")]


def test_a_named_group_with_two_sizes() -> None:
    one, two = "Data came from the Broad Institute (n = 435).", "The set BI (Broad Institute; n = {}) had fewer reads."
    (hit,) = hits("sample_size", paper(one, two.format(436)))
    assert hit.numbers == ("435", "436")
    assert hits("sample_size", paper(one, two.format(435))) == []
    assert hits("sample_size", paper("Study Group (n = 20) was first.", "Study Group (n = 25) was second.")) == []


def test_a_relative_gain_that_does_not_follow() -> None:
    (hit,) = hits(
        "relative_gain", paper("It lowers the distance from 18.9 to 1.5 points, a relative reduction of 98%.")
    )
    assert hit.numbers == ("98%", "18.9", "1.5 points")
    assert "92.1%" in hit.claim
    (evidence,) = hit.evidence
    assert evidence.quote.startswith("It lowers")


@pytest.mark.parametrize(
    "sentence",
    [
        "It lowers the distance from 18.9 to 1.5 points, a relative reduction of 92%.",
        "A 38.7% reduction in the loss, from 1.060 to 0.650.",
        "Accuracy improves from 80.0% to 84.0%, a gain of 4%.",
        "Accuracy improves from 80.0% to 84.0%, a gain of 5%.",
        "Accuracy improves from 80.0% to 84.0%, a 20% reduction of the error.",
        "Accuracy rises from 0.70 to 0.77, a 7% improvement.",
        "The time falls from 30 to 10 s, a 3x speedup.",
        "The loss falls from 1.0 to 0.3, a reduction of about 60%.",
        "When the number of groups grows from 5 to 80, the error drops, a reduction of 40%.",
        "Going from 5 to 80 groups brings a reduction of 40%.",
        "Between 2010 and 2019, from 2010 to 2019, there was an increase of 30%.",
        "It falls from 10 to 9 here and from 20 to 5 there, with a 40% share of red ones.",
        "The share of 33% rises from 0.1 to 0.2.",
    ],
)
def test_gains_that_some_reading_gives_pass(sentence: str) -> None:
    assert hits("relative_gain", paper(sentence)) == []


@pytest.mark.parametrize(
    ("stated", "wrong"), [("12%", False), ("13%", False), ("11%", False), ("20%", True), ("40%", True)]
)
def test_a_gain_may_be_off_by_rounding_only(stated: str, wrong: bool) -> None:
    found = hits("relative_gain", paper(f"The loss decreases from 0.50 to 0.44, a reduction of {stated}."))
    assert bool(found) is wrong


@given(st.integers(100, 9999), st.integers(100, 9999), st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_a_rounded_true_gain_never_hits(before: int, after: int, decimals: int) -> None:
    change = 100 * abs(before - after) / before
    text = f"The score changes from {before / 100:.2f} to {after / 100:.2f}, an improvement of {change:.{decimals}f}%."
    assert hits("relative_gain", paper(text)) == []


DECLARED = "Let $d_{gi}\\in \\{ -1,0,1\\}$ be the difference."


def test_a_mean_that_no_whole_numbers_have() -> None:
    (hit,) = hits("grim", paper(DECLARED, "The set has 59 items, on which the mean of the dgi is 0.210, a lot."))
    assert hit.numbers == ("0.210", "59")
    assert "0.203 and 0.220" in hit.claim
    assert len(hit.evidence) == 2


@pytest.mark.parametrize(
    "blocks",
    [
        (DECLARED, "The set has 59 items, on which the mean of the dgi is 0.203."),
        (DECLARED, "The set has 59 items, on which the mean of the x is 0.210."),
        (DECLARED, "The sets have 59 items and 61 items, with a mean of the dgi of 0.210."),
        ("The set has 59 items, on which the mean of the dgi is 0.210.",),
    ],
)
def test_possible_means_and_unknown_values_pass(blocks: tuple[str, ...]) -> None:
    assert hits("grim", paper(*blocks)) == []


def test_a_single_answer_on_a_scale_is_a_whole_number() -> None:
    asked = "Each person gave one answer, a single-item rating on a 7-point scale."
    assert len(hits("grim", paper(asked, "The answers (n = 20) had M = 5.18."))) == 1
    assert hits("grim", paper(asked, "The answers (n = 20) had M = 5.15.")) == []


@given(st.integers(1, 500), st.integers(-2000, 2000), st.integers(1, 4))
def test_a_real_mean_is_always_possible(n: int, total: int, decimals: int) -> None:
    assert possible_mean(f"{total / n:.{decimals}f}", n)


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
