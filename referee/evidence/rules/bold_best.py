r"""Bold as the best value against the column's own values.

Only where the paper's cells carry bold marks (``**0.78**``, ``\textbf{0.78}``; PDF text has none) and the caption says
that bold is the best, highest or lowest. In a column with exactly one bold value, no other value may be better in the
direction that the caption, the head's arrow, or the other bold values of the table show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import Numeral, find_numerals
from referee.evidence.rules.hits import RuleHit, quoted, shortened
from referee.evidence.tables import Table, tables_of
from referee.schemas.paper import Paper

NAME = "bold_best"

_BOLD = re.compile(r"^\s*(?:\*\*|__|\\textbf\{|\\mathbf\{|<b>|<strong>|\$\\mathbf\{)")
_BEST = re.compile(
    r"\b(?:best|highest|lowest|largest|smallest|top)\b[^.]{0,60}\bbold|\bbold\w*\b[^.]{0,60}\b(?:best|highest|lowest|largest|smallest|top)\b",
    re.IGNORECASE,
)
_NOT_PLAIN = re.compile(r"closest|signific|second|group|per row|each row|among", re.IGNORECASE)
_HIGH = re.compile(r"↑|\b(?:highest|largest)\b", re.IGNORECASE)
_LOW = re.compile(r"↓|\b(?:lowest|smallest)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Value:
    numeral: Numeral
    row: int
    bold: bool


def bold_best(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Columns whose bold value is not their best one.

    Args:
        paper: The paper.
        ledger: Not used; bold marks are not part of it.

    Returns:
        One hit a column; none for a paper without marks.
    """
    return [hit for table in tables_of(paper) for hit in _in_table(table)]


def _in_table(table: Table) -> Iterator[RuleHit]:
    if not _BEST.search(table.caption) or _NOT_PLAIN.search(table.caption):
        return
    for column in range(table.head_columns, max(map(len, table.block.cells))):
        values = list(_values(table, column))
        bold = [value for value in values if value.bold]
        if len(bold) != 1 or len(values) < 3:
            continue
        head = " ".join(row[column] for row in table.block.cells[: table.head_rows] if column < len(row))
        better = _better(bold[0], values, head + " " + table.caption)
        if better is not None:
            yield _hit(table, bold[0], better, head)


def _values(table: Table, column: int) -> Iterator[_Value]:
    for i, row in enumerate(table.block.cells[table.head_rows :], table.head_rows):
        cell = row[column] if column < len(row) else ""
        bare = re.sub(r"\*\*|__|\\(?:text|math)bf|</?(?:b|strong)>", " ", cell)
        numeral = next(find_numerals(bare), None)
        if numeral is not None:
            yield _Value(numeral, i, _BOLD.match(cell) is not None)


def _better(bold: _Value, values: list[_Value], said: str) -> _Value | None:
    """A value that beats the bold one beyond rounding; with no direction said, one must beat it at either end."""
    above = max(values, key=lambda v: v.numeral.value)
    below = min(values, key=lambda v: v.numeral.value)
    beaten_above = above.numeral.low > bold.numeral.high
    beaten_below = below.numeral.high < bold.numeral.low
    if _HIGH.search(said) and not _LOW.search(said):
        return above if beaten_above else None
    if _LOW.search(said) and not _HIGH.search(said):
        return below if beaten_below else None
    return above if beaten_above and beaten_below else None


def _hit(table: Table, bold: _Value, better: _Value, head: str) -> RuleHit:
    claim = (
        f"{table.label or 'A table'} marks {bold.numeral.text} as the best value of {head.strip()!r}; "
        f"the same column holds {better.numeral.text}."
    )
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="contradiction",
        severity="minor",
        evidence=(
            quoted(table.section, table.block, table.row_text(bold.row), "shows"),
            quoted(table.section, table.block, table.row_text(better.row), "contradicts"),
        ),
        numbers=(bold.numeral.text, better.numeral.text),
    )
