"""The rules that recompute a number from others beside it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence.rules.statistics import possible_mean

from .test_rules_material import hits, paper


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
