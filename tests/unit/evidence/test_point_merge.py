from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import merge_points
from referee.schemas.point import SEVERITIES, ReviewPoint

from .scene_points import ACCURACY, GAIN, INVENTED, LABELS, point, quoted, raised_points, same_words


def found(*quotes: str) -> tuple[object, ...]:
    return tuple(quoted(quote, status="exact") for quote in quotes)


def never(a: str, b: str) -> float:
    return 0.0


def by_id(points: list[ReviewPoint]) -> dict[str, ReviewPoint]:
    return {p.id: p for p in points}


def test_overlapping_quotations_make_one_point_of_the_best_evidenced_words() -> None:
    a = point("a", claim="first words", evidence=found(ACCURACY), criterion=("g1",))
    b = point("b", claim="other words", evidence=found("an accuracy of 0.78 on the test set", GAIN), criterion=("g2",))
    merged = by_id(merge_points([a, b], similar=never))
    assert (merged["a"].outcome, merged["a"].merged_into) == ("merged_into", "b")
    assert "says the same as b" in merged["a"].reason
    kept = merged["b"]
    assert (kept.claim, kept.merged_from, kept.criterion) == ("other words", ("a",), ("g2", "g1"))
    assert kept.evidence == (*b.evidence, *a.evidence)


def test_similar_claims_make_one_point() -> None:
    a, b = point("a"), point("b")
    assert by_id(merge_points([a, b], similar=lambda x, y: 0.85))["b"].merged_into == "a"
    assert by_id(merge_points([a, b], similar=lambda x, y: 0.84))["b"].merged_into is None


@pytest.mark.parametrize(
    "other",
    [{"kind": "error"}, {"threatens": "C2"}, {"fix": {"kind": "text"}}, {"polarity": "question"}],
    ids=["kind", "claim", "fix", "polarity"],
)
def test_another_kind_claim_fix_or_polarity_stays_apart(other: dict[str, object]) -> None:
    apart = merge_points([point("a"), point("b", **other)], similar=lambda x, y: 1.0)
    assert all(p.merged_into is None for p in apart)


@pytest.mark.parametrize(
    ("first", "second"),
    [(INVENTED, INVENTED), (GAIN, LABELS), ("the test set of scenes", "a test set of cars")],
    ids=["not found", "elsewhere", "too little"],
)
def test_quotations_that_do_not_overlap(first: str, second: str) -> None:
    status = "not_found" if first == INVENTED else "exact"
    a, b = (point(key, evidence=(quoted(q, status=status),)) for key, q in (("a", first), ("b", second)))
    assert all(p.merged_into is None for p in merge_points([a, b], similar=never))


def test_the_same_words_in_another_section_are_another_place() -> None:
    a = point("a", evidence=(quoted(GAIN, status="exact"),))
    b = point("b", evidence=(quoted(GAIN, status="exact", section_id="s3"),))
    assert all(p.merged_into is None for p in merge_points([a, b], similar=never))


@pytest.mark.parametrize(("pages", "one"), [((3, 3), True), ((3, 4), True), ((4, 3), True), ((3, 5), False)])
def test_words_on_one_page_or_over_its_edge_are_one_place(pages: tuple[int, int], one: bool) -> None:
    texts = (ACCURACY, ACCURACY.partition(" ")[2])
    a, b = (
        point(key, evidence=(quoted(text, status="exact").model_copy(update={"page": page}),))
        for key, text, page in zip("ab", texts, pages, strict=True)
    )
    assert any(p.merged_into for p in merge_points([a, b], similar=never)) is one


def test_evidence_that_was_moved_counts_in_the_next_round() -> None:
    a = point("a", evidence=found(GAIN, LABELS))
    b = point("b", threatens="C2", evidence=found(ACCURACY))
    c = point("c", evidence=found(ACCURACY))
    apart = by_id(merge_points([a, b, c], similar=never))
    assert [apart[key].merged_into for key in "abc"] == [None, None, None]
    joined = by_id(merge_points([a, b, c], similar=never, duplicates=[("a", "b")]))
    assert [joined[key].merged_into for key in "abc"] == [None, "a", "a"]
    assert joined["a"].merged_from == ("b", "c")


def test_a_named_pair_is_read_through_earlier_merges() -> None:
    a, b = point("a", evidence=found(GAIN)), point("b")
    c = point("c", threatens="C2")
    first = merge_points([a, b], similar=lambda x, y: 1.0)
    joined = by_id(merge_points([*first, c], similar=never, duplicates=[("b", "c")]))
    assert [joined[key].merged_into for key in "abc"] == [None, "a", "a"]


def test_a_named_pair_needs_the_same_kind_or_the_same_evidence_or_claim() -> None:
    a, b = point("a"), point("b", threatens="C2", fix={"kind": "text"})
    assert by_id(merge_points([a, b], similar=never, duplicates=[("b", "a")]))["b"].merged_into == "a"
    other_kind = point("b", kind="error")
    apart = merge_points([a, other_kind], similar=never, duplicates=[("a", "b"), ("a", "zz"), ("a", "a")])
    assert all(p.merged_into is None for p in apart)
    assert (
        by_id(merge_points([a, other_kind], similar=lambda x, y: 0.9, duplicates=[("a", "b")]))["b"].merged_into == "a"
    )
    praise = point("b", polarity="strength")
    assert by_id(merge_points([a, praise], similar=never, duplicates=[("a", "b")]))["b"].merged_into is None


def test_a_merge_does_not_lose_the_verified_severity() -> None:
    mild = point("a", severity="minor", evidence=found(ACCURACY, GAIN))
    grave = point("b", severity="major", evidence=found(ACCURACY))
    unquoted = point("c", severity="fatal")
    kept = by_id(merge_points([mild, grave, unquoted], similar=lambda x, y: 1.0))["a"]
    assert (kept.severity, kept.raised_severity) == ("major", "major")
    assert "as severe as b" in kept.reason


def test_settled_points_take_no_part_and_ids_are_unique() -> None:
    struck = point("b", outcome="struck", reason="refuted")
    assert merge_points([struck, point("a")], similar=lambda x, y: 1.0) == [point("a"), struck]
    with pytest.raises(ValueError, match="share an id"):
        merge_points([point("a"), point("a")], similar=never)


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
