"""What reviewers say about ethics, and boxes that say nothing, are no text of the review, whatever layout it is in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.data import canonical_text, read_cases
from referee.venues.registry import load_venue

BOXES = {
    "summary": "It works.",
    "strengths": "Clear.",
    "weaknesses": "Thin.",
    "questions": "Why?",
    "limitations": "None",
}
ETHICS = (
    "No major ethical concerns. The paper evaluates on public data and harms nobody, as far as one can see from it."
)


def test_ethics_fields_are_left_out_with_a_form_and_without() -> None:
    fields = {**BOXES, "ethical_concerns": ETHICS, "flag_for_ethics_review": ["No ethics review needed."]}
    said = "It works.\n\nClear.\n\nThin.\n\nWhy?"
    assert canonical_text(fields, load_venue("neurips-2023")) == said
    assert canonical_text({**fields, "details_of_ethics_concerns": ETHICS}, load_venue("iclr-2026")) == said
    assert canonical_text(fields, None) == said
    tmlr = {"summary_of_contributions": "It works.", "broader_impact_concerns": ETHICS, "requested_changes": "None"}
    assert canonical_text(tmlr, load_venue("tmlr")) == canonical_text(tmlr, None) == "It works."
    assert canonical_text({"remark": "x" * 200, "ethical_concerns": ETHICS}, None) == "x" * 200


@pytest.mark.parametrize("nothing", ["None", "none.", "NA", "n/a", "N.A.", "- None", "**None**"])
def test_a_box_that_says_nothing_is_no_text(nothing: str) -> None:
    assert canonical_text({"summary": "Fine.", "limitations": nothing}, load_venue("neurips-2025")) == "Fine."
    assert canonical_text({"summary": "Fine.", "weaknesses": [nothing, "Thin."]}, None) == "Fine.\n\n- Thin."


def test_every_layout_gives_the_same_text_and_keeps_what_was_said_about_ethics(tmp_path: Path) -> None:
    boxes = {**BOXES, "ethical_concerns": ETHICS}
    note = {
        "id": "n",
        "forum": "p",
        "invitations": ["NeurIPS.cc/2023/Conference/Submission1/-/Official_Review"],
        "domain": "NeurIPS.cc/2023/Conference",
        "content": {name: {"value": value} for name, value in boxes.items()},
    }
    placed = {"paper_id": "p", "source": "human", "venue": "NeurIPS", "year": 2023}
    joined = "".join(f"{name.replace('_', ' ').capitalize()}:\n{value}\n\n" for name, value in boxes.items())
    rows = {
        "notes.json": {"notes": [note]},
        "papers.json": {**placed, "reviews": [boxes]},
        "flat.json": {**placed, **boxes},
        "joined.json": {**placed, "summary": BOXES["summary"], "text": joined},
    }
    for name, row in rows.items():
        (tmp_path / name).write_text(json.dumps(row), encoding="utf-8")
        (case,) = read_cases(tmp_path / name)
        assert case.text == "It works.\n\nClear.\n\nThin.\n\nWhy?", name
        assert ETHICS in ({**case.extra, **case.fields}["ethical_concerns"] or ""), name


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("raw", "rows", "count"),
    [
        ("openreview_raw/api_v2_agents4science2025", "paired/agents4science2025_reviews.jsonl", 48),
        ("openreview_raw/api_v2_iclr2026", "papers/iclr2026_abstract_reviews_rebuttals.jsonl", 45),
    ],
)
def test_raw_notes_and_rows_of_the_same_reviews_have_equal_texts(
    shared_data: Path, raw: str, rows: str, count: int
) -> None:
    texts = {case.case_id: case.text for case in read_cases(shared_data / rows)}
    both = [case for case in read_cases(shared_data / raw) if case.case_id in texts]
    assert len(both) == count
    assert [case.case_id for case in both if case.text != texts[case.case_id]] == []
