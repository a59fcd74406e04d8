"""Which table and which of its rows a sentence speaks of."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import Numeral, plain
from referee.evidence.rules.hits import Sentence
from referee.schemas.paper import Paper

_TABLE = re.compile(r"\b(?:Table|Tab\.)\s*([A-Z]?\d+)", re.IGNORECASE)
_CHANGE_AFTER = re.compile(
    r"^\s*(?:\(?\w+\)?\s+){0,2}(?:reduction|decrease|drop|increase|improvement|gain|higher|lower|better|worse|faster|"
    r"slower|more|less|fewer|relative|difference|larger|smaller|speed|margin|above|below|over)",
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
