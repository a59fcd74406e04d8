"""A paper to plant in: its clean text with every sentence, number and cell by its place in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

from rapidfuzz import fuzz, process

from referee.evidence.ledger import LedgerEntry, number_ledger, sentence_spans
from referee.evidence.rules import RuleHit, run_rules
from referee.evidence.rules.labels import Label, labels_of
from referee.evidence.rules.text_vs_table import GridRow
from referee.evidence.stems import STOPWORDS, WORD, stem
from referee.papers.markdown import Written
from referee.schemas.paper import Block, Section
from referee.schemas.planted import Place

_HEADLINE = re.compile(r"\b(?:conclusions?|concluding|summary)\b", re.IGNORECASE)
_READ = frozenset({"abstract", "content", "appendix"})
_PROSE = frozenset({"paragraph", "list", "caption", "footnote"})
EDITED = frozenset({"paragraph", "list"})
_LONGEST = 1500
_GROUPED_FOUR, _GROUPED = re.compile(r"(?<![\d,.])\d,\d{3}(?!\d)"), re.compile(r"(?<![\d,.])\d{1,3},\d{3}(?!\d)")
T = TypeVar("T")
_DUPLICATE = 95.0
_LEAST_DUPLICATE = 40
MOST_PLACES = 1000
"""At most so many places of a kind are looked at: each is compared with the whole text."""


@dataclass(frozen=True)
class Passage:
    """A sentence, a cell or an equation; ``start`` is its offset in the clean text."""

    text: str
    start: int
    section: Section
    block: Block
    place: Place = "prose"

    @property
    def end(self) -> int:
        """Its half-open end."""
        return self.start + len(self.text)

    @property
    def where(self) -> str:
        """How a statement names the place: the table's label, or the section's heading."""
        if self.place == "cell":
            return self.block.label or "the table"
        return f"section {self.section.heading!r}" if self.section.role != "abstract" else "the abstract"

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that carry meaning; numbers are none."""
        return content_stems(self.text)


@dataclass(frozen=True)
class Value:
    """A number of the paper with its place: ``start`` and ``end`` are offsets in the clean text."""

    entry: LedgerEntry
    start: int
    passage: Passage

    @property
    def end(self) -> int:
        """Its half-open end."""
        return self.start + (self.entry.end - self.entry.start)


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text's words of three letters or more that carry meaning."""
    words = (found.group() for found in WORD.finditer(text))
    return frozenset(stem(w) for w in words if len(w) > 2 and not w[0].isdigit() and w.casefold() not in STOPWORDS)


def is_duplicate(text: str, other: str) -> bool:
    """Whether two sentences are so alike (V4: similarity of 95%) that an edit of one must be made in the other."""
    if min(len(text), len(other)) < _LEAST_DUPLICATE or abs(len(text) - len(other)) > 0.1 * len(text):
        return False
    return fuzz.ratio(text, other, score_cutoff=_DUPLICATE) > 0


def spread_over(found: Sequence[T], most: int) -> Sequence[T]:
    """All of them, or so many, evenly spaced."""
    if len(found) <= most:
        return found
    return [found[number * len(found) // most] for number in range(most)]


class Source:
    """What the planter knows of one clean text; everything is found once, when it is first asked for."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.paper = written.paper
        self.text = written.text
        self._alike: dict[str, list[tuple[str, float, int]]] = {}

    def block_passage(self, section: Section, block: Block) -> Passage:
        """A whole block that is no table."""
        place: Place = "equation" if block.kind == "equation" else _place(section)
        return Passage(block.text, self.written.blocks[block.id], section, block, place)

    def cell(self, section: Section, block: Block, row: int, column: int) -> Passage:
        """One cell of a table."""
        return Passage(
            block.cells[row][column], self.written.cells[block.id, row, column], section, block, place="cell"
        )

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Every sentence of prose, captions and lists, in reading order."""
        return tuple(passage for section, block in self._read() for passage in self.sentences(section, block))

    def sentences(self, section: Section, block: Block) -> Iterator[Passage]:
        """The sentences of one block; none of a table, an equation or a figure."""
        if block.kind not in _PROSE or block.id not in self.written.blocks:
            return
        at = self.written.blocks[block.id]
        for start, end in sentence_spans(block.text):
            if end - start <= _LONGEST:
                yield Passage(block.text[start:end], at + start, section, block, _place(section))

    @cached_property
    def edited(self) -> tuple[Passage, ...]:
        """The sentences that may be edited: running text, in which nothing is a caption or a footnote."""
        return tuple(p for p in self.passages if p.block.kind in EDITED)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every measured number, in reading order."""
        return tuple(self._values())

    @cached_property
    def _by_number(self) -> dict[Decimal, list[Value]]:
        found = defaultdict(list)
        for value in self.values:
            found[value.entry.value].append(value)
        return dict(found)

    def places_of(self, number: Decimal) -> Sequence[Value]:
        """Every place of the paper that gives a number."""
        return self._by_number.get(number, ())

    def duplicates_of(self, passage: Passage, most: int) -> list[Passage]:
        """The other sentences that are nearly the same, in reading order; of more than so many one more than that."""
        if len(passage.text) < _LEAST_DUPLICATE:
            return []
        if passage.text not in self._alike:
            self._alike[passage.text] = process.extract(
                passage.text, self._texts, scorer=fuzz.ratio, processor=None, score_cutoff=_DUPLICATE, limit=most + 2
            )
        alike = (self.passages[place] for _, _, place in sorted(self._alike[passage.text], key=lambda one: one[2]))
        return [one for one in alike if one.start != passage.start and is_duplicate(passage.text, one.text)]

    @cached_property
    def _texts(self) -> list[str]:
        return [passage.text for passage in self.passages]

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters of the text."""
        return frozenset(self.text)

    @cached_property
    def least_grouped(self) -> int | None:
        """From how many digits on the text groups whole numbers by commas; None where it does not."""
        if _GROUPED_FOUR.search(self.text):
            return 4
        return 5 if _GROUPED.search(self.text) else None

    def _values(self) -> Iterator[Value]:
        by_id = {block.id: (section, block) for section, block in self._read()}
        sentences = {(p.block.id, p.text): p for p in self.passages}
        for entry in self.ledger:
            section, block = by_id[entry.block_id]
            if entry.source == "cell" and entry.row is not None and entry.column is not None:
                passage = self.cell(section, block, entry.row, entry.column)
                lead = len(passage.text) - len(passage.text.lstrip())
                yield Value(entry, passage.start + lead + entry.start, passage)
            elif (found := sentences.get((entry.block_id, entry.sentence))) is not None:
                yield Value(entry, self.written.blocks[block.id] + entry.start, found)

    @cached_property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """The number ledger of the paper as it is written."""
        return tuple(number_ledger(self.paper))

    @cached_property
    def rows(self) -> tuple[GridRow, ...]:
        """Every named row of the tables."""
        return tuple(GridRow.all_of(list(self.ledger)))

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """Figures, tables and algorithms by their captions."""
        return tuple(labels_of(self.paper))

    @cached_property
    def hits(self) -> tuple[RuleHit, ...]:
        """What the rules say is wrong already."""
        return tuple(run_rules(self.paper))

    @cached_property
    def equations(self) -> tuple[Passage, ...]:
        """Displayed equations."""
        return tuple(self.block_passage(s, b) for s, b in self._read() if b.kind == "equation")

    def block_text(self, passage: Passage) -> str:
        """The whole paragraph of a passage."""
        return passage.block.text

    def _read(self) -> Iterator[tuple[Section, Block]]:
        return ((section, block) for section, block in self.paper.blocks() if section.role in _READ)


def is_headline(section: Section) -> bool:
    """Whether what a section claims is what the paper is remembered for: its abstract or conclusion."""
    return section.role == "abstract" or _HEADLINE.search(section.heading) is not None


def _place(section: Section) -> Place:
    return "abstract" if section.role == "abstract" else "prose"
