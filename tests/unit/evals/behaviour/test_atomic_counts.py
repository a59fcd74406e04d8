from typing import Any

import pytest

from referee.evals.behaviour.atomic import (
    AtomicItems,
    Matched,
    MatchedPair,
    Quantity,
    compared,
    matched_pairs,
    quantity,
)
from referee.schemas.case import ReviewCase


def items(strengths: int, weaknesses: int, length: int = 60, **more: Any) -> AtomicItems:
    named = [("s", strengths), ("w", weaknesses)]
    good, bad = (tuple(f"{letter}{n}".ljust(length, ".") for n in range(count)) for letter, count in named)
    return AtomicItems(good, bad, **more)


def review(case_id: str, paper_id: str, kind: Any, **more: Any) -> ReviewCase:
    return ReviewCase(
        case_id=case_id, paper_id=paper_id, source="human" if kind == "human" else "model", kind=kind, text="t", **more
    )


def beside(pairs: list[MatchedPair], name: Quantity) -> Matched:
    return compared([(quantity(pair.generated, name), quantity(pair.human, name)) for pair in pairs])


def test_quantities() -> None:
    two = AtomicItems(("a" * 60,), ("b" * 50, "c" * 70))
    named: list[tuple[Any, float]] = [
        ("strengths", 1),
        ("weaknesses", 2),
        ("items", 3),
        ("strength_chars", 60),
        ("weakness_chars", 60),
        ("item_chars", 60),
    ]
    for name, value in named:
        assert quantity(two, name) == value
    assert quantity(AtomicItems(), "item_chars") is None
    assert quantity(AtomicItems(), "items") == 0
    assert quantity(AtomicItems(status="failed", reason="silent"), "items") is None


def test_each_generated_review_is_matched_with_each_human_one_of_its_paper() -> None:
    reviews = [
        (review("h1", "p1", "human", venue="a", decision="Accept"), items(2, 4)),
        (review("h2", "p1", "human", venue="a", decision="Accept"), items(0, 2)),
        (review("g1", "p1", "ai", venue="x"), items(4, 4)),
        (review("g2", "p2", "ai"), items(9, 9)),
        (review("h3", "p3", "human"), items(1, 1)),
        (review("g3", "p3", "ai"), AtomicItems(status="failed", reason="silent")),
        (review("u", "p1", "unknown"), items(1, 1)),
    ]
    pairs = matched_pairs(reviews)
    assert [(pair.generated_case.case_id, pair.human_case.case_id) for pair in pairs] == [("g1", "h1"), ("g1", "h2")]
    found = beside(pairs, "strengths")
    assert (found.ratio, found.pairs, found.zero_denominators) == (2.0, 1, 1)
    assert (found.difference, found.difference_median, found.compared) == (3.0, 3.0, 2)
    assert beside(pairs, "weaknesses").ratio == pytest.approx(1.5)
    assert beside(pairs, "strength_chars").undefined == 1


def test_nothing_to_compare_has_a_reason() -> None:
    empty = beside([], "items")
    assert (empty.ratio, empty.difference, empty.status) == (None, None, "not_applicable")
    assert "no paper" in empty.reason
    pairs = matched_pairs([(review("h", "p", "human"), items(0, 0)), (review("g", "p", "ai"), items(1, 1))])
    zero = beside(pairs, "items")
    assert (zero.ratio, zero.difference, zero.status) == (None, 2, "scored")
    assert zero.reason
