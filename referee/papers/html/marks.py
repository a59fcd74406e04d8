"""What classes, roles and ids say about an element: front matter, abstract, bibliography, headings, labels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from referee.papers.bibliography import parse_entry
from referee.papers.html.inline import Line
from referee.papers.html.tree import class_names, has_class
from referee.papers.pieces import Entry

if TYPE_CHECKING:
    from lxml.html import HtmlElement

FRONT = frozenset(
    [
        "ltx_authors",
        "ltx_author_notes",
        "ltx_subtitle",
        "author",
        "authors",
        "byline",
        "affiliation",
        "affiliations",
        "creator",
        "ltx_creator",
        "ltx_personname",
        "doc-subtitle",
        "date",
        "contributors",
        "author-list",
    ]
)
ABSTRACT = frozenset({"abstract", "ltx_abstract", "doc-abstract"})
BIBLIOGRAPHY = frozenset(
    {"references", "bibliography", "doc-bibliography", "ltx_bibliography", "csl-bib-body", "ref-list", "refs"}
)
_LEVELS = {"part": 1, "chapter": 1, "section": 1, "appendix": 1, "subsection": 2, "subsubsection": 3}
_RUN_IN = frozenset({"ltx_title_paragraph", "ltx_title_subparagraph", "ltx_title_theorem", "ltx_title_proof"})
_NUMBER = re.compile(r"(?:(?:appendix|section|chapter|part)\s+)?(?P<number>[\dA-Z]+(?:\.\d+)*)[.:)]?", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?P<kind>Table|Figure|Fig\.|Algorithm|Listing)\s*(?P<number>[A-Z]?\.?\d+(?:\.\d+)*[a-z]?)", re.IGNORECASE
)
_NOTE_ID = re.compile(r"^(?:fn|footnote|note)[-_:.]?(?P<mark>\d+|[a-z*†‡])$", re.IGNORECASE)
_DOI_LINK = re.compile(r"^https?://(?:dx\.)?doi\.org/(?P<doi>10\.\d{4,9}/\S+)$")


@dataclass(frozen=True)
class Heading:
    """A heading as marked up; ``run_in`` ones stand at the head of a paragraph."""

    text: str
    level: int
    number: str | None
    run_in: bool


def is_marked(element: HtmlElement, names: frozenset[str]) -> bool:
    """Whether a class, the id or the role of an element is one of ``names``."""
    marks = {*class_names(element), element.get("id") or "", element.get("role") or ""}
    return not marks.isdisjoint(names)


def heading_of(element: HtmlElement, notes: list[tuple[str, HtmlElement]]) -> Heading:
    """Read a heading; LaTeXML's tag gives its number, its class the level, else the element's own digit."""
    classes = class_names(element)
    run_in = bool(classes & _RUN_IN)
    tag = None if run_in else next((e for e in element.iter() if e is not element and _is_number_mark(e)), None)
    number = None
    line = Line(notes=notes)
    if tag is not None:
        printed = " ".join("".join(str(part) for part in tag.itertext()).split())
        match = _NUMBER.fullmatch(printed)
        number = match["number"] if match else None
        if number is None:
            line.add(f"{printed} ")
        tail = tag.tail
        tag.clear()
        tag.tail = tail
    line.add_element(element)
    kind = next((name.removeprefix("ltx_title_") for name in classes if name.startswith("ltx_title_")), "")
    level = _LEVELS.get(kind) or (1 if kind else 0) or (int(element.tag[1]) if element.tag[0] == "h" else 1)
    return Heading(line.text(), level, number, run_in)


def _is_number_mark(element: HtmlElement) -> bool:
    return has_class(element, "ltx_tag", "header-section-number", "secno", "section-number", "sectnum")


def caption_label(text: str) -> str | None:
    """'Table 2' for 'TABLE 2: ...', 'Figure 1' for 'Fig. 1. ...'; null where a caption has no label."""
    match = _LABEL.match(text.strip("$* "))
    if not match:
        return None
    kind = match["kind"].rstrip(".").capitalize()
    return f"{'Figure' if kind == 'Fig' else kind} {match['number']}"


def note_mark(element: HtmlElement) -> str | None:
    """The mark of a footnote that stands at the page's end ('1'), or null."""
    if not (element.get("role") in ("doc-footnote", "doc-endnote") or _NOTE_ID.match(element.get("id") or "")):
        return None
    match = _NOTE_ID.match(element.get("id") or "")
    return match["mark"] if match else "note"


def entry_of(item: HtmlElement, number: str | None) -> tuple[str, Entry]:
    """One bibliography entry as printed, and what is known of it.

    A tag such as '[7]' stays in front; an author-year tag repeats the entry and becomes its label only. A DOI may
    stand in a link alone.
    """
    tag = next((e for e in item.iter() if has_class(e, "ltx_tag_bibitem", "ltx_bib_key")), None)
    printed = ""
    if tag is not None:
        printed = " ".join("".join(str(part) for part in tag.itertext()).split())
        tail = tag.tail
        tag.clear()
        tag.tail = tail
    line = Line()
    for block in item.iter():
        if has_class(block, "ltx_bibblock") and block.tail is None:
            block.tail = " "
    line.add_element(item)
    text = line.text()
    short = re.fullmatch(r"\[?\w{1,12}\+?\]?", printed)
    if short:
        text = f"[{printed.strip('[]')}] {text}" if text else ""
    elif number and text and not re.match(r"\[?\d{1,3}[\].)]", text):
        text = f"{number}{text}"
    entry = parse_entry(text)
    if printed and not short:
        entry = replace(entry, label=printed)
    return text, _with_blocks(_with_link(entry, item), item)


def _with_link(entry: Entry, item: HtmlElement) -> Entry:
    if entry.doi:
        return entry
    matches = (_DOI_LINK.match(link.get("href") or "") for link in item.iter("a"))
    return next((replace(entry, doi=match["doi"]) for match in matches if match), entry)


def _with_blocks(entry: Entry, item: HtmlElement) -> Entry:
    """BibTeX entries have their authors, title and venue in blocks of their own."""
    blocks = [e for e in item.iter() if has_class(e, "ltx_bibblock")]
    if entry.title or len(blocks) < 3:
        return entry
    line = Line()
    line.add_element(blocks[1])
    return replace(entry, title=line.text().strip(" .") or None)
