"""The number ledger, and tables read as grids for it.

A table read as a grid: which rows and columns are heads, and what each value stands under.

The number ledger: every measured number of a paper with its unit, its subject and its place.

From prose (paragraphs, lists, captions, footnotes) and from table cells. A subject is words, not understanding: in
prose the words around the number within its sentence, in a table the heads of row and column. Bibliography, authors'
names and equations are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.evidence.sentences import split_sentences
from referee.evidence.stems import STOPWORDS, WORD
from referee.schemas.paper import Block, Box, Paper, Section

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


Source = Literal["prose", "cell"]

_READ = frozenset({"paragraph", "list", "caption", "footnote"})
_SECTIONS = frozenset({"abstract", "content", "appendix"})
_BEFORE, _AFTER = 90, 60
_MAX_WORDS = 12
_SYMBOL = re.compile(r"([^\W\d_](?:[\w^-]{0,11})|[∆Δ])\s*(?:=|≈|:=)\s*$")
_SPREAD = re.compile(r"(?:±|\+/-)\s*$")


@dataclass(frozen=True, slots=True)
class LedgerEntry(Numeral):
    """One number of the paper: a numeral with what it is about and where it stands.

    ``unit`` may come from a cell's heads. ``subject`` is words, and ``symbol`` the letter that the number is given to
    (``n = 20``). ``start`` and ``end`` are offsets into the block's text or, for a cell, into the cell's; ``row`` and
    ``column`` count in the block's ``cells``, and ``row_head`` and ``column_head`` are what it stands under. ``spread``
    marks the number behind a ``±``.
    """

    subject: str
    symbol: str | None
    source: Source
    section_id: str
    section: str
    block_id: str
    page: int | None
    box: Box | None
    sentence: str
    spread: bool = False
    table: str = ""
    row: int | None = None
    column: int | None = None
    row_head: tuple[str, ...] = ()
    column_head: tuple[str, ...] = ()


def number_ledger(paper: Paper) -> list[LedgerEntry]:
    """Every measured number of a paper, in reading order.

    Args:
        paper: The paper; a table enters by its cells where they are known.

    Returns:
        The entries, prose and cells mixed as they stand; empty for a paper without numbers. Nothing is raised.
    """
    tables = {id(table.block): table for table in tables_of(paper)}
    entries: list[LedgerEntry] = []
    for section, block in paper.blocks():
        if section.role not in _SECTIONS:
            continue
        if id(block) in tables:
            entries += _from_table(tables[id(block)])
        elif block.kind in _READ:
            entries += _from_prose(section, block)
    return entries


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text as half-open ranges of offsets."""
    at = 0
    for sentence in split_sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        yield start, at


def _from_prose(section: Section, block: Block) -> Iterator[LedgerEntry]:
    numerals = list(find_numerals(block.text))
    at = 0
    for start, end in sentence_spans(block.text):
        sentence = block.text[start:end]
        while at < len(numerals) and numerals[at].start < end:
            numeral = numerals[at]
            at += 1
            if numeral.start >= start:
                yield _prose_entry(section, block, numeral, sentence, start)


def _prose_entry(section: Section, block: Block, numeral: Numeral, sentence: str, start: int) -> LedgerEntry:
    before = block.text[max(start, numeral.start - _BEFORE) : numeral.start]
    after = block.text[numeral.end : min(start + len(sentence), numeral.end + _AFTER)]
    shown = plain(before)
    symbol = _SYMBOL.search(shown)
    words = [*_content(shown, cut_first=numeral.start - _BEFORE > start)[-8:], *_content(plain(after))[:5]]
    subject, spread = " ".join(words[:_MAX_WORDS]), _SPREAD.search(shown) is not None
    return _entry(section, block, numeral, subject, sentence, spread=spread, symbol=symbol[1] if symbol else None)


def _content(text: str, *, cut_first: bool = False) -> list[str]:
    """Words that carry meaning; the first one is left out where the text may begin within it."""
    words = [found.group() for found in WORD.finditer(text) if not found.group()[0].isdigit()]
    return [word for word in words[cut_first:] if word.casefold() not in STOPWORDS]


def _from_table(table: Table) -> Iterator[LedgerEntry]:
    for cell in table.cells:
        heads = [*cell.row_head, *cell.column_head]
        subject = " · ".join(heads)
        for numeral in find_numerals(cell.text):
            spread = _SPREAD.search(plain(cell.text)[: numeral.start]) is not None
            entry = _entry(table.section, table.block, numeral, subject, table.row_text(cell.row), spread=spread)
            yield replace(
                entry,
                source="cell",
                unit=numeral.unit or _unit_of(cell),
                table=table.label,
                row=cell.row,
                column=cell.column,
                row_head=cell.row_head,
                column_head=cell.column_head,
            )


def _entry(
    section: Section,
    block: Block,
    numeral: Numeral,
    subject: str,
    sentence: str,
    *,
    spread: bool,
    symbol: str | None = None,
) -> LedgerEntry:
    return LedgerEntry(
        value=numeral.value,
        step=numeral.step,
        decimals=numeral.decimals,
        unit=numeral.unit,
        bound=numeral.bound,
        text=numeral.text,
        start=numeral.start,
        end=numeral.end,
        subject=subject,
        symbol=symbol,
        source="prose",
        section_id=section.id,
        section=section.heading,
        block_id=block.id,
        page=block.page,
        box=block.box,
        sentence=sentence,
        spread=spread,
    )


_HEAD_UNIT = re.compile(r"[(\[]\s*(%|ms|s|sec|min|mins|h|hours|points|pp|x|×|GB|MB)\s*[)\]]")


def _unit_of(cell: Cell) -> str:
    """The unit that a cell's heads give it."""
    for head in (*reversed(cell.column_head), *cell.row_head):
        found = _HEAD_UNIT.search(plain(head))
        if found is not None:
            return {"points": "pp", "×": "x", "mins": "min", "hours": "h", "sec": "s"}.get(found[1], found[1])
    return ""
