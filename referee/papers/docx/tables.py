"""Tables of a Word document: cells where they stand, merged cells once, deleted rows left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from referee.papers.docx.hidden import Place, shade_of
from referee.papers.docx.names import W, local
from referee.papers.docx.styles import Styles, value

_WIDEST = 100
ReadCell = Callable[[Any, Place], str]


def read_cells(table: Any, styles: Styles, read_cell: ReadCell) -> tuple[tuple[str, ...], ...]:
    """The cells row by row, all rows equally wide; a merged cell has its text at its first place only.

    Args:
        table: The ``w:tbl``.
        styles: To know whether the table's style shades cells.
        read_cell: Text of one cell, given what lies behind it.
    """
    unknown = styles.shades(value(table.find(f"{W}tblPr/{W}tblStyle")))
    rows: list[list[str]] = []
    for row in _rows(table):
        cells: list[str] = [""] * _before(row)
        for cell in _inside(row, "tc"):
            shade = shade_of(cell.find(f"{W}tcPr/{W}shd"))
            place = Place(shade if shade is not None else None if unknown else Place().shade)
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and value(merged) != "restart"
            cells.append("" if goes_on else read_cell(cell, place))
            cells.extend("" for _ in range(_span(cell) - 1))
        rows.append(cells[:_WIDEST])
    width = max((len(row) for row in rows), default=0)
    filled = (tuple(row + [""] * (width - len(row))) for row in rows)
    return tuple(row for row in filled if any(cell.strip() for cell in row))


def _rows(table: Any) -> Iterator[Any]:
    return (row for row in _inside(table, "tr") if row.find(f"{W}trPr/{W}del") is None)


def _inside(parent: Any, name: str) -> Iterator[Any]:
    """Children of a name, also those that a content control or a revision wraps."""
    for child in parent:
        found = local(child.tag)
        if found == name:
            yield child
        elif found in ("sdt", "sdtContent", "ins", "customXml", "moveTo"):
            yield from _inside(child, name)


def _before(row: Any) -> int:
    return _bounded(value(row.find(f"{W}trPr/{W}gridBefore")), 0)


def _span(cell: Any) -> int:
    return max(1, _bounded(value(cell.find(f"{W}tcPr/{W}gridSpan")), 1))


def _bounded(printed: str | None, default: int) -> int:
    return min(int(printed), _WIDEST) if printed and printed.isdigit() and len(printed) < 6 else default
