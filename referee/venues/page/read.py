"""Bytes of a guideline page to its main text and what is known about it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from referee.errors import VenueError
from referee.venues.page.blocks import read_blocks, types_among
from referee.venues.page.candidates import sift
from referee.venues.page.decode import check_length, decode, without_spans
from referee.venues.page.html import read_html
from referee.venues.page.markdown import read_markdown
from referee.venues.page.page_types import GuidelinePage
from referee.venues.page.vocabulary import guess_language, language_name

_HTML_START = re.compile(r"\A\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
_HTML_TAG = re.compile(r"<(?:p|div|h[1-6]|ul|li|table|span|a)\b", re.IGNORECASE)
_MARKDOWN_SIGN = re.compile(r"^(?:---\s*$|#{1,6} \S|[*-] \S|\|.+\|$)", re.MULTILINE)
_SUFFIXES: dict[str, Literal["html", "markdown", "text"]] = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown",
    ".qmd": "markdown", ".rmd": "markdown", ".txt": "text", ".text": "text", ".rst": "text",
}  # fmt: skip


def read_page(data: bytes, *, source: str, content_type: str = "") -> GuidelinePage:
    """Read a guideline page: HTML, Markdown or plain text.

    Args:
        data: The page's bytes, at most 10 MB.
        source: Its address or file name, for messages and for its suffix.
        content_type: What the server said it is; a page that starts as HTML is HTML whatever it says.

    Returns:
        Main text, title, language, paper types, and what was dropped and why.

    Raises:
        VenueError: Empty, too large, binary, a PDF, undecodable, or only a login.
    """
    text, notes = decode(data, source=source, content_type=content_type)
    kind = _kind(text, source, content_type)
    if kind != "html":
        check_length(text, source)
    if kind == "html":
        main = read_html(text, source=source)
        page = GuidelinePage(
            source, main.title, main.text, main.extractor, notes=notes + main.notes, dropped=main.dropped
        )
    else:
        title, body, remarks = read_markdown(text)
        page = GuidelinePage(source, title, body, kind, notes=notes + remarks)
    if not any(char.isalpha() for char in page.text):
        raise VenueError(
            f"{source!r} holds no text.", hint="Open it in a browser, save it as HTML, and give that file."
        )
    return _described(page)


def text_for(page: GuidelinePage, paper_type: str) -> str:
    """The page's text without the parts that are headed for other types of paper."""
    heads = iter([block for block in read_blocks(page.text) if block.kind == "heading"])
    kept: list[str] = []
    wanted = True
    for line in page.text.splitlines():
        if re.match(r"#{1,6} \S", line) and (head := next(heads, None)) is not None:
            wanted = head.paper_type in ("", paper_type)
        if wanted:
            kept.append(line)
    return "\n".join(kept)


def _kind(text: str, source: str, content_type: str) -> Literal["html", "markdown", "text"]:
    if _HTML_START.match(without_spans(text[:5000], "<!--", "-->")):
        return "html"
    suffix = PurePosixPath(urlsplit(source).path).suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if "html" in content_type:
        return "html"
    if "markdown" in content_type:
        return "markdown"
    if len(_HTML_TAG.findall(text[:20_000])) > 5 and not _MARKDOWN_SIGN.search(text[:20_000]):
        return "html"
    return "markdown" if _MARKDOWN_SIGN.search(text[:20_000]) else "text"


def _described(page: GuidelinePage) -> GuidelinePage:
    """The page with its language, its paper types, and the count of what code left out."""
    language = guess_language(page.text)
    types = types_among(block.paper_type for block in read_blocks(page.text))
    sifted = sift(replace(page, language=language))
    notes = [*page.notes]
    if language and language != "en":
        notes.append(
            f"The page is in {language_name(language)}: every sentence is a candidate, and none is judged by its words."
        )
    if len(types) > 1:
        notes.append(
            f"The page has parts for several paper types: {', '.join(types)}; "
            f"{types[0]!r} is taken unless another is asked for."
        )
    if sifted.context:
        notes.append(f"{sifted.context} pieces ask nothing and are no candidates.")
    dropped = page.dropped + sifted.dropped
    reasons = Counter(item.reason for item in dropped)
    if reasons:
        counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        notes.append(f"Left out by code: {counts}.")
    return replace(page, language=language, paper_types=types, notes=tuple(notes), dropped=dropped)
