"""How well a page's text stands out: the page painted with it and without it, compared where each character stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pypdfium2 import PdfPage, PdfTextPage

from referee.papers.pdf.hidden.objects import CLEAR, LARGE_PT, TINY_PT, Char, Frame, TextObject, chars_of, set_active

Pixels = NDArray[np.uint8]
_SCALE, _CLOSE_SCALE = 1.0, 2.5
_MAX_PIXELS = 4_000_000
_PLAIN_TO_SEE, _STRONG, _STRONG_LARGE, _INK = 160, 60, 22, 60
_ENOUGH_PX, _SAMPLE_PX = 12, 48


def measure(page: PdfPage, text_page: PdfTextPage, suspects: Sequence[TextObject], frame: Frame) -> list[Char]:
    """The inked characters of the suspects with their contrast, in content order.

    The first look is at 72 pixels an inch, over the whole page at once; only where something does not clearly change
    there, a second one is taken closer, character by character.
    """
    chars = chars_of(text_page, suspects)
    if not chars:
        return []
    shown, bare = _paint_twice(page, suspects, frame, _SCALE)
    first = _first_look(chars, shown, bare, frame)
    if not any(look is None for look in first):
        return [look for look in first if look]
    shown, bare = _paint_twice(page, suspects, frame, _CLOSE_SCALE)
    scale = _scale(frame, _CLOSE_SCALE)
    pairs = zip(chars, first, strict=True)
    return [look or _compared(char, shown, bare, frame, scale) for char, look in pairs]


def _first_look(chars: Sequence[Char], shown: Pixels, bare: Pixels, frame: Frame) -> list[Char | None]:
    """Each character as clearly there, as not there at all, or None where a closer look is needed."""
    scale = _scale(frame, _SCALE)
    change = (np.maximum(shown, bare) - np.minimum(shown, bare)).max(axis=-1)
    boxes = _pixel_boxes(chars, change.shape, frame, scale)
    behind = _distance_behind(chars, bare, boxes)
    looks: list[Char | None] = []
    for char, (left, top, right, bottom), apart in zip(chars, boxes.T.tolist(), behind.tolist(), strict=True):
        peak = int(change[top:bottom, left:right].max(initial=0))
        large = char.object.size >= LARGE_PT
        tiny = char.object.size < TINY_PT
        needed = _STRONG_LARGE if large else _STRONG
        if not tiny and peak >= needed and (apart >= needed or char.object.mode != 0 or char.object.color is None):
            char.contrast = CLEAR
            looks.append(char)
        elif large or (peak == 0 and (right - left) * (bottom - top) >= _ENOUGH_PX):
            looks.append(_compared(char, shown, bare, frame, scale))
        else:
            looks.append(None)
    return looks


def _distance_behind(chars: Sequence[Char], bare: Pixels, boxes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far each character's colour is from what is behind it, in steps of 255: the middle of its box's corners."""
    height, width = bare.shape[:2]
    left, top, right, bottom = np.minimum(boxes, np.array([[width], [height], [width], [height]]) - 1)
    corners = np.stack([bare[y, x] for y in (top, bottom) for x in (left, right)]).astype(np.int16)
    own = np.array([(char.object.color or (0, 0, 0, 255))[2::-1] for char in chars], dtype=np.int16)
    return np.asarray(np.abs(own - np.median(corners, axis=0)).max(axis=-1))


def _pixel_boxes(chars: Sequence[Char], shape: tuple[int, ...], frame: Frame, scale: float) -> NDArray[np.int64]:
    """Left, top, right, bottom of each character in pixels, cut to the picture; four rows."""
    x0, y0, x1, y1 = np.array([char.bounds for char in chars]).T
    xs = np.stack([frame.a * x + frame.c * y + frame.e for x, y in ((x0, y0), (x1, y1))])
    ys = np.stack([frame.b * x + frame.d * y + frame.f for x, y in ((x0, y0), (x1, y1))])
    places = np.stack([xs.min(axis=0), ys.min(axis=0), xs.max(axis=0), ys.max(axis=0)]) * scale
    limits = np.array([[shape[1]], [shape[0]], [shape[1]], [shape[0]]])
    boxes = np.clip(places, -1, 2**30).astype(np.int64) + np.array([[0], [0], [1], [1]])
    boxes = np.clip(boxes, 0, limits)
    boxes[2:] = np.maximum(boxes[2:], boxes[:2])
    return np.asarray(boxes)


def _paint_twice(page: PdfPage, suspects: Sequence[TextObject], frame: Frame, scale: float) -> tuple[Pixels, Pixels]:
    """The page with the suspects and without them, blue, green, red."""
    scale = _scale(frame, scale)
    shown = _paint(page, scale)
    set_active(suspects, False)
    try:
        bare = _paint(page, scale)
    finally:
        set_active(suspects, True)
    return shown, bare


def _scale(frame: Frame, scale: float) -> float:
    """The scale, lowered for huge pages."""
    area = frame.width * frame.height
    return min(scale, float((_MAX_PIXELS / area) ** 0.5)) if area > 0 else scale


def _paint(page: PdfPage, scale: float) -> Pixels:
    bitmap = page.render(scale=scale, may_draw_forms=False, maybe_alpha=False)
    pixels: Pixels = bitmap.to_numpy()[:, :, :3].copy()
    return pixels


def _compared(char: Char, shown: Pixels, bare: Pixels, frame: Frame, scale: float) -> Char:
    """The character with its contrast measured in its own box."""
    height, width = shown.shape[:2]
    x0, y0, x1, y1 = (value * scale for value in frame.place(char.bounds))
    left, top = max(0, int(x0)), max(0, int(y0))
    right, bottom = min(width, int(x1) + 1), min(height, int(y1) + 1)
    char.inside = right > left and bottom > top
    if not char.inside:
        return char
    stride = 1 + max(right - left, bottom - top) // _SAMPLE_PX
    here = shown[top:bottom:stride, left:right:stride].astype(np.int16)
    there = bare[top:bottom:stride, left:right:stride].astype(np.int16)
    char.inked = int(there.max()) - int(there.min()) >= _INK
    change = np.abs(here - there).max(axis=-1)
    changed = int(change.max())
    if not changed:
        return char
    rows, columns = np.nonzero(change)
    char.extent = (max(int(np.ptp(rows)), int(np.ptp(columns))) + 1) * stride / scale
    at = divmod(int(change.argmax()), change.shape[1])
    char.contrast = 100.0 if changed >= _PLAIN_TO_SEE else _apart(here[at], there[at])
    color = char.object.color
    if char.object.mode == 0 and color is not None:
        own = np.array(color[2::-1], dtype=np.int16)
        backdrop = _backdrop(there) if char.inked else there[0, 0]
        if int(np.abs(own - backdrop).max()) < _PLAIN_TO_SEE:
            char.contrast = min(char.contrast, _apart(own, backdrop))
    return char


def _backdrop(pixels: Any) -> Any:
    """The colour that most of a box has: ink of other text does not count."""
    flat = pixels.reshape(-1, 3)
    shades = flat.sum(axis=-1) // 24
    return np.median(flat[shades == np.bincount(shades).argmax()], axis=0)


def _apart(one: Any, other: Any) -> float:
    return float(np.sqrt(((lab(one) - lab(other)) ** 2).sum(axis=-1)).max())


def lab(pixels: Any) -> NDArray[np.float64]:
    """Blue, green, red values (0 to 255, last axis) as CIE L*a*b* under D65."""
    unit = np.asarray(pixels, dtype=np.float64)[..., ::-1] / 255
    linear = np.where(unit <= 0.04045, unit / 12.92, ((unit + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = root[..., 0], root[..., 1], root[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
