"""A paper laid out for checks: its sentences with their numbers, its tables as grids, and how rare each word is."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import log

from referee.evidence.absence import TermIndex
from referee.evidence.certify.figures import Figure, figures_in, numbers_in, words_of
from referee.evidence.ledger import Table, is_value, tables_of
from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.evidence.quotations import QuotationIndex
from referee.evidence.rules.hits import Sentence, sentences_of
from referee.schemas.paper import Block, Paper, Section

_LISTING = 25
_TABLE_LABEL = re.compile(r"\b(?:Table|Tab\.)\s*([A-Z]?\d+)", re.IGNORECASE)
_SHORT = re.compile(r"((?:[\w-]+\s+){1,6})\(([A-Za-z][A-Za-z0-9]{0,5})\)")
_NAME = re.compile(r"(?<![\w.-])[^\W\d_][^\W_]*(?:-[^\W_]+(?:\.\d+)?)+")


@dataclass(frozen=True)
class Fact:
    """A number of a sentence of the paper with its words."""

    figure: Figure
    passage: Passage


@dataclass(frozen=True)
class Passage:
    """A sentence of the paper and its stems.

    ``listing``: its words belong to no number. ``row``: it is a row of a table with words among its values, which may
    bear a statement out and never denies one.
    """

    text: str
    section: Section
    block: Block
    stems: frozenset[str]
    listing: bool = False
    row: bool = False

    @property
    def place(self) -> str:
        """Section and page, for a reader."""
        return place_of(self.section, self.block)


@dataclass(frozen=True)
class GridCell:
    """A value of a table with the stems of its row's and of its column's head."""

    numbers: tuple[Numeral, ...]
    text: str
    row: int
    column: int


@dataclass(frozen=True)
class Grid:
    """A table: stems of the heads of rows and columns, and the values."""

    label: str
    table: Table
    rows: dict[int, frozenset[str]]
    columns: dict[int, frozenset[str]]
    cells: dict[tuple[int, int], GridCell]
    about: frozenset[str]

    @property
    def place(self) -> str:
        """Table and page, for a reader."""
        page = f", p. {self.table.block.page}" if self.table.block.page is not None else ""
        return f"{self.label or 'a table'}{page}"

    def shown(self, cell: GridCell) -> str:
        """A value as ``row, column: value``."""
        found = next(c for c in self.table.cells if (c.row, c.column) == (cell.row, cell.column))
        under = ", ".join(filter(None, (" ".join(found.row_head), " ".join(found.column_head))))
        return f"{under}: {cell.text}"


def place_of(section: Section, block: Block | None = None) -> str:
    """A place for a reader: the section's number or heading, and the page."""
    name = f"Section {section.number}" if section.number else f"“{section.heading}”"
    page = block.page if block is not None else None
    return name + (f", p. {page}" if page is not None else "")


@dataclass
class Reading:
    """Everything that the checks of statements look up in one paper. Build it once."""

    paper: Paper
    passages: list[Passage] = field(init=False)
    facts: list[Fact] = field(init=False)
    grids: list[Grid] = field(init=False)
    short: dict[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self.passages, self.facts = [], []
        for sentence in sentences_of(self.paper):
            self._read(sentence)
        for table in tables_of(self.paper):
            self._read_rows(table)
        self.short = dict(self._abbreviations())
        self.grids = [_grid(table, self.paper) for table in tables_of(self.paper)]
        held = Counter(stem for passage in self.passages for stem in passage.stems)
        held.update(stem for grid in self.grids for head in grid.rows.values() for stem in head)
        self._held, self._count = held, max(2, len(self.passages))
        self.by_stem: dict[str, list[int]] = defaultdict(list)
        for at, fact in enumerate(self.facts):
            if not fact.passage.listing:
                for stem in fact.passage.stems:
                    self.by_stem[stem].append(at)

    def _read(self, sentence: Sentence) -> None:
        numbers = numbers_in(sentence.text)
        listing = len(numbers) > _LISTING
        passage = Passage(
            sentence.text,
            sentence.section,
            sentence.block,
            frozenset(word.stem for word in words_of(sentence.text)),
            listing,
        )
        self.passages.append(passage)
        self.facts += (Fact(figure, passage) for figure in figures_in(sentence.text, numbers))

    def _read_rows(self, table: Table) -> None:
        """Rows with numbers among words, which are no values of a grid."""
        for row in table.block.cells[table.head_rows :]:
            if any(map(find_any, row)):
                text = " | ".join(filter(None, row))
                stems = frozenset(word.stem for word in words_of(text))
                passage = Passage(text, table.section, table.block, stems, row=True)
                self.facts += (Fact(figure, passage) for figure in figures_in(text))

    def rarity(self, stem: str) -> float:
        """How much a word tells: near 0 for one that is everywhere, about 5 for one that stands once."""
        held = self._held.get(stem, 0)
        return log(1 + self._count / held) if held else 0.0

    def printed(self, word: str) -> int:
        """How many passages hold a word as it is printed, but for an ``s`` at its end."""
        found = word.casefold().removesuffix("s")
        return sum(found in passage.text.casefold() for passage in self.passages)

    def knows(self, stem: str) -> bool:
        """Whether the paper holds the word."""
        return stem in self._held

    @cached_property
    def title(self) -> frozenset[str]:
        """The stems of the paper's title."""
        return frozenset(word.stem for word in words_of(self.paper.title))

    @cached_property
    def text(self) -> str:
        """The whole text, in lower case."""
        return "\n".join(section.text for section in self.paper.sections).casefold()

    @cached_property
    def quotations(self) -> QuotationIndex:
        """The look-up of quotations."""
        return QuotationIndex(self.paper)

    @cached_property
    def terms(self) -> TermIndex:
        """The search for terms."""
        return TermIndex(self.paper)

    @cached_property
    def values(self) -> list[Numeral]:
        """Every number of the paper, also of tables, equations and listings."""
        found = [number for fact in self.facts for number in (fact.figure.number,)]
        for section, block in self.paper.blocks():
            if section.role not in ("front", "references"):
                found += find_numerals(block.text)
        return found

    @cached_property
    def unread(self) -> list[tuple[tuple[Numeral, ...], frozenset[str]]]:
        """Numbers and words of what is no sentence: tables that may be misread, equations, listings."""
        texts = [
            block.text
            for section, block in self.paper.blocks()
            if block.kind in ("table", "figure", "equation", "code") and section.role not in ("front", "references")
        ]
        texts += [passage.text for passage in self.passages if passage.listing]
        return [(tuple(find_numerals(text)), frozenset(word.stem for word in words_of(text))) for text in texts]

    @cached_property
    def head_numbers(self) -> frozenset[str]:
        """Numbers that name a row or a column of a table."""
        heads = (head for grid in self.grids for head in (*grid.rows.values(), *grid.columns.values()))
        return frozenset(stem for head in heads for stem in head if stem[0].isdigit())

    @cached_property
    def names(self) -> frozenset[str]:
        """Parts of names with digits, such as ``8b`` of ``Llama-3.1-8B``: no values, wherever they stand."""
        return frozenset(
            part.casefold()
            for section, block in self.paper.blocks()
            if section.role != "references"
            for name in _NAME.findall(plain(block.text))
            for part in name.split("-")
            if any(map(str.isalpha, part)) and any(map(str.isdigit, part))
        )

    def _abbreviations(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """``exact match (EM)``: the abbreviation's stem and the stems that it stands for."""
        for passage in self.passages:
            for found in _SHORT.finditer(passage.text):
                short, before = found[2], re.split(r"[\s-]+", found[1].strip())
                letters = re.sub(r"\d|s$", "", short).casefold()
                for size in range(1, len(before) + 1):
                    words = before[-size:]
                    initials = "".join(word[0] for word in words if word).casefold()
                    if letters and (initials == letters or (len(letters) == 1 and words[0][:1].casefold() == letters)):
                        yield (
                            words_of(short)[0].stem if words_of(short) else letters,
                            tuple(w.stem for w in words_of(" ".join(words))),
                        )
                        break


def find_any(cell: str) -> bool:
    """Whether a cell holds a number among words."""
    return not is_value(cell) and bool(numbers_in(cell))


def _grid(table: Table, paper: Paper) -> Grid:
    rows: dict[int, frozenset[str]] = {}
    columns: dict[int, frozenset[str]] = {}
    cells: dict[tuple[int, int], GridCell] = {}
    firsts = {cell.row: cell.row_head[0] for cell in table.cells if cell.row_head}
    distinct = len(set(firsts.values())) == len(firsts)
    for cell in table.cells:
        rows[cell.row] = _stems(" ".join(map(_bare, cell.row_head[: 1 if distinct else None])))
        columns[cell.column] = _stems(" ".join(cell.column_head))
        numbers = tuple(find_numerals(re.split(r"±|\+/-", cell.text)[0]))
        if numbers:
            cells[cell.row, cell.column] = GridCell(numbers, cell.text, cell.row, cell.column)
    label, caption = _captioned(table)
    return Grid(label, table, rows, columns, cells, _stems(f"{caption} {table.section.heading}"))


def _bare(head: str) -> str:
    """A head without citations and marks."""
    return re.sub(r"\[\d+\]|\(?[A-Z][\w˘¨ ]+ et al\.\s*\(\d{4}\)?", " ", head)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in words_of(text))


def _captioned(table: Table) -> tuple[str, str]:
    """A table's label and caption: its own, or those of a block beside it that names a table."""
    blocks = table.section.blocks
    at = next((i for i, block in enumerate(blocks) if block is table.block), 0)
    near = (*blocks[at + 1 : at + 2], *blocks[max(0, at - 1) : at])
    caption = next((b.text for b in near if b.kind == "caption"), "")
    if table.label:
        return table.label, caption
    for block in near:
        named = _TABLE_LABEL.findall(block.text[-160:] if block in blocks[:at] else block.text[:40])
        if named:
            return f"Table {named[-1]}", block.text[-160:]
    return "", caption
