"""What single elements say: headings, labels, notes, bibliography entries, cells, and equations laid out as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from lxml.html import HtmlElement

from referee.papers.bibliography import parse_entry
from referee.papers.html.text import Line, tex_of, text_of
from referee.papers.html.tree import class_names, has_class
from referee.papers.pieces import Entry, Piece, whole

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
_NUMBER_MARKS = ("ltx_tag", "header-section-number", "secno", "section-number", "sectnum")
_NOTE_ID = re.compile(r"^(?:fn|footnote|note)[-_:.]?(?P<mark>\d+|[a-z*†‡])$", re.IGNORECASE)
_DOI_LINK = re.compile(r"^https?://(?:dx\.)?doi\.org/(?P<doi>10\.\d{4,9}/\S+)$")


def is_marked(element: HtmlElement, names: frozenset[str]) -> bool:
    """Whether a class, the id or the role of an element is one of ``names``."""
    marks = {*class_names(element), element.get("id") or "", element.get("role") or ""}
    return not marks.isdisjoint(names)


def heading_of(element: HtmlElement, notes: list[tuple[str, HtmlElement]]) -> tuple[Piece, bool]:
    """Read a heading, and whether it stands at the head of a paragraph.

    LaTeXML's tag gives its number, its class the level, else the element's own digit.
    """
    classes = class_names(element)
    run_in = bool(classes & _RUN_IN)
    tag = None if run_in else next((e for e in element.iterdescendants() if has_class(e, *_NUMBER_MARKS)), None)
    number = None
    line = Line(notes=notes)
    if tag is not None:
        printed = _taken_out(tag)
        match = _NUMBER.fullmatch(printed)
        number = match["number"] if match else None
        if number is None:
            line.add(f"{printed} ")
    line.add_element(element)
    kind = next((name.removeprefix("ltx_title_") for name in classes if name.startswith("ltx_title_")), "")
    level = _LEVELS.get(kind) or (1 if kind else 0) or (int(element.tag[1]) if element.tag[0] == "h" else 1)
    return Piece(kind="heading", text=line.text(), level=level, number=number), run_in


def _taken_out(tag: HtmlElement) -> str:
    """The text of a tag, which is emptied; what follows it stays."""
    printed, tail = " ".join("".join(map(str, tag.itertext())).split()), tag.tail
    tag.clear()
    tag.tail = tail
    return printed


def note_mark(element: HtmlElement) -> str | None:
    """The mark of a footnote that stands at the page's end ('1'), or null."""
    match = _NOTE_ID.match(element.get("id") or "")
    return match["mark"] if match else "note" if element.get("role") in ("doc-footnote", "doc-endnote") else None


def entry_of(item: HtmlElement, number: str | None) -> tuple[str, Entry]:
    """One bibliography entry as printed, and what is known of it.

    A tag such as '[7]' stays in front; an author-year tag repeats the entry and becomes its label only. A DOI may
    stand in a link alone.
    """
    tag = next((e for e in item.iter() if has_class(e, "ltx_tag_bibitem", "ltx_bib_key")), None)
    printed = "" if tag is None else _taken_out(tag)
    for block in item.iter():
        if has_class(block, "ltx_bibblock") and block.tail is None:
            block.tail = " "
    text = text_of(item)
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
    return replace(entry, title=text_of(blocks[1]).strip(" .") or None)


_WIDEST = 100
EQUATIONS = ("ltx_equation", "ltx_equationgroup", "ltx_eqn_table")


def read_equations(element: HtmlElement) -> Iterator[tuple[str, str | None]]:
    """Displayed formulas with their printed numbers, '(3)'; rows of one number are one formula."""
    groups = list(element.iter("tbody")) or [element]
    for group in groups:
        rows = list(group.iter("tr")) or [group]
        # Where a group has several numbers, rows without one belong to the next number.
        ends = [at for at, row in enumerate(rows, start=1) if _tag(row)]
        cuts = (0, *(ends if len(ends) > 1 else ()), len(rows))
        for start, end in pairwise(dict.fromkeys(cuts)):
            yield _formulas(rows[start:end]), next(filter(None, map(_tag, rows[start:end])), None)


def _tag(element: HtmlElement) -> str | None:
    found = next((e for e in element.iter() if has_class(e, "ltx_tag_equation", "ltx_tag_equationgroup")), None)
    return "".join(str(part) for part in found.itertext()).strip() or None if found is not None else None


def _formulas(rows: list[HtmlElement]) -> str:
    lines = (" ".join(filter(None, map(tex_of, row.iter("math")))) or _without_tag(row) for row in rows)
    return " \\\\ ".join(line for line in lines if line)


def _without_tag(row: HtmlElement) -> str:
    cells = (text_of(cell) for cell in row.iter("td", "th") if not has_class(cell, "ltx_eqn_eqno"))
    return " ".join(filter(None, cells))


def read_cells(table: HtmlElement, notes: list[tuple[str, HtmlElement]]) -> tuple[tuple[str, ...], ...]:
    """The cells row by row, all rows equally wide; a merged cell has its text at its first place only.

    Args:
        table: A ``table``, or the spans that LaTeXML writes for a table inside a line.
        notes: Footnotes called in cells are added here.
    """
    filled: dict[tuple[int, int], str] = {}
    at = 0
    for row in _rows(table):
        column = 0
        for cell in row:
            if not (cell.tag in ("td", "th") or has_class(cell, "ltx_td")):
                continue
            while (at, column) in filled:
                column += 1
            if column >= _WIDEST:
                break
            text = text_of(cell, notes)
            tall, wide = _span(cell, "rowspan"), min(_span(cell, "colspan"), _WIDEST - column)
            filled.update({(at + down, column + right): "" for down in range(tall) for right in range(wide)})
            filled[at, column] = text
            column += wide
        at += 1
    width = max((column for row_at, column in filled if row_at < at), default=-1) + 1
    rows = (tuple(filled.get((row, column), "") for column in range(width)) for row in range(at))
    return tuple(filter(any, rows))


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """The table's own rows, those of tables inside its cells not among them."""
    for element in table:
        if element.tag == "tr" or has_class(element, "ltx_tr"):
            yield element
        elif element.tag in ("thead", "tbody", "tfoot") or has_class(element, "ltx_thead", "ltx_tbody", "ltx_tfoot"):
            yield from _rows(element)


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name) or ""
    if not value and name == "colspan":
        value = next(iter(re.findall(r"ltx_colspan_(\d+)", cell.get("class") or "")), "")
    return min(max(whole(value, 1), 1), _WIDEST)
