from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.agents.chunks import ChunkSize, chunk_of, chunk_outline, chunk_sections, paper_chunks
from referee.agents.parts import render_part
from referee.errors import ContextTooLong
from referee.schemas.paper import Paper

from .paper_on_tests import section, small_paper, words

TEXT = "A method is tried on the data and then it is tried once more."


def paper(paragraphs: int = 12) -> Paper:
    return small_paper(
        section(1, "Abstract", "We test tests.", "abstract"),
        section(2, "Introduction", f"Why. {TEXT}", paragraphs=paragraphs),
        section(3, "Method", f"How. {TEXT}", paragraphs=paragraphs),
        section(4, "References", "Someone.", "references"),
        section(5, "Proofs", f"Indeed. {TEXT}", "appendix", paragraphs=paragraphs),
    )


def size(tokens: int, most: int = 100, room: int = 10_000) -> ChunkSize:
    return ChunkSize(tokens, most, room)


@given(st.integers(150, 2_000), st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_every_word_is_in_a_chunk_once_beside_what_is_marked_as_repeated(tokens: int, paragraphs: int) -> None:
    chunks = paper_chunks(paper(paragraphs), size(tokens), words)
    said = [block.text for chunk in chunks for block in chunk.blocks[chunk.shared :]]
    content = [b.text for s in paper(paragraphs).sections if s.role == "content" for b in s.blocks]
    assert " ".join(said).split() == " ".join(content).split()
    assert [chunk.id for chunk in chunks] == [f"K{n}" for n in range(1, len(chunks) + 1)]


def test_a_chunk_is_named_by_the_headings_it_spans_and_crosses_sections() -> None:
    whole = paper_chunks(paper(), size(10_000), words)
    assert [chunk.heading for chunk in whole] == ["Introduction to Method"]
    cut = paper_chunks(paper(), size(200), words)
    assert cut[0].heading == "Introduction"
    assert cut[-1].heading == "Method"
    assert all(words(render_part(chunk, numbered=True)[0]) <= 200 + len(chunk.heading.split()) for chunk in cut)


def test_longer_chunks_instead_of_more_than_there_may_be_but_never_beyond_the_room() -> None:
    many = len(paper_chunks(paper(60), size(150), words))
    few = len(paper_chunks(paper(60), size(150, most=4), words))
    assert many > 8
    assert 4 <= few <= 6, "what is repeated takes room too"
    assert len(paper_chunks(paper(60), size(150, most=4, room=150), words)) == many


def test_appendices_are_read_only_when_asked_for() -> None:
    assert set(chunk_sections(paper_chunks(paper(), size(300), words))) == {"s2", "s3"}
    assert set(chunk_sections(paper_chunks(paper(), size(300), words, appendices=True))) == {"s2", "s3", "s5"}


def test_a_paper_without_text_has_no_chunk() -> None:
    assert paper_chunks(small_paper(section(1, "References", "Someone.", "references")), size(300), words) == ()


def test_no_room_for_a_sentence_is_said() -> None:
    with pytest.raises(ContextTooLong, match="not even a piece"):
        paper_chunks(paper(), size(10, room=10), words)


def test_a_quotation_finds_the_chunk_that_holds_its_words() -> None:
    chunks = paper_chunks(paper(), size(200), words)
    holding = [chunk for chunk in chunks if "s2" in chunk.section_ids]
    assert len(holding) > 1
    last = holding[-1].blocks[holding[-1].shared].text
    assert chunk_of("s2", chunks, last.replace(" ", "\n", 1)) == holding[-1]
    assert chunk_of("s2", chunks) == holding[0]
    assert chunk_of("s2", chunks, "words of nobody") == holding[0]
    assert chunk_of("s9", chunks) is None


def test_the_outline_names_chunks_with_their_headings() -> None:
    assert chunk_outline(paper_chunks(paper(), size(10_000), words)) == "K1: Introduction, Method"
