from typing import Any

import pytest

from referee.evals.quality.form_checks import (
    FORM_CHECKS,
    GUIDELINE_CHECKS,
    Decision,
    Record,
    box_lengths,
    decide,
    required_boxes,
    scores_in_scale,
)
from referee.schemas.case import ReviewCase
from referee.schemas.venue import Guideline, VenueForm
from referee.venues import list_venues, load_venue

NEURIPS = {
    "summary": "It tests tests.",
    "strengths_and_weaknesses": "Good idea, weak proof.",
    "quality": 3,
    "clarity": 2,
    "significance": 3,
    "originality": 2,
    "questions": "1. Why seven?\n2. Which seed?\n3. What of noise?",
    "limitations": "yes",
    "rating": 4,
    "confidence": 4,
    "ethical_concerns": ["NO or VERY MINOR ethics concerns only"],
}


def record(
    venue: str = "neurips-2025", text: str = "Some prose.", own_rating: float | None = None, **fields: Any
) -> Record:
    case = ReviewCase(
        case_id="r1", paper_id="p1", source="human", kind="human", text=text, fields=fields, rating=own_rating
    )
    return Record(case, load_venue(venue))


def rule(guideline_id: str, text: str, kind: str = "objective") -> Guideline:
    return Guideline.model_validate({"id": guideline_id, "text": text, "kind": kind, "fact": {"confidence": "memory"}})


def venues_rule(form: VenueForm, guideline_id: str) -> Guideline:
    return next(guideline for guideline in form.guidelines if guideline.id == guideline_id)


def decided(guideline_id: str, held: Record) -> bool | None:
    decision = decide(venues_rule(held.form, guideline_id), held)
    return None if decision is None else decision.met


def test_every_check_by_id_decides_a_guideline_that_some_venue_has() -> None:
    shipped = [guideline for form in list_venues() for guideline in form.guidelines if guideline.kind == "objective"]
    for guideline_id, check in GUIDELINE_CHECKS.items():
        texts = [guideline.text for guideline in shipped if guideline.id == guideline_id]
        assert texts
        assert all(check.speaks_of.search(text) for text in texts)


def test_ids_of_form_checks_cannot_be_a_guidelines() -> None:
    assert all(":" in criterion_id for criterion_id in FORM_CHECKS)


def test_required_boxes() -> None:
    full = required_boxes(record(**NEURIPS))
    assert full is not None
    assert full.met
    blank = required_boxes(record(**(NEURIPS | {"questions": " ", "clarity": None})))
    assert blank == Decision(False, blank.finding if blank else "")
    assert blank is not None
    assert blank.finding.startswith("empty: clarity, questions")


def test_running_text_has_no_boxes_and_neither_has_a_review_in_one_box() -> None:
    whole = record(summary="What is it? It tests tests. Good idea, weak proof.", questions="N/A", rating=4)
    for held in (whole, record(), record(own_rating=4), record(rating=4), record(review="Prose of another form.")):
        assert required_boxes(held) is None
        assert box_lengths(held) is None
        assert decided("three-to-five-questions", held) is None


@pytest.mark.parametrize(
    ("fields", "met"),
    [
        ({"rating": 4}, True),
        ({"rating": "4: Borderline accept"}, True),
        ({"rating": 8}, False),
        ({"rating": 3.5}, False),
        ({"quality": "3", "clarity": 9}, False),
        ({"ethical_concerns": ["Something else"]}, False),
        ({"rating": None, "summary": "Prose."}, None),
        ({}, None),
    ],
)
def test_scores_in_their_scale(fields: dict[str, Any], met: bool | None) -> None:
    decision = scores_in_scale(record(**fields))
    assert (None if decision is None else decision.met) is met


@pytest.mark.parametrize(("rating", "met"), [(4.0, True), (8.0, False), (None, None)])
def test_the_records_own_rating_is_held_to_the_scale(rating: float | None, met: bool | None) -> None:
    decision = scores_in_scale(record(own_rating=rating, rating=None))
    assert (None if decision is None else decision.met) is met


def test_box_lengths() -> None:
    short, long = (box_lengths(record("arr", paper_summary="x" * n)) for n in (20_000, 20_001))
    assert short is not None
    assert long is not None
    assert (short.met, long.met) == (True, False)
    assert "20001 of 20000" in long.finding


@pytest.mark.parametrize(
    ("strengths", "weaknesses", "met"),
    [("Clear.", "Slow.", True), ("Clear.", "N/A", False), ("", "Slow.", False), (None, "Slow.", False)],
)
def test_both_sides_where_the_form_has_a_box_for_each(strengths: str | None, weaknesses: str, met: bool) -> None:
    held = record("iclr-2025", summary="It tests.", strengths=strengths, weaknesses=weaknesses)
    assert decided("strong-and-weak-points", held) is met


def test_one_box_for_both_sides_is_left_to_a_judge() -> None:
    assert decided("both-sides", record(**NEURIPS)) is None


@pytest.mark.parametrize(
    ("weaknesses", "met"),
    [
        ("1. Slow.\n2. Small.", True),
        ("W1: Slow.\nW2: Small.", True),
        ("- (1) Slow.\n- (2) Small.", True),
        ("- Slow.\n- Small.", False),
        ("It is slow.\n\nIt is small.", False),
        ("It is slow.", None),
        ("1.5 times slower than the baseline.", None),
        ("N/A", None),
    ],
)
def test_numbered_weaknesses(weaknesses: str, met: bool | None) -> None:
    assert decided("numbered-concerns", record("arr", summary_of_weaknesses=weaknesses)) is met


@pytest.mark.parametrize(
    ("questions", "met"),
    [
        ("1. A?\n2. B?\n3. C?", True),
        ("- A?\n- B?\n- C?\n- D?\n- E?", True),
        ("Q1: A?\nQ2: B?\nQ3: C?", True),
        ("1. A?\n2. B?", None),
        ("Why?", None),
        ("\n".join(f"{n}. A?" for n in range(1, 10)), None),
        ("None.", False),
        ("", False),
    ],
)
def test_three_to_five_questions(questions: str, met: bool | None) -> None:
    assert decided("three-to-five-questions", record(**(NEURIPS | {"questions": questions}))) is met


@pytest.mark.parametrize(("questions", "met"), [("Why?", True), ("Explain it.", None), ("N/A", False)])
def test_questions_for_the_authors(questions: str, met: bool | None) -> None:
    held = record("iclr-2025", summary="It tests.", strengths="It is clear.", questions=questions)
    assert decided("questions-for-authors", held) is met


def test_questions_outside_their_box_are_a_judges_to_see() -> None:
    asking = record(text="Good. But why seven?", **(NEURIPS | {"questions": "N/A"}))
    assert decided("three-to-five-questions", asking) is None


def test_a_recommendation_left_empty_has_no_reasons() -> None:
    assert decided("recommendation-with-reasons", record("iclr-2025", summary="It tests.", rating=None)) is False
    for held in (record("iclr-2025", summary="It tests."), record("iclr-2025", own_rating=6, rating=None)):
        assert decided("recommendation-with-reasons", held) is None


def test_requested_changes_left_empty() -> None:
    said = {"summary_of_contributions": "It tests.", "broader_impact_concerns": "Few, and they are spoken of."}
    assert decided("requested-changes", record("tmlr", **said)) is False
    assert decided("requested-changes", record("tmlr", requested_changes="Add a seed (needed).")) is None


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("The review has at least 3 words.", True),
        ("The review has at least 1,000 words.", False),
        ("Reviews take no more than 20 characters.", True),
        ("The summary has at most 2 words.", False),
        ("The abstract has at most 2 words.", None),
        (
            "The review weighs each claim in at least 3 words and says how its evidence was found and where it fails.",
            None,
        ),
        ("The review has at least 3 words and at most 9 words.", None),
        ("The review is long enough.", None),
    ],
)
def test_bounds_on_length(text: str, met: bool | None) -> None:
    decision = decide(rule("length", text), record(text="Four words of prose.", summary="It tests tests."))
    assert (None if decision is None else decision.met) is met


def test_another_meaning_under_a_known_id_and_subjective_rules_are_left_to_a_judge() -> None:
    held = record("iclr-2025", strengths="Clear.", weaknesses="Slow.")
    assert decide(rule("both-sides", "The review speaks to authors and chairs."), held) is None
    assert decide(rule("both-sides", "The review gives strengths and weaknesses.", "subjective"), held) is None
    assert decide(rule("both-sides", "The review gives strengths and weaknesses."), held) is not None
