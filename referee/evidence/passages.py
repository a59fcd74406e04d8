"""A paper laid out for searching, and where a wording that is not in it comes closest.

A paper laid out for searching: one normalised text of all passages, and the way from there to block and page.

Where a wording that is not in the text comes closest to it.

Words of the quotation vote for the place where it would start; the few best places are aligned character by
character, and the result is moved to the edges of whole words. This looks at a few hundred characters instead of
the whole paper, which keeps a miss as cheap as a hit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from referee.evidence.normalise import Normalised, normalise
from referee.schemas.paper import Block, Box, Paper, Section

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
    label: str = ""


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


def heading_of(section: Section) -> str:
    """A section's heading with its number, as quotations name it."""
    numbered = section.number is not None and not section.heading.startswith(section.number)
    return f"{section.number} {section.heading}".strip() if numbered else section.heading


def label_of(block: Block) -> str:
    """What the text calls the table or the figure that a block is or captions; empty for prose and equations."""
    return block.label or "" if block.kind in ("table", "caption") else ""


def _runs(paper: Paper) -> Iterator[tuple[str, str, str, Sequence[Block]]]:
    """Section id, heading, what to call it, and the blocks that are read in one go."""
    roles = {section.role for section in paper.sections if section.blocks}
    if paper.abstract and "abstract" not in roles:
        yield "abstract", "Abstract", "the abstract", [_stand_in("abstract", paper.abstract)]
    for section in paper.sections:
        if section.role == "front" or not section.blocks:
            continue
        heading = heading_of(section)
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
        pieces.append(Piece(at, block.id, block.kind, block.page, block.box, label_of(block)))
        at += len(block.text) + 2
    return normalise("\n\n".join(block.text for block in blocks)), tuple(pieces)


_WORD = re.compile(r"\w+")
_EDGE = re.compile(r"[^\s\x00]+")
_MAX_WORDS = 40
_MAX_POSTINGS = 400
_MAX_PLACES = 6
_PROBE = 64
_FLOOR = 0.5
_LEADING, _TRAILING = "([{'\"", ")]}'\".,;:!?"


@dataclass(frozen=True, slots=True)
class Aligned:
    """A range of the text and how much of it agrees with the quotation, in [0, 1]."""

    start: int
    end: int
    similarity: float


class Aligner:
    """Finds the passages closest to a wording in one text; built once, its word index on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._postings: dict[str, list[int]] = {}

    def places(self, wording: str) -> list[int]:
        """Positions where the wording may start, best first, at most six; they may lie a little off."""
        self._index()
        words = sorted(
            ((len(found), word.start(), found) for word in _WORD.finditer(wording) if (found := self._found(word))),
            key=lambda item: item[:2],
        )
        width = max(16, len(wording) // 4)
        votes: Counter[int] = Counter()
        for count, offset, found in words[:_MAX_WORDS]:
            weight = round(1000 / count**0.5)
            for position in found[:_MAX_POSTINGS]:
                bucket = max(0, position - offset) // width
                votes[bucket] += weight
                votes[bucket + 1] += weight // 2
        return [bucket * width for bucket, _ in votes.most_common(_MAX_PLACES)]

    def align(self, wording: str, low: int, high: int, allowed: Callable[[int, int], bool]) -> Aligned | None:
        """The range of ``text[low:high]`` closest to the wording, from one word's edge to another's.

        Args:
            wording: Normalised text.
            low: Start of the range to look at.
            high: One past its end.
            allowed: Whether a range may be quoted as it stands (it does not cut a number or lose a sign).

        Returns:
            The best range, or null where not even half of the characters agree.
        """
        window = self._text[low:high]
        rough = _rough(wording, window)
        if rough is None:
            return None
        tokens = [(low + m.start(), low + m.end()) for m in _EDGE.finditer(window)]
        starts = _nearest([_trimmed_start(self._text, *t) for t in tokens], low + rough[0])
        ends = _nearest([_trimmed_end(self._text, *t) for t in tokens], low + rough[1])
        if not starts or not ends:
            return None
        centre = min(ends, key=lambda end: abs(end - low - rough[1]))
        by_start = sorted(starts, key=lambda s: -_ratio(wording, self._text[s:centre]))[:3]
        pairs = [(s, e) for s in by_start for e in ends if s < e and allowed(s, e)]
        best = max(pairs, key=lambda pair: _ratio(wording, self._text[pair[0] : pair[1]]), default=None)
        return None if best is None else Aligned(*best, _ratio(wording, self._text[best[0] : best[1]]))

    def _index(self) -> None:
        if not self._postings:
            for match in _WORD.finditer(self._text):
                self._postings.setdefault(match.group(), []).append(match.start())

    def _found(self, word: re.Match[str]) -> list[int]:
        return self._postings.get(word.group(), [])


def _rough(wording: str, window: str) -> tuple[int, int] | None:
    """Start and end in the window, by characters.

    A long wording is placed by its first and its last characters: sliding all of it would cost its length squared.
    """
    if len(window) <= len(wording):
        return (0, len(window)) if window and _ratio(wording, window) >= _FLOOR else None
    if len(wording) <= 2 * _PROBE:
        found = fuzz.partial_ratio_alignment(wording, window, score_cutoff=100 * _FLOOR)
        return None if found is None else (found.dest_start, found.dest_end)
    head = fuzz.partial_ratio_alignment(wording[:_PROBE], window, score_cutoff=100 * _FLOOR)
    tail = fuzz.partial_ratio_alignment(wording[-_PROBE:], window, score_cutoff=100 * _FLOOR)
    if head is None and tail is None:
        return None
    start = head.dest_start if head is not None else 0
    end = tail.dest_end if tail is not None else len(window)
    if head is None or end <= start:
        start = max(0, end - len(wording))
    if tail is None:
        end = min(len(window), start + len(wording))
    return start, end


def _ratio(left: str, right: str) -> float:
    return fuzz.ratio(left, right) / 100


def _nearest(edges: Iterable[int], target: int) -> list[int]:
    return sorted(set(edges), key=lambda edge: abs(edge - target))[:9]


def _trimmed_start(text: str, start: int, end: int) -> int:
    while start < end - 1 and text[start] in _LEADING:
        start += 1
    return start


def _trimmed_end(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in _TRAILING:
        end -= 1
    return end
