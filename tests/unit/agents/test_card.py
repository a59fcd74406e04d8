from __future__ import annotations

from pathlib import Path

import pytest

from referee.agents.card import build_card, render_card
from referee.agents.parts import content_parts
from referee.errors import ContextTooLong
from referee.schemas.paper import Block, Paper, Section
from tests.reading import read_once

from .paper_on_tests import section, small_paper, words

LONG = "A method is tried on the data and then it is tried again. " * 20


def built(number: int, heading: str, *blocks: tuple[str, str], role: str = "content") -> Section:
    made = [{"id": f"b{number}.{i}", "kind": kind, "text": text} for i, (kind, text) in enumerate(blocks)]
    return Section.model_validate({"id": f"s{number}", "heading": heading, "level": 1, "role": role, "blocks": made})


def paper_of(*sections: Section, abstract: str = "") -> Paper:
    return small_paper(*sections).model_copy(update={"abstract": abstract})


FULL = paper_of(
    built(1, "Front matter", ("paragraph", "Ada Lovelace, University of Fame"), role="front"),
    built(2, "Abstract", ("paragraph", "We test tests. They hold."), role="abstract"),
    built(
        3,
        "Introduction",
        ("footnote", "Work done at Famous Labs with 12 GPUs, ada@fame.example"),
        ("paragraph", "Much is known. Our main contributions are:"),
        ("list", "• A test of tests on real data. • A proof that they hold twice."),
        ("list", "• A data set of 500 tests."),
        ("paragraph", "The rest is standard. It follows."),
    ),
    built(
        4,
        "Method",
        ("paragraph", "Theorem 1 (Twice). Each test holds twice on the data."),
        ("paragraph", "We denote by $t$ the test. The loss is defined as:"),
        ("equation", "l = t + 1"),
        ("paragraph", "We call on everybody to test."),
        ("caption", "Table 1: Tests that hold."),
        ("paragraph", "The share of tests that hold is 81.5% with n = 40 runs."),
    ),
    built(5, "Limitations", ("paragraph", "Only tests were tested. Nothing else was.")),
    built(6, "Acknowledgements", ("paragraph", "We thank Charles Babbage."), role="acknowledgements"),
    built(7, "References", ("reference", "[1] B. Pascal. On 77 tests."), role="references"),
    abstract="We test tests. They hold.",
)


def test_the_card_holds_the_papers_own_words_with_their_sections() -> None:
    card = build_card(FULL)
    assert [(c.id, c.text, c.section_id) for c in card.claims] == [
        ("C1", "A test of tests on real data.", "s3"),
        ("C2", "A proof that they hold twice.", "s3"),
        ("C3", "A data set of 500 tests.", "s3"),
    ]
    assert card.claims_from == "contributions"
    assert [d.text for d in card.definitions] == [
        "Theorem 1 (Twice). Each test holds twice on the data.",
        "We denote by $t$ the test.",
        "The loss is defined as: l = t + 1",
    ]
    assert [c.text for c in card.captions] == ["Table 1: Tests that hold."]
    assert [line.text for line in card.limitations] == ["Only tests were tested.", "Nothing else was."]
    assert any(line.text.startswith("81.5% share tests hold") and line.section_id == "s4" for line in card.ledger)
    assert any("n = 40" in line.text for line in card.ledger)


def test_nothing_about_authors_affiliations_or_references_enters() -> None:
    text = render_card(build_card(FULL), 10_000, words)
    for word in ("Lovelace", "Fame", "Famous", "GPU", "Babbage", "Pascal", "77"):
        assert word not in text


def test_the_outline_says_in_which_part_a_section_is_read() -> None:
    paper = paper_of(section(1, "Method", LONG), section(2, "Proofs", LONG, "appendix"))
    assert [(e.heading, e.part_id) for e in build_card(paper).outline] == [("1 Method", "P1"), ("2 Proofs", None)]
    with_appendix = build_card(paper, content_parts(paper, appendices=True))
    assert [e.part_id for e in with_appendix.outline] == ["P1", "P2"]
    assert "s2 2 Proofs (not read, " in render_card(build_card(paper), 10_000, words)


@pytest.mark.parametrize(
    ("blocks", "first"),
    [
        (
            [("paragraph", "Our contributions are: (1) a new test of things; (2) a proof of it.")],
            "a new test of things",
        ),
        (
            [
                ("paragraph", "We make the following contributions:"),
                ("paragraph", "(i) a new test of things; (ii) a proof of it."),
            ],
            "a new test of things",
        ),
        (
            [("paragraph", "Our contributions are as follows."), ("list", "1. A new test. 2. A proof of it.")],
            "A new test.",
        ),
    ],
)
def test_contribution_lists_are_found_in_their_usual_shapes(blocks: list[tuple[str, str]], first: str) -> None:
    card = build_card(paper_of(built(1, "Introduction", *blocks)))
    assert card.claims[0].text == first
    assert len(card.claims) == 2


def test_a_word_about_contributions_is_no_list() -> None:
    text = "The mechanism balances the contributions of both scales. The (1) first and (2) second are equal."
    card = build_card(paper_of(built(1, "Method", ("paragraph", text)), abstract="We balance two scales well."))
    assert card.claims_from == "abstract"


def test_without_a_list_the_abstracts_claims_count_and_then_the_introductions() -> None:
    abstract = "Tests are old and well known. We show that tests hold twice. Coverage falls to 80.3% without them."
    intro = built(1, "Introduction", ("paragraph", "Tests are old. We prove that they hold always."))
    card = build_card(paper_of(intro, abstract=abstract))
    assert [c.text for c in card.claims] == abstract.split(". ", 1)[1].replace("twice. ", "twice.\n").split("\n")
    assert build_card(paper_of(intro)).claims[0].text == "We prove that they hold always."
    assert build_card(paper_of(built(1, "Method", ("paragraph", "Nothing.")))).claims_from == "none"


def test_limitations_are_sentences_that_name_one_where_there_is_no_section_of_them() -> None:
    text = "It works. A limitation is that it is slow."
    card = build_card(paper_of(built(1, "Discussion", ("paragraph", text))))
    assert [line.text for line in card.limitations] == ["A limitation is that it is slow."]


def test_what_does_not_fit_goes_from_the_end_and_is_named() -> None:
    card = build_card(FULL)
    whole = render_card(card, 10_000, words)
    order = ["Abstract:", "Outline (", "Limitations", "Definitions", "Captions:", "Numbers"]
    assert "no room" not in whole
    gone: list[str] = []
    for room in range(words(whole) - 1, 70, -1):
        text = render_card(card, room, words)
        assert words(text) <= room
        assert "[C3] A data set of 500 tests." in text
        assert "[no room for: " in text
        shown = [name for name in order if f"\n{name}" in text]
        assert shown == order[: len(shown)]
        gone.append(order[len(shown) - 1] if shown else "")
    assert len(set(gone)) >= 5
    assert f"of {len(card.ledger)} numbers lines]" in render_card(card, words(whole) - 1, words)


def test_no_room_for_the_claims_is_an_error() -> None:
    with pytest.raises(ContextTooLong, match="title and claims"):
        render_card(build_card(FULL), 10, words)


def test_a_paper_with_nothing_gives_a_card_with_its_title() -> None:
    card = build_card(paper_of(built(1, "References", ("reference", "[1] X."), role="references")))
    assert render_card(card, 10, words) == "Title: On Tests"


def test_the_card_of_a_theorem_is_its_head() -> None:
    block = Block(id="b", kind="paragraph", text="Lemma 2. " + "word " * 100)
    card = build_card(paper_of(Section(id="s1", heading="Theory", level=1, blocks=(block,))))
    assert card.definitions[0].text.endswith("word [...]")
    assert words(card.definitions[0].text) == 61


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "source", "least"),
    [
        ("acl2020_s2orc_two_column", "abstract", 2),
        ("ai_scientist_adaptive_dual_scale_denoising", "contributions", 4),
        ("ai_scientist_mdl_grokking_correlation", "contributions", 4),
        ("ai_scientist_rl_lr_adaptation", "contributions", 3),
        ("naacl2025_openreviewer_two_column", "contributions", 3),
    ],
)
def test_real_papers_give_claims_numbers_and_no_author(shared_data: Path, name: str, source: str, least: int) -> None:
    paper = read_once(shared_data / "pdfs" / f"{name}.pdf")
    card = build_card(paper)
    assert card.claims_from == source
    assert least <= len(card.claims) <= 6
    assert card.captions
    assert len(card.ledger) > 10
    front = next(s for s in paper.sections if s.role == "front").text
    emails = [word for word in front.split() if "@" in word]
    text = render_card(card, 100_000, words)
    assert not [email for email in emails if email in text]
    assert words(render_card(card, 600, words)) <= 600
