"""Where on a page a figure or table stands: what is drawn or set apart between its caption and the text around it.

No model and no list of sizes. A page is taken as parts: what is drawn (pictures, paths, forms), and printed lines that
belong to no running text. A caption's column is searched on the side where this paper puts its captions, until running
text, a heading, a running head or another caption stands in the way. The parts found there, each near to the one
before, are the figure. It is as wide as the page where a part crosses the columns, or where only parts stand beside it
and nothing beside its caption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from referee.papers.captions import Caption
from referee.papers.pdf.pages import Line, Page, around, middle_in
from referee.papers.pieces import squeeze
from referee.schemas.paper import Box, Paper

_EDGE = 12.0
# Around what was found: letters are measured short, and light lines do not count as drawn.
_MARGIN = 12.0
_JOINED = 3
_LEAST = (40.0, 18.0)
_FEWEST = 3
# More blank than this between two parts, and they are not one figure.
_MOST_BLANK = 48.0
_FRAME = (60.0, 30.0)
_WHOLE = 0.85
_SLACK = 4.0
_PROSE = frozenset(("paragraph", "heading", "list", "reference", "footnote"))
_CENTRED = 18.0
# Shares of a page: smaller pictures without a caption are signs and logos.
_LONE, _TEXT_SHARE = (0.25, 0.1), 0.4
_RULE, _RULE_GAP, _HEAD_GAP = 4.0, 10.0, 15.0
_LARGE = 3.0
# Running text is as wide as this share of the paper's lines, and has as many letters as this for its width in ems.
_WIDE, _DENSE = 0.55, 1.3


@dataclass(frozen=True)
class Setting:
    """How a paper's running text is set: its size in points, how wide its lines are, and its headings' letters."""

    size: float
    width: float
    headings: frozenset[str]

    @classmethod
    def of(cls, paper: Paper, pages: Sequence[Page]) -> Setting:
        """Measured over all lines: the size that most letters have, and the upper quartile of widths in that size."""
        lines = [line for page in pages for line in page.body]
        sizes = Counter(line.size for line in lines for _ in line.key)
        size = max(sizes, key=lambda one: sizes[one], default=0.0)
        widths = sorted(line.box.x1 - line.box.x0 for line in lines if line.size == size) or [0.0]
        headings = frozenset(squeeze(f"{one.number or ''}{one.heading}") for one in paper.sections)
        return cls(max(size, 1.0), widths[3 * len(widths) // 4], headings)


class Regions:
    """The places of one page's captions.

    Args:
        page: Its printed lines.
        drawn: Everything on it but its text, true where a dot is not blank; one dot a point, rows from the top.
        paper: What was read of all.
        captions: Those that stand on it.
        setting: Of the paper.
    """

    def __init__(self, page: Page, drawn: Any, paper: Paper, captions: Sequence[Caption], setting: Setting) -> None:
        self.page, self.setting = page, setting
        self.blocks = [b for _, b in paper.blocks() if b.page == page.number and b.kind != "table" and b.box]
        self.tables = {
            one.block.id: table.box
            for one in captions
            if (table := one.table) and table.box and table.page == page.number
        }
        self.heads = [line.box for line in page.lines if line.furniture and self._is_one(line)]
        parts = [one for one in _parts(drawn) if not _is_sized(one, (_WHOLE * page.width, _WHOLE * page.height))]
        self.parts = [one for one in parts if not any(_belongs(one, head) for head in self.heads)]
        self.framed = [*self.tables.values(), *(one for one in parts if _is_sized(one, _FRAME))]
        self.captions = {one.block.id: box for one in captions if (box := self._caption_box(one))}
        free = [one for one in page.body if not any(middle_in(one.box, box, 2) for box in self.captions.values())]
        self.prose = [one.box for one in free if self._is_prose(one)]
        self.texts = [one.box for one in free if self._is_one(one) and one.box not in self.prose]
        wide = [box for box in self.prose if box.x1 - box.x0 > 0.25 * page.width]
        self.two_columns = len(wide) > 4 and sum(map(self._crosses, wide)) < len(wide) / 2

    def sides(self, caption: Caption) -> dict[str, list[Box]]:
        """The parts that a caption may name, above it and below it; words alone only where nothing is drawn."""
        at = self.captions.get(caption.block.id)
        found = {side: near for side in ("above", "below") if at and (near := self._side(at, caption.block.id, side))}
        return {side: near for side, near in found.items() if self._is_drawn(caption.block.id, near)} or found

    def uncaptioned(self, boxes: Sequence[Box]) -> Box | None:
        """What is drawn in a figure's size outside these boxes; none where a caption's own figure was not found.

        A frame around text is no figure: its lines fill it. Nor are the pictures on a title page.
        """
        least = (_LONE[0] * self.page.width, _LONE[1] * self.page.height)
        lone = [
            part
            for part in self.parts
            if _is_sized(part, least)
            and not any(_common(part, box) for box in boxes)
            and sum(line.size for line in self.page.lines_in(part, 0.0)) < _TEXT_SHARE * (part.y1 - part.y0)
        ]
        known = self.page.number > 1 and len(boxes) >= len(self.captions)
        return self.with_margin(around(*lone)) if lone and known else None

    def with_margin(self, box: Box) -> Box:
        """The box with a margin that ends where running text, a caption or the page does."""
        x0, y0, x1, y1 = box.x0 - _MARGIN, box.y0 - _MARGIN, box.x1 + _MARGIN, box.y1 + _MARGIN
        near = [one for one in (*self.prose, *self.captions.values()) if _common(one, Box(x0=x0, y0=y0, x1=x1, y1=y1))]
        across = [one for one in near if min(one.x1, box.x1) > max(one.x0, box.x0)]
        beside = [one for one in near if one not in across]
        return Box(
            x0=max([0.0, x0, *(one.x1 + 1 for one in beside if one.x1 <= box.x0)]),
            y0=max([0.0, y0, *(one.y1 + 1 for one in across if one.y1 <= box.y0 + 1)]),
            x1=min([self.page.width, x1, *(one.x0 - 1 for one in beside if one.x0 >= box.x1)]),
            y1=min([self.page.height, y1, *(one.y0 - 1 for one in across if one.y0 >= box.y1 - 1)]),
        )

    def _caption_box(self, caption: Caption) -> Box | None:
        """The lines of a caption: a table's rows that were read with it are left out."""
        at = caption.block.box
        lines = sorted(self.page.lines_in(at, 2.0) if at else [], key=lambda line: line.box.y0)
        inner = [part for part in self.parts if lines and part.y0 > lines[0].box.y0 + _SLACK]
        ends = (
            place
            for place, (one, below) in enumerate(pairwise(lines), 1)
            if below.box.y0 - one.box.y1 > below.size or any(middle_in(below.box, part, 0) for part in inner)
        )
        return around(*(line.box for line in lines[: next(ends, len(lines))])) if lines else at

    def _is_one(self, line: Line) -> bool:
        """Not a stamp across the page, nor words of several places that were read as one line."""
        return min(line.box.y1 - line.box.y0, line.box.x1 - line.box.x0) <= _LARGE * self.setting.size

    def _crosses(self, box: Box) -> bool:
        return box.x0 + _CENTRED < self.page.width / 2 < box.x1 - _CENTRED

    def _is_prose(self, line: Line) -> bool:
        """Whether it is running text or a heading: not the words in a picture, nor the cells of a table."""
        numbered = any(char.isdigit() for char in line.key) and line.key in self.setting.headings
        large = line.size > self.setting.size + 0.4 or any(one in line.font.casefold() for one in ("bold", "medi"))
        heading = large and len(line.key) > 4 and any(line.key in one for one in self.setting.headings)
        own = [one for one in self.blocks if one.box and middle_in(line.box, one.box, 2.0)]
        # A paragraph that began on the page before has its box there: the line stands for itself.
        mates = [one for block in own if block.box for one in self.page.lines_in(block.box, 2.0)] or [line]
        running = all(one.kind in _PROSE for one in own) and any(map(self._reads, mates))
        framed = any(middle_in(line.box, one, 0) for one in self.framed)
        return numbered or heading or (running and not framed)

    def _reads(self, line: Line) -> bool:
        """Whether a line is as wide as running text and without its gaps."""
        width = line.box.x1 - line.box.x0
        return width > _WIDE * self.setting.width and len(line.key) * line.size > _DENSE * width

    def _side(self, at: Box, name: str, side: str) -> list[Box]:
        """The parts on one side of a caption: in its column, or over both where the figure is as wide as that."""
        middle, left, right = self.page.width / 2, _EDGE, self.page.width - _EDGE
        wide = self._grown(at, name, left, right, side)
        if self.two_columns and not self._crosses(at):
            left, right = (left, middle) if at.x0 + at.x1 < 2 * middle else (middle, right)
        beside = any(
            min(one.y1, at.y1) - max(one.y0, at.y0) > 2 and not left < (one.x0 + one.x1) / 2 < right
            for one in (*self.parts, *self.prose, *self.texts)
        )
        # Captions side by side share the width between them.
        level = [one for one in self.captions.values() if min(one.y1, at.y1) - max(one.y0, at.y0) > 2]
        left = max([left, *((one.x1 + at.x0) / 2 for one in level if one.x1 <= at.x0)])
        right = min([right, *((one.x0 + at.x1) / 2 for one in level if one.x0 >= at.x1)])
        found = self._grown(at, name, left, right, side)
        if not wide or len(level) > 1:
            return found
        as_high = not found or around(*wide).y1 - around(*wide).y0 >= around(*found).y1 - around(*found).y0 - _SLACK
        return wide if any(map(self._crosses, wide)) or (as_high and not beside) else found

    def _grown(self, at: Box, name: str, left: float, right: float, side: str) -> list[Box]:
        """The parts from a caption to the first obstacle between two sides; heights count away from the caption."""

        def reach(box: Box) -> tuple[float, float]:
            return (-box.y1, -box.y0) if side == "above" else (box.y0, box.y1)

        others = (*(one for one in self.captions.values() if one is not at), *self.prose, *self.heads)
        in_way = [reach(one)[0] for one in others if min(one.x1, right) - max(one.x0, left) > _SLACK]
        start, edge = reach(at)[1], -_EDGE if side == "above" else self.page.height - _EDGE
        end = max(start, min((one for one in in_way if one >= start - _SLACK), default=edge))
        band = Box(x0=left, y0=min(abs(start), abs(end)), x1=right, y1=max(abs(start), abs(end)))
        inside = (box for part in (*self.parts, *self.texts) if (box := _common(part, band)))
        near, reached = list[Box](), start
        for box in sorted(inside, key=reach):
            if reach(box)[0] - reached > _MOST_BLANK:
                break
            near.append(box)
            reached = max(reached, reach(box)[1])
        # The rule of a running head, or above footnotes.
        if (
            len(near) > 1
            and near[-1].y1 - near[-1].y0 < _RULE
            and reach(near[-1])[0] - max(reach(one)[1] for one in near[:-1]) > _RULE_GAP
        ):
            near.pop()
        is_some = len(near) > _FEWEST or (near and self._is_drawn(name, near))
        return near if is_some and _is_sized(around(*near), _LEAST) else []

    def _is_drawn(self, name: str, near: Sequence[Box]) -> bool:
        """Whether something of a figure's size is drawn there, or a table was read; a single rule is not."""
        drawn = [box for box in near if box not in self.texts]
        return (bool(drawn) and _is_sized(around(*drawn), _LEAST)) or (
            name in self.tables and _common(self.tables[name], around(*near)) is not None
        )


def places(pages: Sequence[tuple[Regions, Sequence[Caption]]]) -> dict[str, Box]:
    """The box of what each caption names, by the id of its block; none where the pages do not tell it.

    A paper's captions of a kind stand on the same side: that of the captions which have something on one side only.
    Those with nothing there take what no other caption has on their other side.
    """
    found = [(page, [(one, page.sides(one)) for one in here]) for page, here in pages]
    votes = Counter((one.kind, *sides) for _, here in found for one, sides in here if len(sides) == 1)
    boxes: dict[str, Box] = {}
    for page, here in found:
        taken: dict[str, list[Box]] = {}
        for first, one, sides in ((first, *row) for first in (True, False) for row in here):
            lead = votes[one.kind, "above"] - votes[one.kind, "below"] or (1 if one.kind == "figure" else -1)
            side = "above" if (lead > 0) is first else "below"
            near = [] if one.block.id in taken else sides.get(side, [])
            other = next(
                (name for name, parts in taken.items() if near and parts and _common(around(*parts), around(*near))),
                None,
            )
            if other and first:
                near, taken[other] = _parted([*near, *taken[other]], below=side == "above")
            if near and (first or not other):
                taken[one.block.id] = near
        boxes |= {name: page.with_margin(around(*near)) for name, near in taken.items() if near}
    return boxes


def _parted(parts: Sequence[Box], *, below: bool) -> tuple[list[Box], list[Box]]:
    """Parts between two captions, shared out at the widest blank: those of the caption below, or above, first."""
    ordered = sorted(parts, key=lambda box: box.y0)
    blanks = ((box.y0 - max(b.y1 for b in ordered[:at]), at) for at, box in enumerate(ordered) if at)
    _, at = max(blanks, default=(0.0, 0))
    return (ordered[at:], ordered[:at]) if below else (ordered[:at], ordered[at:])


def _is_sized(box: Box, least: tuple[float, float]) -> bool:
    return box.x1 - box.x0 >= least[0] and box.y1 - box.y0 >= least[1]


def _belongs(part: Box, head: Box) -> bool:
    """Whether a part is the rule or the ground of a running head."""
    high, gap = part.y1 - part.y0, max(part.y0 - head.y1, head.y0 - part.y1)
    return (high < _RULE and gap < _HEAD_GAP) or (high < _FRAME[1] and middle_in(head, part, 0))


def _common(one: Box, other: Box) -> Box | None:
    x0, y0, x1, y1 = max(one.x0, other.x0), max(one.y0, other.y0), min(one.x1, other.x1), min(one.y1, other.y1)
    return Box(x0=x0, y0=y0, x1=x1, y1=y1) if x1 - x0 > 0.5 and y1 - y0 > 0.5 else None


def _parts(drawn: Any) -> list[Box]:
    """The drawn matter in parts that lie a few points from each other."""
    from scipy import ndimage  # a quarter of a second that papers without captions do not need

    wide = ndimage.binary_dilation(drawn, structure=np.ones((3, 3), bool), iterations=_JOINED)
    return [
        Box(x0=across.start + _JOINED, y0=down.start + _JOINED, x1=across.stop - _JOINED, y1=down.stop - _JOINED)
        for down, across in ndimage.find_objects(ndimage.label(wide)[0])
    ]
