"""Where Word puts a paragraph, a row or a box, as far as nothing of it is then seen. Lengths are in twips."""

from __future__ import annotations

import math
from typing import Any

from referee.papers.docx.styles import Styles, W, is_on, local, value
from referee.papers.hidden.css import declarations
from referee.papers.hidden.visibility import switched_off
from referee.papers.pieces import number

_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_LEAST = 40
# The widest page Word has is 22 inches; text between ordinary margins is at most 6.5 inches wide, and an inch is 1,440.
_WIDEST, _TEXT_WIDTH, _INCH = 31_680, 9_360, 1_440
_EMU = 635
_OUTSIDE = "placed outside the page"


def paragraph_hides(paragraph: Any, styles: Styles) -> str:
    """Why nothing of a paragraph is seen: lines of no height, a frame or an indent off the page; else nothing."""
    spacing = styles.paragraph_property(paragraph, "spacing")
    if spacing is not None and spacing.get(f"{W}lineRule") == "exact":
        height = _twips(spacing, "line", _LEAST)
        if height < _LEAST:
            return f"lines {height / 20:.1f} pt high"
    frame = styles.paragraph_property(paragraph, "framePr")
    if frame is not None:
        right, bottom = (_twips(frame, at, 0) + _twips(frame, size, 6_000) for at, size in (("x", "w"), ("y", "h")))
        far = max(_twips(frame, "x", 0), _twips(frame, "y", 0)) > _WIDEST
        if far or right < -_INCH or bottom < -_INCH:
            return _OUTSIDE
    indent = styles.paragraph_property(paragraph, "ind")
    if indent is not None:
        left = min(_twips(indent, "left", 0), _twips(indent, "start", 0))
        right = max(_twips(indent, "right", 0), _twips(indent, "end", 0))
        if left < -_INCH and right >= _TEXT_WIDTH + _INCH:
            return _OUTSIDE
    return ""


def row_hides(row: Any) -> str:
    """Why nothing of a table's row is seen, or nothing."""
    height = row.find(f"{W}trPr/{W}trHeight")
    exact = height is not None and height.get(f"{W}hRule") == "exact"
    points = _twips(height, "val", _LEAST) / 20 if exact else _LEAST
    low = f"a row {points:.1f} pt high" if points < _LEAST / 20 else ""
    return "a row marked as hidden" if is_on(row.find(f"{W}trPr/{W}hidden")) else low


def box_hides(box: Any) -> str:
    """Why nothing of a text box is seen: its shape is hidden, has no size, or lies off the page; else nothing."""
    for above in box.iterancestors():
        name = local(above.tag)
        if name == "r":
            break
        if style := above.get("style"):
            values = {"overflow": "hidden", **declarations(style)}
            if values.get("visibility") == "hidden":
                return "visibility is hidden"
            if reason := switched_off(values)[0]:
                return reason
        if name in ("inline", "anchor") and (reason := _drawing_hides(above)):
            return reason
    return ""


def _drawing_hides(drawing: Any) -> str:
    properties = drawing.find(f"{_WP}docPr")
    if "1" in (drawing.get("hidden"), None if properties is None else properties.get("hidden")):
        return "a drawing marked as hidden"
    extent = drawing.find(f"{_WP}extent")
    sizes = [] if extent is None else [number(extent.get(side), math.inf) for side in ("cx", "cy")]
    if any(size < _LEAST * _EMU for size in sizes):
        return "a box of no size"
    offsets = (number(offset.text, math.inf) for offset in drawing.iter(f"{_WP}posOffset"))
    width = max((size for size in sizes if size < math.inf), default=0)
    return _OUTSIDE if any(at + width < -_INCH * _EMU for at in offsets) else ""


def run_hides(run: Any, paragraph: Any | None, styles: Styles, size_pt: float) -> str:
    """Why letters cannot be told apart or lie off the page: set over each other, raised or lowered by a page."""
    closer, raised = (number(value(styles.run_property(run, paragraph, name)), 0) for name in ("spacing", "position"))
    far = _OUTSIDE if abs(raised) * 10 > _WIDEST / 2 else ""
    return "letters set over each other" if -closer / 20 >= size_pt else far


def _twips(element: Any, name: str, default: float) -> float:
    return number(element.get(f"{W}{name}"), default)
