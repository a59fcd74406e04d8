from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import check_order, order_points, place_points
from referee.schemas.point import ReviewPoint
from referee.venues import load_venue

from .scene_points import ACCURACY, GAIN, check, point, quoted, raised_points

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


def test_notes_stand_in_boxes_for_remarks_where_there_are_some() -> None:
    note = [point(severity="note")]
    assert place_points(note, NEURIPS)[0].field == BOTH
    assert place_points(note, ARR)[0].field == "comments_suggestions_and_typos"
    mixed = place_points([point(kind="clarity", severity="note")], load_venue("iclr-2023"))
    assert (mixed[0].outcome, mixed[0].field) == ("printed", "clarity,_quality,_novelty_and_reproducibility")


def test_a_form_of_scores_lists_every_point() -> None:
    (placed,) = place_points([point(severity="fatal")], load_venue("icml-2025-position"))
    assert (placed.outcome, placed.field) == ("listed", None)
    assert "no text field" in placed.reason


def test_settled_points_pass_through() -> None:
    struck = point(outcome="struck", reason="refuted")
    assert place_points([struck], NEURIPS) == [struck]


@settings(max_examples=100, deadline=None)
@given(raised_points(), st.data())
def test_placing_depends_on_no_order_and_is_stable(raised: list[ReviewPoint], data: st.DataObject) -> None:
    placed = place_points(raised, ARR)
    assert place_points(data.draw(st.permutations(raised)), ARR) == placed
    assert place_points(placed, ARR) == placed
    assert all((p.outcome == "printed") == (p.field is not None) for p in placed)
