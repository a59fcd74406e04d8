"""The bundled forms against the facts they were written from."""

from __future__ import annotations

import json

import jsonschema
import pytest

from referee.schemas import VenueForm
from referee.venues import load_venue
from referee.venues.files import scales
from referee.venues.schema import SCHEMA_FILE, venue_schema

IDS = ["arr", "iclr-2025", "neurips-2025"]

FIELDS = {
    "neurips-2025": "summary strengths_and_weaknesses quality clarity significance originality questions limitations "
    "rating confidence ethical_concerns paper_formatting_concerns code_of_conduct_acknowledgement "
    "responsible_reviewing_acknowledgement final_justification",
    "iclr-2025": "summary soundness presentation contribution strengths weaknesses questions flag_for_ethics_review "
    "details_of_ethics_concerns rating confidence code_of_conduct",
    "arr": "paper_summary summary_of_strengths summary_of_weaknesses comments_suggestions_and_typos confidence "
    "soundness excitement overall_assessment best_paper_justification limitations_and_societal_impact "
    "ethical_concerns needs_ethics_review reproducibility datasets software "
    "Knowledge_of_or_educated_guess_at_author_identity Knowledge_of_paper Knowledge_of_paper_source "
    "Knowledge_of_paper_source_other impact_of_knowledge_of_paper Knowledge_of_paper_additional "
    "Knowledge_of_authors_guess reviewer_certification secondary_reviewer publication_ethics_policy_compliance",
}

HALVES = [5.0, 4.5, 4.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0]
SCALES = [
    ("neurips-2025", "rating", [6, 5, 4, 3, 2, 1]),
    ("neurips-2025", "confidence", [5, 4, 3, 2, 1]),
    ("neurips-2025", "quality", [4, 3, 2, 1]),
    ("neurips-2025", "clarity", [4, 3, 2, 1]),
    ("neurips-2025", "significance", [4, 3, 2, 1]),
    ("neurips-2025", "originality", [4, 3, 2, 1]),
    ("iclr-2025", "rating", [10, 8, 6, 5, 3, 1]),
    ("iclr-2025", "confidence", [5, 4, 3, 2, 1]),
    ("iclr-2025", "soundness", [4, 3, 2, 1]),
    ("iclr-2025", "presentation", [4, 3, 2, 1]),
    ("iclr-2025", "contribution", [4, 3, 2, 1]),
    ("arr", "overall_assessment", HALVES),
    ("arr", "soundness", HALVES),
    ("arr", "excitement", HALVES),
    ("arr", "confidence", [5, 4, 3, 2, 1]),
    ("arr", "reproducibility", [5, 4, 3, 2, 1]),
    ("arr", "datasets", [5, 4, 3, 2, 1]),
    ("arr", "software", [5, 4, 3, 2, 1]),
]

LABELS = [
    ("neurips-2025", "rating", 6, "Strong Accept"),
    ("neurips-2025", "rating", 5, "Accept"),
    ("neurips-2025", "rating", 4, "Borderline accept"),
    ("neurips-2025", "rating", 3, "Borderline reject"),
    ("neurips-2025", "rating", 2, "Reject"),
    ("neurips-2025", "rating", 1, "Strong Reject"),
    ("neurips-2025", "clarity", 2, "fair"),
    ("iclr-2025", "rating", 10, "strong accept, should be highlighted at the conference"),
    ("iclr-2025", "rating", 8, "accept, good paper"),
    ("iclr-2025", "rating", 6, "marginally above the acceptance threshold"),
    ("iclr-2025", "rating", 5, "marginally below the acceptance threshold"),
    ("iclr-2025", "rating", 3, "reject, not good enough"),
    ("iclr-2025", "rating", 1, "strong reject"),
    ("iclr-2025", "contribution", 3, "good"),
    ("arr", "overall_assessment", 5.0, "Consider for Award"),
    ("arr", "overall_assessment", 4.5, "Borderline Award"),
    ("arr", "overall_assessment", 4.0, "Conference"),
    ("arr", "overall_assessment", 3.0, "Findings"),
    ("arr", "overall_assessment", 2.5, "Borderline Findings"),
    ("arr", "overall_assessment", 2.0, "Resubmit next cycle"),
    ("arr", "overall_assessment", 1.5, "Resubmit after next cycle"),
    ("arr", "overall_assessment", 1.0, "Do not resubmit"),
    ("arr", "soundness", 3.0, "Acceptable"),
    ("arr", "excitement", 1.0, "Not Exciting"),
]


@pytest.fixture(params=IDS)
def form(request: pytest.FixtureRequest) -> VenueForm:
    return load_venue(request.param)


@pytest.mark.parametrize("venue", IDS)
def test_fields_stand_in_the_venues_order(venue: str) -> None:
    assert [field.name for field in load_venue(venue).fields] == FIELDS[venue].split()


@pytest.mark.parametrize(("venue", "field", "values"), SCALES)
def test_scales(venue: str, field: str, values: list[float]) -> None:
    offered = [option.value for option in load_venue(venue).field(field).options]
    assert offered == values
    assert [type(value) for value in offered] == [type(value) for value in values]


@pytest.mark.parametrize(("venue", "field", "value", "label"), LABELS)
def test_labels(venue: str, field: str, value: float, label: str) -> None:
    options = {option.value: option.label for option in load_venue(venue).field(field).options}
    assert options[value] == label


@pytest.mark.parametrize(
    ("venue", "overall", "accept_at", "status"),
    [
        ("neurips-2025", "rating", 4, "restricted"),
        ("iclr-2025", "rating", 6, "unknown"),
        ("arr", "overall_assessment", 3, "restricted"),
    ],
)
def test_overall_threshold_and_policy(venue: str, overall: str, accept_at: float, status: str) -> None:
    form = load_venue(venue)
    assert (form.overall, form.accept_at, form.llm_policy.status) == (overall, accept_at, status)


def test_only_a_person_attests() -> None:
    assert [f.name for f in load_venue("neurips-2025").attestations] == [
        "code_of_conduct_acknowledgement",
        "responsible_reviewing_acknowledgement",
    ]
    assert [f.name for f in load_venue("iclr-2025").attestations] == ["code_of_conduct"]
    arr = {f.name for f in load_venue("arr").attestations}
    assert {"reviewer_certification", "secondary_reviewer", "publication_ethics_policy_compliance"} <= arr
    assert {name for name in FIELDS["arr"].split() if "nowledge_of" in name} <= arr


def test_the_discussion_stage_is_apart() -> None:
    form = load_venue("neurips-2025")
    assert [f.name for f in form.fields if f.stage == "discussion"] == ["final_justification"]
    assert "final_justification" not in {f.name for f in form.reviewer_fields}


def test_what_is_unknown_stays_unknown() -> None:
    iclr = load_venue("iclr-2025")
    assert iclr.field("summary").required is None
    assert iclr.field("details_of_ethics_concerns").required is False
    assert load_venue("neurips-2025").field("paper_formatting_concerns").required is None
    assert all(load_venue(venue).provenance.unknown for venue in IDS)


def test_every_form_validates_against_the_schema(form: VenueForm) -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(form.model_dump(mode="json"), schema, cls=jsonschema.Draft202012Validator)
    assert VenueForm.model_validate_json(form.model_dump_json()) == form


def test_the_schema_file_is_the_generated_one() -> None:
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == venue_schema(), "run python -m referee.venues.schema"


def test_every_statement_has_a_source_and_every_source_is_cited(form: VenueForm) -> None:
    facts = [f.fact for f in form.fields] + [g.fact for g in form.guidelines] + [form.llm_policy.fact]
    assert all(fact.sources for fact in facts)
    assert {key for fact in facts for key in fact.sources} == set(form.sources)


def test_guidelines_brief_a_reviewer(form: VenueForm) -> None:
    assert 10 <= len(form.guidelines) <= 16
    assert {g.kind for g in form.guidelines} == {"subjective", "objective"}


def test_every_overall_score_and_confidence_is_marked(form: VenueForm) -> None:
    assert form.overall is not None
    assert form.field(form.overall).aspect == "overall"
    assert [f.name for f in form.fields if f.aspect == "confidence"] == ["confidence"]


def test_every_shared_scale_is_used() -> None:
    written = "".join(path.read_text(encoding="utf-8") for path in (SCHEMA_FILE.parent / "data").glob("*.toml"))
    assert [name for name in scales() if f'scale = "{name}"' not in written] == []
