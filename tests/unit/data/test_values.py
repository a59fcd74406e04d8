"""Texts in canonical form, numbers as people write them, and who is taken for the author."""

from __future__ import annotations

import pytest

from referee.data import canonical_text
from referee.data.keys import author
from referee.data.ratings import confidence, leading_number, rating
from referee.errors import DataError
from referee.venues.names import VenueForms
from referee.venues.registry import load_venue


def test_texts_come_in_the_forms_order_without_names_scores_and_placeholders() -> None:
    fields = {
        "questions": "Why?\r\nHow?",
        "title": "A title",
        "Summary": " It works. ",
        "rating": "6: marginally above",
        "weaknesses": "n/a",
        "strengths": ["Clear", "", "Short"],
        "final_justification": "After the reply.",
        "details_of_ethics_concerns": "",
    }
    assert canonical_text(fields, load_venue("iclr-2025")) == "It works.\n\n- Clear\n- Short\n\nWhy?\nHow?"


def test_the_text_holds_no_field_name_of_any_form() -> None:
    form = load_venue("neurips-2025")
    fields = {field.name: f"Prose {number}." for number, field in enumerate(form.fields)}
    text = canonical_text(fields, form)
    assert text
    assert not any(field.name in text for field in form.fields)


def test_texts_are_composed_and_equal_however_accents_are_coded() -> None:
    assert canonical_text({"review": "caf\u00e9"}, None) == canonical_text({"review": "cafe\u0301"}, None)


def test_without_a_form_customary_names_come_first_and_else_long_texts() -> None:
    assert canonical_text({"weaknesses": "W", "summary": "S", "remark": "x" * 200}, None) == "S\n\nW"
    assert canonical_text({"remark": "x" * 200, "label": "short"}, None) == "x" * 200


def test_the_placeholder_that_names_an_ai_reviewer_is_no_text() -> None:
    fields = {"summary": "Summary by AIRev 3", "strengths_and_weaknesses": "Prose.", "questions": "N/A"}
    assert canonical_text(fields, load_venue("agents4science-2025")) == "Prose."


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ("6: marginally above", 6),
        ("3 good", 3),
        ("5 = clear", 5),
        (" 4.5 ", 4.5),
        (7, 7),
        ("6 out of 10", None),
        ("Weak accept", None),
        (True, None),
        (None, None),
        ("nan", None),
    ],
)
def test_numbers_as_data_write_them(raw: object, number: float | None) -> None:
    assert leading_number(raw) == number


def test_a_label_alone_is_read_by_the_form_and_a_number_off_it_is_named() -> None:
    form = load_venue("corl-2021")
    assert rating({"recommendation": "Weak Accept"}, form).value == 3
    assert rating({"rating": "7: Good"}, load_venue("iclr-2022")).value == 7
    assert rating({"rating": [6]}, None).value == 6
    assert rating({"rating": {"value": "8: accept"}}, None).value == 8
    assert rating({"rating": [6, 7]}, None).value is None
    assert "does not take" in rating({"rating": "7: Good"}, load_venue("iclr-2022")).off_form
    assert confidence({"Reviewer_Confidence": "4: sure"}, None).value == 4


@pytest.mark.parametrize(
    ("source", "kind", "found"),
    [
        ("human", None, ("human", "human")),
        ("ai:gpt", None, ("gpt", "ai")),
        ("gpt", None, ("gpt", "unknown")),
        ("gpt", "llm", ("gpt", "ai")),
        (None, "human", ("human", "human")),
        (None, "ai", ("the-model", "ai")),
        (None, None, ("unknown", "unknown")),
        ("ai:gpt", "unknown", ("gpt", "ai")),
    ],
)
def test_who_wrote_it_is_read_and_never_guessed(source: object, kind: object, found: tuple[str, str]) -> None:
    read = author(source, kind, model="the-model")
    assert (read.source, read.kind) == found


def test_a_kind_that_is_none_and_a_contradiction_are_refused() -> None:
    with pytest.raises(DataError, match="'robot' is none"):
        author("x", "robot")
    with pytest.raises(DataError, match="contradict"):
        author("human", "ai")


@pytest.mark.parametrize(
    ("name", "year", "platform", "venue"),
    [
        ("ICLR", 2020, "", "iclr-2020"),
        ("iclr-2020", None, "", "iclr-2020"),
        ("NeurIPS 2022", None, "", "neurips-2022"),
        ("ICLR", "2017.0", "", "iclr-2017"),
        ("", None, "ICLR.cc/2026/Conference", "iclr-2026"),
        ("", None, "ICML.cc/2025/Conference", "ICML.cc/2025/Conference"),
        ("eLife", 2016, "", "eLife"),
        (None, 2019, "", None),
    ],
)
def test_a_venue_is_a_known_form_or_keeps_its_own_name(name: object, year: object, platform: str, venue: str) -> None:
    assert VenueForms().place(name, year, platform).venue == venue
