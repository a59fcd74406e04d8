"""Refuse, before any conversion, a PDF that is encrypted, broken, too long, or has no text layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.errors import PaperParseError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PASSWORD_ERROR = 4
_SECURITY_ERROR = 5


def open_checked(data: bytes, name: str, *, max_pages: int) -> PdfDocument:
    """Open a PDF with pypdfium2 and check what can be known without converting it.

    Args:
        data: The file's bytes.
        name: The file's name, for messages.
        max_pages: Pages allowed.

    Raises:
        PaperParseError: It needs a password, cannot be read, or has no page or more than ``max_pages`` of them.
    """
    import pypdfium2

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
