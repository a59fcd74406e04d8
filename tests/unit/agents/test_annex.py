from __future__ import annotations

from typing import Any

import pytest

from referee.agents.prose import ANNEX, Paragraph, annex_field, annex_text, set_apart
from referee.venues import list_venues, load_venue

from .whole_run import raised

ICLR = load_venue("iclr-2025")
POINTS = {
    point.id: point
    for point in (raised("a", "Fault."), raised("b", "Doubt."), raised("c", "New.", polarity="strength"))
}
DECIDES = Paragraph("It is none.", ("a",), "decides", "A tie is sold as a gain")
LESSER = Paragraph("One seed.", ("b",))


def test_what_does_not_decide_stands_apart_and_advice_last() -> None:
    advice = Paragraph("Say so.", ("b",), "advice")
    asked = Paragraph("Which seed?", ("b",))
    opening, merit = Paragraph("I recommend rejection because of 1.", (), "opening"), Paragraph("New.", ("c",))
    kept, annex = set_apart(
        {"strengths": (merit,), "weaknesses": (opening, advice, DECIDES, LESSER, merit), "questions": (asked,)},
        POINTS,
        ICLR,
    )
    assert kept == {"strengths": (merit,), "weaknesses": (opening, DECIDES, merit), "questions": (asked,)}
    assert annex == (LESSER, advice)


def test_where_nothing_decides_nothing_is_set_apart() -> None:
    kept, annex = set_apart({"weaknesses": (LESSER,)}, POINTS, ICLR)
    assert (kept, annex) == ({"weaknesses": (LESSER,)}, ())


def test_the_annex_is_a_list_and_may_be_empty() -> None:
    assert annex_text([LESSER, Paragraph("Say so.", ("b",), "advice", "Seeds.")]) == (
        f"{ANNEX}\n- One seed.\n- **Seeds.** Say so."
    )
    assert annex_text([]) == ""


def test_the_annex_has_a_box_behind_the_weaknesses() -> None:
    assert annex_field(ICLR) == "questions"


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
def test_every_form_with_a_text_box_has_one_for_the_annex(form: Any) -> None:
    venue = load_venue(form.id)
    boxes = [field for field in venue.reviewer_fields if field.kind == "text"]
    box = annex_field(venue)
    assert box is None or box in {field.name for field in boxes}
    assert box is not None or not boxes
