from pathlib import Path
from typing import Any

import pytest

from referee import load_paper
from referee.agents.form_reply import FormValues
from referee.evidence import ClaimedQuote, QuotationIndex
from referee.evidence.listing import forced_texts, listed
from referee.graphs.single.machine import check_reply, fill_form
from referee.reports import openreview_object
from referee.schemas.review import Review
from referee.venues import empty_required, list_venues, load_venue

PAPER = load_paper(Path(__file__).parents[2] / "examples" / "short.md")
TICKED = {"claims_and_evidence": "Yes", "audience": "No"}


def filled(quote: str) -> Review:
    form = load_venue("tmlr-before-2025")
    claims = [ClaimedQuote("E1", "The data are small.", quote)]
    checked = check_reply(form, claims, FormValues(choices=TICKED), QuotationIndex(PAPER))
    return fill_form(form, PAPER, checked, review_id="r", source="scripted")


def test_a_choice_that_judges_stands_where_a_quotation_was_found() -> None:
    sentence = next(block.text for _, block in PAPER.blocks() if len(block.text.split()) > 12).split(". ")[0]
    review = filled(sentence)
    assert review.evidence
    assert {name: review.fields[name] for name in TICKED} == TICKED
    assert not {one.field for one in review.forced} & set(TICKED)


def test_without_any_it_is_left_open_and_what_the_form_demands_is_kept_apart() -> None:
    review = filled("This sentence is nowhere in the paper, nor is anything like it in its references.")
    assert not review.evidence
    assert {name: review.fields[name] for name in TICKED} == {"claims_and_evidence": None, "audience": None}
    assert "nothing was found" in review.nulls["audience"]
    assert {one.field: one.value for one in review.forced if one.field in TICKED} == TICKED


def test_a_box_that_the_form_demands_says_in_the_file_what_was_looked_for() -> None:
    form = load_venue("neurips-2023")
    checked = check_reply(
        form, [], FormValues(texts={"summary": "A study of bells.", "limitations": " "}), QuotationIndex(PAPER)
    )
    review = listed(fill_form(form, PAPER, checked, review_id="r", source="scripted"), form)
    said = {one.field: one for one in review.forced}
    assert review.fields["limitations"] is None
    assert said["limitations"].value == (
        "No point about limitations was found; the paper was read for what this box asks: Are limitations and possible "
        "harm to society dealt with adequately?"
    )
    assert said["limitations"].reason == review.nulls["limitations"]
    assert {"strengths", "weaknesses", "questions"} <= set(said)
    assert "summary" not in said
    written = openreview_object(review, form)
    assert written["limitations"] == said["limitations"].value
    assert not [name for name in empty_required(form, written) if form.field(name).kind == "text"]


@pytest.mark.parametrize(
    "change", [{"required": None}, {"required": False}, {"attestation": True}, {"stage": "discussion"}]
)
def test_a_box_that_is_optional_or_left_to_people_is_not_filled(change: dict[str, Any]) -> None:
    whole = load_venue("neurips-2023")
    fields = [f.model_copy(update=change) if f.name == "limitations" else f for f in whole.fields]
    form = whole.model_copy(update={"fields": tuple(fields)})
    assert "limitations" not in [forced.field for forced in forced_texts(form, {}, {})]


@pytest.mark.parametrize("venue", [listed.id for listed in list_venues()])
def test_every_form_takes_the_sentences_of_its_boxes(venue: str) -> None:
    form = load_venue(venue)
    for forced in forced_texts(form, {}, {}):
        assert isinstance(forced.value, str)
        assert len(forced.value) < min(600, form.field(forced.field).max_chars or 600)
        assert forced.value.count("\n") == 0
        assert forced.value.endswith((".", "?"))


def test_a_worked_example_of_the_prompt_is_no_claim_about_the_paper() -> None:
    form = load_venue("neurips-2025")
    example = "The dragon tamers report 41 calm dragons, their stable ledger lists 21"
    claims = [ClaimedQuote("E1", "Dragon tamers report 4 calm dragons, their stable ledger lists 2.", "x")]
    texts = {"summary": f"Coverage is 94.8 percent in Table 2.\n{example}."}
    checked = check_reply(form, claims, FormValues(texts=texts), QuotationIndex(PAPER), examples=(example,))
    assert [(item.id, item.reason) for item in checked.dropped] == [
        ("E1", "its claim only repeats an example of the instructions")
    ]
    assert checked.texts["summary"] == "Coverage is 94.8 percent in Table 2."
    assert checked.echoes == {"summary": 1}
