"""A paper laid out for searching: one normalised text of all passages, and the way from there to block and page."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from referee.evidence.normalise import Normalised, normalise
from referee.schemas.paper import Block, Box, Paper

WALL = "\x00"
"""Stands between passages; normalised text never holds it, so no match reaches over it."""

_FLOATS = frozenset({"heading", "table", "figure", "caption", "footnote"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A block as it stands in a passage: where its text starts, and what is known about its place."""

    start: int
    block_id: str
    kind: str
    page: int | None
    box: Box | None


@dataclass(frozen=True, slots=True)
class Passage:
    """Blocks of one section that are read in one go; ``start`` is the passage's place in the whole text."""

    section_id: str
    heading: str
    label: str
    pieces: tuple[Piece, ...]
    normalised: Normalised
    start: int = field(compare=False)

    @property
    def end(self) -> int:
        """One past the passage's last character in the whole text."""
        return self.start + len(self.normalised.text)

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """From a range of the whole text to the range of the passage's source."""
        return self.normalised.span(start - self.start, end - self.start)

    def pieces_of(self, start: int, end: int) -> tuple[Piece, ...]:
        """The blocks that a range of the passage's source touches, in order; never empty."""
        starts = [piece.start for piece in self.pieces]
        first = max(0, bisect_right(starts, start) - 1)
        return self.pieces[first : max(first + 1, bisect_right(starts, end - 1))]


class Passages:
    """Every passage of a paper that a review may quote, in reading order.

    A section with captions, tables, footnotes or stray headings inside its prose is laid out twice: with everything,
    and as prose alone, so that a sentence which goes on below a figure or on the next page is still found. Authors'
    names and affiliations (front matter) are left out; title, abstract and bibliography are searched even where the
    file has no sections for them, under the ids ``title``, ``abstract`` and ``references``.

    Attributes:
        text: All passages, normalised, with a wall between two.
        headings: Of the sections, normalised; no quotation is looked up in them.
    """

    def __init__(self, paper: Paper) -> None:
        self._items: list[Passage] = []
        parts: list[str] = []
        at = 0
        for section_id, heading, label, blocks in _runs(paper):
            normalised, pieces = _laid_out(blocks)
            if not normalised.text:
                continue
            self._items.append(Passage(section_id, heading, label, pieces, normalised, at))
            parts.append(normalised.text)
            at += len(normalised.text) + len(WALL)
        self.text = WALL.join(parts)
        self.headings = tuple(normalise(section.heading).text for section in paper.content)
        self._starts = [item.start for item in self._items]

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._items)

    def at(self, position: int) -> Passage:
        """The passage around a position of the whole text."""
        return self._items[max(0, bisect_right(self._starts, position) - 1)]

    def of(self, section_id: str | None) -> list[Passage]:
        """The passages of one section; empty for null and for an unknown id."""
        return [item for item in self._items if item.section_id == section_id]


def _runs(paper: Paper) -> Iterator[tuple[str, str, str, Sequence[Block]]]:
    """Section id, heading, what to call it, and the blocks that are read in one go."""
    roles = {section.role for section in paper.sections if section.blocks}
    if paper.abstract and "abstract" not in roles:
        yield "abstract", "Abstract", "the abstract", [_stand_in("abstract", paper.abstract)]
    for section in paper.sections:
        if section.role == "front" or not section.blocks:
            continue
        numbered = section.number is not None and not section.heading.startswith(section.number)
        heading = f"{section.number} {section.heading}".strip() if numbered else section.heading
        label = f"Section {section.number}" if section.number else f"“{section.heading}”"
        yield section.id, heading, label, section.blocks
        prose = [block for block in section.blocks if block.kind not in _FLOATS]
        if prose and len(prose) < len(section.blocks):
            yield section.id, heading, label, prose
    if paper.references and "references" not in roles:
        entries = [_stand_in(r.id, r.text, r.page) for r in paper.references if r.text]
        yield "references", "References", "the references", entries
    if paper.title:
        yield "title", "Title", "the title", [_stand_in("title", paper.title)]


def _stand_in(block_id: str, text: str, page: int | None = None) -> Block:
    return Block(id=block_id, kind="paragraph", text=text, page=page)


def _laid_out(blocks: Sequence[Block]) -> tuple[Normalised, tuple[Piece, ...]]:
    pieces: list[Piece] = []
    at = 0
    for block in blocks:
        pieces.append(Piece(at, block.id, block.kind, block.page, block.box))
        at += len(block.text) + 2
    return normalise("\n\n".join(block.text for block in blocks)), tuple(pieces)
