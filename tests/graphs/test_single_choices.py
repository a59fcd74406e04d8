from pathlib import Path

from referee import load_paper
from referee.evidence import QuotationIndex
from referee.graphs.single import check_reply, fill_form
from referee.schemas.review import Review
from referee.venues import load_venue

PAPER = load_paper(Path(__file__).parents[2] / "examples" / "short.md")
TICKED = {"claims_and_evidence": "Yes", "audience": "No"}


def filled(quote: str) -> Review:
    form = load_venue("tmlr-before-2025")
    evidence = [{"id": "E1", "claim": "The data are small.", "quote": quote, "section_id": "", "field": ""}]
    checked = check_reply(form, evidence, {}, QuotationIndex(PAPER))
    return fill_form(form, PAPER, checked, scores={}, choices=TICKED, review_id="r", source="scripted")


def test_a_choice_that_judges_stands_where_a_quotation_was_found() -> None:
    sentence = next(block.text for _, block in PAPER.blocks() if len(block.text.split()) > 12).split(". ")[0]
    review = filled(sentence)
    assert review.evidence
    assert {name: review.fields[name] for name in TICKED} == TICKED
    assert review.forced == ()


def test_without_any_it_is_left_open_and_what_the_form_demands_is_kept_apart() -> None:
    review = filled("This sentence is nowhere in the paper, nor is anything like it in its references.")
    assert not review.evidence
    assert {name: review.fields[name] for name in TICKED} == {"claims_and_evidence": None, "audience": None}
    assert "nothing was found" in review.nulls["audience"]
    assert {one.field: one.value for one in review.forced} == TICKED


def test_a_worked_example_of_the_prompt_is_no_claim_about_the_paper() -> None:
    form = load_venue("neurips-2025")
    example = "The dragon tamers report 41 calm dragons, their stable ledger lists 21"
    evidence = [{"id": "E1", "claim": "Dragon tamers report 4 calm dragons, their stable ledger lists 2.", "quote": "x",
                 "section_id": "", "field": ""}]  # fmt: skip
    texts = {"summary": f"Coverage is 94.8 percent in Table 2.\n{example}."}
    checked = check_reply(form, evidence, texts, QuotationIndex(PAPER), examples=(example,))
    assert [(item.id, item.reason) for item in checked.dropped] == [
        ("E1", "its claim only repeats an example of the instructions")
    ]
    assert checked.texts["summary"] == "Coverage is 94.8 percent in Table 2."
    assert checked.echoes == {"summary": 1}
