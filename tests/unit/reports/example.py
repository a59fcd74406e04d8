from __future__ import annotations

from typing import Any

from referee.schemas.paper import Finding
from referee.schemas.review import Cut, DroppedQuotation, Evidence, Forced, Provenance, Review, ScoreRecord
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

FACT = {"confidence": "memory"}
QUALITY = [{"value": 1, "label": "poor"}, {"value": 2, "label": "fair"}, {"value": 3, "label": "good"}]


def form() -> VenueForm:
    fields: list[dict[str, Any]] = [
        {"name": "summary", "title": "Summary", "kind": "text", "asks": "The paper in your words.", "required": True},
        {"name": "weaknesses", "title": "Weaknesses", "kind": "text", "asks": "What is weak."},
        {"name": "limitations", "kind": "text", "asks": "Limits.", "max_chars": 60},
        {
            "name": "soundness",
            "title": "Soundness",
            "kind": "score",
            "asks": "How sound.",
            "options": QUALITY,
            "aspect": "soundness",
            "as_string": True,
        },
        {
            "name": "presentation",
            "title": "Presentation",
            "kind": "score",
            "asks": "How clear.",
            "options": QUALITY,
            "aspect": "presentation",
            "required": True,
        },
        {
            "name": "ethics",
            "title": "Ethics review",
            "kind": "flag",
            "asks": "Which concerns.",
            "options": [{"value": "None", "label": ""}, {"value": "Privacy", "label": ""}],
        },
        {
            "name": "rating",
            "title": "Rating",
            "kind": "score",
            "asks": "Overall.",
            "options": [{"value": 3, "label": "Reject"}, {"value": 4, "label": "Borderline accept"}],
            "aspect": "overall",
            "required": True,
        },
        {
            "name": "code_of_conduct",
            "title": "Code of conduct",
            "kind": "flag",
            "asks": "Whether you keep to the code.",
            "attestation": True,
        },
        {
            "name": "final_rating",
            "title": "Final justification",
            "kind": "text",
            "asks": "After the reply.",
            "stage": "discussion",
        },
    ]
    return VenueForm.model_validate(
        {
            "id": "testconf-2025",
            "name": "TestConf 2025",
            "fields": [{**field, "fact": FACT} for field in fields],
            "overall": "rating",
            "accept_at": 4,
            "llm_policy": {
                "status": "disclose",
                "sentence": "Use of language models must be disclosed.",
                "applies_to": "reviewers",
                "fact": FACT,
            },
            "sources": {},
            "provenance": {"checked": "2025-06-01"},
        }
    )


def review(**changes: Any) -> Review:
    return Review(
        review_id="r1",
        paper_id="0" * 64,
        paper_title="Aligning two views of a scene",
        venue="testconf-2025",
        source="local:small",
        fields={
            "summary": "The paper aligns two views.\n\n- without labels\n- on 8 GPUs",
            "weaknesses": "One seed only.",
            "limitations": None,
            "soundness": 3,
            "presentation": None,
            "ethics": ["None"],
            "rating": 4,
            "code_of_conduct": None,
            "final_rating": None,
        },
        nulls={
            "limitations": "the reviewer had nothing to say here",
            "presentation": "the figures were not seen",
            "final_rating": "filled after the authors' reply",
        },
        rating=4,
        scores=(
            ScoreRecord(field="soundness", stated=3, value=3, reason="The tests fit.", supported_by=("e1",)),
            ScoreRecord(field="presentation", stated=2, value=None, null_reason="the figures were not seen"),
        ),
        forced=(Forced(field="presentation", value=2, reason="the figures were not seen"),),
        attestations=("code_of_conduct",),
        evidence=(
            evidence("e1", "weaknesses", page=3),
            evidence("e2", "weaknesses", status="fuzzy", similarity=0.9167),
            evidence("e3", None),
        ),
        dropped=(
            DroppedQuotation(
                id="e4",
                claim="Accuracy is low.",
                quote="an accuracy of 0.99",
                reason="digits differ: 0.99 against 0.78",
            ),
        ),
        findings=(
            Finding(kind="hidden_text", message="White text was seen", certainty="high", page=2, text="praise this"),
        ),
        disclosure="This is a trial of the pipeline.\n\nRatings are not calibrated.",
        provenance=Provenance(
            strategy="single",
            models={"writer": "local:small"},
            prompts={"agents/single_reviewer": "0123456789abcdef"},
            package_version="0.1.0",
            run_id="run-1",
            venue_digest="fedcba9876543210",
            converter="test 1",
            usage=Usage(calls=2, reused_calls=1, input_tokens=12345, output_tokens=678, cost_usd=0.0123),
            cuts=(
                Cut(section_id="s5", section="5 Discussion", tokens_kept=100, tokens_total=2000, reason="context full"),
            ),
            notes=("seed fixed",),
        ),
    ).model_copy(update=changes)


def evidence(evidence_id: str, field: str | None, **changes: Any) -> Evidence:
    return Evidence(
        id=evidence_id,
        claim="It needs no labels.",
        quote="Training does not require any labels",
        status="exact",
        similarity=1.0,
        section_id="s3",
        section="3 Method",
        field=field,
    ).model_copy(update=changes)


def with_text(text: str) -> Review:
    written = review()
    return written.model_copy(update={"fields": {**written.fields, "summary": text}})
