"""A table read as a grid: which rows and columns are heads, and what each value stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from referee.evidence.numerals import plain
from referee.schemas.paper import Block, Paper, Section

_VALUE = re.compile(
    r"^[<>≤≥~≈]?\s*[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?\s*(?:%|[kKMB]|x|×|s|ms)?"
    r"(?:\s*(?:±|\+/-|\()\s*[-+]?\d[\d.,]*\s*[%kMB]?\s*\)?)?\s*[*†‡§↑↓a-d]{0,3}$"
)
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "na", "/", "..."))


@dataclass(frozen=True)
class Cell:
    """One body cell with its heads; ``row`` and ``column`` count in the block's ``cells``."""

    text: str
    row: int
    column: int
    row_head: tuple[str, ...]
    column_head: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table block with its head rows and columns."""

    section: Section
    block: Block
    head_rows: int
    head_columns: int

    @property
    def label(self) -> str:
        """What the text calls it (``Table 2``); empty where it has no label."""
        return self.block.label or ""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The body's cells that hold a value, row by row."""
        return tuple(self._body())

    def row_text(self, row: int) -> str:
        """A row as the block's text has it."""
        return " | ".join(self.block.cells[row])

    def _body(self) -> Iterator[Cell]:
        rows = self.block.cells
        heads = _column_heads(rows[: self.head_rows])
        above: list[str] = [""] * self.head_columns
        for i, row in enumerate(rows[self.head_rows :], self.head_rows):
            own = (*row[: self.head_columns], *[""] * (self.head_columns - len(row)))
            above = [cell.strip() or last for cell, last in zip(own, above, strict=True)]
            for j in range(self.head_columns, len(row)):
                if is_value(row[j]):
                    yield Cell(row[j].strip(), i, j, tuple(filter(None, above)), heads[j] if j < len(heads) else ())


def is_value(text: str) -> bool:
    """Whether a cell holds a number and no name: ``0.78``, ``12%``, ``3.1 ± 0.2``, ``28.9M (35.6%)``."""
    bare = plain(text).strip()
    return any(char.isdigit() for char in bare) and len(bare) < 40 and _VALUE.match(bare) is not None


def tables_of(paper: Paper) -> tuple[Table, ...]:
    """Every table of a paper whose cells are known, with head rows and columns told apart, in reading order."""
    return tuple(
        _table(section, block) for section, block in paper.blocks() if block.kind == "table" and len(block.cells) > 1
    )


def _table(section: Section, block: Block) -> Table:
    rows = block.cells
    if _is_body(rows[0]):
        return Table(section, block, 0, _head_columns(rows))
    head_rows = 1
    while head_rows < len(rows) - 1 and not any(is_value(cell) for cell in rows[head_rows][1:]):
        head_rows += 1
    if head_rows == len(rows) - 1 or not any(row[0].strip() for row in rows[:head_rows] if row):
        head_rows = min(head_rows, 1 + sum(1 for row in rows[1:3] if _is_head(row)))
    return Table(section, block, head_rows, _head_columns(rows[head_rows:]))


def _is_body(row: Sequence[str]) -> bool:
    """Whether a first row holds measured values: whole numbers alone can be heads (``Seed | 0 | 1 | 2``)."""
    filled = [cell for cell in row[1:] if cell.strip().casefold() not in _EMPTY]
    return bool(filled) and all(map(is_value, filled)) and any(re.search(r"\.\d|%|\d[kKMB]", cell) for cell in filled)


def _is_head(row: Sequence[str]) -> bool:
    return not any(is_value(cell) for cell in row[1:])


def _head_columns(body: Sequence[Sequence[str]]) -> int:
    """Columns on the left that mostly hold names; at least one."""
    width = max((len(row) for row in body), default=1)
    count = 1
    while count < width - 1:
        filled = [row[count] for row in body if count < len(row) and row[count].strip().casefold() not in _EMPTY]
        if not filled or sum(map(is_value, filled)) * 2 >= len(filled):
            break
        count += 1
    return count


def _column_heads(rows: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Per column the head cells above it; a head over several columns counts for those to its right."""
    width = max((len(row) for row in rows), default=0)
    heads: list[list[str]] = [[] for _ in range(width)]
    for depth, row in enumerate(rows):
        spanning = ""
        for j in range(width):
            own = row[j].strip() if j < len(row) else ""
            spanning = own or (spanning if depth + 1 < len(rows) else "")
            if spanning:
                heads[j].append(spanning)
    return [tuple(head) for head in heads]
