from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import QuotationIndex, check_inline_quotations
from referee.evidence.verify import PLACEHOLDER

from .scene_paper import paper

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
