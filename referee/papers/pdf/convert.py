"""From a PDF's bytes to pieces: what cannot be read is refused, the rest is rustypaper's document model."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pypdfium2
import rustypaper
from pypdfium2 import PdfDocument

from referee.errors import PaperParseError
from referee.papers.pieces import Piece, caption_label, cells_text
from referee.schemas.paper import BlockKind, Box, Converter

_PASSWORD_ERROR, _SECURITY_ERROR = 4, 5


def open_checked(data: bytes, name: str, *, max_pages: int) -> PdfDocument:
    """Open a PDF with pypdfium2 and check what can be known without converting it.

    Args:
        data: The file's bytes.
        name: The file's name, for messages.
        max_pages: Pages allowed.

    Raises:
        PaperParseError: It needs a password, cannot be read, or has no page or more than ``max_pages`` of them.
    """
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _open_error(error, data, name) from error
    pages = len(document)
    if pages == 0:
        document.close()
        raise PaperParseError(f"{name!r} is a PDF without pages.", hint="Export the paper again.")
    if pages > max_pages:
        document.close()
        raise PaperParseError(
            f"{name!r} has {pages:,} pages; at most {max_pages:,} are read.",
            hint="Give the paper alone; if it really is that long, set paper.max_pages (REFEREE_PAPER__MAX_PAGES).",
        )
    return document


def _open_error(error: Exception, data: bytes, name: str) -> PaperParseError:
    if getattr(error, "err_code", None) in (_PASSWORD_ERROR, _SECURITY_ERROR):
        return PaperParseError(
            f"{name!r} is encrypted and needs a password.", hint="Save a copy without a password and give that one."
        )
    cause = "it ends before its end marker, so it was probably cut off" if b"%%EOF" not in data[-2048:] else str(error)
    return PaperParseError(
        f"{name!r} begins like a PDF but cannot be read: {cause}.",
        hint="Download or export it again; check that a viewer opens it.",
    )


def refuse_scan(name: str, pages: int) -> PaperParseError:
    """The error for a PDF whose pages hold pictures but no text."""
    return PaperParseError(
        f"{name!r} has no text layer: its {pages} page(s) hold only pictures, as a scan does.",
        hint="Run it through text recognition (for example ocrmypdf) and give the result, or give the source text.",
    )


_KINDS: dict[str, BlockKind] = {
    "paragraph": "paragraph",
    "heading": "heading",
    "equation": "equation",
    "table": "table",
    "caption": "caption",
    "footnote": "footnote",
    "list_item": "list",
    "code": "code",
    "reference": "reference",
    "title": "paragraph",
    # A figure block's text is its caption; the picture itself has none.
    "figure": "caption",
}
_INNER_LINK = re.compile(r"\[(?P<shown>[^\[\]]{1,40})\]\(#[\w.:-]{1,40}\)")


def convert(path: Path, pages: int) -> tuple[str, list[Piece]]:
    """Read a PDF with rustypaper.

    Args:
        path: The file; limits were checked before.
        pages: How many pages it has, for the error about scans.

    Returns:
        The title as the converter sees it (may be empty), and the pieces; the title's own piece is left out.

    Raises:
        PaperParseError: It has no text layer, or the converter cannot read it.
    """
    try:
        document = rustypaper.to_document(path)
    except rustypaper.ScannedDocument as error:
        raise refuse_scan(path.name, pages) from error
    except ValueError as error:
        raise PaperParseError(
            f"{path.name!r} opens, but its content cannot be converted: {error}.",
            hint="Export the PDF again, or give the paper's source text.",
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a panic in Rust is no Exception, and its class has no module
            raise
        raise PaperParseError(
            f"{path.name!r} opens, but rustypaper broke off while it read it: {error}.",
            hint="Give the paper's source, or print the PDF to a new PDF; the fault is the converter's.",
        ) from error
    pieces = [piece for block in document["blocks"] if (piece := _piece(block)) is not None]
    return clean(document.get("title") or ""), pieces


def converter() -> Converter:
    """Name and version of the converter used for PDFs."""
    return Converter(name="rustypaper", version=rustypaper.__version__)


def clean(text: str) -> str:
    """Text without control characters, in composed Unicode, with single blanks at its ends removed.

    The converter writes a link within the paper as ``[2](#ref-2)``; the page prints ``2``.
    """
    text = _INNER_LINK.sub(r"\g<shown>", text)
    if not text.isprintable():
        text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char)[0] != "C")
    return unicodedata.normalize("NFC", text).strip()


def _piece(block: dict[str, Any]) -> Piece | None:
    kind_name = block["kind"]["type"]
    kind = _KINDS.get(kind_name, "paragraph")
    text = clean(block["text"])
    cells: tuple[tuple[str, ...], ...] = ()
    label: str | None = None
    if "table" in block:
        cells = tuple(tuple(clean(cell) for cell in row) for row in block["table"]["rows"])
        text = cells_text(cells) or text
    elif "math" in block:
        text = clean(block["math"]["latex"]) or text
        label = f"({block['math']['number']})" if block["math"].get("number") else None
    elif "reference" in block:
        text = text or clean(block["reference"]["raw"])
    elif kind == "caption":
        label = caption_label(text)
    if not text or kind_name == "title":
        return None
    return Piece(
        kind=kind,
        text=text,
        page=block["page"] + 1,
        box=Box(**block["bbox"]),
        size=round(block["size"], 1),
        cells=cells,
        label=label,
        level=block["kind"].get("level", 1),
    )
