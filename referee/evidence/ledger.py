"""The number ledger: every measured number of a paper with its unit, its subject and its place.

From prose (paragraphs, lists, captions, footnotes) and from table cells. A subject is words, not understanding: in
prose the words around the number within its sentence, in a table the heads of row and column. Bibliography, authors'
names and equations are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from referee.evidence.numerals import Bound, Numeral, find_numerals, plain
from referee.evidence.sentences import split_sentences
from referee.evidence.stems import STOPWORDS, WORD, stem
from referee.evidence.tables import Cell, Table, tables_of
from referee.schemas.paper import Block, Box, Paper, Section

Source = Literal["prose", "cell"]

_READ = frozenset({"paragraph", "list", "caption", "footnote"})
_SECTIONS = frozenset({"abstract", "content", "appendix"})
_BEFORE, _AFTER = 90, 60
_MAX_WORDS = 12
_SYMBOL = re.compile(r"([^\W\d_](?:[\w^-]{0,11})|[∆Δ])\s*(?:=|≈|:=)\s*$")
_SPREAD = re.compile(r"(?:±|\+/-)\s*$")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One number of the paper.

    ``step`` is one unit of the last printed digit, so that the printed number stands for ``value ± step / 2``.
    ``unit`` is ``%``, ``pp`` (points), ``x`` (factor), a short name such as ``ms``, or empty. ``words`` are the stems
    of the subject in reading order. ``symbol`` is the letter that the number is given to (``n = 20``). ``start`` and
    ``end`` are offsets into the block's text; for a cell, ``row`` and ``column`` count in the block's ``cells`` and
    ``row_head`` and ``column_head`` are what it stands under. ``spread`` marks the number behind a ``±``.
    """

    value: Decimal
    step: Decimal
    decimals: int
    unit: str
    bound: Bound
    printed: str
    subject: str
    words: tuple[str, ...]
    symbol: str | None
    source: Source
    section_id: str
    section: str
    block_id: str
    page: int | None
    box: Box | None
    start: int
    end: int
    sentence: str
    spread: bool = False
    table: str = ""
    row: int | None = None
    column: int | None = None
    row_head: tuple[str, ...] = ()
    column_head: tuple[str, ...] = ()

    @property
    def low(self) -> Decimal:
        """The least value that is printed like this."""
        return self.value - self.step / 2

    @property
    def high(self) -> Decimal:
        """The greatest value that is printed like this."""
        return self.value + self.step / 2

    def agrees(self, other: LedgerEntry) -> bool:
        """Whether both can be one number: equal up to half a unit of either's last digit."""
        return self.low <= other.high and other.low <= self.high


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
    return _entry(
        section,
        block,
        numeral,
        words[:_MAX_WORDS],
        symbol=symbol[1] if symbol else None,
        source="prose",
        sentence=sentence,
        spread=_SPREAD.search(shown) is not None,
    )


def _content(text: str, *, cut_first: bool = False) -> list[str]:
    """Words that carry meaning; the first one is left out where the text may begin within it."""
    words = [found.group() for found in WORD.finditer(text) if not found.group()[0].isdigit()]
    return [word for word in words[cut_first:] if word.casefold() not in STOPWORDS]


def _from_table(table: Table) -> Iterator[LedgerEntry]:
    starts = _cell_starts(table.block)
    for cell in table.cells:
        subject = [*cell.row_head, *cell.column_head]
        words = [word for part in subject for word in _content(plain(part))]
        offset = starts.get((cell.row, cell.column), 0)
        for numeral in find_numerals(cell.text):
            yield _entry(
                table.section,
                table.block,
                numeral,
                words,
                symbol=None,
                source="cell",
                sentence=table.row_text(cell.row),
                spread=_SPREAD.search(plain(cell.text)[: numeral.start]) is not None,
                subject=" · ".join(subject),
                cell=cell,
                table=table,
                offset=offset,
            )


def _cell_starts(block: Block) -> dict[tuple[int, int], int]:
    """Where each cell's text begins in the block's text, as far as it is found there in order."""
    starts: dict[tuple[int, int], int] = {}
    at = 0
    for i, row in enumerate(block.cells):
        for j, cell in enumerate(row):
            found = block.text.find(cell.strip(), at) if cell.strip() else -1
            if found >= 0:
                starts[i, j] = found
                at = found + len(cell.strip())
    return starts


def _entry(
    section: Section,
    block: Block,
    numeral: Numeral,
    words: list[str],
    *,
    symbol: str | None,
    source: Source,
    sentence: str,
    spread: bool,
    subject: str = "",
    cell: Cell | None = None,
    table: Table | None = None,
    offset: int = 0,
) -> LedgerEntry:
    return LedgerEntry(
        value=numeral.value,
        step=numeral.step,
        decimals=numeral.decimals,
        unit=numeral.unit or _unit_of(cell, table),
        bound=numeral.bound,
        printed=numeral.text,
        subject=subject or " ".join(words),
        words=tuple(map(stem, words)),
        symbol=symbol,
        source=source,
        section_id=section.id,
        section=section.heading,
        block_id=block.id,
        page=block.page,
        box=block.box,
        start=offset + numeral.start,
        end=offset + numeral.end,
        sentence=sentence,
        spread=spread,
        table=table.label if table else "",
        row=cell.row if cell else None,
        column=cell.column if cell else None,
        row_head=cell.row_head if cell else (),
        column_head=cell.column_head if cell else (),
    )


_HEAD_UNIT = re.compile(r"[(\[]\s*(%|ms|s|sec|min|mins|h|hours|points|pp|x|×|GB|MB)\s*[)\]]")


def _unit_of(cell: Cell | None, table: Table | None) -> str:
    """The unit that a cell's heads give it."""
    if cell is None or table is None:
        return ""
    for head in (*reversed(cell.column_head), *cell.row_head):
        found = _HEAD_UNIT.search(plain(head))
        if found is not None:
            return {"points": "pp", "×": "x", "mins": "min", "hours": "h", "sec": "s"}.get(found[1], found[1])
    return ""
