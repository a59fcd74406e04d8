"""One page to one ``Paper``: parse, take out what is no paper or cannot be seen, walk, assemble."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PaperParseError
from referee.papers.assembly import Assembled, assemble
from referee.papers.front import lead_front, with_front
from referee.papers.headings import is_known_name, name_headings, role_by_name
from referee.papers.html.hidden import HiddenText
from referee.papers.html.inline import text_of
from referee.papers.html.math import keep_formulas_only
from referee.papers.html.source import parse_page
from referee.papers.html.tree import drop, has_class, paper_root, take_out_furniture
from referee.papers.html.walk import TOP, Walk, with_end_notes, words_in
from referee.papers.pieces import Piece, squeeze
from referee.schemas.paper import Converter, Finding, Paper

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_VERSION = "1"
_FEWEST_WORDS = 300


def load_html(path: Path, data: bytes) -> Paper:
    """Read a paper's page: LaTeXML (arXiv, ar5iv) by its classes, other pages by their elements.

    Hidden text is kept out and told in ``findings``; comments, scripts and navigation never enter; authors stand in
    the front matter.

    Args:
        path: The file; only its name is used.
        data: Its bytes.

    Raises:
        PaperParseError: The bytes are no page, or the page is no paper (a login, an abstract alone): fewer than 300
            words and no section with a number or a customary name.
    """
    page = parse_page(path.name, data)
    sheets = [style.text or "" for style in page.iter("style")]
    named = _named_title(page)
    root = paper_root(page)
    try:
        keep_formulas_only(root)
        take_out_furniture(root)
        hidden = HiddenText(sheets)
        hidden.take_out(root)
        title_element = _title_element(root)
        title = text_of(title_element) if title_element is not None else ""
        walk = Walk()
        if title_element is not None:
            drop(title_element)
        walk.read(root)
    except RecursionError as error:
        raise PaperParseError(f"{path.name!r} is nested too deeply to be read.", hint="Save the page again.") from error
    pieces = _with_numbers(with_end_notes(walk.pieces, walk.end_notes))
    _refuse_no_paper(path.name, pieces, bool(hidden.findings()))
    title = title or _unless_heading(named, pieces)
    front, pieces = lead_front(pieces) if title else ([], pieces)
    assembled = with_front(assemble(pieces, front_first=False), [*walk.front, *front])
    return _paper(data, title, assembled, hidden.findings())


def _paper(data: bytes, title: str, assembled: Assembled, findings: tuple[Finding, ...]) -> Paper:
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=title,
        abstract=assembled.abstract,
        format="html",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*assembled.findings, *findings),
        repairs=assembled.repairs,
        converter=Converter(name="referee-html", version=_VERSION),
    )


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
    if marked:
        return marked[0]
    heads = list(root.iter("h1"))
    titled = [head for head in heads if has_class(head, "title", "paper-title", "article-title", "doc-title")]
    if titled:
        return titled[0]
    if len(heads) == 1 and role_by_name(text_of(heads[0])) is None and not has_class(heads[0], "ltx_title"):
        return heads[0]
    return None


def _unless_heading(named: str, pieces: Sequence[Piece]) -> str:
    """The head's title, but not where LaTeXML took a section's name for want of a title."""
    headings = {squeeze(piece.text) for piece in pieces if piece.kind == "heading"}
    return "" if squeeze(named) in headings else named


def _with_numbers(pieces: Sequence[Piece]) -> list[Piece]:
    """Numbers that stand in the headings' words, where none is marked up; and levels from 1."""
    pieces = list(pieces)
    places = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    lowest = min((pieces[index].level for index in places if pieces[index].level != TOP), default=1)
    marked = any(pieces[index].number for index in places)
    names = name_headings([pieces[index].text for index in places])
    for index, name in zip(places, names, strict=True):
        piece = replace(pieces[index], level=max(1, pieces[index].level - lowest + 1))
        if not marked and name.number:
            piece = replace(piece, text=name.title, number=name.number, level=name.level or piece.level)
        pieces[index] = piece
    return pieces


def _refuse_no_paper(name: str, pieces: Sequence[Piece], hides: bool) -> None:
    headings = [piece for piece in pieces if piece.kind == "heading"]
    sections = [h for h in headings if role_by_name(h.text) is None and (h.number or is_known_name(h.text))]
    words = words_in(pieces)
    if sections or words >= _FEWEST_WORDS:
        return
    hidden = " All other text in it cannot be seen." if hides and not words else ""
    raise PaperParseError(
        f"{name!r} is a page of {words} words without any section of a paper (a login page, or an abstract alone?)."
        f"{hidden}",
        hint="Save the paper's full-text page (arXiv: 'HTML (experimental)'), or give its PDF.",
    )
