"""Points that say the same become one, and none is lost."""

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
from .scene_points import ACCURACY, GAIN, INDEX, checks, point, quoted, raised_points, same_words


def found(*quotes: str) -> tuple[object, ...]:
    return tuple(quoted(quote, status="exact") for quote in quotes)


def never(a: str, b: str) -> float:
    return 0.0


def always(a: str, b: str) -> float:
    return 1.0


def by_id(points: list[ReviewPoint]) -> dict[str, ReviewPoint]:
    return {p.id: p for p in points}


def test_similar_claims_make_one_point_of_the_best_evidenced_words() -> None:
    a = point("a", claim="first words", evidence=found(ACCURACY), criterion=("g1",))
    b = point("b", claim="other words", evidence=found("an accuracy of 0.78 on the test set", GAIN), criterion=("g2",))
    merged = by_id(merge_points([a, b], similar=always))
    assert (merged["a"].outcome, merged["a"].merged_into) == ("merged_into", "b")
    assert "says the same as b" in merged["a"].reason
    kept = merged["b"]
    assert (kept.claim, kept.merged_from, kept.criterion) == ("other words", ("a",), ("g2", "g1"))
    assert kept.evidence == (*b.evidence, *a.evidence)


def test_similar_claims_make_one_point() -> None:
    a, b = point("a"), point("b")
    assert by_id(merge_points([a, b], similar=lambda x, y: 0.85))["b"].merged_into == "a"
    assert by_id(merge_points([a, b], similar=lambda x, y: 0.84))["b"].merged_into is None


def test_praise_blame_and_questions_stay_apart() -> None:
    kinds = [point("a"), point("b", polarity="question"), point("c", polarity="strength")]
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    assert all(p.merged_into is None for p in merge_points(kinds, similar=always, duplicates=pairs))


def test_another_kind_claim_or_fix_is_no_reason_to_say_it_twice() -> None:
    for other in ({"kind": "error"}, {"threatens": "C2"}, {"fix": {"kind": "text"}}):
        assert by_id(merge_points([point("a"), point("b", **other)], similar=always))["b"].merged_into == "a"


def test_what_quotes_the_same_words_is_not_the_same() -> None:
    a, b = (point(key, evidence=found(ACCURACY, GAIN)) for key in "ab")
    assert all(p.merged_into is None for p in merge_points([a, b], similar=never))


def test_two_points_of_one_reply_are_two() -> None:
    a, b = (point(key, call_id="k1") for key in "ab")
    assert all(p.merged_into is None for p in merge_points([a, b], similar=always, duplicates=[("a", "b")]))
    other = point("b", call_id="k2")
    assert by_id(merge_points([a, other], similar=always))["b"].merged_into == "a"


def test_a_named_pair_is_one_point_and_unknown_ids_are_ignored() -> None:
    a, b = point("a"), point("b", kind="error")
    joined = merge_points([a, b], similar=never, duplicates=[("b", "a"), ("a", "zz"), ("a", "a")])
    assert by_id(joined)["b"].merged_into == "a"


def test_a_named_pair_is_read_through_earlier_merges() -> None:
    a, b = point("a", evidence=found(GAIN)), point("b")
    c = point("c", threatens="C2")
    first = merge_points([a, b], similar=always)
    joined = by_id(merge_points([*first, c], similar=never, duplicates=[("b", "c")]))
    assert [joined[key].merged_into for key in "abc"] == [None, "a", "a"]


def test_a_merge_does_not_lose_the_verified_severity() -> None:
    mild = point("a", severity="minor", evidence=found(ACCURACY, GAIN))
    grave = point("b", severity="major", evidence=found(ACCURACY))
    unquoted = point("c", severity="fatal")
    kept = by_id(merge_points([mild, grave, unquoted], similar=always))["a"]
    assert (kept.severity, kept.raised_severity) == ("major", "major")
    assert "as severe as b" in kept.reason


def test_settled_points_take_no_part_and_ids_are_unique() -> None:
    struck = point("b", outcome="struck", reason="refuted")
    assert merge_points([struck, point("a")], similar=always) == [point("a"), struck]
    with pytest.raises(ValueError, match="share an id"):
        merge_points([point("a"), point("a")], similar=never)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(raised_points(), st.data())
def test_merging_depends_on_no_order_and_loses_nothing(raised: list[ReviewPoint], data: st.DataObject) -> None:
    raised = [
        p.model_copy(update={"evidence": tuple(e.model_copy(update={"status": "exact"}) for e in p.evidence)})
        for p in raised
    ]
    ids = [p.id for p in raised]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=4))
    merged = merge_points(raised, similar=same_words, duplicates=pairs)
    shuffled = data.draw(st.permutations(raised))
    assert merge_points(shuffled, similar=same_words, duplicates=[(b, a) for a, b in reversed(pairs)]) == merged
    assert merge_points(merged, similar=same_words, duplicates=pairs) == merged
    assert merge_points(merged, similar=same_words, duplicates=()) == merged
    before, after = by_id(raised), by_id(merged)
    assert before.keys() == after.keys()
    live = [p for p in merged if p.merged_into is None]
    assert {e for p in raised for e in p.evidence} == {e for p in live for e in p.evidence}
    for p in live:
        members = [before[p.id], *(before[key] for key in p.merged_from)]
        assert p.claim == before[p.id].claim
        assert {c for m in members for c in m.criterion} == set(p.criterion)
        assert SEVERITIES.index(p.severity) >= min(SEVERITIES.index(m.severity) for m in members)
        assert SEVERITIES.index(p.severity) >= SEVERITIES.index(p.raised_severity)


FORMS = [load_venue(name) for name in ("neurips-2025", "arr", "tmlr", "icml-2025", "icml-2025-position")]
TERMS = TermIndex(paper())
A = point("a", outcome="printed", field="weaknesses", merged_from=("b",))
B = point("b", outcome="merged_into", merged_into="a", reason="says the same as a")
C = point("c", outcome="struck", reason="refuted")


def test_the_counts_add_up() -> None:
    counts = check_conservation(["b", "a", "c"], [A, B, C])
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


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(raised_points(), st.data())
def test_nothing_is_lost_from_raising_to_placing(raised: list[ReviewPoint], data: st.DataObject) -> None:
    ids = [p.id for p in raised]
    points = [settle_literature(verify_point(p, INDEX)) for p in raised]
    points = merge_points(points, similar=same_words)
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids))
    points = merge_points(points, similar=same_words, duplicates=data.draw(st.lists(pairs, max_size=3)))
    points = [settle_absence(p, TERMS.search(p.absence.terms)) if p.absence else p for p in points]
    points = [apply_check(p, data.draw(checks())) for p in points]
    placed = place_points([ask_unchecked_absence(p) for p in points], data.draw(st.sampled_from(FORMS)))
    counts = check_conservation(ids, placed)
    assert counts.raised == counts.printed + counts.listed + counts.merged_into + counts.struck + counts.dropped
    assert {p.id: p.claim for p in placed} == {p.id: p.claim for p in raised}
