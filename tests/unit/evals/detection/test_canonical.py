from __future__ import annotations

import json

import pytest

from referee.data.prose import canonical_text
from referee.evals.detection.canonical import CANONICAL_RULE, canonical_review, of_text
from tests.unit.evals.runs_of import case

FIELDS = {
    "summary": "The paper trains small models.",
    "strengths": ["It is clear.", "It is short."],
    "weaknesses": "No ablation is given.",
    "soundness": "3 good",
    "rating": 6,
    "confidence": 4,
}
PLAIN = "The paper trains small models.\n\nIt is clear.\n\nIt is short.\n\nNo ablation is given."


def test_the_same_words_in_any_layout_are_the_same_text() -> None:
    as_fields = case("a", text=canonical_text(FIELDS, None), fields=FIELDS)
    as_json = case("b", source="m", text=json.dumps(FIELDS, indent=2))
    as_markdown = case(
        "c",
        source="m",
        text="## Summary\r\n\r\nThe paper trains small models.\r\n\r\n"
        "**Strengths:**\n\n- It is clear.\n- It is short.\n\n"
        "Weaknesses:\n\nNo ablation is given.\n\nRating: 6: marginally above\n**Soundness**: 3 good\nConfidence: 4",
    )
    seen = [canonical_review(one) for one in (as_fields, as_json, as_markdown)]
    assert {one.text for one in seen} == {PLAIN}
    assert len({one.digest for one in seen}) == 1
    assert {one.rule for one in seen} == {CANONICAL_RULE}


def test_no_field_name_no_key_and_no_score_reaches_a_detector() -> None:
    text = canonical_review(case("b", text=json.dumps(FIELDS))).text
    for leak in (*FIELDS, '"', "{", "- ", "6", "4", "3 good"):
        assert leak not in text


def test_a_sentence_that_only_speaks_of_a_field_stays() -> None:
    text = "Strengths of the paper are its proofs.\nThe rating: I gave 6 because of the proofs."
    assert of_text(text).text == text


def test_a_point_about_ethics_stays_and_a_heading_about_it_goes() -> None:
    said = "- Limited discussion of societal impacts and ethics\n\nEthics and Limitations:\n\n1) None that I know of."
    assert of_text(said).text == "Limited discussion of societal impacts and ethics\n\nNone that I know of."


def test_items_of_a_list_are_paragraphs_whoever_marked_them() -> None:
    said = "Some points:\n* One of them goes on\n  here.\n2. Another - with a dash.\n-5 is no item."
    assert (
        of_text(said).text == "Some points:\n\nOne of them goes on\n  here.\n\nAnother - with a dash.\n-5 is no item."
    )


def test_text_is_composed_and_stripped() -> None:
    assert of_text("  cafe\u0301 \r\nis good.\r\n\r\n\r\n\r\nYes. ").text == "caf\u00e9\nis good.\n\nYes."


@pytest.mark.parametrize("text", ["", "  \n", "Summary:\n\nStrengths:", "{}"])
def test_nothing_is_left_of_layout_alone(text: str) -> None:
    assert canonical_review(case("a", text=text)).text == ""


def test_braces_that_are_no_json_stay() -> None:
    assert of_text("{x} is a set, and so is {y}").text == "{x} is a set, and so is {y}"
    assert canonical_review(case("a", text="{x} is a set, and so is {y}")).text == "{x} is a set, and so is {y}"
