"""Bytes to text: what is no page is refused with the way to get one."""

from __future__ import annotations

import codecs
import re

from referee.errors import VenueError

MAX_BYTES = 10_000_000
MAX_CHARS = 600_000
_SAVE = "Save the page as HTML or Markdown and give that file."
_MAGIC = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP or office file"),
    (b"\x89PNG", "an image"),
    (b"GIF8", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"\x1f\x8b", "a compressed file"),
    (b"\xd0\xcf\x11\xe0", "an office file"),
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_META = re.compile(rb"<(?:meta|\?xml)[^>]{0,300}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x80-\x9f]")
_OTHER_TYPES = ("application/pdf", "application/zip", "image/", "audio/", "video/", "application/octet-stream")


def decode(data: bytes, *, source: str, content_type: str = "") -> tuple[str, tuple[str, ...]]:
    """The text of a page's bytes, and a note where its encoding had to be assumed.

    The encoding is the byte order mark's, then the content type's, the page's own, UTF-8, and at last Windows-1252.

    Raises:
        VenueError: Too large, empty, a PDF or another binary file, or not decodable.
    """
    _check_kind(data, source, content_type)
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data, encoding, source), ()
    if b"\0" in data:
        raise VenueError(f"{source!r} is a binary file, not a page.", hint=_SAVE)
    declared = _declared(data, content_type)
    if declared:
        return _decoded(data, declared, source), ()
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        return _assumed(data, source, error), (
            "The page names no encoding and is not UTF-8; it was read as Windows-1252.",
        )


def check_length(text: str, source: str) -> None:
    """Refuse a text that is a book rather than a guideline page, before it is read line by line.

    Raises:
        VenueError: More than 600,000 characters, about nine times the longest guideline page we know.
    """
    if len(text) > MAX_CHARS:
        raise VenueError(
            f"{source!r} holds {len(text):,} characters of text, more than the {MAX_CHARS:,} of a guideline page.",
            hint="Save only the part with the guidelines, as HTML or Markdown.",
        )


def without_spans(text: str, start: str, end: str) -> str:
    """The text without what stands between two marks, in one pass; what is never closed stays."""
    kept: list[str] = []
    at = 0
    while (first := text.find(start, at)) >= 0 and (last := text.find(end, first + len(start))) >= 0:
        kept.append(text[at:first])
        at = last + len(end)
    return "".join([*kept, text[at:]])


def _check_kind(data: bytes, source: str, content_type: str) -> None:
    if len(data) > MAX_BYTES:
        raise VenueError(
            f"{source!r} has {len(data):,} bytes, more than the {MAX_BYTES:,} that a guideline page may have.",
            hint="Save only the part with the guidelines, as HTML or Markdown.",
        )
    if not data.strip():
        raise VenueError(f"{source!r} is empty.", hint="Check the address, or save the page and give the file.")
    for magic, name in _MAGIC:
        if data.lstrip()[:1024].startswith(magic):
            raise VenueError(f"{source!r} is {name}, not a page.", hint=_SAVE)
    if content_type.lower().startswith(_OTHER_TYPES) and b"\0" in data:
        raise VenueError(f"{source!r} was sent as {content_type!r}, not as a page.", hint=_SAVE)


def _declared(data: bytes, content_type: str) -> str:
    """The encoding that the content type or the page's head names, as far as Python knows it."""
    names = [match[1] for match in [_CHARSET.search(content_type)] if match]
    names += [match[1].decode("ascii", "replace") for match in [_META.search(data[:4096])] if match]
    for name in names:
        try:
            return codecs.lookup(name).name
        except LookupError:
            continue
    return ""


def _decoded(data: bytes, encoding: str, source: str) -> str:
    """Decoded strictly; a few broken bytes on a long page are replaced, more of them are an error."""
    try:
        text = data.decode(encoding, "replace")
    except (UnicodeDecodeError, LookupError) as error:
        raise _undecodable(source, encoding) from error
    if text.count("�") > max(3, len(text) // 500) or len(_CONTROL.findall(text)) > max(3, len(text) // 500):
        raise _undecodable(source, encoding)
    return text


def _assumed(data: bytes, source: str, error: UnicodeDecodeError) -> str:
    """Windows-1252 where the result looks like prose: few letters above ASCII, no control characters."""
    text = data.decode("cp1252", "replace")
    odd = sum(1 for char in text if ord(char) > 127)
    if odd > len(text) * 0.15 or "�" in text or _CONTROL.search(text):
        raise _undecodable(source, "utf-8") from error
    return text


def _undecodable(source: str, encoding: str) -> VenueError:
    return VenueError(
        f"{source!r} cannot be decoded as {encoding!r}.", hint="Save the page as UTF-8 and give that file."
    )
