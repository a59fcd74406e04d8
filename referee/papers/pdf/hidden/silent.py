"""Text objects of no size, for which pdfium gives no characters. Other programs read them all the same."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from referee.papers.pdf.hidden.contrast import Char
from referee.papers.pdf.hidden.objects import TextObject, matrix_of

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

_NOTHING = 1e-3
_READABLE_PT = 10.0


def open_flat(page: PdfPage, suspects: Sequence[TextObject], chars: Sequence[Char]) -> list[tuple[TextObject, str]]:
    """Suspects of no size with their text; they are given a size in memory, so that pdfium spells them.

    Only objects without any character in ``chars`` are tried. Those that hold nothing but blanks are left out.
    """
    seen = {char.object.address for char in chars}
    flat = [text for text in suspects if text.address not in seen and _is_flat(text)]
    if not flat:
        return []
    for text in flat:
        _give_size(text.handle)
    text_page = page.get_textpage()
    try:
        spelled = [(text, spell(text.handle, text_page)) for text in flat]
    finally:
        text_page.close()
    return [(text, words) for text, words in spelled if words]


def spell(handle: Any, text_page: PdfTextPage) -> str:
    """The text of one object, blanks at its ends removed."""
    import pypdfium2.raw as pdfium

    length = pdfium.FPDFTextObj_GetText(handle, text_page.raw, None, 0)
    buffer = (ctypes.c_ushort * max(1, length // 2))()
    pdfium.FPDFTextObj_GetText(handle, text_page.raw, buffer, length)
    return bytes(buffer)[: max(0, length - 2)].decode("utf-16-le", errors="ignore").strip()


def _is_flat(text: TextObject) -> bool:
    return text.size < _NOTHING or text.bounds[2] - text.bounds[0] < _NOTHING


def _give_size(handle: Any) -> None:
    import pypdfium2.raw as pdfium

    a, b, c, d, e, f = matrix_of(handle)
    if abs(a * d - b * c) < _NOTHING:
        pdfium.FPDFPageObj_SetMatrix(handle, pdfium.FS_MATRIX(1, 0, 0, 1, e, f))
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(handle, size)
    if abs(size.value) < 1:
        pdfium.FPDFTextObj_SetFontSize(handle, _READABLE_PT)
    # Only a transformation makes pdfium measure the object again.
    pdfium.FPDFPageObj_Transform(handle, 1, 0, 0, 1, 0, 0)
