"""Parts against their total: the last row of a table that sums the rows above it, and the shares of a split.

A row called total is compared only where all other rows of the column are counts and another column of the same table,
or another total row, does add up: then the table means a sum, and the odd column out is worth a look. A table with one
column is compared only if the sum is off by less than a tenth, since far-off totals are totals of something else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, entry_evidence, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

NAME = "parts_and_total"

_TOTAL = re.compile(r"^\s*(?:grand\s+|over\s?all\s+)?(?:total|sum)s?\s*:?\s*$", re.IGNORECASE)
_SPLIT = re.compile(
    r"(?<![\d/.])(\d{1,2}(?:\.\d+)?)\s*%?\s*/\s*(\d{1,2}(?:\.\d+)?)\s*%?\s*/\s*(\d{1,2}(?:\.\d+)?)\s*%?(?![\d/])"
)
_SPLIT_WORD = re.compile(r"\b(?:split|splits|train\w*|validation|partition\w*)\b", re.IGNORECASE)


def parts_and_total(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Totals that their parts do not add up to.

    Args:
        paper: The paper.
        ledger: Its number ledger.

    Returns:
        Splits first, in reading order, then one hit a table column.
    """
    splits = [hit for sentence in sentences_of(paper) for hit in _splits(sentence)]
    return splits + list(_total_rows(ledger))


def _splits(sentence: Sentence) -> Iterator[RuleHit]:
    if not _SPLIT_WORD.search(sentence.text):
        return
    for found in _SPLIT.finditer(plain(sentence.text)):
        total = sum(map(Decimal, found.groups()), Decimal(0))
        if Decimal(90) <= total <= Decimal(110) and abs(total - 100) > Decimal("0.5"):
            yield RuleHit(
                rule=NAME,
                claim=f"The shares {found.group()} of a split add up to {total}, not to 100.",
                kind="error",
                severity="minor",
                evidence=(sentence_evidence(sentence, "shows", around=found.span()),),
                numbers=(*found.groups(), str(total)),
            )


def _total_rows(ledger: list[LedgerEntry]) -> Iterator[RuleHit]:
    tables: dict[str, dict[int, list[LedgerEntry]]] = defaultdict(lambda: defaultdict(list))
    for entry in ledger:
        if entry.source == "cell" and entry.column is not None and not entry.spread:
            tables[entry.block_id][entry.column].append(entry)
    for columns in tables.values():
        compared = [c for entries in columns.values() if (c := _compared(entries)) is not None]
        right = sum(_adds_up(parts, total) for parts, total in compared)
        for parts, total in compared:
            if not _adds_up(parts, total) and (right > 0 or (len(compared) == 1 and _near(parts, total))):
                yield _hit(parts, total)


def _compared(entries: list[LedgerEntry]) -> tuple[list[LedgerEntry], LedgerEntry] | None:
    """The parts and the total of a column of counts with one value a row; null where it is not one."""
    rows = [entry.row for entry in entries]
    if len(entries) < 4 or len(set(rows)) != len(rows):
        return None
    *parts, total = entries
    if not _TOTAL.match(" ".join(total.row_head)) or any(_TOTAL.match(" ".join(p.row_head)) for p in parts):
        return None
    counts = all(e.unit in ("", "%") and e.value >= 0 and not e.bound for e in entries)
    alike = len({e.unit for e in entries}) == 1 and max(p.value for p in parts) <= total.high
    return (parts, total) if counts and alike and _consecutive(rows) else None


def _consecutive(rows: list[int | None]) -> bool:
    numbers = [row for row in rows if row is not None]
    return numbers == list(range(numbers[0], numbers[0] + len(rows)))


def _adds_up(parts: list[LedgerEntry], total: LedgerEntry) -> bool:
    return sum(p.low for p in parts) <= total.high and total.low <= sum(p.high for p in parts)


def _near(parts: list[LedgerEntry], total: LedgerEntry) -> bool:
    return total.decimals == 0 and abs(sum(p.value for p in parts) - total.value) * 10 < total.value


def _hit(parts: list[LedgerEntry], total: LedgerEntry) -> RuleHit:
    computed = sum((p.value for p in parts), Decimal(0))
    under = " / ".join(total.column_head)
    claim = (
        f"{total.table or 'A table'} gives {total.printed} as the total of the column {under!r}; "
        f"its {len(parts)} rows add up to {computed}."
    )
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="error",
        severity="minor",
        evidence=(entry_evidence(total, "shows"), entry_evidence(parts[0], "contradicts")),
        numbers=(total.printed, str(computed)),
    )
