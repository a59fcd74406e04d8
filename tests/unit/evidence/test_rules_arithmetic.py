"""The rules that recompute a number from others beside it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.rules.grim import possible_mean

from .test_rules_material import hits, paper, table


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


@pytest.mark.parametrize(
    ("sentence", "numbers"),
    [
        ("We found 12 of 30 samples (45%) in it.", ("45%", "12", "30")),
        ("It fails in 45% (12/30) of them.", ("45%", "12", "30")),
        ("Of the 1675 samples, 976 (68.3%) had one.", ("68.3%", "976", "1675")),
        ("A total of 1,209 of 1,907 substitutions (53.4%) were new.", ("53.4%", "1,209", "1,907")),
    ],
)
def test_percentages_that_the_counts_do_not_give(sentence: str, numbers: tuple[str, ...]) -> None:
    (hit,) = hits("percent_of_counts", paper(sentence))
    assert hit.numbers == numbers
    part, whole = (int(number.replace(",", "")) for number in numbers[1:])
    assert f"which is {100 * part / whole:.4g}%" in hit.claim


@pytest.mark.parametrize(
    "sentence",
    [
        "We found 12 of 30 samples (40%) in it.",
        "We found 1 of 3 samples (33%) in it, and 2 of 3 samples (66%) there.",
        "Of these 1907 substitutions, 1209 (63.4%) were new and 21 (1.1%) were not.",
        "Of the 100 people, 60 (60%) answered, of whom 20 (33%) said no.",
        "In 2019, 12 (40%) of them left.",
        "We found 12 of 30 samples (95% CI 3 to 50) in it.",
        "The odds are 3 of 2 (10%).",
    ],
)
def test_right_percentages_and_other_wholes_pass(sentence: str) -> None:
    assert hits("percent_of_counts", paper(sentence)) == []


@given(st.integers(1, 5000), st.integers(0, 5000), st.integers(0, 2))
@settings(max_examples=100, deadline=None)
def test_a_rounded_true_percentage_never_hits(whole: int, part: int, decimals: int) -> None:
    part = min(part, whole)
    text = f"There were {part} of {whole} cases ({100 * part / whole:.{decimals}f}%) in all."
    assert hits("percent_of_counts", paper(text)) == []


SHARES = ["Total papers | 81.1M", "With PDF | 28.9M (35.6%)", "With body | 8.1M (10.0%)", "With DOI | 52.2M (64.3%)"]


def test_shares_of_a_column_against_its_total() -> None:
    assert hits("percent_of_counts", paper(table(*SHARES, "With ids | 21.5M (26.5%)", "Rare | 42k (0.1%)"))) == []
    (hit,) = hits("percent_of_counts", paper(table(*SHARES, "With ids | 21.5M (36.5%)", "Rare | 42k (0.1%)")))
    assert hit.numbers == ("36.5%", "21.5M", "81.1M")
    assert len(hit.evidence) == 2


def test_a_total_row_that_one_column_does_not_meet() -> None:
    rows = ["Class | Train | Test", "cat | 100 | 20", "dog | 150 | 30", "cow | 50 | 11"]
    assert hits("parts_and_total", paper(table(*rows, "Total | 300 | 61"))) == []
    (hit,) = hits("parts_and_total", paper(table(*rows, "Total | 300 | 71")))
    assert hit.numbers == ("71", "61")
    assert hits("parts_and_total", paper(table(*rows, "Total | 999 | 999"))) == []
    assert hits("parts_and_total", paper(table(*rows, "Mean | 100 | 21"))) == []


def test_rounded_parts_may_miss_their_total_by_rounding() -> None:
    rows = ["Part | Share", "one | 33.3", "two | 33.3", "three | 33.3"]
    assert hits("parts_and_total", paper(table(*rows, "Total | 100.0"))) == []


@pytest.mark.parametrize(
    ("split", "wrong"), [("80/10/10", False), ("80/15/10", True), ("70%/15%/15%", False), ("8/1/1", False)]
)
def test_the_shares_of_a_split(split: str, wrong: bool) -> None:
    assert bool(hits("parts_and_total", paper(f"We use a {split} split for training and tests."))) is wrong


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
