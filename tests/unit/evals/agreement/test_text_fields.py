from __future__ import annotations

from typing import Any

import pytest

from referee.evals.agreement.text_similarity import TextPair, text_pairs
from referee.schemas.case import ReviewCase


def case(text: str = "", **fields: Any) -> ReviewCase:
    return ReviewCase(case_id="c", paper_id="p", source="s", kind="unknown", text=text, fields=fields)


def pairs(predicted: ReviewCase, *human: ReviewCase, loose: bool = False) -> dict[str, TextPair]:
    return {pair.field: pair for pair in text_pairs(predicted, human, loose=loose)}


@pytest.mark.parametrize(
    ("field", "alias"),
    [
        ("summary", "summary"),
        ("summary", "summary_of_paper"),
        ("summary", "summary_of_the_paper"),
        ("summary", "Paper_Topic_And_Main_Contributions"),
        ("summary", "summary_of_contributions"),
        ("strengths", "Strengths"),
        ("strengths", "Reasons_To_Accept"),
        ("strengths", "strengths_and_weaknesses"),
        ("strengths", "strength_and_weaknesses"),
        ("weaknesses", "weaknesses"),
        ("weaknesses", "Reasons_To_Reject"),
        ("reasons_to_accept", "strengths"),
        ("reasons_to_reject", "weaknesses"),
    ],
)
def test_each_alias_answers_its_field(field: str, alias: str) -> None:
    found = pairs(case(**{field: "ours"}), case(**{alias: "theirs"}))
    assert found[field] == TextPair("p", field, "ours", ("theirs",))


def test_the_first_filled_alias_counts_review_by_review_in_order() -> None:
    human = [case(summary=" ", summary_of_the_paper="one"), case(summary="two", summary_of_the_paper="no"), case()]
    assert pairs(case(summary="ours"), *human)["summary"].reference == "one\ntwo"


def test_questions_answer_weaknesses_only_when_loose() -> None:
    human = case(questions="why?")
    assert pairs(case(weaknesses="w"), human)["weaknesses"].references == ()
    assert pairs(case(weaknesses="w"), human, loose=True)["weaknesses"].references == ("why?",)


def test_a_joined_box_is_compared_with_both_sides_together() -> None:
    human = case(strengths_and_weaknesses="both")
    found = pairs(case(strengths="s", weaknesses="w"), human)
    assert found["strengths_weaknesses"] == TextPair("p", "strengths_weaknesses", "s\nw", ("both",))
    assert found["weaknesses"].references == ()
    assert pairs(case(strength_and_weaknesses="j"), human)["strengths_weaknesses"].candidate == "j"
    assert pairs(case(strengths="s"), human)["strengths_weaknesses"].candidate == ""


def test_forms_without_named_fields_are_compared_as_whole_reviews() -> None:
    predicted, human = case("whole ours", review="whole ours"), case("whole theirs", review="whole theirs")
    assert pairs(predicted, human) == {"review": TextPair("p", "review", "whole ours", ("whole theirs",))}
    assert "review" not in pairs(case("x", summary="a"), case("y", summary="b"))


def test_lists_are_lines_and_numbers_no_text() -> None:
    found = pairs(case(strengths=["a", "b"], summary=3), case(strengths="c"))
    assert found["strengths"].candidate == "a\nb"
    assert "summary" not in found
