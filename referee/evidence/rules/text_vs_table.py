"""A value in the text against the table cell that the sentence points at.

Which table and which of its rows a sentence speaks of.

A value in the text against the table cell that the sentence points at.

The sentence must name one row (every part of its head, as a whole name) and a column (every number of its head, and
every longer word or a word that it abbreviates), and hold one value that can be that cell's and no other's: the same
unit, no change, no bound. The table is the one that the paragraph mentions, or the section's only one; else the row's
name must stand in one table only. A hit needs the value to be within a factor of three of the cell and to stand nowhere
else in that row or column, since a sentence may mean a neighbour.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from referee.evidence.ledger import LedgerEntry, number_ledger
from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.evidence.rules.hits import RuleHit, Sentence, entry_evidence, sentence_evidence, sentences_of, shortened
from referee.evidence.stems import STOPWORDS, WORD, stem, stems
from referee.schemas.paper import Paper

_TABLE = re.compile(r"\b(?:Table|Tab\.)\s*([A-Z]?\d+)", re.IGNORECASE)
_CHANGE_AFTER = re.compile(
    r"^\s*(?:\(?\w+\)?\s+){0,2}(?:reduction|decrease|drop|increase|improvement|gain|higher|lower|better|worse|faster|"
    r"slower|more|less|fewer|relative|difference|larger|smaller|speed|margin|above|below|over|confidence|credible|interval|CI\b)",
    re.IGNORECASE,
)
_CHANGE_BEFORE = re.compile(
    r"\b(?:by|(?:reduc\w+|increase|decrease|drop|improvement|gain|gap|difference|margin|level) of|gains?|improves?|"
    r"within|plus|minus|up to|another|additional|further|the|nominal|confidence|from|to)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class GridRow:
    """A body row of a table with its ledger entries; ``distinct_heads``: its columns differ in their lowest head."""

    block_id: str
    table: str
    section_id: str
    head: tuple[str, ...]
    entries: tuple[LedgerEntry, ...]
    distinct_heads: bool

    @staticmethod
    def all_of(ledger: list[LedgerEntry]) -> list[GridRow]:
        """Every body row with a name, in reading order."""
        grouped: dict[tuple[str, int], list[LedgerEntry]] = defaultdict(list)
        heads: dict[str, dict[int, str]] = defaultdict(dict)
        for entry in ledger:
            if entry.source == "cell" and entry.row is not None and entry.column is not None:
                grouped[entry.block_id, entry.row].append(entry)
                heads[entry.block_id][entry.column] = entry.column_head[-1] if entry.column_head else ""
        return [
            GridRow(
                block_id=block,
                table=entries[0].table or block,
                section_id=entries[0].section_id,
                head=entries[0].row_head,
                entries=tuple(entries),
                distinct_heads=len(set(heads[block].values())) == len(heads[block]),
            )
            for (block, _), entries in grouped.items()
            if any(char.isalpha() for part in entries[0].row_head for char in part)
        ]


def candidate_tables(paper: Paper, sentence: Sentence, rows: list[GridRow]) -> set[str]:
    """Tables that a sentence can speak of: named in it, or before in its paragraph, or its section's only one."""
    known = {row.table for row in rows}
    own = named_tables(sentence.text)
    before = named_tables(sentence.block.text[: sentence.start])
    for named in (own, before):
        if named:
            return named & known
    here = {row.table for row in rows if row.section_id == sentence.section.id}
    return here if len(here) == 1 else set()


def named_tables(text: str) -> set[str]:
    """The tables that a text names, as their labels."""
    return {f"Table {found[1]}" for found in _TABLE.finditer(plain(text))}


def named_rows(text: str, rows: list[GridRow]) -> list[GridRow]:
    """Rows all of whose names stand in the text, not as part of a longer row's name."""
    shown = plain(text).casefold()
    spans: dict[int, list[tuple[int, int]]] = {}
    for i, row in enumerate(rows):
        found = [_name_spans(shown, part) for part in row.head]
        if found and all(found):
            spans[i] = [span for part in found for span in part]
    return [rows[i] for i in spans if not any(_covered(spans[i], spans[k]) for k in spans if k != i)]


def _name_spans(shown: str, name: str) -> list[tuple[int, int]]:
    wanted = " ".join(plain(name).casefold().split())
    if not any(char.isalpha() for char in wanted) or len(wanted) < 3:
        return []
    pattern = re.escape(wanted).replace(r"\ ", r"\s+")
    return [found.span() for found in re.finditer(rf"(?<![\w-]){pattern}(?![\w]|-\w)", shown)]


def _covered(own: list[tuple[int, int]], other: list[tuple[int, int]]) -> bool:
    """Whether every place of a name lies inside a longer name's place."""
    return all(any(a <= low and high <= b and (b - a) > (high - low) for a, b in other) for low, high in own)


def is_change(text: str, n: Numeral) -> bool:
    """Whether a number of a sentence is worded as a change, a distance or a bound rather than as a level."""
    shown = plain(text)
    return _CHANGE_AFTER.search(shown[n.end :]) is not None or _CHANGE_BEFORE.search(shown[: n.start]) is not None


_NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
    "eighty": "80", "hundred": "100",
}  # fmt: skip
_HEAD_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CONTRAST = re.compile(
    r"\b(?:vs\.?|versus|against|compared|instead of|rather than|whereas|while|except|other|remaining)\b", re.IGNORECASE
)


def text_vs_table(paper: Paper) -> list[RuleHit]:
    """Values in sentences that differ from the cell which the sentence names.

    Returns:
        One hit a cell that a sentence names, in reading order.
    """
    rows = GridRow.all_of(number_ledger(paper))
    return [hit for s in sentences_of(paper) if s.block.kind != "caption" for hit in _in_sentence(paper, s, rows)]


def _in_sentence(paper: Paper, sentence: Sentence, rows: list[GridRow]) -> Iterator[RuleHit]:
    if _CONTRAST.search(sentence.text):
        return
    tables = candidate_tables(paper, sentence, rows)
    named = named_rows(sentence.text, [row for row in rows if row.table in tables or not tables])
    if len(named) != 1:
        return
    row = named[0]
    cells = [entry for entry in row.entries if not entry.spread and _names_column(sentence.text, entry, row)]
    # Where no table is named, a bare whole number is too likely to count something else.
    whole = bool(named_tables(sentence.block.text))
    values = [n for n in find_numerals(sentence.text) if whole or n.decimals or n.unit == "%"]
    fitting = {id(cell): [n for n in values if _can_be(n, cell, sentence.text)] for cell in cells}
    for cell in cells:
        if len(fitting[id(cell)]) != 1:
            continue
        value = fitting[id(cell)][0]
        rivals = [other for other in cells if value in fitting[id(other)]]
        if len(rivals) == 1 and not _fits(value, cell, _neighbours(rows, row, cell)):
            yield _hit(sentence, value, cell)


def _fits(value: Numeral, cell: LedgerEntry, neighbours: list[LedgerEntry]) -> bool:
    """Whether a value agrees with the cell or one of its neighbours."""
    return any(same_number(value, entry) for entry in (cell, *neighbours))


def _neighbours(rows: list[GridRow], row: GridRow, cell: LedgerEntry) -> list[LedgerEntry]:
    """The cells of the cell's row and column, itself among them."""
    column = [e for r in rows if r.block_id == row.block_id for e in r.entries if e.column == cell.column]
    return [*row.entries, *column]


def _names_column(text: str, entry: LedgerEntry, row: GridRow) -> bool:
    """Whether the sentence holds every number and every word of a column's head; one-letter symbols may be missing."""
    shown = plain(text)
    numbers = {n.replace(",", "") for n in re.findall(r"\d[\d,]*(?:\.\d+)?", shown)}
    numbers |= {_NUMBER_WORDS[w.casefold()] for w in re.findall(r"[A-Za-z]+", shown) if w.casefold() in _NUMBER_WORDS}
    words = set(stems(shown))
    heads = entry.column_head[-1:] if row.distinct_heads else entry.column_head
    wanted_numbers = {n for head in heads for n in _HEAD_NUMBER.findall(plain(head))}
    wanted = [w for head in heads for w in WORD.findall(plain(head)) if not w[0].isdigit()]
    longer = {stem(w) for w in wanted if len(w) > 1 and w.casefold() not in STOPWORDS}
    if not wanted_numbers and not longer:
        return False
    return {_trimmed(n) for n in wanted_numbers} <= {_trimmed(n) for n in numbers} and all(
        word in words or (len(word) > 2 and any(w.startswith(word) for w in words)) for word in longer
    )


def _trimmed(number: str) -> Decimal:
    return Decimal(number.replace(",", "").rstrip(".") or "0").normalize()


def _can_be(n: Numeral, cell: LedgerEntry, text: str) -> bool:
    """Whether a number of the sentence can be a value of the cell's kind."""
    if n.bound or is_change(text, n) or n.text in " ".join((*cell.row_head, *cell.column_head)):
        return False
    heads = {_trimmed(h) for head in cell.column_head for h in _HEAD_NUMBER.findall(plain(head))}
    if n.value.normalize() in heads:
        return False
    if not _comparable(n, cell):
        return False
    percent = n.unit == "%"
    if cell.unit == "%":
        return percent
    if percent:
        return cell.unit == "" and (cell.value <= 1 or cell.decimals > 0)
    return n.unit == cell.unit and (n.decimals > 0) == (cell.decimals > 0)


def same_number(n: Numeral, cell: Numeral) -> bool:
    """Whether both can be one number, also as fraction and percentage, up to one unit of the coarser."""
    for scale in (Decimal(1), Decimal(100), Decimal("0.01")):
        if n.low - n.step / 2 <= cell.high * scale and cell.low * scale <= n.high + n.step / 2:
            return True
    return False


def _comparable(n: Numeral, cell: LedgerEntry) -> bool:
    scaled = cell.value * 100 if n.unit == "%" and cell.value <= 1 else cell.value
    return n.value > 0 and scaled > 0 and scaled / 3 <= n.value <= scaled * 3


def _hit(sentence: Sentence, value: Numeral, cell: LedgerEntry) -> RuleHit:
    under = ", ".join((*cell.row_head, *cell.column_head[-1:]))
    claim = f"The text gives {value.text} where {cell.table or 'the table'} has {cell.text} ({under})."
    return RuleHit(
        rule="text_vs_table",
        claim=shortened(claim),
        kind="contradiction",
        severity="major",
        evidence=(
            sentence_evidence(sentence, "shows", around=(value.start, value.end)),
            entry_evidence(cell, "contradicts"),
        ),
        numbers=(value.text, cell.text),
    )
