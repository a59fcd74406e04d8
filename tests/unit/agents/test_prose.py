from __future__ import annotations

import random
from typing import Any

import pytest

from referee.agents.form_reply import offered
from referee.agents.prose import prose_model, write_prose
from referee.errors import ReplyInvalid
from referee.llm.dialects import reply_schema
from referee.schemas.point import Correction, Fix, PointCheck
from referee.schemas.venue import VenueForm
from referee.venues import list_venues, load_venue
from tests.support import instance, made_up

from .whole_run import FORM, TIE, Recording, quoted, raised, run_on

GRAVE = raised(
    "p-F1-1", "A tie is sold as a gain.", severity="fatal", argument="It turns the ranking.", evidence=(quoted(TIE),)
)
SMALL = raised(
    "p-F1-2", "One seed was used.", severity="minor", argument="Chance.", fix=Fix(kind="experiment", what="Five seeds.")
)
MERIT = raised("m-W-1", "The data are new.", polarity="strength")
BOTH = "strengths_and_weaknesses"


def written(form: VenueForm = FORM, **changes: Any) -> dict[str, Any]:
    """A reply whose text fields are empty and whose scores are open."""
    made: dict[str, Any] = instance(reply_schema(prose_model(form)), "<submission>a b</submission>", random.Random(1))
    for field in form.reviewer_fields:
        if field.kind == "text":
            made[field.name] = []
        elif field.name in made and field.kind == "score":
            made[field.name] = {"reason": "r", "supports": [], "opposes": [], "value": "open"}
    return made | {"said_twice": []} | changes


def paragraph(text: str, *points: str) -> dict[str, Any]:
    return {"head": "", "text": text, "points": list(points), "weight": "other"}


async def test_what_carries_no_point_and_scores_with_the_points_own_ids_come_back() -> None:
    quality = next(option for option, value in offered(FORM.field("quality")).items() if value == 2)
    reply = written(
        summary=[paragraph(" It is about lamps. ")],
        strengths_and_weaknesses=[paragraph("The tie.", "b1"), paragraph("  ", "b2"), paragraph("The data.", "b3")],
        quality={"reason": "the tie", "supports": ["b1"], "opposes": ["b3"], "value": quality},
    )
    model = Recording({"review/write": reply})
    prose = await write_prose(run_on(model), [GRAVE, SMALL, MERIT])
    assert prose.texts["summary"] == "It is about lamps."
    assert prose.texts[BOTH] == ""
    score = prose.scores["quality"]
    assert (score.value, score.supports, score.opposes) == (2, ("p-F1-1",), ("m-W-1",))
    assert prose.scores["rating"].value is None
    assert model.history[0].role == "composer"


async def test_the_composer_sees_what_points_say_and_how_they_were_tested() -> None:
    conceded = PointCheck(verdict="weakened", by="m", narrowed="On one set a tie is sold as a gain.", conceded=True)
    points = [GRAVE.model_copy(update={"check": conceded}), SMALL, MERIT]
    model = Recording({"review/write": written()})
    await write_prose(run_on(model), points)
    shown = model.history[0].user.partition("<points>")[2]
    assert "[b1] weakness, decides, conceded by the authors: On one set a tie is sold as a gain." in shown
    assert "why: It turns the ranking." in shown
    assert "where: s3" in shown
    assert "[b2] weakness, a sentence or number, unchecked: One seed was used." in shown
    assert "Chance." not in shown
    assert "settled by: Five seeds." in shown
    assert "[b3] merit: The data are new." in shown
    assert "p-F1" not in shown


async def test_only_the_gravest_come_with_all_reasons_and_places_that_a_claim_names_are_not_repeated() -> None:
    reasons = "It turns the ranking of all lamps that were weighed. " * 10
    major = raised("p-F1-4", "In Table 2 a tie is sold as a gain.", argument=reasons, evidence=(quoted(TIE),))
    model = Recording({"review/write": written()})
    grave_ones = [GRAVE.model_copy(update={"argument": reasons})] * 10
    await write_prose(run_on(model), [*grave_ones, major])
    grave, _, small = model.history[0].user.partition("<points>")[2].partition("[b11]")
    assert reasons.strip() in grave
    assert "where: s3" in grave
    assert reasons.strip() not in small
    assert "why: It turns the ranking" in small
    assert "where:" not in small


async def test_corrections_stand_beside_the_points() -> None:
    slip = raised(
        "c-F1-1",
        "Table 2: “31” should be “29” (they add up)",
        severity="minor",
        correction=Correction(place="Table 2", printed="31", should_be="29", why="they add up"),
    )
    reply = written(strengths_and_weaknesses=[paragraph("The tie, and 31 days.", "b1", "c1", "c9", "nonsense")])
    model = Recording({"review/write": reply})
    await write_prose(run_on(model), [GRAVE], [slip])
    assert "[c1] Table 2: “31” should be “29”\n" in model.history[0].user


async def test_without_points_there_is_still_a_form_to_write() -> None:
    model = Recording({"review/write": written(summary=[paragraph("It is about lamps.")])})
    prose = await write_prose(run_on(model), [])
    assert "(no point stands)" in model.history[0].user
    assert prose.texts["summary"] == "It is about lamps."


async def test_the_best_score_against_a_grave_point_is_left_open() -> None:
    values = offered(FORM.field("quality"))
    best = max(values, key=lambda option: float(str(values[option])))
    reply = written(quality={"reason": "r", "supports": ["b2"], "opposes": ["b1"], "value": best})
    prose = await write_prose(run_on(Recording({"review/write": reply})), [GRAVE, MERIT, SMALL])
    assert prose.scores["quality"].value is None
    assert any(note.startswith("the score of quality was left open") for note in prose.notes)


async def test_a_reply_that_fits_nothing_is_the_callers_to_handle() -> None:
    with pytest.raises(ReplyInvalid):
        await write_prose(run_on(Recording({"review/write": ReplyInvalid("no JSON")})), [GRAVE])


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
async def test_every_form_can_be_written(form: Any) -> None:
    venue = load_venue(form.id)
    model = Recording({"*": made_up()})
    prose = await write_prose(run_on(model, form=venue), [GRAVE, SMALL, MERIT])
    assert set(prose.texts) == {f.name for f in venue.reviewer_fields if f.kind == "text"}
    assert "confidence" not in prose.scores
