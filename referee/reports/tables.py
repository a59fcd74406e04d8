"""The one way that tables and numbers are written: Markdown, CSV, JSON, and how a number stands in a cell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from referee.evals.registry import unit_of
from referee.reports.markdown_text import inline
from referee.reports.plain import clean, one_line

NOTHING = "–"
_PLACES = {**dict.fromkeys(("", "fraction", "cosine"), 4), **dict.fromkeys(("words", "tokens", "characters"), 1)}
_OTHER_PLACES = 2


class Table(NamedTuple):
    """A title, the names of the columns, and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def dashed(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table whose empty cells show that there is nothing."""
    return Table(title, columns, [[cell or NOTHING for cell in row] for row in rows])


def places(metric: str) -> int:
    """How many digits a metric's means have by its unit: shares four, lengths one, all else two."""
    return _PLACES.get(unit_of(metric), _OTHER_PLACES)


def number(given: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with so many digits; empty for None."""
    return "" if given is None else f"{given:{'+' if signed else ''},.{digits}f}"


def interval(low: float | None, high: float | None, digits: int, *, signed: bool = False) -> str:
    """An interval; empty where there is none."""
    ends = number(low, digits, signed=signed), number(high, digits, signed=signed)
    return f"[{ends[0]}, {ends[1]}]" if all(ends) else ""


def estimate(given: float | None, low: float | None, high: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with its interval; empty for None."""
    return f"{number(given, digits, signed=signed)} {interval(low, high, digits, signed=signed)}".strip()


def pvalue(given: float | None) -> str:
    """A p value; small ones as a bound."""
    return "" if given is None else "< 0.0001" if given < 0.0001 else f"{given:.4f}"


def markdown_table(table: Table) -> str:
    """The table as Markdown, below its title; what would be markup in a cell is escaped."""
    rows = [_line([inline(cell) for cell in row]) for row in table.rows]
    head = [_line([inline(name) for name in table.columns]), _line(["---"] * len(table.columns))]
    return "\n".join([*([f"**{inline(table.title)}**\n"] if table.title else []), *head, *rows])


def aligned(table: Table) -> list[str]:
    """The table as Markdown whose columns stand below each other also where it is read as plain text."""
    cells = [[inline(cell) for cell in row] for row in (table.columns, *table.rows)]
    padded, widths = _padded(cells)
    return [padded[0], f"|{'|'.join('-' * (width + 2) for width in widths)}|", *padded[1:]]


def console(table: Table) -> list[str]:
    """The table for a terminal: columns below each other, nothing escaped, no rule."""
    return _padded([[one_line(cell) for cell in row] for row in (table.columns, *table.rows)])[0]


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object] | Sequence[object]]) -> str:
    """Rows as CSV, in the order of the columns or by their names.

    What is undefined is empty. A name that a spreadsheet would run as a formula gets a quote; terminal sequences and
    control characters go.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = [row[name] for name in columns] if isinstance(row, Mapping) else row
        writer.writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def json_text(data: object) -> str:
    """The data as JSON to read; raises ``ValueError`` for what is no number."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _padded(cells: Sequence[Sequence[str]]) -> tuple[list[str], list[int]]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [_line([cell.ljust(width) for cell, width in zip(row, widths, strict=True)]) for row in cells], widths


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _harmless(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = clean(value)
    return f"'{shown}" if value[:1] in ("=", "+", "-", "@", "\t") else shown
