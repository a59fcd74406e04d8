"""What a file's first bytes say it is, whatever its name says."""

from __future__ import annotations

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"PK\x03\x04", "a ZIP archive (or a DOCX or ODT file)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Microsoft Office file"),
    (b"%!PS", "a PostScript file"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe", "text in UTF-16 (save it as UTF-8)"),
    (b"\xfe\xff", "text in UTF-16 (save it as UTF-8)"),
)
_PDF_WINDOW = 1024


def is_pdf(data: bytes) -> bool:
    """Whether the PDF mark stands in the first kilobyte, where readers accept it."""
    return b"%PDF-" in data[:_PDF_WINDOW]


def describe_bytes(data: bytes) -> str:
    """What the bytes look like, in words: 'a PNG image', 'an HTML page', 'plain text', 'unknown binary data'."""
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    if is_pdf(data):
        return "a PDF"
    head = data[:512].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "an HTML page"
    if b"\x00" in data[:4096]:
        return "unknown binary data"
    try:
        data[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < min(len(data), 4096) - 4:
            return "unknown binary data"
    return "plain text"
