"""What a page paints, in painting order: text objects with their state, and areas that can cover or back text."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

Bounds = tuple[float, float, float, float]
Color = tuple[int, int, int, int]
UNSEEN, FAINT, CLEAR = 5.0, 10.0, 25.0
# Large signs are read at half the contrast that small ones need.
LARGE_PT = 18.0
TINY_PT = 2.0
# As deep as pdfium reads forms in forms.
MAX_FORM_DEPTH = 40
_NO_RULE_PT = 2.0
_MANY_OBJECTS = 3000
_BOX_SEGMENTS, _CORNER_PT = 20, 4.0
_STRIDE = 12
_SILENT = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_TEXT)
# Filled by each call: a page has very many objects, and pdfium serves one thread at a time.
_SIDES = [ctypes.c_float() for _ in range(4)]
_PARTS = [ctypes.c_uint() for _ in range(4)]


@dataclass(frozen=True)
class TextObject:
    """One text object. ``bounds`` are left, bottom, right, top in page space; ``form`` is the outermost form around it.

    ``size`` is the font size in points after all matrices; ``color`` is null for patterns; ``transparent`` counts the
    forms around it too.
    """

    handle: Any
    address: int
    order: int
    bounds: Bounds
    size: float
    mode: int
    color: Color | None
    clipped: bool
    transparent: bool
    marks: tuple[str, ...]
    form: Any = None


@dataclass(frozen=True)
class Area:
    """A painted area: a filled path, an image or a shading. ``color`` is null where it is not one opaque colour.

    ``solid`` says that it fills its box, but for rounded corners.
    """

    order: int
    bounds: Bounds
    color: Color | None
    image: bool = False
    solid: bool = False


@dataclass(slots=True)
class Char:
    """A character of a suspect object. ``contrast`` is a CIE76 colour difference: under 5 is hard to tell apart.

    ``index`` counts in the text page; ``bounds`` are left, bottom, right, top in page space; ``inside`` says whether
    they touch the visible page; ``inked`` whether something else is painted there, as on a scanned page; ``extent`` is
    the larger side of what it paints, in points, where that was measured: fonts can draw more than their size says.
    """

    index: int
    text: str
    bounds: Bounds
    object: TextObject
    contrast: float = 0.0
    inside: bool = True
    inked: bool = False
    extent: float = 0.0


@dataclass(frozen=True)
class Frame:
    """Where page space lies in pixels of scale 1: x, y of a point are sums with these factors."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    width: float
    height: float

    def place(self, bounds: Bounds) -> Bounds:
        """Left, top, right, bottom in points from the visible page's top left corner."""
        left, bottom, right, top = bounds
        x0, x1, x2, x3 = self.a * left, self.a * right, self.c * bottom, self.c * top
        y0, y1, y2, y3 = self.b * left, self.b * right, self.d * bottom, self.d * top
        return (
            (x0 if x0 < x1 else x1) + (x2 if x2 < x3 else x3) + self.e,
            (y0 if y0 < y1 else y1) + (y2 if y2 < y3 else y3) + self.f,
            (x1 if x0 < x1 else x0) + (x3 if x2 < x3 else x2) + self.e,
            (y1 if y0 < y1 else y0) + (y3 if y2 < y3 else y2) + self.f,
        )


def frame_of(page: PdfPage, box: Bounds) -> Frame:
    """The frame of a page whose visible part is ``box`` (left, bottom, right, top), turned as its rotation says."""
    left, bottom, right, top = box
    wide, high = right - left, top - bottom
    turns: dict[int, tuple[float, float, float, float, float, float, float, float]] = {
        0: (1, 0, 0, -1, -left, top, wide, high),
        90: (0, 1, 1, 0, -bottom, -left, high, wide),
        180: (-1, 0, 0, 1, right, -bottom, wide, high),
        270: (0, -1, -1, 0, top, right, high, wide),
    }
    return Frame(*turns[page.get_rotation() % 360])


@dataclass
class PageObjects:
    """What one page paints. ``crowded`` says that there are too many areas to list them.

    ``alternatives`` are the alternative texts of its content marks.
    """

    texts: list[TextObject] = field(default_factory=list)
    alternatives: dict[str, None] = field(default_factory=dict)
    areas: list[Area] = field(default_factory=list)
    count: int = 0
    crowded: bool = False


def read_objects(page: PdfPage) -> PageObjects:
    """All text objects of a page, forms opened, and its areas of at least two points in both directions."""
    found = PageObjects()
    count = pdfium.FPDFPage_CountObjects(page.raw)
    _walk(found, partial(pdfium.FPDFPage_GetObject, page.raw), count, _Outer())
    found.areas += [
        # Links and form fields leave text as it is.
        Area(found.count, (left, min(bottom, top), right, max(bottom, top)), None)
        for _, kind, (left, bottom, right, top) in annotations_of(page)
        if kind not in _SILENT
    ]
    return found


Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)


@dataclass(frozen=True)
class _Outer:
    """What the forms around an object do to it."""

    matrix: Matrix = _IDENTITY
    form: Any = None
    transparent: bool = False
    depth: int = 0

    def inside(self, form: Any) -> _Outer:
        transparent = self.transparent or bool(pdfium.FPDFPageObj_HasTransparency(form))
        return _Outer(multiply(matrix_of(form), self.matrix), self.form or form, transparent, self.depth + 1)


def _walk(found: PageObjects, get: Callable[[int], Any], count: int, outer: _Outer) -> None:
    for index in range(count):
        handle = get(index)
        kind = pdfium.FPDFPageObj_GetType(handle)
        found.count += 1
        marks = marks_of(handle)
        found.alternatives |= {text: None for mark in marks if (text := mark_value(mark, b"Alt"))}
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            found.texts.append(_text(handle, found.count, outer, marks))
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and outer.depth < MAX_FORM_DEPTH:
            inner = partial(pdfium.FPDFFormObj_GetObject, handle)
            _walk(found, inner, pdfium.FPDFFormObj_CountObjects(handle), outer.inside(handle))
        elif found.count > _MANY_OBJECTS:
            found.crowded = True
        elif area := _area(handle, kind, found.count, outer.matrix):
            found.areas.append(area)


def _text(handle: Any, order: int, outer: _Outer, marks: list[Any]) -> TextObject:
    box = transform(bounds_of(handle), outer.matrix)
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(handle, size)
    matrix = matrix_of(handle)
    if outer.form:
        matrix = multiply(matrix, outer.matrix)
    return TextObject(
        handle=handle,
        address=address_of(handle),
        order=order,
        bounds=box,
        size=abs(size.value) * min(math.hypot(matrix[0], matrix[1]), math.hypot(matrix[2], matrix[3])),
        mode=pdfium.FPDFTextObj_GetTextRenderMode(handle),
        color=_fill(handle),
        clipped=_is_clipped(handle, box, outer.matrix),
        transparent=outer.transparent or bool(pdfium.FPDFPageObj_HasTransparency(handle)),
        marks=tuple(map(_mark_name, marks)),
        form=outer.form,
    )


def _area(handle: Any, kind: int, order: int, outer: Matrix) -> Area | None:
    left, bottom, right, top = bounds = transform(bounds_of(handle), outer)
    if right - left < _NO_RULE_PT or top - bottom < _NO_RULE_PT:
        return None
    if kind != pdfium.FPDF_PAGEOBJ_PATH:
        return Area(order, bounds, None, image=kind == pdfium.FPDF_PAGEOBJ_IMAGE)
    filled, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(handle, filled, stroked)
    if filled.value:
        color = _fill(handle)
        plain = color is not None and color[3] == 255 and not pdfium.FPDFPageObj_HasTransparency(handle)
        return Area(order, bounds, color if plain else None, solid=plain and _is_solid(handle, outer, bounds))
    width = ctypes.c_float()
    if stroked.value and pdfium.FPDFPageObj_GetStrokeWidth(handle, width) and width.value > _NO_RULE_PT:
        return Area(order, bounds, None)
    return None


def _is_solid(path: Any, outer: Matrix, bounds: Bounds) -> bool:
    """Whether a path is a box: few segments, all their points near the sides of its bounds."""
    count = pdfium.FPDFPath_CountSegments(path)
    if count > _BOX_SEGMENTS:
        return False
    matrix = multiply(matrix_of(path), outer)
    for index in range(count):
        at = _point(pdfium.FPDFPath_GetPathSegment(path, index))
        at_x, at_y, _, _ = transform((*at, *at), matrix)
        nearest = min(abs(at_x - bounds[0]), abs(at_x - bounds[2]), abs(at_y - bounds[1]), abs(at_y - bounds[3]))
        if nearest > _CORNER_PT:
            return False
    return True


def annotations_of(page: PdfPage) -> Iterator[tuple[Any, int, Bounds]]:
    """The annotations of a page with their kind and place, each open until the next one is asked for."""
    for index in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation, rect = pdfium.FPDFPage_GetAnnot(page.raw, index), pdfium.FS_RECTF()
        try:
            pdfium.FPDFAnnot_GetRect(annotation, rect)
            yield annotation, pdfium.FPDFAnnot_GetSubtype(annotation), (rect.left, rect.bottom, rect.right, rect.top)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def address_of(handle: Any) -> int:
    """Where the object lies in memory: the same object has the same address however it was reached."""
    return ctypes.addressof(handle.contents) if handle else 0


def page_text(page: PdfPage) -> str:
    """All text of a page in content order."""
    with closing(page.get_textpage()) as text_page:
        return str(text_page.get_text_range())


def bounds_of(handle: Any) -> Bounds:
    """Left, bottom, right, top of an object in its parent's space."""
    pdfium.FPDFPageObj_GetBounds(handle, *_SIDES)
    left, bottom, right, top = _SIDES
    return left.value, bottom.value, right.value, top.value


def string_of(read: Callable[[Any, int], int]) -> str:
    """A UTF-16 value by pdfium's custom: asked for its length in bytes first, and given without blanks at its ends."""
    length = read(None, 0)
    if length <= 2:
        return ""
    buffer = (ctypes.c_ushort * (length // 2))()
    read(buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", errors="ignore").strip()


def mark_value(mark: Any, key: bytes) -> str:
    """A text parameter of a content mark; empty where there is none."""
    return string_of(partial(_sized, partial(pdfium.FPDFPageObjMark_GetParamStringValue, mark, key)))


def _sized(read: Callable[[Any, int, Any], object], buffer: Any, size: int) -> int:
    """A reader that gives the length through a pointer, as one that returns it."""
    length = ctypes.c_ulong()
    read(buffer, size, length)
    return length.value


def matrix_of(handle: Any) -> Matrix:
    """The object's own matrix."""
    matrix = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(handle, matrix):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def multiply(first: Matrix, second: Matrix) -> Matrix:
    """The matrix that applies ``first``, then ``second``."""
    a, b, c, d, e, f = first
    p, q, r, s, x, y = second
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + x, e * q + f * s + y


def transform(bounds: Bounds, matrix: Matrix) -> Bounds:
    """The smallest upright box around a transformed box."""
    return bounds if matrix is _IDENTITY else Frame(*matrix, 0, 0).place(bounds)


def _fill(handle: Any) -> Color | None:
    if not pdfium.FPDFPageObj_GetFillColor(handle, *_PARTS):
        return None
    red, green, blue, alpha = _PARTS
    return red.value, green.value, blue.value, alpha.value


def _is_clipped(handle: Any, box: Bounds, outer: Matrix) -> bool:
    """Whether a clip path could cut the object: its box is not inside the path's, or the path is no rectangle."""
    clip = pdfium.FPDFPageObj_GetClipPath(handle)
    paths = pdfium.FPDFClipPath_CountPaths(clip) if clip else 0
    left, bottom, right, top = box
    for path in range(paths):
        segments = pdfium.FPDFClipPath_CountPathSegments(clip, path)
        if segments < 1 or segments > 6:
            return True
        points = [_point(pdfium.FPDFClipPath_GetPathSegment(clip, path, index)) for index in range(segments)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        inside = transform((min(xs), min(ys), max(xs), max(ys)), outer)
        if left < inside[0] - 1 or right > inside[2] + 1 or bottom < inside[1] - 1 or top > inside[3] + 1:
            return True
    return False


def _point(segment: Any) -> tuple[float, float]:
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def marks_of(handle: Any) -> list[Any]:
    """The content marks of an object."""
    return [pdfium.FPDFPageObj_GetMark(handle, at) for at in range(pdfium.FPDFPageObj_CountMarks(handle))]


def _mark_name(mark: Any) -> str:
    return string_of(partial(_sized, partial(pdfium.FPDFPageObjMark_GetName, mark)))


def set_active(objects: Iterable[TextObject], active: bool) -> None:
    """Put objects on the page, or take them off, in memory only."""
    for text in objects:
        pdfium.FPDFPageObj_SetIsActive(text.handle, int(active))


def chars_of(text_page: PdfTextPage, texts: Iterable[TextObject]) -> list[Char]:
    """The inked characters of some text objects, in content order."""
    by_address = {text.address: text for text in texts}
    owned = {index: by_address[at] for index, at in _owners(text_page) if at in by_address}
    return [Char(index, sign, bounds, owned[index]) for index, sign, bounds in inked(text_page, owned)]


def inked(text_page: PdfTextPage, wanted: Iterable[int] | None = None) -> Iterator[tuple[int, str, Bounds]]:
    """The characters of a page, or the wanted ones, that draw something: place in its text, sign, and bounds."""
    raw, (left, right, bottom, top) = text_page.raw, (ctypes.c_double() for _ in range(4))
    for index in range(text_page.count_chars()) if wanted is None else wanted:
        code = pdfium.FPDFText_GetUnicode(raw, index)
        if code > 32 and not (sign := chr(code)).isspace():
            pdfium.FPDFText_GetCharBox(raw, index, left, right, bottom, top)
            yield index, sign, (left.value, bottom.value, right.value, top.value)


def owner_at(text_page: PdfTextPage, index: int) -> int:
    """The address of a character's object."""
    return address_of(pdfium.FPDFText_GetTextObject(text_page.raw, index))


def _owners(text_page: PdfTextPage) -> Iterator[tuple[int, int]]:
    """Each character with the address of its object. An object's characters stand together, so most need no call."""
    address, known, count = 0, 0, text_page.count_chars()
    for index in range(count):
        if index >= known:
            address, known = owner_at(text_page, index), index + 1
            ahead = index + _STRIDE
            while address and ahead < count and owner_at(text_page, ahead) == address:
                known, ahead = ahead + 1, ahead + _STRIDE
        yield index, address
