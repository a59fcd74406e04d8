"""Pages whose words do not run from left to right as shown, turned in a copy: the converter leaves such words out.

These are tables set sideways, and pages stored with the wrong ``/Rotate``.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from referee.schemas.paper import Repair

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_QUARTER = 90
_SAMPLES = 200
_FEWEST_CHARS = 40
_SHARE = 0.6
_TOLERANCE = 5.0


@dataclass(frozen=True)
class Upright:
    """The file with turned pages, and what was turned. Boxes of such a page are those of the page as it was turned."""

    data: bytes
    repairs: tuple[Repair, ...]


def turn_upright(document: PdfDocument, data: bytes) -> Upright:
    """Turn the pages on which most characters stand at another right angle.

    Pages with fewer than 40 characters, or without an angle that 60% of a sample share, stay as they are.

    Args:
        document: The file, opened; pages are turned in it, so it is to be closed where anything was.
        data: Its bytes.

    Returns:
        The file's own bytes and no repairs where no page has to be turned.

    Raises:
        PdfiumError: A page cannot be read.
    """
    repairs: list[Repair] = []
    for number in range(len(document)):
        page = document[number]
        try:
            shown, wanted = page.get_rotation(), _wanted(page)
            if wanted is None or wanted == shown:
                continue
            page.set_rotation(wanted)
        finally:
            page.close()
        repairs.append(_repair(number + 1, shown, wanted))
    return Upright(_saved(document) if repairs else data, tuple(repairs))


def _wanted(page: PdfPage) -> int | None:
    """The ``/Rotate`` at which most of the page's words run from left to right; none where no angle has a majority."""
    import pypdfium2.raw as raw

    text = page.get_textpage()
    try:
        count = text.count_chars()
        if count < _FEWEST_CHARS:
            return None
        step = max(1, count // _SAMPLES)
        turns = Counter(
            _turn(raw.FPDFText_GetCharAngle(text, index))
            for index in range(0, count, step)
            if raw.FPDFText_IsGenerated(text, index) == 0 and not chr(raw.FPDFText_GetUnicode(text, index)).isspace()
        )
    finally:
        text.close()
    if not turns:
        return None
    turn, most = turns.most_common(1)[0]
    return turn if most >= _SHARE * turns.total() else None


def _turn(radians: float) -> int | None:
    """The ``/Rotate`` that undoes an angle, which pdfium gives clockwise; none for a slanted or unknown one."""
    if radians < 0:
        return None
    quarters = math.degrees(radians) / _QUARTER
    return -round(quarters) % 4 * _QUARTER if abs(quarters - round(quarters)) * _QUARTER <= _TOLERANCE else None


def _repair(page: int, shown: int, wanted: int) -> Repair:
    return Repair(
        kind="turned_page",
        page=page,
        before=f"/Rotate {shown}",
        after=f"/Rotate {wanted}",
        proof="most of its characters then run from left to right",
    )


def _saved(document: PdfDocument) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()
