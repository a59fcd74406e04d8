"""Bytes of a page to a parsed tree: the declared encoding is honoured, nothing is guessed."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from referee.errors import PaperParseError

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(
    rb"""(?:<\?xml[^>]{0,200}?encoding|<meta[^>]{0,300}?charset)\s*=\s*["']?\s*([\w:.-]{1,40})""", re.I
)
_XML_HEAD = re.compile(r"^\s*<\?xml[^>]*\?>")
_DOCTYPE_SUBSET = re.compile(r"<!DOCTYPE[^>\[]{0,300}\[", re.IGNORECASE)
_ELEMENT = re.compile(r"<(?:html|head|body|article|section|main|div|p|h[1-6]|table)\b", re.IGNORECASE)
# The parser takes these characters in, but the tree refuses them when text is moved within it.
_NO_TEXT = dict.fromkeys([*range(0x09), 0x0B, *range(0x0E, 0x20), 0xFFFE, 0xFFFF]) | {0x0C: " "}
_WINDOW = 4096
_DEEPEST = 150
# The encodings that browsers know; Python has more (rot13, unicode_escape), and those are no encodings of pages.
_KNOWN = re.compile(
    r"utf-?8|us-ascii|ascii|latin-?1|(?:windows-|cp)(?:874|125[0-8])|iso[-_]?8859-\d{1,2}|koi8-[ru]|gb18030|gbk|gb2312"
    r"|big5|euc-jp|euc-kr|iso-2022-jp|shift[-_]jis|macintosh|ibm866|utf-16(?:le|be)?",
    re.IGNORECASE,
)
# As browsers do: pages that name Latin-1 or ASCII mean windows-1252; a UTF-16 label that could be read is UTF-8.
_MEANT = re.compile(r"us-ascii|ascii|latin-?1|iso[-_]?8859-1", re.IGNORECASE)


def parse_page(name: str, data: bytes) -> HtmlElement:
    """Decode and parse one page; comments and processing instructions are dropped by the parser.

    Raises:
        PaperParseError: The bytes are no text, do not fit the declared encoding, hold no HTML element, declare
            entities of their own, or are nested deeper than 150 elements.
    """
    from lxml import etree, html

    text = _XML_HEAD.sub("", _decode(name, data), count=1).translate(_NO_TEXT)
    if not _ELEMENT.search(text):
        raise PaperParseError(
            f"{name!r} holds no HTML element.", hint="Save the paper's page as HTML, or name it .txt."
        )
    if _DOCTYPE_SUBSET.search(text[:_WINDOW]):
        raise PaperParseError(
            f"{name!r} declares entities of its own in its document type; they are not expanded.",
            hint="Save the page as plain HTML.",
        )
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    try:
        root = html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise PaperParseError(f"{name!r} cannot be read as HTML: {error}", hint="Save the page again.") from error
    if any("depth" in entry.message.lower() for entry in parser.error_log) or _depth(root) > _DEEPEST:
        raise PaperParseError(
            f"{name!r} nests elements more than {_DEEPEST} deep; no paper's page does.", hint="Save the page again."
        )
    return root


def _decode(name: str, data: bytes) -> str:
    encoding, said = _encoding(name, data)
    if b"\x00" in data and encoding != "utf-16":
        raise PaperParseError(
            f"{name!r} is no text: it holds a zero byte at offset {data.index(0)}.", hint="Save the page as HTML."
        )
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise PaperParseError(
            f"{name!r} is not {encoding.upper()} ({said}): byte {data[error.start]:#04x} at offset {error.start} "
            "does not fit.",
            hint="Save the page as UTF-8; another encoding is not guessed, because a wrong guess changes letters.",
        ) from error


def _encoding(name: str, data: bytes) -> tuple[str, str]:
    """The encoding, and where it comes from in words."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding, "by its byte order mark"
    match = _DECLARED.search(data[:_WINDOW])
    if match is None:
        return "utf-8", "the default, as it declares no encoding"
    label = match[1].decode("ascii", "replace").lower()
    if not _KNOWN.fullmatch(label):
        raise PaperParseError(f"{name!r} declares the unknown encoding {label!r}.", hint="Save the page as UTF-8.")
    if label.startswith("utf"):
        return "utf-8", "declared"
    if _MEANT.fullmatch(label):
        return "cp1252", f"declared as {label!r}"
    return codecs.lookup("mac-roman" if label == "macintosh" else label.replace("windows-", "cp")).name, "declared"


def _depth(root: HtmlElement) -> int:
    deepest, level = 0, [root]
    while level:
        deepest += 1
        level = [child for element in level for child in element]
    return deepest
