"""What a file's bytes say it is, whatever its name says."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from typing import Literal

from referee.papers.archive import BROKEN_ZIP

Kind = Literal["pdf", "docx", "archive", "html", "latex", "text"]
"""The readers there are; ``archive`` is a LaTeX submission, packed."""

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0"
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (_ZIP, "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (_OLE, "an old Microsoft Office file"),
    (b"%!PS", "a PostScript file"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe", "text in UTF-16 (save it as UTF-8)"),
    (b"\xfe\xff", "text in UTF-16 (save it as UTF-8)"),
)
_OFFICE_PARTS = (
    ("word/document.xml", "a Word document"),
    ("xl/workbook.xml", "an Excel workbook"),
    ("ppt/presentation.xml", "a PowerPoint presentation"),
    ("META-INF/container.xml", "an EPUB book"),
    ("content.xml", "an OpenDocument file"),
)
_KINDS: dict[str, Kind] = {"an HTML page": "html", "a gzip archive": "archive", "a tar archive": "archive"}
_PDF_WINDOW, _TEXT_WINDOW, _LATEX_WINDOW = 1024, 4096, 2**16
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BEFORE_HTML = re.compile(rb"(?:\s+|<\?xml[^>]*>|<!--.*?-->)*", re.DOTALL)
_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_BEFORE_LATEX = re.compile(rb"(?:\s+|%[^\n]*(?:\n|$))*")
_DOCUMENT_CLASS = re.compile(rb"^[^\S\n]*\\document(?:class|style)\b", re.MULTILINE)


def is_pdf(data: bytes) -> bool:
    """Whether the PDF mark stands in the first kilobyte, where readers accept it."""
    return b"%PDF-" in data[:_PDF_WINDOW]


def kind_of(data: bytes) -> Kind | None:
    """Which reader the bytes are for; None where none is, as for an image or a ZIP archive without LaTeX.

    LaTeX has to begin like LaTeX, so that a text about LaTeX stays a text. ``text`` is all other text, Markdown too.
    A gzip or tar file counts as an archive unseen: its reader looks into it.
    """
    if data.startswith(_ZIP):
        names = _names_in(data)
        is_latex = any(name.lower().endswith(".tex") for name in names)
        return "docx" if "word/document.xml" in names else "archive" if is_latex else None
    if is_pdf(data):
        return "pdf"
    looks = describe_bytes(data)
    head = data[:_LATEX_WINDOW].removeprefix(_BOM)
    begins = _BEFORE_LATEX.sub(b"", head, count=1).startswith(b"\\")
    is_latex = begins and _DOCUMENT_CLASS.search(head) is not None
    return _KINDS.get(looks) if looks != "plain text" else "latex" if is_latex else "text"


def describe_bytes(data: bytes) -> str:
    """What the bytes look like, in words: 'a PNG image', 'an HTML page', 'plain text', 'unknown binary data'."""
    head = data[:_TEXT_WINDOW]
    controls = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    checks = (
        (_is_html(data), "an HTML page"),
        *((data.startswith(magic), name) for magic, name in _MAGIC),
        (is_pdf(data), "a PDF"),
        (data[257:262] == b"ustar" and len(data) >= tarfile.BLOCKSIZE, "a tar archive"),
        # Few control characters: another encoding than UTF-8 is still text.
        (b"\x00" in head or controls * 50 > len(head), "unknown binary data"),
    )
    looks = next((name for fits, name in checks if fits), "plain text")
    return _describe_zip(data) if data.startswith(_ZIP) else looks


def is_broken_docx(data: bytes) -> bool:
    """Whether a file named .docx is an encrypted one, an old .doc or cut off: its reader knows what to advise."""
    return data.startswith(_OLE) or (data.startswith(_ZIP) and not _names_in(data))


def _is_html(data: bytes) -> bool:
    """Whether a page's first element stands first; pages say their encoding themselves, so UTF-16 is no obstacle."""
    head = data[:_TEXT_WINDOW].removeprefix(_BOM)
    if head.startswith(_UTF16):
        head = head.decode("utf-16", errors="ignore").encode("utf-8")
    return _HTML.match(_BEFORE_HTML.sub(b"", head, count=1)) is not None


def _names_in(data: bytes) -> list[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.namelist()
    except BROKEN_ZIP:
        return []


def _describe_zip(data: bytes) -> str:
    names = _names_in(data)
    other = "a ZIP archive without a .tex file" if names else "a damaged or empty ZIP archive"
    return next((what for part, what in _OFFICE_PARTS if part in names), other)
