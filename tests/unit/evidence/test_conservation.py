from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import RefereeError
from referee.evidence import (
    Conservation,
    PointsLost,
    apply_check,
    ask_unchecked_absence,
    check_conservation,
    merge_points,
    place_points,
    settle_absence,
    settle_literature,
    verify_point,
)
from referee.evidence.absence import TermIndex
from referee.schemas.point import SEVERITIES, ReviewPoint
from referee.venues import load_venue

from .scene_paper import paper
from .scene_points import GAIN, INDEX, checks, point, raised_points, same_words

FORMS = [load_venue(name) for name in ("neurips-2025", "arr", "tmlr", "icml-2025", "icml-2025-position")]
TERMS = TermIndex(paper())
A = point("a", outcome="printed", field="weaknesses", merged_from=("b",))
B = point("b", outcome="merged_into", merged_into="a", reason="says the same as a")
C = point("c", outcome="struck", reason="refuted")


def test_the_counts_add_up() -> None:
    counts = check_conservation(["b", "a", "c"], [A, B, C], fields={"weaknesses": ["a"], "strengths": []})
    assert counts == Conservation(raised=3, printed=1, listed=0, merged_into=1, struck=1, dropped=0)
    assert check_conservation([], []).raised == 0


@pytest.mark.parametrize(
    ("raised", "points", "says"),
    [
        ("abcd", [A, B, C], "'d' was raised and is gone"),
        ("ab", [A, B, C], "'c' was never raised"),
        ("aabc", [A, B, C], "'a' was raised 2 times"),
        ("abc", [A, B, C, C], "'c' is there 2 times"),
        ("bc", [B, C], "unknown 'a'"),
        ("c", [point("c")], "'c' is listed without a reason"),
        ("c", [point("c", outcome="printed")], "'c' is printed with field None"),
        ("c", [point("c", outcome="dropped", reason="x", field="weaknesses")], "dropped with field 'weaknesses'"),
        ("c", [point("c", outcome="merged_into", reason="x")], "merged_into None"),
        ("ab", [A.model_copy(update={"merged_from": ()}), B], "does not name 'b'"),
        ("ab", [A, point("b", GAIN, outcome="merged_into", merged_into="a", reason="x")], "lacks evidence of 'b'"),
    ],
)
def test_whatever_does_not_add_up_is_named(raised: str, points: list[ReviewPoint], says: str) -> None:
    with pytest.raises(PointsLost) as caught:
        check_conservation(list(raised), points)
    assert says in str(caught.value)
    assert isinstance(caught.value, RefereeError)


def test_a_circle_of_merges_is_named() -> None:
    a = point("a", outcome="merged_into", merged_into="b", merged_from=("b",), reason="same")
    b = point("b", outcome="merged_into", merged_into="a", merged_from=("a",), reason="same")
    with pytest.raises(PointsLost, match="merged in a circle"):
        check_conservation(["a", "b"], [a, b])


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "'a' is missing from 'weaknesses'"),
        ({"strengths": ["a"]}, "'a' is missing from 'weaknesses'"),
        ({"weaknesses": ["a"], "questions": ["a"]}, "'a' is printed 2 times"),
        ({"weaknesses": ["a", "c"]}, "'c' stands in a field and is not printed"),
    ],
)
def test_composed_fields_carry_each_printed_point_once(fields: dict[str, list[str]], says: str) -> None:
    with pytest.raises(PointsLost, match=says):
        check_conservation(["a", "b", "c"], [A, B, C], fields=fields)


@settings(max_examples=60, deadline=None)
@given(raised_points(), st.data())
def test_nothing_is_lost_from_raising_to_placing(raised: list[ReviewPoint], data: st.DataObject) -> None:
    ids = [p.id for p in raised]
    points = [settle_literature(verify_point(p, INDEX)) for p in raised]
    points = merge_points(points, similar=same_words)
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids))
    points = merge_points(points, similar=same_words, duplicates=data.draw(st.lists(pairs, max_size=3)))
    points = [settle_absence(p, TERMS.search(p.absence.terms)) if p.absence else p for p in points]
    points = [apply_check(p, data.draw(checks()), data.draw(st.sampled_from((None, *SEVERITIES)))) for p in points]
    placed = place_points([ask_unchecked_absence(p) for p in points], data.draw(st.sampled_from(FORMS)))
    fields: dict[str, list[str]] = {}
    for p in placed:
        if p.field is not None:
            fields.setdefault(p.field, []).append(p.id)
    counts = check_conservation(ids, placed, fields=fields)
    assert counts.raised == counts.printed + counts.listed + counts.merged_into + counts.struck + counts.dropped
    assert {p.id: p.claim for p in placed} == {p.id: p.claim for p in raised}
