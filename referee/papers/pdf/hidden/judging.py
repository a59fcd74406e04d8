"""Which text of a page could be invisible, told without rendering it, and why a rendered character cannot be seen.

The first rules are wide on purpose: what they let through was drawn in a dark solid colour, at a readable size, inside
the page, not clipped, on nothing but light areas, with nothing painted over it. Everything else is looked at in pixels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from referee.papers.pdf.hidden.objects import (
    FAINT,
    LARGE_PT,
    TINY_PT,
    UNSEEN,
    Area,
    Bounds,
    Char,
    Color,
    PageObjects,
    TextObject,
)
from referee.schemas.paper import Certainty

_LIGHT, _APART = 190, 80
_CELLS = 40
_FLAT_PT = 0.05


def find_suspects(objects: PageObjects, page_box: Bounds, *, layers: bool) -> list[TextObject]:
    """The text objects that have to be looked at; empty for an ordinary page.

    Args:
        objects: What the page paints.
        page_box: Left, bottom, right, top of what a viewer shows.
        layers: Whether the file has layers that can be switched off; pdfium does not tell which form is on which.
    """
    if not objects.texts:
        return []
    grid = _Grid(objects.areas, page_box)
    return [
        text for text in objects.texts if objects.crowded or (layers and text.form) or _suspicious(text, page_box, grid)
    ]


def luma(color: Color) -> float:
    """Brightness of a colour, 0 to 255."""
    return 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]


def _suspicious(text: TextObject, page_box: Bounds, grid: _Grid) -> bool:
    left, bottom, right, top = text.bounds
    return (
        text.mode != 0
        or text.color is None
        or text.color[3] < 255
        or luma(text.color) > _LIGHT
        or text.size < TINY_PT
        or text.clipped
        or text.transparent
        or "OC" in text.marks
        or right - left < _FLAT_PT
        or top - bottom < _FLAT_PT
        or left < page_box[0]
        or bottom < page_box[1]
        or right > page_box[2]
        or top > page_box[3]
        or _endangered(text, grid.near(text.bounds))
    )


def _endangered(text: TextObject, near: Iterable[Area]) -> bool:
    """Whether an area can hide the text: painted over it, or behind it in an unknown or similar colour.

    What a box behind the whole text covers itself does not count.
    """
    touching = [area for area in near if _touches(area, text.bounds)]
    floor = max((area.order for area in touching if area.order < text.order and _holds(area, text.bounds)), default=0)
    return any(
        area.order > text.order
        or area.color is None
        or text.color is None
        or abs(luma(area.color) - luma(text.color)) < _APART
        for area in touching
        if area.order >= floor
    )


def _touches(area: Area, bounds: Bounds) -> bool:
    x0, y0, x1, y1 = area.bounds
    return x0 < bounds[2] and x1 > bounds[0] and y0 < bounds[3] and y1 > bounds[1]


def _holds(area: Area, bounds: Bounds) -> bool:
    x0, y0, x1, y1 = area.bounds
    return area.solid and x0 <= bounds[0] and y0 <= bounds[1] and x1 >= bounds[2] and y1 >= bounds[3]


class _Grid:
    """The areas by the cells of the page they touch, so that a text meets only its neighbours."""

    def __init__(self, areas: Iterable[Area], page_box: Bounds) -> None:
        self._box = page_box
        self._side = max(page_box[2] - page_box[0], page_box[3] - page_box[1], 1.0) / _CELLS
        self._areas: dict[tuple[int, int], list[Area]] = defaultdict(list)
        for area in areas:
            for cell in self._cells(area.bounds):
                self._areas[cell].append(area)

    def near(self, bounds: Bounds) -> Iterable[Area]:
        """The areas in the cells that a box touches; one may come twice."""
        if not self._areas:
            return ()
        return (area for cell in self._cells(bounds) for area in self._areas.get(cell, ()))

    def _cells(self, bounds: Bounds) -> Iterable[tuple[int, int]]:
        left, bottom = max(bounds[0], self._box[0]), max(bounds[1], self._box[1])
        right, top = min(bounds[2], self._box[2]), min(bounds[3], self._box[3])
        x0, y0, x1, y1 = (int(value // self._side) for value in (left, bottom, right, top))
        return ((x, y) for x in range(x0, x1 + 1) for y in range(y0, y1 + 1))


_BARELY = 15.0
_NO_ALPHA = 13


@dataclass(frozen=True)
class Verdict:
    """What hides a character, and how sure that is: ``high`` only where the page shows nothing of it.

    ``unreadable`` is false where it may still be made out, ``speck`` true where it is drawn too small for reading.
    """

    reason: str
    certainty: Certainty
    unreadable: bool = True
    speck: bool = False


def judge(char: Char, areas: Sequence[Area], page_box: Bounds) -> Verdict | None:
    """Why the character cannot be seen, or None when it can."""
    text = char.object
    contrast = char.contrast * (2 if text.size >= LARGE_PT else 1)
    if not char.inside or _is_outside(char.bounds, page_box):
        return Verdict("lies outside the visible page", "high")
    if text.mode == 3:
        return Verdict("is set in the invisible text mode", "high")
    if contrast < UNSEEN:
        return Verdict(_unseen(char, areas), "high")
    if text.size < TINY_PT and char.extent < TINY_PT:
        return Verdict(f"is set smaller than {TINY_PT:g} points", "medium", speck=True)
    if contrast < FAINT:
        return Verdict("has nearly the colour of what is behind it", "medium")
    if contrast < _BARELY:
        return Verdict("has nearly the colour of what is behind it", "low", unreadable=False)
    return None


def _unseen(char: Char, areas: Sequence[Area]) -> str:
    text, nothing = char.object, char.contrast == 0
    left, bottom, right, top = char.bounds
    covered = nothing and any(_covers(area, text, char.bounds) for area in areas)
    checks = (
        (text.mode == 7, "is used as a clipping path only"),
        (text.color is not None and text.color[3] < _NO_ALPHA, "is fully transparent"),
        (text.size < TINY_PT, f"is set smaller than {TINY_PT:g} points"),
        (nothing and "OC" in text.marks, "belongs to a layer that is switched off, or is hidden in another way"),
        (nothing and text.clipped, "is clipped away"),
        (covered, "is covered by an image or a shape"),
        (top <= bottom or right <= left, "has signs without any ink"),
    )
    return next((why for holds, why in checks if holds), "has the colour of what is behind it")


def _covers(area: Area, text: TextObject, bounds: Bounds) -> bool:
    x, y = (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2
    x0, y0, x1, y1 = area.bounds
    return area.order > text.order and x0 <= x <= x1 and y0 <= y <= y1


def _is_outside(bounds: Bounds, page_box: Bounds) -> bool:
    x, y = (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2
    return not (page_box[0] <= x <= page_box[2] and page_box[1] <= y <= page_box[3])


_PAGE_SHARE, _INVISIBLE_SHARE, _ON_INK = 0.7, 0.9, 0.3


def split_ocr_layer(
    chars: Sequence[Char], objects: PageObjects, page_box: Bounds, printed: int
) -> tuple[list[Char], list[Char]]:
    """The characters that belong to a scan's text layer, and the others.

    A page has such a layer when a picture covers at least 70% of it and at least 90% of its characters cannot be seen.
    A text object belongs to it when the picture shows ink under at least 30% of its characters; what lies over blank
    paper does not.

    Args:
        chars: The page's measured characters.
        objects: What it paints.
        page_box: What a viewer shows of it.
        printed: How many inked characters the page has in all.
    """
    unseen = [char for char in chars if char.contrast < UNSEEN]
    if not unseen or len(unseen) < _INVISIBLE_SHARE * printed or not _has_page_image(objects, page_box):
        return [], list(chars)
    by_object: dict[int, list[Char]] = defaultdict(list)
    for char in unseen:
        by_object[char.object.address].append(char)
    layer = {address for address, own in by_object.items() if sum(c.inked for c in own) >= _ON_INK * len(own)}
    ours = [char for char in chars if char.object.address in layer]
    return ours, [char for char in chars if char.object.address not in layer]


def _has_page_image(objects: PageObjects, page_box: Bounds) -> bool:
    left, bottom, right, top = page_box
    images = (area.bounds for area in objects.areas if area.image)
    shared = (
        max(0.0, min(x1, right) - max(x0, left)) * max(0.0, min(y1, top) - max(y0, bottom)) for x0, y0, x1, y1 in images
    )
    return max(shared, default=-1.0) >= _PAGE_SHARE * (right - left) * (top - bottom)
