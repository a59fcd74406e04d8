"""Quotations that claims rest on, and those inside prose."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import ClaimedQuote, QuotationIndex, check_inline_quotations, verify_quotations
from referee.evidence.verify import PLACEHOLDER

from .scene_paper import paper


def test_claims_are_kept_with_their_place_or_dropped_with_the_reason() -> None:
    claims = [
        ClaimedQuote("p1", "It needs no labels.", "training does not require any labels", field="strengths"),
        ClaimedQuote("p2", "Accuracy is high.", "reaches an accuracy of 0.99 on the test set", "s4", "weaknesses"),
    ]
    kept, dropped = verify_quotations(claims, paper())
    (evidence,), (lost,) = kept, dropped
    assert (evidence.id, evidence.field, evidence.section, evidence.page) == ("p1", "strengths", "3 Method", 2)
    assert evidence.quote == "Training does not require any labels"
    assert (lost.id, lost.field) == ("p2", "weaknesses")
    assert lost.reason.startswith("digits differ: 0.99 against 0.78")


def test_an_index_serves_as_well_as_a_paper() -> None:
    claim = ClaimedQuote("p1", "It needs no labels.", "training does not require any labels")
    assert verify_quotations([claim], QuotationIndex(paper())) == verify_quotations([claim], paper())


def test_no_claims_give_nothing() -> None:
    assert verify_quotations([], paper()) == ([], [])


def test_a_huge_quotation_is_kept_out_of_the_record() -> None:
    _, (lost,) = verify_quotations([ClaimedQuote("p1", "c", "word " * 200_000)], paper())
    assert len(lost.quote) < 700
    assert lost.reason.startswith("too long")


INDEX = QuotationIndex(paper())


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»"])
def test_a_verified_quotation_gets_the_papers_wording(marks: str) -> None:
    text, dropped = check_inline_quotations(
        f"They say {marks[0]}TRAINING does not require any labels.{marks[1]} Good.", INDEX
    )
    assert text == f"They say {marks[0]}Training does not require any labels.{marks[1]} Good."
    assert dropped == []


def test_a_quotation_that_is_not_there_loses_its_marks() -> None:
    text, dropped = check_inline_quotations(
        'The claim "we reach an accuracy of 0.99 on the test set" is odd.', INDEX, field="weaknesses"
    )
    assert text == f"The claim {PLACEHOLDER} is odd."
    (lost,) = dropped
    assert (lost.id, lost.field, lost.claim) == ("inline-weaknesses-1", "weaknesses", "The claim")
    assert lost.quote == "we reach an accuracy of 0.99 on the test set"


@pytest.mark.parametrize(
    "text",
    [
        'a "novel" and “very novel idea” of theirs',
        'a 5" screen and a 7" one, as they put it there',
        'an opening " that is never closed by anything here',
        "an opening “mark that is never closed by anything here",
        "a closing” mark that was never opened by anything here",
        'over the paragraph "end\n\nit does not reach over" there',
        'it is "a to b of" them',
        '""',
        '"',
        "”“",
        "",
    ],
)
def test_scare_quotes_and_lone_marks_stay(text: str) -> None:
    assert check_inline_quotations(text, INDEX) == (text, [])


def test_the_outer_one_of_nested_quotations_counts() -> None:
    text, dropped = check_inline_quotations("See “The model's “zero-shot” variant improves by 2.5%” and more.", INDEX)
    assert text == "See “The model's ‘zero-shot’ variant improves by 2.5%” and more."
    assert dropped == []


def test_a_quotation_in_the_second_of_two_counts_as_a_part_of_it() -> None:
    outer = "“The model's “zero-shot in every way” variant improves by 2.5%”"
    text, dropped = check_inline_quotations(f"Both “Training does not require any labels” and {outer}.", INDEX)
    assert text == f"Both “Training does not require any labels” and {PLACEHOLDER}."
    assert len(dropped) == 1


def test_all_quotations_of_a_text_are_looked_up() -> None:
    text, dropped = check_inline_quotations(
        'A "this is not in there at all" and "training does not require any labels" and “nor is this one either”.',
        INDEX,
    )
    assert text == f'A {PLACEHOLDER} and "Training does not require any labels" and {PLACEHOLDER}.'
    assert [d.id for d in dropped] == ["inline-text-1", "inline-text-2"]


@settings(deadline=None)
@given(st.text(alphabet='ab ."“”«»\n', max_size=200))
def test_checking_again_changes_nothing(text: str) -> None:
    once, _ = check_inline_quotations(text, INDEX)
    assert check_inline_quotations(once, INDEX) == (once, [])


def test_words_that_may_be_a_proposal_lose_their_marks_alone() -> None:
    said = (
        'Better say "we reach an accuracy of 0.99 on the test set" here, as "TRAINING does not require any labels" is.'
    )
    text, dropped = check_inline_quotations(said, INDEX, field="weaknesses", keep_words=True)
    assert text == (
        'Better say we reach an accuracy of 0.99 on the test set here, as "Training does not require any labels" is.'
    )
    assert [lost.quote for lost in dropped] == ["we reach an accuracy of 0.99 on the test set"]


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("G-1 degrees of freedom are too few", "$G-1$ degrees of freedom are too few"),
        ("where the quantile is t_{G-1}", "where the quantile is $t_{G-1}$"),
    ],
)
def test_a_formula_at_the_edge_of_a_quotation_stays_whole(said: str, printed: str) -> None:
    words = "Here $G-1$ degrees of freedom are too few, where the quantile is $t_{G-1}$ of the law."
    (section,) = paper().sections[:1]
    one = section.model_copy(update={"blocks": (section.blocks[0].model_copy(update={"text": words, "lines": ()}),)})
    text, _ = check_inline_quotations(f"It says “{said}”.", QuotationIndex(paper(one)))
    assert text == f"It says “{printed}”."
