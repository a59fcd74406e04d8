from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import SettingsError
from referee.llm.tokens import count_tokens
from referee.retrieval import Chunks, ChunkSizes, cut_paper
from referee.schemas.paper import Block, Paper, Section
from tests.reading import read_once

from .small_papers import block, paper, words

SMALL = ChunkSizes(child_pieces=16, heading_pieces=16, parent_tokens=60)
TEXT = st.lists(st.sampled_from(["alpha", "beta.", "Gamma", "x=1", "(2020)", "nine\n", "9"]), min_size=1, max_size=70)


def squeezed(texts: list[str]) -> str:
    return "".join("".join(texts).split())


def read_text(source: Paper) -> str:
    unread = ("front", "references")
    return squeezed([b.text for section in source.sections if section.role not in unread for b in section.blocks])


def check(source: Paper, chunks: Chunks, sizes: ChunkSizes) -> None:
    """Every character that is read stands in one child and in its parent, in order, within the limits."""
    assert squeezed([child.text for child in chunks.children]) == read_text(source)
    assert squeezed([parent.text for parent in chunks.parents]) == read_text(source)
    parents = {parent.id: parent for parent in chunks.parents}
    assert len(parents) == len(chunks.parents)
    assert len({child.id for child in chunks.children}) == len(chunks.children)
    blocks = {b.id: (section.id, b) for section, b in source.blocks()}
    for child in chunks.children:
        parent = parents[child.parent_id]
        assert parent.section_id == child.section_id
        assert set(child.block_ids) <= set(parent.block_ids)
        assert {blocks[key][0] for key in child.block_ids} == {child.section_id}
        assert child.pages == tuple(sorted({p for key in child.block_ids if (p := blocks[key][1].page)}))
        assert child.text in parent.text
        assert child.embedded.endswith(child.text)
    assert all(count_tokens(parent.text) <= sizes.parent_tokens for parent in chunks.parents)


@given(st.lists(st.lists(TEXT, max_size=4), min_size=1, max_size=4))
@settings(deadline=None, max_examples=60)
def test_every_word_is_in_exactly_one_child(texts: list[list[list[str]]]) -> None:
    sections = [
        Section(
            id=f"s{i}",
            heading=f"Part {i}",
            level=1 + i % 2,
            blocks=tuple(block(10 * i + j, " ".join(text), page=i + j or None) for j, text in enumerate(found)),
        )
        for i, found in enumerate(texts)
    ]
    source = paper(*sections)
    chunks = cut_paper(source, words, SMALL)
    check(source, chunks, SMALL)
    assert all(words(child.text) <= SMALL.child_pieces for child in chunks.children)
    said = [word for child in chunks.children for word in child.text.split()]
    assert said == [word for section in sections for word in section.text.split()]


def test_what_is_read_and_what_is_not() -> None:
    def one(section_id: str, role: str, *blocks: Block) -> Section:
        return Section.model_validate(
            {"id": section_id, "heading": role, "level": 1, "role": role, "blocks": [b.model_dump() for b in blocks]}
        )

    source = paper(
        one("s1", "front", block(1, "Ada Author")),
        one("s2", "abstract", block(2, "We count.")),
        one("s3", "content", block(3, "Table 1: Counts", "caption"), block(4, "a | 1\nb | 2", "table")),
        one("s4", "content", block(5, "1 A note.", "footnote"), block(6, "x = y", "equation")),
        one("s5", "acknowledgements", block(7, "We thank Bo.")),
        one("s6", "references", block(8, "Doe. A work. 2020.", "reference")),
        one("s7", "appendix", block(9, "More counts.")),
        one("s8", "checklist", block(10, "Yes.")),
        one("s9", "content"),
        one("s10", "content", block(11, " \n")),
    )
    chunks = cut_paper(source, words)
    assert [child.text for child in chunks.children] == [
        "We count.",
        "Table 1: Counts\n\na | 1\nb | 2",
        "1 A note.\n\nx = y",
        "We thank Bo.",
        "More counts.",
        "Yes.",
    ]
    assert [child.section_id for child in chunks.children] == ["s2", "s3", "s4", "s5", "s7", "s8"]


def test_an_abstract_without_a_section_is_read() -> None:
    chunks = cut_paper(paper(abstract="Only this is known."), words)
    assert [(c.id, c.section_id, c.block_ids, c.pages) for c in chunks.children] == [
        ("abstract.p1.c1", "abstract", ("abstract",), ())
    ]
    assert cut_paper(paper(), words) == Chunks((), ())


def test_the_path_of_headings_is_embedded_but_not_quotable() -> None:
    source = paper(
        Section(id="s1", heading="Method", number="3", level=1),
        Section(id="s2", heading="3.1 Data", number="3.1", level=2, blocks=(block(1, "We sampled."),)),
        Section(id="s3", heading="Results", level=1, blocks=(block(2, "It works."),)),
    )
    first, second = cut_paper(source, words).children
    assert (first.heading, first.text) == ("3 Method > 3.1 Data", "We sampled.")
    assert first.embedded == "3 Method > 3.1 Data\nWe sampled."
    assert second.embedded == "Results\nIt works."


def test_long_headings_are_shortened_from_outside() -> None:
    long = " ".join(["far"] * 20)
    source = paper(
        Section(id="s1", heading=long, level=1, blocks=(block(1, "One."),)),
        Section(id="s2", heading="Inner", level=2, blocks=(block(2, "Two."),)),
    )
    first, second = cut_paper(source, words, SMALL).children
    assert first.embedded == " ".join(["far"] * 10) + "\nOne."
    assert second.embedded == "Inner\nTwo."
    assert second.heading == f"{long} > Inner"


def test_a_long_section_has_several_parents_of_about_equal_size() -> None:
    blocks = [block(number, f"Paragraph {number} " + "says something plain. " * 40) for number in range(60)]
    source = paper(Section(id="s1", heading="Long", level=1, blocks=tuple(blocks)))
    chunks = cut_paper(source, words)
    check(source, chunks, ChunkSizes())
    tokens = [count_tokens(parent.text) for parent in chunks.parents]
    assert len(tokens) == -(-sum(tokens) // 4000)
    assert min(tokens) > 0.7 * max(tokens)
    assert [parent.id for parent in chunks.parents][:2] == ["s1.p1", "s1.p2"]


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="'child_pieces' is 3"):
        ChunkSizes(child_pieces=3)


@pytest.mark.shared_data
def test_a_real_paper_loses_nothing(shared_data: Path) -> None:
    source = read_once(shared_data / "pdfs" / "acl2020_s2orc_two_column.pdf")
    chunks = cut_paper(source, count_tokens)
    check(source, chunks, ChunkSizes())
    assert all(count_tokens(child.text) <= 400 for child in chunks.children)
    table = next(b for _, b in source.blocks() if b.kind == "table" and "PyPDF2 error" in b.text)
    assert any(table.text in child.text for child in chunks.children)
