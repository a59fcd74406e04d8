from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest

from referee.venues.page import FieldDraft, candidates, check_holds_guidelines, form_fields, read_page, trace

HALVES = [5, 4.5, 4, 3.5, 3, 2.5, 2, 1.5, 1]
FIVE = [5, 4, 3, 2, 1]
ARR = [
    ("paper_summary", "text", []),
    ("summary_of_strengths", "text", []),
    ("summary_of_weaknesses", "text", []),
    ("comments_suggestions_typos", "text", []),
    ("reviewer_confidence", "score", FIVE),
    ("soundness", "score", HALVES),
    ("excitement", "score", HALVES),
    ("overall_assessment", "score", HALVES),
    ("best_paper_justification", "text", []),
    ("limitations_and_societal_impact", "text", []),
    ("ethical_concerns", "text", []),
    ("needs_ethics_review", "text", []),
    ("reproducibility", "score", FIVE),
    ("datasets", "score", FIVE),
    ("software", "score", FIVE),
    ("knowledge_of_educated_guess_at_author_identity", "score", FIVE),
    ("conjecture_as_to_author_identity", "text", []),
]
ACL = [
    ("what_is_this_paper_about_and_what_contributions_does_it_make", "text", []),
    ("reasons_to_accept", "text", []),
    ("reasons_to_reject", "text", []),
    ("questions_for_the_authors", "text", []),
    ("missing_references", "text", []),
    ("typos_grammar_style_and_presentation_improvements", "text", []),
    ("soundness", "score", FIVE),
    ("excitement", "score", HALVES),
    ("reviewer_confidence", "score", FIVE),
    ("recommendation_for_best_paper_award", "choice", ["Yes", "No"]),
    ("justification_for_award_recommendations", "text", []),
    ("reproducibility", "choice", [5, 4, 3, 2, 1, "N/A"]),
    ("checklist_feedback", "text", []),
    ("ethical_concerns", "choice", ["No", "Yes"]),
    ("ethical_concerns_text", "text", []),
    ("anonymity", "score", FIVE),
    ("anonymity_text", "text", []),
    ("author_response", "score", [4, 3, 2, 1]),
    ("review_update", "score", [6, 5, 4, 3, 2, 1]),
    ("recommendation_for_media_dissemination", "choice", ["Yes", "No"]),
    ("public_interest_justification", "text", []),
    ("confidential_comments_to_the_area_chair_and_peer_reviewers", "text", []),
    ("confidential_comments_to_senior_area_chairs_and_pc_chairs", "text", []),
]


def shape(fields: tuple[FieldDraft, ...]) -> list[tuple[str, str, list[Any]]]:
    return [(field.name, field.kind, [option.value for option in field.options]) for field in fields]


def labels(fields: tuple[FieldDraft, ...], name: str) -> list[str]:
    return [option.label for field in fields if field.name == name for option in field.options]


def fields_of(text: str, name: str = "form.md") -> tuple[FieldDraft, ...]:
    return form_fields(read_page(text.encode(), source=name)).fields


@pytest.mark.parametrize("name", ["html/arr_reviewform.html", "markdown/arr_reviewform.md"])
def test_the_arr_form_is_found_whole(shared_data: Path, name: str) -> None:
    page = read_page((shared_data / "guidelines" / name).read_bytes(), source=name)
    fields = form_fields(page).fields
    assert shape(fields) == ARR
    assert [label.replace("’", "'") for label in labels(fields, "overall_assessment")] == [
        "Consider for Award: I think this paper could be considered for an outstanding paper award at an *ACL "
        "conference (up to top 2.5% papers).",
        "Borderline Award",
        "Conference: I think this paper could be accepted to an *ACL conference.",
        "Borderline Conference",
        "Findings: I think this paper could be accepted to the Findings of the ACL.",
        "Borderline Findings",
        "Resubmit next cycle: I think this paper needs substantial revisions that can be completed by the next ARR "
        "cycle.",
        "Resubmit after next cycle: I think this paper needs substantial revisions that cannot be completed by the "
        "next ARR cycle.",
        "Do not resubmit: This paper has to be fully redone, or it is not relevant to the *ACL community (e.g. it is "
        "in no way related to computational processing of language).",
    ]
    assert labels(fields, "soundness")[:2] == [
        "Excellent: This study is one of the most thorough I have seen, given its type.",
        "",
    ]
    assert labels(fields, "datasets")[-1] == "No usable datasets submitted."
    assert {field.name: field.aspect for field in fields if field.kind == "score"} == {
        "reviewer_confidence": "confidence", "soundness": "soundness", "excitement": "significance",
        "overall_assessment": "overall", "reproducibility": "reproducibility", "datasets": "other", "software": "other",
        "knowledge_of_educated_guess_at_author_identity": "other",
    }  # fmt: skip


def test_the_acl_2023_form_is_found_whole(shared_data: Path) -> None:
    page = read_page((shared_data / "guidelines/html/acl2023_review_form.html").read_bytes(), source="acl")
    fields = form_fields(page).fields
    assert shape(fields) == ACL
    assert labels(fields, "soundness") == [
        "Excellent: This study is one of the most thorough I have seen, given its type.",
        "Strong: This study provides sufficient support for all of its claims/arguments. Some extra experiments could "
        "be nice, but not essential.",
        "Good: This study provides sufficient support for its major claims/arguments, some minor points may need extra "
        "support or details.",
        "Borderline: Some of the main claims/arguments are not sufficiently supported, there are major "
        "technical/methodological problems.",
        "Poor: This study is not yet sufficiently thorough to warrant publication or is not relevant to ACL.",
    ]
    assert labels(fields, "author_response") == [
        "N/A: this is before the rebuttal period.",
        "N/A: the authors did not provide response during the rebuttal period.",
        "Yes: I have read the response.",
        "No: I have not read the response.",
    ]
    assert labels(fields, "reproducibility")[-1] == "Doesn’t apply, since the paper does not include empirical results."
    assert [field.name for field in fields if field.stage == "discussion"] == ["author_response", "review_update"]
    long, short = (
        next(f for f in form_fields(page, kind).fields if f.name == "excitement") for kind in ("long", "short")
    )
    assert (long.paper_type, short.paper_type) == ("long", "short")
    assert (long.title, [option.value for option in short.options]) == ("Excitement", HALVES)
    assert all(trace(option.words, page) for field in fields for option in field.options if len(option.words) > 3)
    assert all(trace(field.words, page) for field in fields)


@pytest.mark.parametrize(
    "name",
    ["html/arr_reviewerguidelines.html", "html/acl2023_review_basics.html", "html/NEGATIVE_acl2023_visa_info.html",
     "markdown/pyopensci_reviewer_guide.md", "markdown/iclr_blogposts2024_reviewer_guidelines.md"],
)  # fmt: skip
def test_a_page_that_shows_no_form_gives_no_field(shared_data: Path, name: str) -> None:
    assert form_fields(read_page((shared_data / "guidelines" / name).read_bytes(), source=name)).fields == ()


@pytest.mark.parametrize(
    ("heading", "line", "name", "aspect"),
    [
        ("Scores", "Soundness (1-4)", "soundness", "soundness"),
        ("Scores", "Fit to the symposium [1 to 4]", "fit_to_the_symposium", "other"),
        ("Scores", "Clarity", "clarity", "presentation"),
        ("Scores", "Choose one of these", "scores", "other"),
        ("Soundness", "Choose the score that fits best.", "soundness", "soundness"),
        ("Soundness", "Correctness of the claims", "soundness", "soundness"),
    ],
)
def test_a_line_that_is_a_title_names_the_scale_below_it(heading: str, line: str, name: str, aspect: str) -> None:
    (field,) = fields_of(f"# Guide\n\n## {heading}\n\n{line}\n\n- 4: excellent\n- 3: good\n- 2: fair\n- 1: poor\n")
    assert (field.name, field.aspect) == (name, aspect)


def test_rows_of_a_table_name_their_scores_and_its_head_is_no_criterion() -> None:
    rows = ("Soundness | Are the experiments rigorous? | 1-5", "Impact | Will anybody use the results? | 0 to 3")
    table = "\n".join(
        f"| {row} |" for row in ("Criterion | Question | Scale", "---|---|---", *rows, "Pages | Any | 9-2")
    )
    page = read_page(f"# Reviewer guide\n\n## Criteria\n\n{table}\n".encode(), source="form.md")
    assert shape(form_fields(page).fields) == [
        ("soundness", "score", [1, 2, 3, 4, 5]),
        ("impact", "score", [0, 1, 2, 3]),
    ]
    assert form_fields(page).fields[0].words == "Are the experiments rigorous?"
    assert [each.words for each in candidates(page) if each.kind == "bullet"][:2] == list(rows)


def test_items_with_a_lead_name_their_scales() -> None:
    text = (Path(__file__).parent / "positives" / "two_tracks.md").read_text("utf-8")
    fields = fields_of(text)
    assert shape(fields) == [
        ("soundness", "score", [4, 3, 2, 1]),
        ("overall", "score", [10, 8, 6, 3, 1]),
        ("strengths", "text", []),
        ("code_of_conduct", "choice", ["Yes", "No"]),
        ("confidence_is_given_on_this_scale", "score", [3, 2, 1]),
    ]
    assert labels(fields, "soundness") == ["excellent", "good", "fair", "poor"]
    assert labels(fields, "confidence_is_given_on_this_scale") == ["high", "medium", "low"]


def test_tables_and_other_ways_to_write_a_scale() -> None:
    text = """# Review form

## Overall rating

| Score | Meaning |
|---|---|
| 3 | Accept |
| 2 | Weak reject |
| 1 | Reject |

## Confidence

- (2) - Certain
- (1) - Guess

## Clarity

- Very clear (4)
- Fair (2)

## Rating of novelty

1. Poor
2. Fair
3. Good

## Decision

- Accept
- Minor revision
- Reject
"""
    assert shape(fields_of(text)) == [
        ("overall_rating", "score", [3, 2, 1]),
        ("confidence", "score", [2, 1]),
        ("clarity", "score", [4, 2]),
        ("rating_of_novelty", "score", [1, 2, 3]),
        ("decision", "choice", ["Accept", "Minor revision", "Reject"]),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Rating papers\n\n1. Read the paper\n2. Write a summary\n3. Send the review\n",
        "# Evaluation\n\n- 3 reviewers per paper\n- 2 weeks for a review\n",
        "# Log\n\n- 15.05.2024 Anonymity policy updates\n- 27.09.2023 New reviewing page\n",
        "# Guide\n\n1. Soundness of the claims\n2. Novelty of the idea\n",
        "# Schedule\n\n- 12 - 15 January: reviews\n- 3 - 9 May: discussion\n- 10 - 12 April: decisions\n",
    ],
)
def test_steps_and_dates_are_no_scale(text: str) -> None:
    assert fields_of(text) == ()


def test_an_html_forms_own_controls() -> None:
    body = """<!doctype html><html><body><main><h1>Review form</h1>
    <p>Please fill in every field of this review form for the paper that you review.</p>
    <form><h2>Summary</h2><p>What is the paper about?</p><textarea name=s></textarea>
    <h2>Rating</h2><p>How good is the paper overall?</p>
    <select><option>3: good</option><option>2: fair</option><option>1: poor</option></select>
    <h2>Ethics review needed</h2><p>Does the paper need an ethics review?</p>
    <label><input type=radio name=e> Yes</label>
    <label><input type=radio name=e> No</label></form></main></body></html>"""
    assert shape(fields_of(body, "f.html")) == [
        ("summary", "text", []),
        ("rating", "score", [3, 2, 1]),
        ("ethics_review_needed", "choice", ["Yes", "No"]),
    ]


def _options(spec: dict[str, Any]) -> list[str]:
    """The lines that a platform's form definition shows for a field."""
    listed = spec.get("value-radio") or spec.get("value-dropdown")
    if listed is None and isinstance(spec.get("value"), dict):
        listed = spec["value"].get("param", {}).get("enum")
    lines = [item["description"] if isinstance(item, dict) else str(item) for item in listed or []]
    return lines if all(line[:1].isdigit() for line in lines) else []


def _numeric_scales(path: Path) -> list[tuple[str, list[str]]]:
    return [
        (name, lines)
        for form in json.loads(path.read_text("utf-8")).values()
        for name, spec in form.items()
        if isinstance(spec, dict) and len(lines := _options(spec)) >= 2
    ]


@pytest.mark.parametrize(
    "name", ["neurips_review_form.json", "openreview_default_review_forms.json", "arr_review_forms.json"]
)
def test_scales_of_real_forms_come_back_value_by_value(shared_data: Path, name: str) -> None:
    scales = _numeric_scales(shared_data / "guidelines/review_forms" / name)
    assert scales
    items = []
    for at, (_, lines) in enumerate(scales):
        shown = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        items.append(f"<h2>Rating {at}</h2><p>Please rate the paper.</p><ul>{shown}</ul>")
    page = f"<!doctype html><html><body><main><h1>Review form</h1>{''.join(items)}</main></body></html>"
    fields = fields_of(page, "f.html")
    assert len(fields) == len(scales)
    for field, (_, lines) in zip(fields, scales, strict=True):
        assert [option.words for option in field.options] == [" ".join(line.split()) for line in lines]
        assert [str(option.value) for option in field.options] == [
            line.split(":")[0].split(" ")[0].split("=")[0].strip() for line in lines
        ]


def test_a_short_form_and_inline_scales_are_read_by_code() -> None:
    lines = (
        "# Reviewer guidelines",
        "## The form",
        "**Summary** (max 150 words). What was done.",
        "**Robustness**: Give a score between 1 (not robust) and 3 (very robust).",
        "**Recommendation**: 1 (reject), 2 (weak reject), 3 (weak accept), 4 (accept)",
        "**Confidence** (1-3)",
        "## Policy",
        "Reviewers must not use language models.",
    )
    page = read_page("\n\n".join(lines).encode(), source="form.md")
    read = [
        (field.name, field.kind, [(one.value, one.label) for one in field.options])
        for field in form_fields(page).fields
    ]
    assert read == [
        ("summary", "text", []),
        ("robustness", "score", [(1, "not robust"), (2, ""), (3, "very robust")]),
        ("recommendation", "score", [(1, "reject"), (2, "weak reject"), (3, "weak accept"), (4, "accept")]),
        ("confidence", "score", [(1, ""), (2, ""), (3, "")]),
    ]
    check_holds_guidelines(page, candidates(page))
