"""The paper between conversion and assembly: what repairs read and change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from referee.papers.pdf.pages import Line, Page, Word
from referee.papers.pieces import Piece, squeeze
from referee.schemas.paper import Box, Repair

WordsIn = Callable[[Page, Box], list[Word]]


@dataclass
class Draft:
    """A converted paper under repair.

    Attributes:
        title: What the converter, or a repair, says the title is.
        pieces: In reading order; a repair replaces the list or its members, and records why.
        pages: What the pages print, by pypdfium2.
        words_in: The words of a region of a page.
        repairs: What was changed so far.
    """

    title: str
    pieces: list[Piece]
    pages: tuple[Page, ...]
    words_in: WordsIn
    repairs: list[Repair] = field(default_factory=list)

    def page(self, number: int | None) -> Page:
        """The page with this number, from 1."""
        return self.pages[(number or 1) - 1]

    def record(self, kind: str, page: int | None, before: str, after: str, proof: str) -> None:
        """Put a repair on the record; long texts are cut to 200 characters."""
        self.repairs.append(Repair(kind=kind, page=page, before=before[:200], after=after[:200], proof=proof))

    def body_size(self) -> float:
        """The font size, in points, that most paragraph text has; 10 when there is none."""
        sizes: Counter[float] = Counter()
        for piece in self.pieces:
            if piece.kind in ("paragraph", "list") and piece.size:
                sizes[round(piece.size, 1)] += len(piece.text)
        return sizes.most_common(1)[0][0] if sizes else 10.0

    def body_font(self) -> str:
        """The font that most lines start with."""
        fonts = Counter(line.font for page in self.pages for line in page.body)
        return fonts.most_common(1)[0][0] if fonts else ""

    def line_of(self, piece: Piece) -> Line | None:
        """The printed line that a piece's text begins with, on its page, or None."""
        key = squeeze(piece.text)
        lines = [line for line in self.page(piece.page).body if len(line.key) >= 2 and key.startswith(line.key)]
        near = [line for line in lines if piece.box is None or abs(line.box.y0 - piece.box.y0) < 12]
        return max(near or lines, key=lambda line: len(line.key), default=None)


def overlap_x(one: Box, other: Box) -> float:
    """How much of the narrower box's width the two share, 0 to 1."""
    width = min(one.x1 - one.x0, other.x1 - other.x0)
    shared = min(one.x1, other.x1) - max(one.x0, other.x0)
    return max(0.0, shared) / width if width > 0 else 0.0
