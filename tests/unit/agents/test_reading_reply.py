from __future__ import annotations

import random
from typing import Any

import pytest
from pydantic import ValidationError

from referee.agents.paper_reader import (
    MOST_CORRECTIONS,
    MOST_MERITS,
    MOST_POINTS,
    SEVERITY_OF,
    ReadingBounds,
    correction_line,
    reading_model,
    to_reading_points,
)
from referee.llm.dialects import reply_schema
from referee.schemas.point import Correction
from tests.support import instance

from .whole_run import origin

SECTIONS = {"s1": "Abstract", "s2": "Method"}
POINT: dict[str, Any] = {
    "claim": "One seed.",
    "argument": "Chance could explain it.",
    "polarity": "weakness",
    "kind": "statistics",
    "evidence": [{"section_id": "s2", "quote": "one fixed seed", "role": "shows"}],
    "effect": "claim",
    "settled_by": "five seeds",
    "remedy": "experiment",
    "work_to_look_up": "",
}
SLIP = {"place": "Table 2", "printed": "0.78", "should_be": "0.87", "why": "Section 4 says so.", "section_id": "s2"}
MERIT = {"claim": "The data are new.", "section_id": "s1", "quote": ""}


def points(**reply: list[dict[str, Any]]) -> Any:
    given = {"reading": "It is about lamps.", "points": [], "corrections": [], "merits": [], **reply}
    return to_reading_points(reading_model(SECTIONS).model_validate(given), origin("F2"), SECTIONS)


def test_everything_that_was_raised_is_a_point_with_its_id() -> None:
    made = points(points=[POINT, POINT | {"polarity": "question"}], corrections=[SLIP], merits=[MERIT, MERIT])
    assert [p.id for p in made] == ["p-F2-1", "p-F2-2", "c-F2-1", "m-F2-1", "m-F2-2"]
    assert [p.polarity for p in made] == ["weakness", "question", "weakness", "strength", "strength"]
    assert {(p.call_id, p.model, p.prompt, p.source) for p in made} == {("k1", "m", "digest", "section")}
    assert {p.outcome for p in made} == {"listed"}


def test_a_point_keeps_what_its_reader_said_and_no_quotation_counts_yet() -> None:
    (point,) = points(points=[POINT | {"work_to_look_up": " Doe 2023 "}])
    assert (point.claim, point.argument, point.unverified_work) == ("One seed.", "Chance could explain it.", "Doe 2023")
    assert (point.fix.kind, point.fix.what) == ("experiment", "five seeds")
    (evidence,) = point.evidence
    assert (evidence.section_id, evidence.section, evidence.status) == ("s2", "Method", "not_found")


@pytest.mark.parametrize(("effect", "severity"), SEVERITY_OF.items())
def test_severity_is_what_would_change_in_the_paper(effect: str, severity: str) -> None:
    (point,) = points(points=[POINT | {"effect": effect}])
    assert (point.severity, point.raised_severity) == (severity, severity)


def test_a_correction_quotes_what_is_printed_and_says_it_in_one_line() -> None:
    (slip,) = points(corrections=[SLIP])
    assert slip.claim == "Table 2: “0.78” should be “0.87” (Section 4 says so)"
    assert slip.correction == Correction(place="Table 2", printed="0.78", should_be="0.87", why="Section 4 says so.")
    assert (slip.kind, slip.severity, slip.evidence[0].quote, slip.fix.what) == ("error", "minor", "0.78", "0.87")
    bare = Correction(place=" ", printed=" a ", should_be="b")
    assert correction_line(bare) == "“a” should be “b”"


def test_a_merit_has_its_place_and_needs_no_quotation() -> None:
    bare, said = points(merits=[MERIT, MERIT | {"quote": "new data"}])
    assert (bare.section_id, bare.evidence) == ("s1", ())
    assert [e.quote for e in said.evidence] == ["new data"]


def test_a_reply_is_bounded_and_its_schema_makes_valid_replies() -> None:
    for name, most, item in (
        ("points", MOST_POINTS, POINT),
        ("corrections", MOST_CORRECTIONS, SLIP),
        ("merits", MOST_MERITS, MERIT),
    ):
        assert len(points(**{name: [item] * most})) == most
        with pytest.raises(ValidationError, match=name):
            points(**{name: [item] * (most + 1)})
    with pytest.raises(ValidationError, match="section_id"):
        points(merits=[MERIT | {"section_id": "s9"}])
    model = reading_model(SECTIONS, ReadingBounds(points=20))
    for seed in range(5):
        model.model_validate(instance(reply_schema(model), "<submission>a b c d</submission>", random.Random(seed)))
