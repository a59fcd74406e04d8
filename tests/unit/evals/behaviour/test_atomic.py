from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.data import read_cases
from referee.evals.behaviour.atomic import (
    RULE,
    AtomicItems,
    Matched,
    MatchedPair,
    Quantity,
    atomic_items,
    compared,
    matched_pairs,
    quantity,
)
from referee.evals.behaviour.atomic_rules import announced, by_cues, introduced, polarity_of
from referee.evals.behaviour.fidelity import fidelity, redundancy
from referee.schemas.case import ReviewCase
from tests.processor_time import within

GOOD = "The derivation is novel and the paper is well written throughout."
BAD = "The ablation of the second component is missing from the evaluation."
PLAIN = "The authors train a network of twelve layers on two public corpora."
MORE_BAD = "It is unclear how the learning rate was chosen in the second experiment."


def case(text: str = "", **fields: Any) -> ReviewCase:
    joined = text or "\n\n".join(value for value in fields.values() if isinstance(value, str))
    return ReviewCase(case_id="c", paper_id="p", source="human", kind="human", text=joined, fields=fields)


@pytest.mark.parametrize(
    ("name", "polarity"),
    [
        ("strengths", "strengths"),
        ("Summary_of_Strengths", "strengths"),
        ("reasons_to_accept", "strengths"),
        ("PROS", "strengths"),
        ("Strengths of the paper", "strengths"),
        ("weaknesses", "weaknesses"),
        ("summary_of_weaknesses", "weaknesses"),
        ("reasons_to_reject", "weaknesses"),
        ("Major concerns", "weaknesses"),
        ("Weaknesses, gravest first", "weaknesses"),
        ("Concerns (roughly in order of decreasing significance)", "weaknesses"),
        ("strengths_and_weaknesses", "mixed"),
        ("other_strengths_and_weaknesses", "mixed"),
        ("Pros & Cons", "mixed"),
        ("questions", "other"),
        ("Minor comments", "other"),
        ("summary", "other"),
        ("limitations", "other"),
        ("Clarity", "aspect"),
        ("Significance and impact", "aspect"),
        ("ethical_concerns", "other"),
        ("broader_impact_concerns", None),
        ("details_of_ethics_concerns", None),
        ("prosody", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_what_a_name_announces(name: str, polarity: str | None) -> None:
    assert announced(name) == polarity


def test_what_a_line_leads_into() -> None:
    assert introduced("I have a few concerns") == "weaknesses"
    assert introduced("On the positive side") == "strengths"
    assert introduced("Strengths, then weaknesses") == "mixed"
    assert introduced("The loss is") is None


def test_boxes_decide_whatever_the_words_say() -> None:
    found = atomic_items(case(summary=PLAIN, strengths=f"- {BAD}\n- {PLAIN}", weaknesses=[GOOD, "short"]))
    assert found.strengths == (BAD, PLAIN)
    assert found.weaknesses == (GOOD,)
    assert (found.split, found.backend, found.short, found.status) == ("fields", RULE, 1, "scored")
    assert PLAIN in found.source
    assert "short" in found.source


def test_of_a_form_with_such_boxes_no_other_box_counts() -> None:
    found = atomic_items(case(summary=GOOD, strengths="", weaknesses=BAD, questions=MORE_BAD))
    assert (found.strengths, found.weaknesses) == ((), (BAD,))
    assert found.source == BAD


def test_a_box_for_both_is_cut_by_its_headings_and_else_by_cue_words() -> None:
    by_heading = atomic_items(case(strengths_and_weaknesses=f"**Strengths**\n- {PLAIN}\n\n**Weaknesses**\n1. {GOOD}"))
    assert (by_heading.strengths, by_heading.weaknesses) == ((PLAIN,), (GOOD,))
    by_words = atomic_items(case(strengths_and_weaknesses=f"{GOOD} {PLAIN} {BAD}"))
    assert (by_words.strengths, by_words.weaknesses, by_words.split) == ((GOOD,), (BAD,), "fields")


@pytest.mark.parametrize(
    "text",
    [
        f"{PLAIN}\n\nStrengths:\n- {GOOD}\n\nWeaknesses:\n- {BAD}\n\nMinor comments:\n- {MORE_BAD}",
        f"{PLAIN}\n\n## Pros\n{GOOD}\n\n## Cons\n{BAD}\n\n## Questions\n{MORE_BAD}",
        f"{PLAIN}\n\n**Strong points**\n(1) {GOOD}\n\n*Weak points:*\n(1) {BAD}\n\nQuestions\n{MORE_BAD}",
        f"Summary: {PLAIN}\nStrengths: {GOOD}\nWeaknesses: {BAD}",
        f"Strengths\n---\n- {GOOD}\nWeaknesses\n——\n{BAD}\nJustification of rating: {MORE_BAD}\nIt is {PLAIN}",
        f"Quality\n- Strengths: {GOOD}\n- Weaknesses: {BAD}\nClarity\n{PLAIN}",
    ],
)
def test_headings_part_a_review_and_what_stands_under_others_is_left_out(text: str) -> None:
    found = atomic_items(case(text))
    assert (found.strengths, found.weaknesses, found.split) == ((GOOD,), (BAD,), "headings")


def test_in_a_box_for_one_polarity_other_headings_change_nothing() -> None:
    found = atomic_items(case(weaknesses=f"Clarity\n{BAD}\n\nDetailed comments:\n{MORE_BAD}\n\nStrengths\n{GOOD}"))
    assert (found.strengths, found.weaknesses) == ((GOOD,), (BAD, MORE_BAD))


def test_an_aspect_before_a_colon_or_in_a_list_is_part_of_the_point() -> None:
    found = atomic_items(
        case(f"Strengths:\n{GOOD}\nWeaknesses:\nClarity: {BAD}\n- Typos: {MORE_BAD}\n- Novelty\n{PLAIN}")
    )
    assert found.weaknesses == (f"Clarity: {BAD}", f"Typos: {MORE_BAD}", f"Novelty {PLAIN}")


def test_where_headings_announce_one_polarity_the_other_is_found_by_cue_words() -> None:
    found = atomic_items(case(f"{GOOD} {MORE_BAD}\n\nMajor concerns:\n1. {BAD}"))
    assert (found.strengths, found.weaknesses) == ((GOOD,), (BAD,))


def test_a_list_item_is_one_item_and_prose_is_cut_into_sentences() -> None:
    found = atomic_items(case(weaknesses=f"- {BAD} {MORE_BAD}\n  {PLAIN}\n\n{GOOD} {BAD}"))
    assert found.weaknesses == (f"{BAD} {MORE_BAD} {PLAIN}", GOOD, BAD)


def test_long_paragraphs_are_cut_where_sentences_end() -> None:
    sentences = [f"The {n}th remark says that the evaluation is missing a baseline." for n in range(200)]
    assert atomic_items(case(weaknesses=" ".join(sentences))).weaknesses == tuple(sentences)


def test_items_below_fifty_characters_are_dropped_and_counted() -> None:
    long = "x" * 50
    found = atomic_items(case(weaknesses=f"- {long}\n- {long[:-1]}\n- tiny"))
    assert (found.weaknesses, found.short) == ((long,), 2)


def test_marks_of_plus_and_minus_are_polarities_where_a_review_has_both() -> None:
    found = atomic_items(case(f"{PLAIN}\n+ {BAD}\n- {GOOD}"))
    assert (found.strengths, found.weaknesses, found.split) == ((BAD,), (GOOD,), "cues")
    assert atomic_items(case(f"{PLAIN}\n- {GOOD}")).strengths == (GOOD,)


def test_cue_words() -> None:
    assert polarity_of(GOOD) == "strengths"
    assert polarity_of(BAD) == "weaknesses"
    assert polarity_of(PLAIN) is None
    assert polarity_of("The results are not convincing.") == "weaknesses"
    assert polarity_of("The idea isn't novel.") == "weaknesses"
    assert polarity_of("It would be nice to see more seeds.") == "weaknesses"


def test_a_contrast_is_cut_and_what_stays_ambiguous_is_a_weakness() -> None:
    assert by_cues("The idea is novel, but the evaluation is weak.") == [
        ("strengths", "The idea is novel"),
        ("weaknesses", "the evaluation is weak."),
    ]
    assert by_cues("A novel idea with a weak evaluation.") == [("weaknesses", "A novel idea with a weak evaluation.")]
    assert by_cues(PLAIN) == []


def test_the_same_said_twice_is_one_item_and_under_both_polarities_a_weakness() -> None:
    found = atomic_items(case(strengths=f"- {GOOD}\n- {BAD}", weaknesses=f"- {BAD}\n- {BAD}"))
    assert (found.strengths, found.weaknesses) == ((GOOD,), (BAD,))


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_review_without_text_is_not_applicable(text: str) -> None:
    found = atomic_items(ReviewCase(case_id="c", paper_id="p", source="s", kind="ai", text=text))
    assert (found.status, found.all) == ("not_applicable", ())
    assert found.reason


def test_html_latex_and_nulls_do_no_harm() -> None:
    latex = r"In $\mathcal{L}_{t}$ the bound of Lemma 2 is <b>wrong</b> & not tight for $\alpha<1$."
    found = atomic_items(case(weaknesses=f"- {latex}", strengths=None, rating=None, soundness=3))
    assert found.weaknesses == (latex,)


@pytest.mark.slow
@given(st.text(max_size=400), st.sampled_from(["", "strengths", "strengths_and_weaknesses"]))
def test_any_text_is_read_and_measured(text: str, box: str) -> None:
    found = atomic_items(case(**{box: text}) if box else case(text))
    assert found.status in ("scored", "not_applicable")
    assert all(len(item) >= 50 for item in found.all)
    measured = fidelity(found)
    assert (measured.rouge_l is None) == (measured.status != "scored") == bool(measured.reason)
    repeated = redundancy(found.all)
    assert (repeated.rouge_l is None) == bool(repeated.reason)


LINES = st.sampled_from(
    ["Strengths:", "# Cons", "- ", "+ ", "1. ", "**", "\n", "\n\n", ":", ". ", GOOD, BAD, "but ", "_"]
)


@given(st.lists(LINES | st.text(max_size=5), max_size=20))
def test_any_markup_is_read(pieces: list[str]) -> None:
    assert fidelity(atomic_items(case("".join(pieces)))).status in ("scored", "not_applicable")


@pytest.mark.parametrize(
    "text",
    [
        "e.g. A " * 60_000,
        "a" * 500_000,
        " -" * 200_000,
        "- x\n" * 60_000,
        ")" * 300_000,
        "not " * 60_000,
        "*" * 300_000,
    ],
)
def test_pathological_texts_end_in_time(text: str) -> None:
    with within(20):
        found = atomic_items(case("Weaknesses:\n" + text))
        fidelity(found)
        redundancy(found.all)


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("folder", "splits"),
    [
        ("papers", {"fields", "headings", "cues"}),
        ("ai_only", {"fields"}),
        ("human_only", {"headings", "cues"}),
        ("openreview_raw", {"fields", "headings", "cues"}),
    ],
)
def test_whole_sets_are_read_and_nearly_all_reviews_have_items_in_their_own_words(
    shared_data: Path, folder: str, splits: set[str]
) -> None:
    found = [atomic_items(one) for one in read_cases(shared_data / folder)]
    assert {one.split for one in found if one.status == "scored"} == splits
    assert sum(not one.all for one in found) <= 0.02 * len(found)
    exact = [fidelity(one) for one in found[::10] if one.all]
    assert all(one.rouge_l == 1 for one in exact)
    assert sum(one.contained == 1 for one in exact) >= 0.99 * len(exact)


@pytest.mark.shared_data
def test_boxes_and_their_prose_agree_on_the_list_of_a_form(shared_data: Path) -> None:
    """Reviews that come as lists: every element of at least 50 characters is an item, and nothing else is."""
    reviews = list(read_cases(shared_data / "ai_only"))[::20]
    for one in reviews:
        given_items = one.fields["weaknesses"]
        assert isinstance(given_items, list)
        long = [" ".join(item.split()) for item in given_items if len(item) >= 50]
        assert len(atomic_items(one).weaknesses) == len(dict.fromkeys(long))


def items(strengths: int, weaknesses: int, length: int = 60, **more: Any) -> AtomicItems:
    named = [("s", strengths), ("w", weaknesses)]
    good, bad = (tuple(f"{letter}{n}".ljust(length, ".") for n in range(count)) for letter, count in named)
    return AtomicItems(good, bad, **more)


def review(case_id: str, paper_id: str, kind: Any, **more: Any) -> ReviewCase:
    return ReviewCase(
        case_id=case_id, paper_id=paper_id, source="human" if kind == "human" else "model", kind=kind, text="t", **more
    )


def beside(pairs: list[MatchedPair], name: Quantity) -> Matched:
    return compared([(quantity(pair.generated, name), quantity(pair.human, name)) for pair in pairs])


def test_quantities() -> None:
    two = AtomicItems(("a" * 60,), ("b" * 50, "c" * 70))
    named: list[tuple[Any, float]] = [
        ("strengths", 1),
        ("weaknesses", 2),
        ("items", 3),
        ("strength_chars", 60),
        ("weakness_chars", 60),
        ("item_chars", 60),
    ]
    for name, value in named:
        assert quantity(two, name) == value
    assert quantity(AtomicItems(), "item_chars") is None
    assert quantity(AtomicItems(), "items") == 0
    assert quantity(AtomicItems(status="failed", reason="silent"), "items") is None


def test_each_generated_review_is_matched_with_each_human_one_of_its_paper() -> None:
    reviews = [
        (review("h1", "p1", "human", venue="a", decision="Accept"), items(2, 4)),
        (review("h2", "p1", "human", venue="a", decision="Accept"), items(0, 2)),
        (review("g1", "p1", "ai", venue="x"), items(4, 4)),
        (review("g2", "p2", "ai"), items(9, 9)),
        (review("h3", "p3", "human"), items(1, 1)),
        (review("g3", "p3", "ai"), AtomicItems(status="failed", reason="silent")),
        (review("u", "p1", "unknown"), items(1, 1)),
    ]
    pairs = matched_pairs(reviews)
    assert [(pair.generated_case.case_id, pair.human_case.case_id) for pair in pairs] == [("g1", "h1"), ("g1", "h2")]
    found = beside(pairs, "strengths")
    assert (found.ratio, found.pairs, found.zero_denominators) == (2.0, 1, 1)
    assert (found.difference, found.difference_median, found.compared) == (3.0, 3.0, 2)
    assert beside(pairs, "weaknesses").ratio == pytest.approx(1.5)
    assert beside(pairs, "strength_chars").undefined == 1


def test_nothing_to_compare_has_a_reason() -> None:
    empty = beside([], "items")
    assert (empty.ratio, empty.difference, empty.status) == (None, None, "not_applicable")
    assert "no paper" in empty.reason
    pairs = matched_pairs([(review("h", "p", "human"), items(0, 0)), (review("g", "p", "ai"), items(1, 1))])
    zero = beside(pairs, "items")
    assert (zero.ratio, zero.difference, zero.status) == (None, 2, "scored")
    assert zero.reason
