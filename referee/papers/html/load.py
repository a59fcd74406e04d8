"""One page to one ``Paper``: decode as declared, parse, take out what is no paper or cannot be seen, walk, assemble."""

from __future__ import annotations

import base64
import codecs
import contextlib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import webencodings
from lxml import etree, html
from lxml.html import HtmlElement

from referee.errors import PaperParseError
from referee.papers.assembly import assemble
from referee.papers.headings import is_known_name, number_headings, role_by_name
from referee.papers.hidden.css import applies
from referee.papers.html.hidden import HiddenText
from referee.papers.html.text import keep_formulas_only, text_of
from referee.papers.html.tree import drop, has_class, paper_root, take_out_furniture
from referee.papers.html.unprinted import take_out_unprinted
from referee.papers.html.walk import Walk, with_end_notes
from referee.papers.pieces import Piece, squeeze
from referee.schemas.paper import Converter, Paper

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
_DATA_SHEET = re.compile(r"data:text/css[^,]*?(?P<base64>;base64)?,(?P<text>.*)", re.IGNORECASE | re.DOTALL)
_IMPORT = re.compile(r"@import\s+(?:url\(\s*)?[\"']?(data:text/css[^\"')]*)", re.IGNORECASE)
_DEEPEST = 150


def parse_page(name: str, data: bytes) -> HtmlElement:
    """Decode and parse one page.

    Raises:
        PaperParseError: The bytes are no text, do not fit the declared encoding, hold no HTML element, declare
            entities of their own, or are nested deeper than 150 elements.
    """
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
    parser = html.HTMLParser(no_network=True, huge_tree=True)
    try:
        root = html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise PaperParseError(f"{name!r} cannot be read as HTML: {error}", hint="Save the page again.") from error
    if any("depth" in entry.message.lower() for entry in parser.error_log) or root.xpath("/*" * (_DEEPEST + 1)):
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
    label = match[1].decode("ascii", "replace")
    found = webencodings.lookup(label)  # what browsers know; they read "latin1" as windows-1252
    if found is None:
        raise PaperParseError(f"{name!r} declares the unknown encoding {label!r}.", hint="Save the page as UTF-8.")
    # A label of UTF-16 that could be read is UTF-8.
    return "utf-8" if found.name.startswith("utf") else found.codec_info.name, f"declared as {label!r}"


_VERSION = "1"
_FEWEST_WORDS = 300


def load_html(path: Path, data: bytes) -> Paper:
    """Read a paper's page: LaTeXML (arXiv, ar5iv) by its classes, other pages by their elements.

    Hidden text is kept out and told in ``findings``, so is what no browser prints (comments, meta, alternative texts);
    scripts and navigation never enter; authors stand in
    the front matter.

    Args:
        path: The file; only its name is used.
        data: Its bytes.

    Raises:
        PaperParseError: The bytes are no page, or the page is no paper (a login, an abstract alone): fewer than 300
            words and no section with a number or a customary name.
    """
    page = parse_page(path.name, data)
    named = _named_title(page)
    try:
        hidden = HiddenText(page, _sheets(page))
        unprinted = take_out_unprinted(page)
        root = paper_root(page)
        keep_formulas_only(root)
        take_out_furniture(root)
        hidden.take_out(root)
        title_element = _title_element(root)
        title = text_of(title_element) if title_element is not None else ""
        walk = Walk()
        if title_element is not None:
            drop(title_element)
        walk.read(root)
    except RecursionError as error:
        raise PaperParseError(f"{path.name!r} is nested too deeply to be read.", hint="Save the page again.") from error
    pieces = number_headings(with_end_notes(walk.pieces, walk.end_notes))
    _refuse_no_paper(path.name, pieces, bool(hidden.words.findings()))
    # LaTeXML takes a section's name for want of a title.
    headings = {squeeze(piece.text) for piece in pieces if piece.kind == "heading"}
    title = title or ("" if squeeze(named) in headings else named)
    assembled = assemble(pieces, front_first=bool(title), front=walk.front)
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=title,
        abstract=assembled.abstract,
        format="html",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*assembled.findings, *hidden.words.findings(), *unprinted.findings()),
        repairs=assembled.repairs,
        converter=Converter(name="referee-html", version=_VERSION),
    )


def _sheets(page: HtmlElement) -> list[str]:
    """The style sheets in the page itself; linked ones are not fetched, unless the link holds them."""
    styles = [style for style in page.iter("style") if applies("media", style.get("media") or "")]
    sheets = [style.text or "" for style in styles]
    names = [link.get("href") or "" for link in page.iter("link") if link.get("rel") == "stylesheet"]
    links = map(_DATA_SHEET.match, [*names, *(name for sheet in sheets for name in _IMPORT.findall(sheet))])
    return [*sheets, *(_unpacked(match) for match in links if match)]


def _unpacked(match: re.Match[str]) -> str:
    if not match["base64"]:
        return unquote(match["text"])
    with contextlib.suppress(ValueError):
        return base64.b64decode(unquote(match["text"])).decode("utf-8", "replace")
    return ""


def _named_title(page: HtmlElement) -> str:
    """The title the page's head names: for citation managers, else for the window."""
    for meta in page.iter("meta"):
        if (meta.get("name") or "").lower() in ("citation_title", "dc.title") and meta.get("content"):
            return " ".join(meta.get("content").split())
    title = page.find(".//title")
    return " ".join((title.text or "").split()) if title is not None else ""


def _title_element(root: HtmlElement) -> HtmlElement | None:
    """LaTeXML's document title, an ``h1`` marked as title, or the only ``h1`` that names no section."""
    marked = [e for e in root.iter() if has_class(e, "ltx_title_document")]
    heads = list(root.iter("h1"))
    titled = [head for head in heads if has_class(head, "title", "paper-title", "article-title", "doc-title")]
    lone = [h for h in heads if len(heads) == 1 and not role_by_name(text_of(h)) and not has_class(h, "ltx_title")]
    return next(iter([*marked, *titled, *lone]), None)


def _refuse_no_paper(name: str, pieces: Sequence[Piece], hides: bool) -> None:
    headings = [piece for piece in pieces if piece.kind == "heading"]
    sections = [h for h in headings if role_by_name(h.text) is None and (h.number or is_known_name(h.text))]
    words = sum(len(piece.text.split()) for piece in pieces if piece.kind in ("paragraph", "list", "table"))
    if sections or words >= _FEWEST_WORDS:
        return
    hidden = " All other text in it cannot be seen." if hides and not words else ""
    raise PaperParseError(
        f"{name!r} is a page of {words} words without any section of a paper (a login page, or an abstract alone?)."
        f"{hidden}",
        hint="Save the paper's full-text page (arXiv: 'HTML (experimental)'), or give its PDF.",
    )
