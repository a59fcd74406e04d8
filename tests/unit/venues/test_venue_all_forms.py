"""Every bundled form: the facts it was written from, and what any form must stand."""

from __future__ import annotations

import json
import random
from pathlib import Path

import jsonschema
import pytest

from referee.schemas import VenueForm
from referee.schemas.venue import FormField
from referee.venues import (
    check_field,
    describe_venue,
    empty_required,
    list_venues,
    load_venue,
    openreview_object,
    parse_score,
    render_form,
    render_guidelines,
    render_policy,
    wire_value,
)
from referee.venues.schema import venue_schema
from tests.support import instance

TEN = list(range(10, 0, -1))
FIVE = [5, 4, 3, 2, 1]
SIX = [6, *FIVE]
FOUR = [4, 3, 2, 1]
ARR_OLD = [5.0, 4.5, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0, 0.0]

# id: overall, the values it offers, the lowest that leans to acceptance, the rule on language models, number of fields
FACTS: dict[str, tuple[str | None, list[float], float | None, str, int]] = {
    "acm-transactions": ("recommendation", FOUR, 3, "unknown", 6),
    "agents4science-2025": ("overall", SIX, 4, "unknown", 12),
    "arr": ("overall_assessment", [x for x in ARR_OLD if x], 3, "restricted", 25),
    "arr-2021": ("overall_assessment", FIVE, 3, "unknown", 6),
    "arr-2022": ("overall_assessment", ARR_OLD, 3, "unknown", 15),
    "arr-2024": ("overall_assessment", ARR_OLD, 3, "restricted", 23),
    "colm-2024": ("rating", TEN, 6, "unknown", 7),
    "colm-2025": ("rating", TEN, 6, "unknown", 7),
    "corl-2021": ("recommendation", FOUR, 3, "unknown", 2),
    "corl-2022": ("recommendation", FOUR, 3, "unknown", 2),
    "corl-2023": ("recommendation", FOUR, 3, "unknown", 3),
    "corl-2024": ("recommendation", FOUR, 3, "unknown", 5),
    "elife": (None, [], None, "unknown", 4),
    "emnlp-2023": ("Excitement", FIVE, 3, "unknown", 11),
    "iclr-2017": ("rating", TEN, 6, "unknown", 4),
    "iclr-2018": ("rating", TEN, 6, "unknown", 4),
    "iclr-2019": ("rating", TEN, 6, "unknown", 4),
    "iclr-2020": ("rating", [8, 6, 3, 1], 6, "unknown", 7),
    "iclr-2021": ("rating", TEN, 6, "unknown", 4),
    "iclr-2022": ("recommendation", [10, 8, 6, 5, 3, 1], 6, "unknown", 10),
    "iclr-2023": ("recommendation", [10, 8, 6, 5, 3, 1], 6, "unknown", 11),
    "iclr-2024": ("rating", [10, 8, 6, 5, 3, 1], 6, "unknown", 12),
    "iclr-2025": ("rating", [10, 8, 6, 5, 3, 1], 6, "unknown", 12),
    "iclr-2026": ("rating", [10, 8, 6, 4, 2, 0], 6, "disclose", 12),
    "icml-2025": ("overall_recommendation", FIVE, 3, "forbidden", 15),
    "icml-2025-position": ("rating", FIVE, None, "forbidden", 7),
    "icml-2026": ("overall_recommendation", SIX, 4, "restricted", 11),
    "ieee-transactions": ("recommendation", FOUR, 3, "unknown", 16),
    "jmlr": ("recommendation", FOUR, 3, "unknown", 7),
    "nature-portfolio": (None, [], None, "disclose", 9),
    "neurips-2021": ("rating", TEN, 6, "unknown", 10),
    "neurips-2022": ("rating", TEN, 6, "unknown", 11),
    "neurips-2023": ("rating", TEN, 6, "unknown", 13),
    "neurips-2024": ("rating", TEN, 6, "unknown", 12),
    "neurips-2025": ("rating", SIX, 4, "restricted", 15),
    "neurips-db-2021": ("rating", TEN, 6, "unknown", 11),
    "neurips-db-2022": ("rating", TEN, 6, "unknown", 11),
    "neurips-db-2023": ("rating", TEN, 6, "unknown", 11),
    "neurips-db-2024": ("rating", TEN, 6, "unknown", 11),
    "neurips-db-2025": ("rating", SIX, 4, "restricted", 15),
    "openreview-default": ("rating", TEN, 6, "unknown", 4),
    "plos-one": (None, [], None, "unknown", 6),
    "tmlr": (None, [], None, "unknown", 8),
    "tmlr-before-2025": (None, [], None, "unknown", 6),
}

OLD = "title review rating confidence"
ICLR_2022 = (
    "correctness technical_novelty_and_significance empirical_novelty_and_significance flag_for_ethics_review "
    "details_of_ethics_concerns recommendation confidence"
)
ICLR_NOW = (
    "summary soundness presentation contribution strengths weaknesses questions flag_for_ethics_review "
    "details_of_ethics_concerns rating confidence code_of_conduct"
)
NEURIPS_2024 = (
    "summary soundness presentation contribution strengths weaknesses questions limitations flag_for_ethics_review "
    "rating confidence code_of_conduct"
)
DB = "strengths opportunities_for_improvement limitations correctness clarity relation_to_prior_work documentation"
COLM = "summary reasons_to_accept reasons_to_reject questions_to_authors rating confidence ethics_flag"
ORDER = {
    "iclr-2017": OLD,
    "iclr-2018": OLD,
    "iclr-2019": OLD,
    "iclr-2021": OLD,
    "iclr-2020": "title rating experience_assessment review_assessment:_thoroughness_in_paper_reading "
    "review_assessment:_checking_correctness_of_experiments "
    "review_assessment:_checking_correctness_of_derivations_and_theory review",
    "iclr-2022": f"summary_of_the_paper main_review summary_of_the_review {ICLR_2022}",
    "iclr-2023": "summary_of_the_paper strength_and_weaknesses clarity,_quality,_novelty_and_reproducibility "
    f"summary_of_the_review {ICLR_2022}",
    "iclr-2024": ICLR_NOW,
    "iclr-2026": ICLR_NOW,
    "neurips-2021": "summary main_review limitations_and_societal_impact ethical_concerns needs_ethics_review "
    "ethics_review_area time_spent_reviewing rating confidence code_of_conduct",
    "neurips-2022": "summary strengths_and_weaknesses questions limitations ethics_flag ethics_review_area soundness "
    "presentation contribution rating confidence",
    "neurips-2023": f"{NEURIPS_2024} first_time_reviewer",
    "neurips-2024": NEURIPS_2024,
    "neurips-db-2022": f"summary_and_contributions {DB} additional_feedback rating confidence",
    "neurips-db-2023": f"summary_and_contributions {DB} additional_feedback rating confidence",
    "icml-2025": "summary claims_and_evidence methods_and_evaluation_criteria theoretical_claims "
    "experimental_designs_or_analyses supplementary_material relation_to_broader_scientific_literature "
    "essential_references_not_discussed other_strengths_and_weaknesses other_comments_or_suggestions "
    "questions_for_authors ethical_review_flag ethical_review_concerns code_of_conduct overall_recommendation",
    "icml-2025-position": "rating confidence support significance discussion_potential argument_clarity related_work",
    "icml-2026": "summary strengths_and_weaknesses soundness presentation significance originality "
    "key_questions_for_authors limitations overall_recommendation confidence final_justification",
    "colm-2024": COLM,
    "colm-2025": COLM,
    "emnlp-2023": "Paper_Topic_And_Main_Contributions Reasons_To_Accept Reasons_To_Reject Questions_For_The_Authors "
    "Missing_References Typos_Grammar_Style_And_Presentation_Improvements Soundness Excitement Reproducibility "
    "Ethical_Concerns Reviewer_Confidence",
    "tmlr": "summary_of_contributions claims_and_evidence claims_explanation audience audience_explanation "
    "requested_changes broader_impact_concerns additional_comments",
    "tmlr-before-2025": "summary_of_contributions strengths_and_weaknesses requested_changes broader_impact_concerns "
    "claims_and_evidence audience",
    "jmlr": "goals description evaluation significance related_work_and_discussion clarity recommendation",
    "nature-portfolio": "key_results validity significance data_and_methodology analytical_approach "
    "suggested_improvements clarity_and_context references your_expertise",
    "elife": "public_review recommendations_for_the_authors significance_of_the_findings strength_of_evidence",
    "openreview-default": "title review rating confidence",
    "agents4science-2025": "title summary strengths_and_weaknesses quality clarity significance originality questions "
    "limitations overall confidence ethical_concerns",
}

# What the platform stores for a value of a field.
STORED: list[tuple[str, str, float, object]] = [
    ("iclr-2018", "rating", 10, "10: Top 5% of accepted papers, seminal paper"),
    ("iclr-2019", "rating", 4, "4: Ok but not good enough - rejection"),
    ("iclr-2020", "rating", 3, "3: Weak Reject"),
    ("iclr-2022", "recommendation", 5, "5: marginally below the acceptance threshold"),
    ("iclr-2023", "correctness", 4, "4: All of the claims and statements are well-supported and correct."),
    ("iclr-2024", "soundness", 3, "3 good"),
    ("iclr-2024", "rating", 6, "6: marginally above the acceptance threshold"),
    ("iclr-2025", "soundness", 3, 3),
    ("iclr-2026", "rating", 0, 0),
    ("neurips-2021", "rating", 4, "4: An okay paper, but not good enough; rejection"),
    ("neurips-2022", "contribution", 1, "1 poor"),
    ("neurips-2023", "presentation", 4, "4 excellent"),
    ("neurips-2023", "rating", 6, "6: Weak Accept"),
    ("neurips-2024", "presentation", 4, 4),
    ("neurips-2024", "rating", 6, 6),
    ("icml-2025", "overall_recommendation", 3, 3),
    ("icml-2026", "overall_recommendation", 4, 4),
    ("corl-2021", "recommendation", 3, "Weak Accept"),
    ("corl-2023", "recommendation", 1, "Strong Reject"),
    ("corl-2023", "confidence", 4, 4),
    ("corl-2024", "recommendation", 3, 3),
    ("colm-2024", "rating", 7, "7: Good paper, accept"),
    ("emnlp-2023", "Soundness", 4, "4: Strong"),
    ("arr-2024", "overall_assessment", 3.5, 3.5),
    ("elife", "strength_of_evidence", 4, "Convincing"),
    ("elife", "significance_of_the_findings", 1, "Useful"),
    ("jmlr", "recommendation", 2, "reject with encouragement to revise and resubmit"),
    ("openreview-default", "rating", 6, 6),
]

LABELS = [
    ("neurips-2022", "rating", 9, "Very Strong Accept"),
    ("neurips-2024", "rating", 1, "Very Strong Reject"),
    ("neurips-2023", "confidence", 1, "Educated guess"),
    ("iclr-2023", "confidence", 1, "Unable to assess"),
    ("icml-2025", "overall_recommendation", 3, "Weak accept"),
    ("icml-2026", "overall_recommendation", 4, "Weak Accept"),
    ("iclr-2026", "rating", 4, "marginally below the acceptance threshold, but would not mind if paper is accepted"),
    ("emnlp-2023", "Excitement", 3, "Ambivalent"),
    ("arr-2021", "overall_assessment", 2, "Borderline"),
    ("arr-2022", "overall_assessment", 2.0, "Revisions Needed"),
    ("arr-2024", "soundness", 3.0, "Acceptable"),
    ("agents4science-2025", "overall", 4, "Borderline accept"),
]

NEVER_FILLED = {
    "iclr-2020": {name for name in ORDER["iclr-2020"].split() if "assessment" in name},
    "neurips-2021": {"time_spent_reviewing", "code_of_conduct"},
    "neurips-2023": {"code_of_conduct", "first_time_reviewer"},
    "icml-2025": {"code_of_conduct"},
    "arr-2022": {"author_identity_guess"},
    "acm-transactions": {"comments_to_the_editor"},
    "ieee-transactions": {"confidential_comments"},
    "nature-portfolio": {"your_expertise"},
    "plos-one": {"identity_public"},
}


JOURNALS = {"acm-transactions", "elife", "ieee-transactions", "jmlr", "nature-portfolio", "plos-one"}


@pytest.fixture(params=sorted(FACTS), scope="module")
def form(request: pytest.FixtureRequest) -> VenueForm:
    return load_venue(request.param)


def test_these_forms_are_bundled() -> None:
    assert [form.id for form in list_venues()] == sorted(FACTS)


def test_the_page_on_venues_lists_every_form() -> None:
    page = (Path(__file__).parents[3] / "docs" / "venues.md").read_text(encoding="utf-8")
    assert [venue for venue in FACTS if page.count(f"\n| `{venue}` |") != 1] == []


def test_overall_scale_threshold_policy_and_size(form: VenueForm) -> None:
    overall, values, accept_at, status, size = FACTS[form.id]
    offered = [option.value for option in form.field(overall).options] if overall else []
    assert (form.overall, form.accept_at, form.llm_policy.status, len(form.fields)) == (
        overall,
        accept_at,
        status,
        size,
    )
    assert [(value, type(value)) for value in offered] == [(value, type(value)) for value in values]


@pytest.mark.parametrize("venue", sorted(ORDER))
def test_fields_stand_in_the_venues_order(venue: str) -> None:
    assert [field.name for field in load_venue(venue).fields] == ORDER[venue].split()


@pytest.mark.parametrize(("venue", "field", "value", "stored"), STORED)
def test_what_the_platform_stores(venue: str, field: str, value: float, stored: object) -> None:
    box = load_venue(venue).field(field)
    assert wire_value(box, value) == stored
    assert type(wire_value(box, value)) is type(stored)


@pytest.mark.parametrize(("venue", "field", "value", "label"), LABELS)
def test_labels(venue: str, field: str, value: float, label: str) -> None:
    assert {option.value: option.label for option in load_venue(venue).field(field).options}[value] == label


@pytest.mark.parametrize("venue", sorted(NEVER_FILLED))
def test_what_only_a_person_can_say(venue: str) -> None:
    assert {field.name for field in load_venue(venue).attestations} == NEVER_FILLED[venue]


def test_every_offered_value_is_stored_and_read_back(form: VenueForm) -> None:
    for field in (field for field in form.fields if field.kind == "score"):
        for option in field.options:
            assert parse_score(field, wire_value(field, option.value)) == option.value
            assert option.label == "" or parse_score(field, f"{option.value}: {option.label}") == option.value


def test_a_whole_review_fits_the_form(form: VenueForm) -> None:
    filled = {field.name: _first(field) for field in form.reviewer_fields}
    stored = openreview_object(form, filled)
    assert list(stored) == [field.name for field in form.reviewer_fields]
    assert empty_required(form, filled) == ()
    assert openreview_object(form, stored) == stored


def test_generated_reviews_fit_the_form(form: VenueForm) -> None:
    boxes = {field.name: _box(field) for field in form.reviewer_fields}
    schema = {"type": "object", "properties": boxes, "required": list(boxes), "additionalProperties": False}
    for seed in range(3):
        values = instance(schema, "<submission>one two three</submission>", random.Random(seed))
        assert list(openreview_object(form, values)) == list(boxes)


def test_every_form_is_valid_by_the_schema_and_survives_json(form: VenueForm) -> None:
    jsonschema.validate(json.loads(form.model_dump_json()), venue_schema(), cls=jsonschema.Draft202012Validator)
    assert VenueForm.model_validate_json(form.model_dump_json()) == form


def test_every_form_reads_as_text(form: VenueForm) -> None:
    for text in (render_form(form), render_form(form, brief=True)):
        assert all(f". {field.name} (" in text for field in form.reviewer_fields)
        assert not any(f". {field.name} (" in text for field in form.attestations)
    assert render_guidelines(form).count("\n") == len(form.guidelines) >= 5
    assert form.llm_policy.sentence in render_policy(form)
    page = describe_venue(form)
    assert all(text in page for text in (*form.provenance.unknown, *form.provenance.notes))
    assert not any(line.endswith(": ") for line in page.splitlines())


def test_every_statement_has_a_source_and_every_source_is_cited(form: VenueForm) -> None:
    facts = [item.fact for item in (*form.fields, *form.guidelines, form.llm_policy)]
    assert all(fact.sources for fact in facts)
    assert {key for fact in facts for key in fact.sources} == set(form.sources)


def test_what_is_unknown_is_said(form: VenueForm) -> None:
    assert form.provenance.unknown
    if form.llm_policy.status == "unknown":
        assert any("language models" in item for item in form.provenance.unknown) or form.id == "iclr-2025"
    carried = [g for g in form.guidelines if g.fact.sources == ("family",)]
    assert all(guideline.fact.confidence == "memory" and guideline.fact.note for guideline in carried)


def test_overall_and_confidence_are_marked(form: VenueForm) -> None:
    assert [field.name for field in form.fields if field.aspect == "overall"] == (
        [form.overall] if form.overall else []
    )
    sure = [field.name for field in form.fields if field.aspect == "confidence"]
    journals = ("tmlr", "tmlr-before-2025", *sorted(JOURNALS))
    without = (*journals, "iclr-2020", "icml-2025", "corl-2021", "corl-2022")
    assert len(sure) == (form.id not in without)


@pytest.mark.parametrize("venue", sorted(JOURNALS))
def test_a_journals_form_names_the_pages_it_was_read_from_and_when(venue: str) -> None:
    form = load_venue(venue)
    assert any(source.url.startswith("http") for source in form.sources.values())
    assert all(source.date for source in form.sources.values())
    assert form.llm_policy.status == "unknown" or form.llm_policy.fact.confidence == "secondary"
    assert "language models" in " ".join(form.provenance.unknown)


def test_what_nobody_read_and_an_unknown_rule_are_said_first(form: VenueForm) -> None:
    head = describe_venue(form).partition("\n\n")[0].splitlines()
    unread = sum(item.fact.confidence == "memory" for item in (*form.fields, *form.guidelines))
    said = [line for line in head[1:3] if line.startswith(("FROM MEMORY", "UNKNOWN"))]
    assert len(said) == bool(unread) + (form.llm_policy.status == "unknown")
    assert said == head[1 : 1 + len(said)]


@pytest.mark.parametrize(
    ("raw", "value"), [("Not applicable", None), ("3: The contributions are", 3), ("2", 2), ("4 = Top", 4)]
)
def test_a_novelty_score_may_be_missing(raw: str, value: int | None) -> None:
    assert parse_score(load_venue("iclr-2022").field("empirical_novelty_and_significance"), raw) == value


def _first(field: FormField) -> object:
    if field.kind == "text":
        return "Text."
    value = check_field(field, field.options[0].value)
    assert value is not None
    return value


def _box(field: FormField) -> dict[str, object]:
    """A JSON schema of what a reviewer may write into the box."""
    if field.kind == "text":
        return {"type": "string"}
    stored = [wire_value(field, option.value) for option in field.options if not option.exclusive]
    if field.kind == "flag":
        values = [option.value for option in field.options if not option.exclusive]
        return {"type": "array", "items": {"enum": values}, "minItems": 1, "uniqueItems": True}
    return {"enum": [*(option.value for option in field.options), *stored]}
