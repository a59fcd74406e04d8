from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.evidence import TermIndex
from referee.evidence.stems import stem
from referee.schemas.paper import Finding, Paper, Reference, Section

from .test_rules_material import caption, paper, prose, table, wrap


@pytest.mark.parametrize(
    "words",
    [
        "ablation ablations ablated ablating",
        "analysis analyses analyse analyze analysed",
        "reproducibility reproducible reproduce reproduces",
        "variance variation varies variability",
        "statistics statistical statistically",
        "behaviour behavior",
        "licence license",
        "run runs running",
        "clusters clustered clustering",
        "optimisation optimization optimiser optimize",
    ],
)
def test_words_of_one_family_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("power", "powder"), ("seed", "see"), ("bias", "base"), ("train", "trait")])
def test_words_of_two_families_have_two_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize(
    ("block", "where"),
    [
        (prose("We ablated each part of the model."), "text"),
        (caption("Table 4: Ablation of the loss.", "Table 4"), "caption"),
        (prose("The ablations are in the code.", kind="footnote"), "footnote"),
        (table("Setting | Score", "without ablation | 0.5"), "table"),
    ],
)
def test_a_term_is_found_wherever_it_stands(block: object, where: str) -> None:
    result = TermIndex(paper(block)).search(["ablation study"])  # type: ignore[arg-type]
    (hit,) = result.hits
    assert (hit.where, hit.term, hit.section_id) == (where, "ablation study", "s1")
    assert "blat" in hit.quote
    assert not result.supports_absence


def test_appendix_abstract_and_headings_are_read() -> None:
    made = wrap(
        Section(id="a", heading="Abstract", level=1, role="abstract", blocks=(prose("We study seeds."),)),
        Section(id="x", heading="Random seeds", level=1, role="appendix", blocks=(prose("Five seeds were used."),)),
    )
    assert [hit.where for hit in TermIndex(made).search(["seed"]).hits] == ["abstract", "heading", "appendix"]


def test_the_words_of_a_term_must_stand_near_each_other() -> None:
    near = paper("The power that a statistical test has is low.")
    far = paper("A statistical view. " + "Something else is said here. " * 6 + "The power of the engine is high.")
    assert TermIndex(near).search(["statistical power"]).hits
    assert TermIndex(far).search(["statistical power"]).supports_absence


def test_hyphens_and_line_breaks_do_not_hide_a_word() -> None:
    for text in ("its hyper-parameters", "its hyper-\nparameters", "its hyperparameters", "its hyper parameters"):
        assert TermIndex(paper(text)).search(["hyperparameter"]).hits, text
        assert TermIndex(paper(text)).search(["hyper-parameter"]).hits, text


@pytest.mark.parametrize(("term", "text", "found"), [("cutoff", "the cut off", True), ("canto", "we can to", False)])
def test_a_word_printed_as_two_is_found_from_six_letters_on(term: str, text: str, found: bool) -> None:
    assert bool(TermIndex(paper(text)).search([term]).hits) is found


def test_a_term_over_two_blocks_is_found() -> None:
    made = paper(prose("This is a wild cluster", id="b1"), prose("bootstrap of clusters.", id="b2"))
    (hit,) = TermIndex(made).search(["wild cluster bootstrap"]).hits
    assert hit.block_id == "b1"


def test_the_bibliography_is_reported_apart() -> None:
    reference = Reference(id="r1", text="Doe. Ethics of models. 2020.", title="Ethics of models")
    made = paper("Nothing is said.").model_copy(update={"references": (reference,)})
    result = TermIndex(made).search(["ethical"])
    assert result.supports_absence
    assert result.references == ("r1",)


def test_no_support_where_text_is_lost_or_nothing_was_searched() -> None:
    lost = Finding(kind="lost_text", message="page 3 lost 20% of its words", certainty="high", page=3)
    assert not TermIndex(paper("Some text.", findings=(lost,))).search(["ethics"]).supports_absence
    assert TermIndex(paper("Some text.", findings=(lost,))).search(["ethics"]).losses == (lost.message,)
    nothing = TermIndex(paper("Some text.")).search(["the", "of it"])
    assert (nothing.unsearchable, nothing.supports_absence) == (("the", "of it"), False)


def test_hits_of_one_term_are_bounded_and_in_order() -> None:
    result = TermIndex(paper(*[f"Seed number {i} was used." for i in range(40)])).search(["seed"])
    assert [hit.block_id for hit in result.hits] == [f"b{i}" for i in range(1, 21)]


@given(st.lists(st.text(max_size=80).filter(str.strip), max_size=5), st.lists(st.text(max_size=20), max_size=4))
@settings(max_examples=60, deadline=None)
def test_no_text_and_no_term_breaks_the_search(texts: list[str], terms: list[str]) -> None:
    made: Paper = paper(*texts)
    result = TermIndex(made).search(terms)
    whole = [" ".join(block.text.split()) for _, block in made.blocks()]
    for hit in result.hits:
        assert hit.where in ("heading", "title") or any(hit.quote in text for text in whole)
