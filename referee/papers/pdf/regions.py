"""Where on a page a figure or table stands: the printed and drawn matter between its caption and the text around it.

No model and no list of sizes: a caption's column is searched upwards and downwards until running text, a heading or
another caption stands in the way. What is drawn there (pictures, paths), with the lines that belong to no running text,
is the figure. A place without anything drawn is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from referee.papers.captions import Caption
from referee.papers.pdf.pages import Line, around, middle_in
from referee.schemas.paper import Block, Box

_MARGIN = 12.0
_JOINED = 5
_LEAST_HEIGHT = 18.0
_LEAST_WIDTH = 40.0
# More blank than this between two parts, and they are not one figure.
_MOST_BLANK = 48
_FRAME = (60.0, 30.0)
_WHOLE = 0.85
_SLACK = 4.0
_PROSE = frozenset(("paragraph", "heading", "list", "reference", "equation", "footnote", "caption"))
_CENTRED = 18.0
# Boxes of lines are measured at some of their letters: tails reach below them.
_TAILS = 3.0
_RULE = 3
_RULE_GAP = 10
_LARGE = 3.0


@dataclass(frozen=True)
class PageView:
    """A page as it is searched: one dot a point.

    Attributes:
        ink: Everything printed, true where a dot is not blank; rows from the top.
        drawn: The same without the page's own text: pictures, paths, and forms with what stands in them.
        lines: Its printed lines.
        blocks: What was read of it.
        headings: The headings of the paper's sections, as letters and digits; they are in no block.
    """

    width: float
    height: float
    ink: Any
    drawn: Any
    lines: tuple[Line, ...]
    blocks: tuple[Block, ...]
    headings: frozenset[str] = frozenset()


class Regions:
    """The places of one page's captions."""

    def __init__(self, view: PageView, captions: Sequence[Caption]) -> None:
        self.view = view
        self.captions = captions
        self.parts = _parts(view.drawn)
        area = view.width * view.height
        frames = [p for p in self.parts if p.x1 - p.x0 >= _FRAME[0] and p.y1 - p.y0 >= _FRAME[1]]
        self.frames = [p for p in frames if (p.x1 - p.x0) * (p.y1 - p.y0) < _WHOLE * area]
        self.prose = self._prose_lines()
        self.two_columns = self._has_two_columns()

    def place(self, caption: Caption) -> tuple[Box | None, str]:
        """The box of what the caption names; none with the reason where the page does not tell it for certain."""
        at = caption.block.box
        if at is None:
            return None, "the caption's own place is not known"
        left, right = self._column(at)
        found = [box for side in self._sides(caption) if (box := self._side(caption, at, left, right, side))]
        if not found:
            return None, "nothing drawn stands between the caption and the text around it"
        others = [one.block.box for one in self.captions if one is not caption and one.block.box]
        if any(middle_in(box, found[0], 0) for box in others):
            return None, "another caption stands inside the place that was found"
        return found[0], ""

    def _sides(self, caption: Caption) -> tuple[str, ...]:
        at, table = caption.block.box, caption.table
        if table is not None and table.box is not None and at is not None and table.page == caption.block.page:
            return ("above",) if table.box.y0 < at.y0 else ("below",)
        return ("below", "above") if caption.kind == "table" else ("above", "below")

    def _side(self, caption: Caption, at: Box, left: float, right: float, side: str) -> Box | None:
        """What stands on one side of a caption, up to the first obstacle in its column."""
        in_way = [box for box in self._obstacles(caption) if min(box.x1, right) - max(box.x0, left) > _SLACK]
        if side == "above":
            top = max((b.y1 for b in in_way if b.y1 <= at.y0 + _SLACK), default=_MARGIN)
            band = Box(x0=left, y0=top + _TAILS, x1=right, y1=at.y0 - 1)
        else:
            bottom = min((b.y0 for b in in_way if b.y0 >= at.y1 - _SLACK), default=self.view.height - _MARGIN)
            band = Box(x0=left, y0=at.y1 + _TAILS, x1=right, y1=bottom - 1)
        if band.y1 - band.y0 < _LEAST_HEIGHT:
            return None
        return self._filled(band, side, caption.table)

    def _filled(self, band: Box, side: str, table: Block | None) -> Box | None:
        box = _trimmed(self.view.ink, band, from_below=side == "above")
        if box is None or box.x1 - box.x0 < _LEAST_WIDTH or box.y1 - box.y0 < _LEAST_HEIGHT:
            return None
        if table is not None and table.box is not None and _overlap(table.box, band):
            whole = table.box.y0 >= box.y0 - _SLACK and table.box.y1 <= box.y1 + _SLACK
            return box if whole else None
        return box if self._is_drawn(box) else None

    def _is_drawn(self, box: Box) -> bool:
        """Whether something of a figure's size is drawn in it; a single rule is not."""
        inside = [part for part in self.parts if _overlap(part, box)]
        if not inside:
            return False
        whole = around(*inside)
        return whole.x1 - whole.x0 >= _LEAST_WIDTH and whole.y1 - whole.y0 >= _LEAST_HEIGHT

    def _obstacles(self, caption: Caption) -> list[Box]:
        captions = [one.block.box for one in self.captions if one is not caption and one.block.box]
        return captions + [line.box for line in self.prose if not _is_in(line.box, caption.block)]

    def _prose_lines(self) -> list[Line]:
        """Lines of running text, and running heads: not those that stand inside a frame or a picture."""
        blocks = [b for b in self.view.blocks if b.kind in _PROSE and b.box and (b.kind != "caption" or b.label)]
        body = _median([line.size for line in self.view.lines if any(_is_in(line.box, b) for b in blocks)])
        found = []
        for line in self.view.lines:
            if line.box.y1 - line.box.y0 > _LARGE * max(body, 1.0):
                continue  # a stamp across the page
            framed = any(middle_in(line.box, frame, 0) for frame in self.frames)
            captioned = any(_is_in(line.box, b) for b in blocks if b.kind == "caption")
            running = line.furniture or any(_is_in(line.box, b) for b in blocks) or self._is_heading(line, body)
            if captioned or (running and not framed):
                found.append(line)
        return found

    def _is_heading(self, line: Line, body: float) -> bool:
        if any(char.isdigit() for char in line.key) and line.key in self.view.headings:
            return True
        stands_out = line.size > body + 0.4 or "bold" in line.font.casefold() or "medi" in line.font.casefold()
        return stands_out and len(line.key) > 4 and any(line.key in heading for heading in self.view.headings)

    def _has_two_columns(self) -> bool:
        wide = [line.box for line in self.prose if line.box.x1 - line.box.x0 > 0.25 * self.view.width]
        middle = self.view.width / 2
        crossing = sum(box.x0 < middle - _CENTRED and box.x1 > middle + _CENTRED for box in wide)
        return len(wide) > 4 and crossing < len(wide) / 2

    def _column(self, at: Box) -> tuple[float, float]:
        """From where to where a float of this caption may reach, left to right."""
        middle, left, right = self.view.width / 2, _MARGIN, self.view.width - _MARGIN
        centre = (at.x0 + at.x1) / 2
        if self.two_columns and abs(centre - middle) > _CENTRED:
            left, right = (left, middle) if centre < middle else (middle, right)
        beside = [
            line.box
            for line in self.prose
            if min(line.box.y1, at.y1) - max(line.box.y0, at.y0) > 2
            and not _overlap(line.box, at)
            and line.box.x1 > left
            and line.box.x0 < right
        ]
        left = max([left, *(box.x1 for box in beside if box.x1 <= at.x0 + _SLACK)])
        right = min([right, *(box.x0 for box in beside if box.x0 >= at.x1 - _SLACK)])
        return self._halved(at, left, right)

    def _halved(self, at: Box, left: float, right: float) -> tuple[float, float]:
        """Two captions side by side share the width between them."""
        for other in self.captions:
            box = other.block.box
            if box is None or box is at or min(box.y1, at.y1) - max(box.y0, at.y0) <= 2:
                continue
            if box.x0 >= at.x1:
                right = min(right, (at.x1 + box.x0) / 2)
            elif box.x1 <= at.x0:
                left = max(left, (box.x1 + at.x0) / 2)
        return left, right


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else 0.0


def _is_in(box: Box, block: Block) -> bool:
    return block.box is not None and middle_in(box, block.box, 2.0)


def _overlap(one: Box, other: Box | None) -> bool:
    return other is not None and (
        min(one.x1, other.x1) - max(one.x0, other.x0) > 1 and min(one.y1, other.y1) - max(one.y0, other.y0) > 1
    )


def _parts(drawn: Any) -> list[Box]:
    """The drawn matter in parts that lie a few points from each other."""
    from scipy import ndimage  # a quarter of a second that papers without captions do not need

    wide = ndimage.binary_dilation(drawn, structure=np.ones((3, 3), bool), iterations=_JOINED)
    labelled, _ = ndimage.label(wide)
    return [
        Box(x0=across.start + _JOINED, y0=down.start + _JOINED, x1=across.stop - _JOINED, y1=down.stop - _JOINED)
        for down, across in ndimage.find_objects(labelled)
    ]


def _trimmed(ink: Any, band: Box, *, from_below: bool) -> Box | None:
    """The band without its blank margins; it ends where the blank between two rows is a gap."""
    y0, y1 = max(0, int(band.y0 + 1)), int(band.y1)
    x0, x1 = max(0, int(band.x0)), int(band.x1 + 1)
    window = ink[y0:y1, x0:x1]
    rows = np.flatnonzero(window.any(axis=1))
    if not len(rows):
        return None
    gaps = np.flatnonzero(np.diff(rows) > _MOST_BLANK)
    if len(gaps):
        rows = rows[gaps[-1] + 1 :] if from_below else rows[: gaps[0] + 1]
    rows = _without_far_rule(rows, from_below=from_below)
    first, last = int(rows[0]), int(rows[-1])
    columns = np.flatnonzero(window[first : last + 1].any(axis=0))
    return Box(
        x0=float(x0 + columns[0] - 1), y0=float(y0 + first - 1),
        x1=float(x0 + columns[-1] + 2), y1=float(y0 + last + 2),
    )  # fmt: skip


def _without_far_rule(rows: Any, *, from_below: bool) -> Any:
    """Rows without a rule at the end far from the caption: that of a running head, or above footnotes."""
    gaps = np.flatnonzero(np.diff(rows) > _RULE_GAP)
    if not len(gaps):
        return rows
    if from_below:
        return rows[gaps[0] + 1 :] if gaps[0] < _RULE else rows
    return rows[: gaps[-1] + 1] if len(rows) - gaps[-1] - 1 <= _RULE else rows
