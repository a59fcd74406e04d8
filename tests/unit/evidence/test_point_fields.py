"""Boxes and order of points."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import check_order, field_for, order_points, place_points
from referee.evidence.point_fields import field_roles
from referee.schemas.point import SEVERITIES, Correction, PointKind, Polarity, ReviewPoint
from referee.schemas.venue import VenueForm
from referee.venues import list_venues, load_venue

from .scene_points import ACCURACY, GAIN, check, point, quoted, raised_points

VENUES = sorted(str(getattr(venue, "id", venue)) for venue in list_venues())
SLIP = Correction(place="Table 2", printed="31", should_be="29")
CASES = tuple(product(get_args(Polarity), get_args(PointKind), SEVERITIES))
SUMMARIES = {"tmlr": "summary_of_contributions", "corl-2024": "summary_of_recommendation"}


@pytest.mark.parametrize("venue", VENUES)
def test_every_point_has_one_box_in_every_form(venue: str) -> None:
    form = load_venue(venue)
    boxes = {field.name for field in form.reviewer_fields if field.kind == "text"}
    for polarity, kind, severity in CASES:
        name = field_for(point(polarity=polarity, kind=kind, severity=severity), form)
        if not boxes:
            assert name is None
            continue
        assert name in boxes
        lower = name.lower()
        assert not any(word in lower for word in ("title", "formatting", "justification", "supplementary"))
        assert "summary" not in lower or "of_strengths" in lower or "of_weak" in lower or SUMMARIES[venue] == name
        praised = any(word in lower for word in ("strength", "accept", "publish"))
        blamed = any(word in lower for word in ("weakness", "reject", "concerns"))
        assert not (polarity == "strength" and blamed and not praised)
        assert not (polarity != "strength" and praised and not blamed)


@pytest.mark.parametrize("venue", VENUES)
def test_questions_go_to_the_box_for_questions_where_there_is_one(venue: str) -> None:
    form = load_venue(venue)
    boxes = [f.name for f in form.reviewer_fields if f.kind == "text" and "question" in f.name.lower()]
    assert not boxes or field_for(point(polarity="question"), form) == boxes[0]


@pytest.mark.parametrize(
    ("venue", "changes", "name"),
    [
        ("neurips-2025", {"polarity": "strength"}, "strengths_and_weaknesses"),
        ("neurips-2025", {"kind": "missing", "claim": "No limitation is named"}, "limitations"),
        ("neurips-2025", {"kind": "missing", "claim": "No code is given"}, "strengths_and_weaknesses"),
        ("iclr-2023", {"kind": "novelty", "severity": "major"}, "strength_and_weaknesses"),
        ("iclr-2023", {"kind": "clarity", "severity": "minor"}, "strength_and_weaknesses"),
        ("iclr-2024", {"kind": "ethics"}, "details_of_ethics_concerns"),
        ("icml-2025", {"kind": "error"}, "claims_and_evidence"),
        ("icml-2025", {"kind": "statistics"}, "methods_and_evaluation_criteria"),
        ("icml-2025", {"kind": "comparison", "fix": {"kind": "citation"}}, "essential_references_not_discussed"),
        ("icml-2025", {"kind": "clarity"}, "other_strengths_and_weaknesses"),
        ("emnlp-2023", {"kind": "clarity", "severity": "note"}, "Reasons_To_Reject"),
        ("emnlp-2023", {"kind": "design"}, "Reasons_To_Reject"),
        ("arr", {"kind": "error", "severity": "minor", "correction": SLIP}, "comments_suggestions_and_typos"),
        ("arr", {"kind": "error", "severity": "note"}, "summary_of_weaknesses"),
        ("neurips-2024", {"kind": "error", "severity": "minor", "correction": SLIP}, "weaknesses"),
        ("arr-2021", {"polarity": "question"}, "concerns"),
        ("tmlr", {"kind": "design"}, "claims_explanation"),
        ("tmlr", {"polarity": "strength"}, "summary_of_contributions"),
        ("tmlr-before-2025", {"severity": "note"}, "strengths_and_weaknesses"),
        ("neurips-db-2021", {"kind": "reproducibility", "severity": "minor"}, "weaknesses"),
        ("neurips-db-2022", {"kind": "error", "severity": "fatal"}, "opportunities_for_improvement"),
        ("corl-2021", {"polarity": "question"}, "review"),
        ("icml-2025-position", {}, None),
    ],
)
def test_the_box_that_a_form_has_for_it(venue: str, changes: dict[str, object], name: str | None) -> None:
    assert field_for(point(**changes), load_venue(venue)) == name


NEURIPS = load_venue("neurips-2025")
ARR = load_venue("arr")
BOTH = "strengths_and_weaknesses"


def ids(points: list[ReviewPoint]) -> str:
    return "".join(p.id for p in points)


def test_severity_then_verdict_then_quotations_then_id() -> None:
    two = tuple(quoted(q, status="exact") for q in (GAIN, ACCURACY))
    points = [
        point("g", severity="note", check=check("stands")),
        point("f", severity="minor"),
        point("e"),
        point("d"),
        point("z", evidence=two),
        point("c", evidence=two[:1]),
        point("b", check=check("stands")),
        point("a", severity="fatal", check=check("undecidable")),
    ]
    assert ids(order_points(points)) == "abzcdefg"
    assert ids(order_points(reversed(points))) == "abzcdefg"


def test_checks_are_spent_on_the_grave_points_and_absences_first() -> None:
    absence = {"what": "seeds", "terms": ("seed",)}
    points = [
        point("d", severity="minor"),
        point("c", severity="note", absence=absence),
        point("b"),
        point("a", severity="fatal"),
        point("x", severity="fatal", check=check("stands")),
        point("y", outcome="dropped", reason="unquoted"),
        point("z", severity="fatal", polarity="strength"),
    ]
    assert ids(check_order(points)) == "abcd"


def test_all_that_stands_is_printed() -> None:
    points = [point(f"m{i}") for i in range(7)]
    points += [point(f"w{i}", severity="minor") for i in range(40)]
    points += [point(f"s{i}", severity="minor", polarity="strength") for i in range(9)]
    points += [point(f"n{i}", severity="note") for i in range(9)]
    points += [point(f"k{i}", severity="note", kind="clarity", unverified=True) for i in range(9)]
    placed = place_points(points, NEURIPS)
    assert {p.outcome for p in placed} == {"printed"}
    assert {p.field for p in placed} == {BOTH}
    assert sorted(p.id for p in placed) == sorted(p.id for p in points)


def test_corrections_stand_in_boxes_for_remarks_where_there_are_some() -> None:
    slip = [point(severity="note", correction=SLIP)]
    assert place_points(slip, NEURIPS)[0].field == BOTH
    assert place_points(slip, ARR)[0].field == "comments_suggestions_and_typos"


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
def test_no_criticism_ever_stands_under_questions(form: VenueForm) -> None:
    for severity in SEVERITIES:
        for correction in (None, SLIP):
            box = field_for(point(severity=severity, correction=correction), form)
            assert box is None or "questions" not in field_roles(form.field(box))


def test_a_form_of_scores_lists_every_point() -> None:
    (placed,) = place_points([point(severity="fatal")], load_venue("icml-2025-position"))
    assert (placed.outcome, placed.field) == ("listed", None)
    assert "no text field" in placed.reason


def test_settled_points_pass_through() -> None:
    struck = point(outcome="struck", reason="refuted")
    assert place_points([struck], NEURIPS) == [struck]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(raised_points(), st.data())
def test_placing_depends_on_no_order_and_is_stable(raised: list[ReviewPoint], data: st.DataObject) -> None:
    placed = place_points(raised, ARR)
    assert place_points(data.draw(st.permutations(raised)), ARR) == placed
    assert place_points(placed, ARR) == placed
    assert all((p.outcome == "printed") == (p.field is not None) for p in placed)
