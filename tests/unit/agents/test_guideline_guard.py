"""The words that serve a point are looked up in the steps, and what stands unchanged is not asked about again."""

from __future__ import annotations

from typing import Any

import pytest

from referee.agents.guideline_guard import guard_points, stands_in
from referee.schemas.venue import Fact, Guideline
from referee.testing import ScriptedModel

RULE = Guideline(
    id="lanterns",
    text="Lanterns are compared with torches, and the price of oil is stated.",
    kind="subjective",
    fact=Fact(confidence="official"),
)
LANTERNS, OIL = "Lanterns are compared with torches", "the price of oil is stated"
STEPS = ("Compare each lantern with a torch.", "Find what the oil costs.")


def answers(**said: str) -> dict[str, Any]:
    return {"points": [{"point": name, "words": words, "served": "yes"} for name, words in said.items()]}


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        ("Compare each lantern", True),
        ("«compare  EACH lantern with a torch»", True),
        ("each lantern", False),
        ("lantern with a torch find what", False),
        ("compare every lantern", False),
        ("Look.", True),
        ("", False),
    ],
)
def test_words_stand_in_one_step_and_are_three_or_all_of_it(words: str, stands: bool) -> None:
    assert stands_in(words, (*STEPS, "Look!")) is stands


async def test_only_what_a_revision_leaves_open_is_asked_about() -> None:
    model = ScriptedModel(
        [answers(P1="each lantern with a torch", P2="what the oil costs"), answers(P1="cost of light")]
    )
    after = (STEPS[0], "Note the cost of light.")
    found = await guard_points(STEPS, after, RULE, known=(), venue_name="Small 2026", door=model)
    assert found.lost == ()
    assert [one.words for one in found.coverages] == [
        {LANTERNS: "each lantern with a torch", OIL: "what the oil costs"},
        {LANTERNS: "each lantern with a torch", OIL: "cost of light"},
    ]
    first, second = model.history
    assert (first.role, "P1: Lanterns are compared" in first.user) == ("supervisor", True)
    assert f"P1: {OIL}" in second.user
    assert LANTERNS not in second.user.split("<points>")[1].split("</points>")[0]

    known = await guard_points(after, (*after, "More."), RULE, known=found.coverages, venue_name="S", door=model)
    assert known.lost == ()
    assert len(model.history) == 2, "all words still stand"


async def test_a_point_is_lost_only_where_it_was_served() -> None:
    model = ScriptedModel([answers(P2="what the oil costs"), {"points": []}])
    found = await guard_points(STEPS, ("Rest a while.", "Go on."), RULE, known=(), venue_name="S", door=model)
    assert found.lost == (OIL,)
    assert found.coverages[1].words == {}
