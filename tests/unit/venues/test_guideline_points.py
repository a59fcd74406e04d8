from __future__ import annotations

import pytest

from referee.schemas.venue import Fact, Guideline
from referee.venues import list_venues
from referee.venues.prompts import MOST_POINTS, guideline_points, points_covered, points_lost


def rule(text: str, words: str = "") -> Guideline:
    return Guideline(id="rule", text=text, kind="subjective", words=words, fact=Fact(confidence="official"))


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("Lanterns are compared with torches, and the price of oil is stated.", 2),
        ("The review judges lanterns; torches; ropes.", 3),
        ("The review asks whether ropes hold and whether wells are deep.", 2),
        ("Ropes. Ropes hold.", 1),
        ("The review says so.", 0),
        ("", 0),
        (". ".join(f"Thing{n} bends thing{n}a" for n in "abcdefghijklmnopq"), MOST_POINTS),
    ],
)
def test_a_guideline_is_cut_into_clauses_with_words_of_their_own(text: str, points: int) -> None:
    assert len(guideline_points(rule(text))) == points


def test_the_pages_words_add_only_what_the_text_does_not_hold() -> None:
    found = guideline_points(rule("Ropes are tested for load.", "Please test the ropes for load. Measure the wells!"))
    assert [point.text for point in found] == ["Ropes are tested for load", "Measure the wells"]


def test_steps_cover_a_point_that_one_or_two_in_a_row_hold_half_of() -> None:
    both = rule("Lanterns are compared with torches, and the price of oil is stated.")
    lantern, oil = (point.text for point in guideline_points(both))
    assert points_covered(["Compare the lantern with a torch."], both) == (lantern,)
    assert points_covered(["Look for an oil.", "Is there a price?"], both) == (oil,)
    assert points_covered(["Look for an oil.", "Rest.", "Name one price."], rule("Stated prices of burned oils.")) == ()
    assert points_covered([], both) == ()


def test_a_point_is_lost_only_where_it_was_covered() -> None:
    both = rule("Lanterns are compared with torches, and the price of oil is stated.")
    full = ["Compare the lantern with a torch.", "Find the price of the oil."]
    assert points_lost(full, full[:1], both) == ("the price of oil is stated",)
    assert points_lost(full[:1], full[:1], both) == ()
    assert points_lost(full[:1], full, both) == ()


def test_every_guideline_of_every_venue_has_a_point() -> None:
    for form in list_venues():
        for guideline in form.guidelines:
            assert guideline_points(guideline), guideline.text
