"""From any pieces to sections and parts: nothing is lost, nothing is doubled, numbers and levels stay lawful."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from referee.agents.parts import Part, content_parts, split_part
from referee.errors import ContextTooLong
from referee.papers.assembly import assemble
from referee.papers.headings import name_headings
from referee.papers.pieces import Piece
from referee.schemas.paper import Converter, Paper
from tests.processor_time import within

from .fuzz_budget import tries

NAMES = [
    "Abstract",
    "References",
    "Appendix A",
    "A Proofs",
    "B",
    "I",
    "Checklist",
    "1 Introduction",
    "3.1 Data",
    "IV. End",
]
KINDS = st.sampled_from(
    ["paragraph", "equation", "table", "caption", "footnote", "list", "code", "reference", "figure"]
)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(str.strip) | st.sampled_from(
    ["word " * 60, "a. B " * 30]
)
NUMBERS = st.none() | st.sampled_from(["1", "3.1", "A", "I", "B.2", "10", "٣"])
HEADINGS = st.builds(
    Piece, kind=st.just("heading"), text=st.sampled_from(NAMES) | WORDS, level=st.integers(-1, 9), number=NUMBERS
)
BLOCKS = st.builds(Piece, kind=KINDS, text=WORDS, page=st.none() | st.integers(1, 9))
PIECES = st.lists(HEADINGS | BLOCKS, max_size=30)


def paper(pieces: list[Piece], front_first: bool) -> Paper:
    made = assemble(pieces, front_first=front_first)
    return Paper(
        paper_id="0" * 64,
        title="",
        abstract=made.abstract,
        format="text",
        sections=made.sections,
        references=made.references,
        findings=made.findings,
        converter=Converter(name="fuzz", version="1"),
    )


def _kind(kind: str) -> str:
    return "paragraph" if kind == "reference" else kind


@tries(150)
@given(PIECES, st.booleans())
def test_every_piece_is_in_one_section(pieces: list[Piece], front_first: bool) -> None:
    made = paper(pieces, front_first)
    # A heading before the abstract's is a line of the front matter.
    blocks = [block for _, block in made.blocks() if block.kind != "heading"]
    given_blocks = [piece for piece in pieces if piece.kind != "heading"]
    assert len(blocks) == len(given_blocks)
    # Running text behind the references is text, whatever a converter called it; floats among them stand elsewhere.
    assert Counter(_kind(one.kind) for one in blocks) == Counter(_kind(one.kind) for one in given_blocks)
    assert all(any(piece.text.endswith(block.text) for piece in given_blocks) for block in blocks)
    assert len({section.id for section in made.sections}) == len(made.sections)


@tries(150)
@given(st.lists(st.sampled_from(NAMES) | st.text(min_size=1, max_size=30), max_size=20))
def test_headings_keep_their_words(headings: list[str]) -> None:
    for text, name in zip(headings, name_headings(headings), strict=True):
        assert name.title.strip() == name.title
        assert Counter(name.title) <= Counter(text)
        assert name.level is None or 1 <= name.level <= 5


@tries(80)
@given(PIECES, st.integers(30, 600))
def test_parts_hold_every_word_of_the_content(pieces: list[Piece], room: int) -> None:
    with within(20):
        for part in content_parts(paper(pieces, front_first=False), appendices=True):
            try:
                cut = split_part(part, room, lambda text: len(text.split()))
            except ContextTooLong:
                continue
            assert words_in(*cut) >= words_in(part)


def words_in(*parts: Part) -> Counter[str]:
    return Counter(word for part in parts for s in part.pieces for block in s.blocks for word in block.text.split())
