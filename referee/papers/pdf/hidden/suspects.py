"""Which text objects of a page could be invisible, told without rendering it.

The rules are wide on purpose: what they let through was drawn in a dark solid colour, at a readable size, inside the
page, not clipped, on nothing but light areas, with nothing painted over it. Everything else is looked at in pixels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from referee.papers.pdf.hidden.objects import Area, Bounds, Color, PageObjects, TextObject

TINY_PT = 2.0
_LIGHT = 190
_APART = 80
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
    if not touching:
        return False
    floor = max((area.order for area in touching if area.order < text.order and _holds(area, text.bounds)), default=0)
    return any(area.order > text.order or _resembles(area, text) for area in touching if area.order >= floor)


def _touches(area: Area, bounds: Bounds) -> bool:
    x0, y0, x1, y1 = area.bounds
    return x0 < bounds[2] and x1 > bounds[0] and y0 < bounds[3] and y1 > bounds[1]


def _holds(area: Area, bounds: Bounds) -> bool:
    x0, y0, x1, y1 = area.bounds
    return area.solid and x0 <= bounds[0] and y0 <= bounds[1] and x1 >= bounds[2] and y1 >= bounds[3]


def _resembles(area: Area, text: TextObject) -> bool:
    if area.color is None or text.color is None:
        return True
    return abs(luma(area.color) - luma(text.color)) < _APART


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
