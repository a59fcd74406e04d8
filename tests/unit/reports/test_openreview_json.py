from __future__ import annotations

import json

import pytest

from referee.errors import DataError
from referee.reports import openreview_object, to_json

from .example import form, review


def test_the_object_holds_what_the_platform_takes() -> None:
    assert openreview_object(review(evidence=()), form()) == {
        "summary": "The paper aligns two views.\n\n- without labels\n- on 8 GPUs",
        "weaknesses": "1. [Weakness] One seed only.",
        "soundness": "3: good",
        "presentation": 2,
        "ethics": ["None"],
        "rating": 4,
    }


def test_text_is_cut_to_what_the_field_takes() -> None:
    fields = {**review().fields, "limitations": "word " * 20}
    text = openreview_object(review(fields=fields), form())["limitations"]
    assert isinstance(text, str)
    assert len(text) <= 60
    assert text.endswith("word […]")


def test_control_characters_do_not_travel() -> None:
    fields = {**review().fields, "summary": "a\x1b[31mb\x00\r\nc "}
    assert openreview_object(review(fields=fields), form())["summary"] == "ab\nc"


def test_a_value_that_the_form_does_not_offer_is_refused() -> None:
    with pytest.raises(DataError, match="'rating'"):
        openreview_object(review(fields={**review().fields, "rating": 9}), form())


def test_another_form_is_refused() -> None:
    with pytest.raises(DataError, match="'other-2025'"):
        openreview_object(review(venue="other-2025"), form())


def test_json_is_readable_and_ends_its_line() -> None:
    text = to_json({"a": "é", "b": [1.5][0]})
    assert json.loads(text) == {"a": "é", "b": 1.5}
    assert "é" in text
    assert text.endswith("}\n")
