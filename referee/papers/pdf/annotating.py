"""A copy of a PDF with highlights and notes, as any viewer shows them and writing tools import them."""

from __future__ import annotations

import ctypes
from contextlib import closing
from pathlib import Path

from pypdfium2 import PdfDocument
from pypdfium2 import raw as pdfium

from referee.errors import PaperParseError
from referee.papers.pdf.convert import open_checked
from referee.schemas.page import Highlight, Highlights

AUTHOR = "referee"
_COLOURS = {"decides": (255, 120, 120), "material": (255, 180, 90), "small": (255, 225, 110)}
_OTHER = (170, 210, 255)
_OPACITY = 110
_PRINTED = 4  # the flag by which an annotation is printed too (ISO 32000-1, table 165)


def annotate(path: Path, out: Path, highlights: Highlights, *, max_pages: int) -> Highlights:
    """Write a copy of a PDF with these highlights; annotations that it has stay.

    What the file hides stays hidden: only marks and notes are added. The file's signature does not hold for the copy.

    Args:
        path: The PDF.
        out: The copy.
        highlights: What to mark.
        max_pages: Pages allowed.

    Returns:
        Those that were marked: a page that the file does not have has none.

    Raises:
        PaperParseError: The file cannot be opened, or pdfium takes no annotation.
        OSError: The copy cannot be written.
    """
    with closing(open_checked(path.read_bytes(), path.name, max_pages=max_pages)) as document:
        made = tuple(one for one in highlights.items if one.boxes and 0 < one.page <= len(document))
        for one in made:
            _mark(document, one, path.name)
        document.save(out)
    return Highlights(items=made)


def _mark(document: PdfDocument, one: Highlight, name: str) -> None:
    page = document[one.page - 1]
    kind = pdfium.FPDF_ANNOT_TEXT if one.pinned else pdfium.FPDF_ANNOT_HIGHLIGHT
    annotation = pdfium.FPDFPage_CreateAnnot(page.raw, kind)
    if not annotation:
        raise PaperParseError(f"{name!r} takes no annotations.", hint="report.html shows the same places.")
    try:
        boxes = [(box.x0, one.height - box.y0, box.x1, one.height - box.y1) for box in one.boxes]
        left, top = min(b[0] for b in boxes), max(b[1] for b in boxes)
        right, bottom = max(b[2] for b in boxes), min(b[3] for b in boxes)
        pdfium.FPDFAnnot_SetRect(annotation, ctypes.byref(pdfium.FS_RECTF(left, top, right, bottom)))
        red, green, blue = _COLOURS.get(one.weight, _OTHER)
        pdfium.FPDFAnnot_SetColor(annotation, pdfium.FPDFANNOT_COLORTYPE_Color, red, green, blue, _OPACITY)
        for x0, y0, x1, y1 in () if one.pinned else boxes:
            corners = pdfium.FS_QUADPOINTSF(x0, y0, x1, y0, x0, y1, x1, y1)
            pdfium.FPDFAnnot_AppendAttachmentPoints(annotation, ctypes.byref(corners))
        pdfium.FPDFAnnot_SetFlags(annotation, _PRINTED)
        for key, text in (("Contents", one.note), ("T", AUTHOR), ("Subj", one.title)):
            coded = f"{text}\0".encode("utf-16-le")
            units = (ctypes.c_ushort * (len(coded) // 2)).from_buffer_copy(coded)
            pdfium.FPDFAnnot_SetStringValue(annotation, key.encode(), units)
    finally:
        pdfium.FPDFPage_CloseAnnot(annotation)
        page.close()
