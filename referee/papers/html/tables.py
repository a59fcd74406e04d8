"""Tables of a page: cells where they stand, merged cells once, equations that LaTeXML lays out as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from referee.papers.html.inline import Line
from referee.papers.html.math import tex_of
from referee.papers.html.tree import has_class

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_WIDEST = 100
_EQUATION_CLASSES = ("ltx_equation", "ltx_equationgroup", "ltx_eqn_table")


def is_equation_table(element: HtmlElement) -> bool:
    """Whether a table only lays out displayed formulas."""
    return has_class(element, *_EQUATION_CLASSES)


def read_equations(element: HtmlElement) -> Iterator[tuple[str, str | None]]:
    """Displayed formulas with their printed numbers, '(3)'; rows of one number are one formula."""
    groups = list(element.iter("tbody")) or [element]
    for group in groups:
        rows = list(group.iter("tr")) or [group]
        tagged = [row for row in rows if _tag(row)]
        if len(tagged) > 1:
            yield from _split(rows)
        else:
            yield _formulas(rows), _tag(group)


def _split(rows: list[HtmlElement]) -> Iterator[tuple[str, str | None]]:
    """Rows of a group with several numbers: rows without a number belong to the next number."""
    waiting: list[HtmlElement] = []
    for row in rows:
        waiting.append(row)
        if tag := _tag(row):
            yield _formulas(waiting), tag
            waiting = []
    if waiting:
        yield _formulas(waiting), None


def _tag(element: HtmlElement) -> str | None:
    found = next((e for e in element.iter() if has_class(e, "ltx_tag_equation", "ltx_tag_equationgroup")), None)
    return "".join(str(part) for part in found.itertext()).strip() or None if found is not None else None


def _formulas(rows: list[HtmlElement]) -> str:
    lines = []
    for row in rows:
        maths = [tex_of(math) for math in row.iter("math")]
        lines.append(" ".join(tex for tex in maths if tex) or _without_tag(row))
    return " \\\\ ".join(line for line in lines if line)


def _without_tag(row: HtmlElement) -> str:
    line = Line()
    for cell in row.iter("td", "th"):
        if not has_class(cell, "ltx_eqn_eqno"):
            line.add_element(cell)
            line.add(" ")
    return line.text()


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
            line = Line(notes=notes)
            line.add_element(cell)
            tall, wide = _span(cell, "rowspan"), min(_span(cell, "colspan"), _WIDEST - column)
            filled.update({(at + down, column + right): "" for down in range(tall) for right in range(wide)})
            filled[at, column] = line.text()
            column += wide
        at += 1
    width = max((column for row_at, column in filled if row_at < at), default=-1) + 1
    rows = tuple(tuple(filled.get((row, column), "") for column in range(width)) for row in range(at))
    return tuple(row for row in rows if any(row))


def _rows(table: HtmlElement) -> list[HtmlElement]:
    """The table's own rows, those of tables inside its cells not among them."""
    rows: list[HtmlElement] = []
    waiting = list(table)
    while waiting:
        element = waiting.pop(0)
        if element.tag == "tr" or has_class(element, "ltx_tr"):
            rows.append(element)
        elif element.tag in ("thead", "tbody", "tfoot") or has_class(element, "ltx_thead", "ltx_tbody", "ltx_tfoot"):
            waiting[:0] = list(element)
    return rows


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name) or ""
    if not value and name == "colspan":
        value = next(iter(re.findall(r"ltx_colspan_(\d+)", cell.get("class") or "")), "")
    return min(max(int(value), 1), _WIDEST) if value.isdigit() and len(value) < 5 else 1
