from __future__ import annotations

import random
from typing import Any

import pytest

from referee.agents.form_reply import offered
from referee.agents.prose import Paragraph, field_prose, prose_model, write_prose
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


async def test_paragraphs_and_scores_come_back_with_the_points_own_ids() -> None:
    quality = next(option for option, value in offered(FORM.field("quality")).items() if value == 2)
    reply = written(
        summary=[paragraph(" It is about lamps. ")],
        strengths_and_weaknesses=[paragraph("The tie.", "b1"), paragraph("  ", "b2"), paragraph("The data.", "b3")],
        quality={"reason": "the tie", "supports": ["b1"], "opposes": ["b3"], "value": quality},
    )
    model = Recording({"review/write": reply})
    prose = await write_prose(run_on(model), [GRAVE, SMALL, MERIT])
    assert prose.paragraphs["summary"] == (Paragraph("It is about lamps."),)
    assert prose.paragraphs[BOTH] == (Paragraph("The tie.", ("p-F1-1",)), Paragraph("The data.", ("m-W-1",)))
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


async def test_corrections_stand_beside_the_points_and_one_that_a_paragraph_says_is_among_its_points() -> None:
    slip = raised(
        "c-F1-1",
        "Table 2: “31” should be “29” (they add up)",
        severity="minor",
        correction=Correction(place="Table 2", printed="31", should_be="29", why="they add up"),
    )
    reply = written(strengths_and_weaknesses=[paragraph("The tie, and 31 days.", "b1", "c1", "c9", "nonsense")])
    model = Recording({"review/write": reply})
    prose = await write_prose(run_on(model), [GRAVE], [slip])
    assert "[c1] Table 2: “31” should be “29”\n" in model.history[0].user
    assert prose.paragraphs[BOTH][0].points == ("p-F1-1", "c-F1-1")


async def test_sentences_that_the_writer_calls_a_repetition_come_back() -> None:
    model = Recording({"review/write": written(said_twice=["The tie is said again."])})
    assert (await write_prose(run_on(model), [GRAVE])).repeats == ("The tie is said again.",)


async def test_without_points_there_is_still_a_form_to_write() -> None:
    model = Recording({"review/write": written(summary=[paragraph("It is about lamps.")])})
    prose = await write_prose(run_on(model), [])
    assert "(no point stands)" in model.history[0].user
    assert prose.paragraphs["summary"] == (Paragraph("It is about lamps."),)


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
    assert set(prose.paragraphs) == {f.name for f in venue.reviewer_fields if f.kind == "text"}
    assert "confidence" not in prose.scores
    known = {"p-F1-1", "p-F1-2", "m-W-1"}
    assert all(set(p.points) <= known for given in prose.paragraphs.values() for p in given)


def test_merits_are_bullets_and_the_rest_is_numbered_by_weight_under_heads() -> None:
    known = {point.id: point for point in (GRAVE, SMALL, MERIT)}
    said = [
        Paragraph("One seed.", ("p-F1-2",), "advice"),
        Paragraph("All in all."),
        Paragraph("The tie.", ("p-F1-1",), "decides"),
        Paragraph("The data.", ("m-W-1",), "decides"),
        Paragraph("Both.", ("p-F1-1", "m-W-1"), "opening"),
    ]
    assert field_prose(said, known) == (
        "All in all.\n\nStrengths:\n- The data.\n\nWhat decides:\n\n1. The tie.\n\n"
        "Further weaknesses:\n\n2. Both.\n\nFor improvement only:\n\n3. One seed."
    )


def test_a_criticism_begins_with_what_it_is_about_and_a_merit_does_not() -> None:
    known = {point.id: point for point in (GRAVE, MERIT)}
    said = [
        Paragraph("It is none.", ("p-F1-1",), "decides", "The tie."),
        Paragraph("New.", ("m-W-1",), "other", "Data"),
    ]
    assert field_prose(said[:1], known) == "1. **The tie.** It is none."
    assert field_prose(said[1:], known) == "- New."


def test_a_box_for_one_side_has_no_heads() -> None:
    known = {point.id: point for point in (GRAVE, SMALL, MERIT)}
    tie, seed = Paragraph("The tie.", ("p-F1-1",)), Paragraph("One seed.", ("p-F1-2",))
    assert field_prose([Paragraph("All in all."), tie, seed], known) == "All in all.\n\n1. The tie.\n\n2. One seed."
    assert field_prose([Paragraph("The data.", ("m-W-1",))], known) == "- The data."
    assert field_prose([], known) == ""
