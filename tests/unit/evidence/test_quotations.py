from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.evidence import NotFound, QuotationIndex
from referee.evidence.listing import place
from referee.prompts import delimit
from referee.schemas.paper import Section
from referee.schemas.point import Quotation

from .scene_paper import METHOD, RESULTS, block, method, paper

INDEX = QuotationIndex(paper())
WORDS = [text.split() for text in (METHOD.replace("self-\n", "self-"), RESULTS)]


def found(quote: str, index: QuotationIndex = INDEX, section_id: str | None = None) -> Quotation:
    match = index.find(quote, section_id=section_id)
    assert isinstance(match, Quotation), match
    return match


def missed(quote: str, index: QuotationIndex = INDEX) -> NotFound:
    match = index.find(quote)
    assert isinstance(match, NotFound), match
    return match


def test_a_verbatim_quotation_has_its_place() -> None:
    match = found("reaches an accuracy of 0.78 on the test set")
    assert (match.status, match.similarity) == ("exact", 1.0)
    assert (match.section_id, match.section, match.page) == ("s4", "4 Results", 3)
    assert match.box is not None
    assert match.box.x1 == 3


def test_a_row_and_a_caption_are_named_by_their_table() -> None:
    named = paper()
    labelled = [
        one.model_copy(update={"label": "Table 1"}) if one.kind in ("table", "caption") else one
        for one in named.sections[-1].blocks
    ]
    results = named.sections[-1].model_copy(update={"blocks": tuple(labelled)})
    index = QuotationIndex(named.model_copy(update={"sections": (*named.sections[:-1], results)}))
    row, prose = found("Ours | 0.78 | 0.22", index), found("reaches an accuracy of 0.78 on the test set", index)
    assert (row.label, place(row)) == ("Table 1", "Table 1, p. 3")
    assert (prose.label, place(prose)) == ("", "4 Results, p. 3")


def test_the_number_of_a_section_is_part_of_its_name() -> None:
    assert found("training does not require any labels").section == "3 Method"


@pytest.mark.parametrize(
    "quote",
    [
        "THE FIRST VIEW IS CROPPED AT RANDOM",
        "the first   view\nis cropped at ran-\ndom",
        "a self-supervised objective that aligns two views",
        'The model\'s "zero-shot" variant improves by 2.5%',
        "“The first view is cropped at random.”",
        "The change in calibration error is -0.3 points",
        "Training does not require any labels .",
    ],
)
def test_spelling_does_not_matter(quote: str) -> None:
    assert found(quote).status == "exact"


def test_the_wording_is_the_papers_own() -> None:
    assert found("a scene with a hyphen", QuotationIndex(paper(one("A scene with a hy-\nphen.")))).quote.endswith(
        "hyphen"
    )
    compound = QuotationIndex(paper(one("A self-\nsupervised loss is a self-supervised one.")))
    assert found("a selfsupervised loss is", compound).quote == "A self-supervised loss is"
    assert found("our model reaches an acuracy of 0.78 on the test set").quote == (
        "Our model reaches an accuracy of 0.78 on the test set"
    )


def test_a_quotation_may_begin_behind_a_stroke_but_no_symbol_loses_its_sign() -> None:
    index = QuotationIndex(paper(one("After training/tuning of the model, -x is the loss of it.")))
    match = found("tuning of the model", index)
    assert (match.status, match.quote) == ("exact", "tuning of the model")
    assert "signs" in missed("x is the loss of it", index).reason


def test_a_near_miss_in_words_is_fuzzy() -> None:
    match = found(
        "the second view is blured and the first view is cropped",
        QuotationIndex(paper(one("In short, the second view is blurred and the first view is cropped."))),
    )
    assert match.status == "fuzzy"
    assert 0.8 <= match.similarity < 1


def one(text: str, kind: str = "paragraph") -> Section:
    return Section(id="s1", heading="Body", level=1, blocks=(block("b1", text, kind=kind),))


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        (
            "reaches an accuracy of 0.81 on the test set",
            "digits differ: 0.81 against 0.78 in the closest passage (Section 4, p. 3)",
        ),
        ("the strongest baseline (p > 0.05)", "signs or operators differ: > against <"),
        ("the change in calibration error is 0.3 points", "signs or operators differ: nothing against -"),
        ("the change in calibration error is +0.3 points", "signs or operators differ: + against -"),
        ("Training does require any labels", "one of the two is negated: nothing against not"),
        ("which is lower than the strongest baseline", "the direction differs: lower against higher"),
        ("the loss is minimised by gradient descent in a Hilbert space", "not in the paper"),
    ],
)
def test_a_quotation_that_says_something_else_is_not_found(quote: str, reason: str) -> None:
    assert missed(quote).reason.startswith(reason)


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        ("", "no words in it"),
        ("... !? --", "no words in it"),
        ("the model", "too short"),
        ("5", "too short"),
        ("x" * 2_001, "too long: 2001 characters"),
        ("the views ... a ... the crops are fixed", "too short between ellipses"),
        (" ... ".join(["the larger crops"] * 9), "split into 9 parts"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(quote: str, reason: str) -> None:
    miss = missed(quote)
    assert miss.kind == "refused"
    assert miss.reason.startswith(reason)


def test_a_sentence_goes_on_below_a_figure_and_on_the_next_page() -> None:
    match = found("stems from the larger crops, and it vanishes once the crops are fixed")
    assert (match.status, match.section_id, match.page) == ("exact", "s4", 3)


@pytest.mark.parametrize(
    ("quote", "section_id"),
    [
        ("Ours 0.78 0.22", "s4"),
        ("Ours | 0.78 | 0.22", "s4"),
        ("Accuracy and error on the held-out scenes", "s4"),
        ("Contrastive learning of visual scenes", "references"),
        ("Aligning two views of a scene", "title"),
    ],
)
def test_tables_captions_references_and_title_are_searched(quote: str, section_id: str) -> None:
    assert found(quote).section_id == section_id


def test_authors_are_not() -> None:
    front = Section(
        id="s0", heading="", level=1, role="front", blocks=(block("b0", "Jane Doe of the University of Nowhere"),)
    )
    assert missed("Jane Doe of the University of Nowhere", QuotationIndex(paper(front, method()))).kind == "absent"


def test_an_abstract_without_a_section_is_searched() -> None:
    index = QuotationIndex(paper(method(), abstract="Views of a scene should agree with one another."))
    assert found("views of a scene should agree", index).section == "Abstract"


def test_the_named_section_is_preferred() -> None:
    twice = [
        Section(id=name, heading=name, level=1, blocks=(block(f"{name}b", "We repeat this sentence in two places."),))
        for name in ("a", "b")
    ]
    index = QuotationIndex(paper(*twice))
    assert found("we repeat this sentence", index).section_id == "a"
    assert found("we repeat this sentence", index, "b").section_id == "b"
    assert found("we repeat this sentence", index, "unknown").section_id == "a"


@pytest.mark.parametrize("ellipsis", ["...", "…", "[...]", "[…]", ". . .", " (...) "])
def test_parts_around_an_ellipsis_are_found_in_order(ellipsis: str) -> None:
    match = found(f"the first view is cropped {ellipsis} does not require any labels")
    assert match.status == "exact"
    assert match.quote == "The first view is cropped […] does not require any labels"


def test_the_papers_own_dots_are_not_an_ellipsis() -> None:
    index = QuotationIndex(paper(one("We draw samples x_1, ..., x_n from the prior, and then average over them.")))
    assert found("we draw samples x_1, …, x_n from the priors, and average over them", index).status == "fuzzy"


def test_parts_in_another_order_or_in_two_sections_are_not() -> None:
    miss = missed("does not require any labels ... the first view is cropped")
    assert miss.reason == "its parts do not follow one another in one section"
    assert missed("the first view is cropped ... higher than the strongest baseline").kind == "absent"


def test_a_part_with_another_number_is_not() -> None:
    assert missed("Our model reaches ... accuracy of 0.87 on the test set").reason.startswith("digits differ")


def test_ellipses_at_the_ends_are_nothing() -> None:
    assert found("... does not require any labels ...").status == "exact"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The gain is <0.05 points in every run.", "0.05 points in every run"),
        ("The gain is 10.25 points in every run.", "0.25 points in every run"),
        ("The gain is 25.5 points in every run.", "The gain is 25"),
        ("The rate is 25% in every run we made.", "The rate is 25"),
        ("We use 10^5 steps in every run.", "We use 10"),
        ("It is unable to converge in time.", "able to converge in time"),
        ("A non-significant effect was seen in all.", "significant effect was seen in all"),
    ],
)
def test_no_word_number_or_sign_is_cut_at_the_edges(text: str, quote: str) -> None:
    assert missed(quote, QuotationIndex(paper(one(text)))).kind in ("absent", "differs")


def test_mathematics_needs_more() -> None:
    assert found("L = L_1 + λ L_2 − μ R(θ)").status == "exact"
    assert "too little for mathematics" in missed("L = L_1 + λ L_2 - μ Q(θ, w), θ ≥ 0").reason
    prose = QuotationIndex(paper(one("the weights of the network are frozen after the warmup phase")))
    formula = QuotationIndex(paper(one("the weights of the network are frozen after the warmup phase", "equation")))
    quote = "the weight of a network are frozn after warmp phse as"
    assert found(quote, prose).status == "fuzzy"
    assert missed(quote, formula).reason.endswith("too little for mathematics")


def test_a_closer_passage_with_another_number_is_not_passed_over() -> None:
    index = QuotationIndex(
        paper(one("The large model reaches 81.2 points on scenes. The small one gets to 79.5 marks on all the scenes."))
    )
    assert missed("The large model reaches 79.5 points on scenes", index).reason.startswith("digits differ")


def test_a_paper_without_text_has_no_quotations() -> None:
    index = QuotationIndex(paper(Section(id="s", heading="Empty", level=1), title=""))
    assert missed("any quotation of any length", index).kind == "absent"


@st.composite
def spans(draw: st.DrawFn, around: str = "") -> str:
    """Four words or more of one paragraph, with the word that holds ``around`` among them."""
    words = draw(st.sampled_from([words for words in WORDS if any(around in word for word in words)]))
    at = draw(st.sampled_from([i for i, word in enumerate(words) if around in word]))
    start = draw(st.integers(max(0, at - 8), at))
    span = " ".join(words[start : draw(st.integers(max(at + 1, start + 4), max(at + 1, start + 4) + 12))])
    assume(len(span.split()) >= 4)
    assume(sum(map(str.isalpha, span)) >= 12)
    return span


@settings(deadline=None)
@given(spans())
def test_a_verbatim_span_is_exact(span: str) -> None:
    assert found(span).status == "exact"


@settings(deadline=None)
@given(st.sampled_from("02345").flatmap(spans), st.data())
def test_a_span_with_one_digit_changed_is_never_found(span: str, data: st.DataObject) -> None:
    digits = [m.start() for m in re.finditer(r"\d", span)]
    at = data.draw(st.sampled_from(digits))
    other = data.draw(st.sampled_from([d for d in "0123456789" if d != span[at]]))
    missed(span[:at] + other + span[at + 1 :])


@settings(deadline=None)
@given(spans("−"), st.sampled_from(["+", "", "<"]))
def test_a_span_with_a_sign_flipped_is_never_found(span: str, sign: str) -> None:
    missed(span.replace("−", sign))


@settings(deadline=None)
@given(spans("<"))
def test_a_span_with_a_relation_turned_is_never_found(span: str) -> None:
    missed(span.replace("<", ">"))


@settings(deadline=None)
@given(spans(), st.data())
def test_layout_does_not_matter(span: str, data: st.DataObject) -> None:
    breaks = [m.start() + 2 for m in re.finditer(r"[a-z]{4}", span)]
    if breaks and data.draw(st.booleans()):
        at = data.draw(st.sampled_from(breaks))
        span = span[:at] + "-\n" + span[at:]
    for old, new in data.draw(st.sets(st.sampled_from(list(product([" "], ["\n", "  ", "\u00a0"]))))):
        span = span.replace(old, new, 1)
    span = data.draw(st.sampled_from([span, span.upper(), span.replace("fi", "ﬁ"), span.replace("ﬁ", "fi")]))
    assert found(span).status == "exact"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_no_string_raises(text: str) -> None:
    assert isinstance(INDEX.find(text), Quotation | NotFound)


@settings(deadline=None)
@given(st.text(alphabet="ab -.,'\"0123−+[…]|$^{}\n", max_size=120))
def test_no_string_of_marks_raises(text: str) -> None:
    INDEX.find(text, section_id="s4")


def test_a_comparison_is_found_as_prompts_show_it() -> None:
    """``delimit`` shows a ``<`` before a letter as ``‹``; a model copies what it was shown."""
    sentence = "For every pair with i<j we take the smaller of both values and keep it."
    section = Section(id="s9", heading="Pairs", level=1, blocks=(block("s9b1", sentence),))
    index = QuotationIndex(paper().model_copy(update={"sections": (section,)}))
    shown = delimit("section", sentence).splitlines()[1]
    assert "‹" in shown
    assert found(shown, index).status == "exact"
    missed(shown.replace("‹", ">"), index)
