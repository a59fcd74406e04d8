"""Where the quotations of a review stand: boxes on the paper's pages, and spans of its sections' text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from referee.papers.pieces import squeeze
from referee.schemas.page import PageImage, PageLine
from referee.schemas.paper import Box, Paper
from referee.schemas.point import Quotation
from referee.schemas.review import Review

ELLIPSIS = " […] "
_FEWEST_LETTERS = 12


@dataclass(frozen=True)
class Mark:
    """One place of the paper that points of the review quote.

    Attributes:
        id: Its name on the page.
        points: The points that quote it.
        boxes: Of the lines that it covers, or of its block; none where the paper has no pages.
    """

    id: str
    points: tuple[str, ...]
    boxes: tuple[Box, ...] = ()


@dataclass
class Marks:
    """Places by page and by section, and the places of each point and quotation."""

    by_page: dict[int, list[Mark]] = field(default_factory=dict)
    by_quote: dict[tuple[str, str], str] = field(default_factory=dict)
    """The id of a mark by section and quotation."""
    spans: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Quoted words and the id of their mark, by section."""


def quotations_of(review: Review) -> Iterator[tuple[str, Quotation]]:
    """Each quotation of a review with the id of the point that makes it."""
    for point in review.points:
        for evidence in (*point.evidence, *(point.check.passages if point.check else ())):
            yield point.id, evidence


def marks_of(quotations: Iterable[tuple[str, Quotation]], pages: Sequence[PageImage]) -> Marks:
    """The places that are quoted.

    Args:
        quotations: Each with the id of the point that makes it; those that were not found have no place.
        pages: The paper's pages; none where it is no PDF.
    """
    by_place: dict[tuple[str, str], tuple[Quotation, list[str]]] = {}
    for point, quotation in quotations:
        if quotation.status != "not_found":
            _, points = by_place.setdefault((quotation.section_id, quotation.quote), (quotation, []))
            if point not in points:
                points.append(point)
    numbered = {page.number: page for page in pages}
    marks = Marks()
    for number, (place, (quotation, points)) in enumerate(by_place.items(), start=1):
        mark = Mark(f"m{number}", tuple(points), _boxes(quotation, numbered))
        if not pages:
            marks.spans.setdefault(quotation.section_id, []).append((quotation.quote, mark.id))
        elif quotation.page is None or not mark.boxes:
            continue
        else:
            marks.by_page.setdefault(quotation.page, []).append(mark)
        marks.by_quote[place] = mark.id
    return marks


def _boxes(quotation: Quotation, pages: Mapping[int, PageImage]) -> tuple[Box, ...]:
    """Of the lines of its page that hold the quotation; of its block where they are not found."""
    page = pages.get(quotation.page or 0)
    if page is None:
        return ()
    boxes = [box for part in quotation.quote.split(ELLIPSIS) for box in _lines(squeeze(part), page.lines)]
    if boxes:
        return tuple(boxes)
    return (quotation.box,) if quotation.box is not None else ()


def _lines(wanted: str, lines: Sequence[PageLine]) -> list[Box]:
    """The boxes of the lines in which the letters stand; as far as the page goes, where they go on behind it."""
    if len(wanted) < _FEWEST_LETTERS:
        return []
    said = [squeeze(line.text) for line in lines]
    page = "".join(said)
    start = page.find(wanted)
    if start < 0 and (start := page.find(wanted[: _FEWEST_LETTERS * 3])) < 0:
        return []
    end, at, found = start + len(wanted), 0, []
    for line, letters in zip(lines, said, strict=True):
        if letters and at < end and at + len(letters) > start:
            found.append(line.box)
        at += len(letters)
    return found


@dataclass(frozen=True)
class Piece:
    """Some of a section's text; ``mark`` names the place it is, and is empty outside of all."""

    text: str
    mark: str = ""


def pieces_of(paper: Paper, marks: Marks) -> Mapping[str, tuple[tuple[Piece, ...], ...]]:
    """By section its blocks in pieces, of which some are marked; for papers without pages."""
    pieces: dict[str, tuple[tuple[Piece, ...], ...]] = {}
    for section in paper.content:
        own = [
            (part, mark) for quote, mark in marks.spans.get(section.id, ()) for part in quote.split(ELLIPSIS) if part
        ]
        used: set[str] = set()
        pieces[section.id] = tuple(tuple(_cut(block.text, own, used)) for block in section.blocks)
    return pieces


def _cut(text: str, quoted: Sequence[tuple[str, str]], used: set[str]) -> Iterable[Piece]:
    """A block cut at the quotations that stand in it; where two overlap the first one counts."""
    places = sorted((at, at + len(part), mark) for part, mark in quoted if (at := text.find(part)) >= 0)
    last = 0
    for start, end, mark in places:
        if start < last:
            continue
        yield Piece(text[last:start])
        yield Piece(text[start:end], mark)
        last = end
    yield Piece(text[last:])
