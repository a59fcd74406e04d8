"""A number of a statement held against the table cell that its words point at: the row and the column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from referee.evidence.certify.figures import ORDINAL, Figure, agree, words_of
from referee.evidence.certify.reading import Grid, GridCell, Reading
from referee.evidence.numerals import Numeral

_NAMED = 0.35
_UNMATCHED, _LENIENT = 0.3, 0.1


@dataclass(frozen=True)
class Bound:
    """Cells that a number can be: those under the row and the column that its words name.

    ``exact``: both were named, one of them in the number's own part of the sentence. ``sure``: a number of these cells
    is the one that is meant, since the statement names nothing nearer. ``loose`` are further cells that a value of the
    statement may come from: the rest of the named row or column. ``named``: the words name one row and column so
    well that another value there denies the statement.
    """

    grid: Grid
    cells: tuple[GridCell, ...]
    loose: tuple[GridCell, ...]
    exact: bool
    sure: bool
    named: bool


def holding(cells: Iterable[GridCell], number: Numeral) -> GridCell | None:
    """The first cell that holds a number; behind ``±`` or in brackets counts too."""
    return next((cell for cell in cells if any(agree(number, value) for value in cell.numbers)), None)


def named(
    heads: dict[int, frozenset[str]], words: frozenset[str], reading: Reading, *, unmatched: float = _UNMATCHED
) -> dict[int, float]:
    """The rows or columns that words name best, with how well; none where no head is named well enough."""
    held = Counter(stem for head in heads.values() for stem in head)
    scores: dict[int, float] = {}
    for at, head in heads.items():
        matched = {stem for stem in head if stands(stem, words, reading)}
        if not matched:
            continue
        weight = sum(1 / held[stem] for stem in matched)
        missed = sum(1 / held[stem] for stem in head - matched)
        scores[at] = weight - unmatched * missed
    best = max(scores.values(), default=0.0)
    if best <= (_NAMED if len(heads) > 1 else 0.0):
        return {}
    return {at: score for at, score in scores.items() if score > best - 0.05}


def _columns(grid: Grid, words: frozenset[str], reading: Reading) -> dict[int, float]:
    """The columns that words name; their heads are long, and a word of them is enough."""
    return named(grid.columns, words, reading, unmatched=_LENIENT)


def _refined(
    heads: dict[int, frozenset[str]], own: frozenset[str], before: frozenset[str], reading: Reading
) -> dict[int, float]:
    """The row that a number's own words and those before it name together: ``on A, x takes 1 and y 2``."""
    held = Counter(stem for head in heads.values() for stem in head)
    shares = {
        row: sum(1 / held[s] for s in matched) / sum(1 / held[s] for s in head)
        for row, head in heads.items()
        if (matched := _matched(head, own, reading))
    }
    best = max(shares.values(), default=0.0)
    likely = {row: heads[row] for row, share in shares.items() if share > max(0.3, best - 0.25)}
    found = named(likely, own | before, reading) if likely else {}
    return found if len(found) == 1 and len(likely) > 1 else {}


def stands(head: str, words: frozenset[str], reading: Reading) -> bool:
    """Whether a word of a head stands among words, also as what it is short for."""
    if head in words:
        return True
    long = reading.short.get(head)
    if long and 2 * len(words.intersection(long)) >= len(long):
        return True
    if 2 < len(head) <= 4 and head.isalpha():
        return any(len(w) > len(head) and w[0] == head[0] and _within(head, w) for w in words)
    return False


def _within(short: str, long: str) -> bool:
    """Whether a word is shortened to its beginning, or to some of its letters with the last (``avg``, ``rel``)."""
    if long.startswith(short):
        return True
    letters = iter(long)
    return len(short) == 3 and short[1] not in "aeiou" and all(letter in letters for letter in short)


def bind(
    text: str, figures: Sequence[Figure], at: int, whole: frozenset[str], grid: Grid, reading: Reading
) -> Bound | None:
    """The cells of one table that a number's words point at; None where neither row nor column is named."""
    if is_listed(text, figures, at):
        return _listed(text, figures, grid, reading)
    own = figures[at].own
    nearest = frozenset(w.stem for w in words_of(_clause(text, figures[at])))
    rows = named(grid.rows, nearest, reading) or named(grid.rows, own, reading)
    columns = _columns(grid, nearest, reading) or _columns(grid, own, reading)
    before = figures[:at]
    if len(rows) != 1:
        told: frozenset[str] = frozenset().union(*(f.own for f in before))
        rows = _refined(grid.rows, own, told, reading) or rows
    mine = bool(rows) + bool(columns)
    sure = bool(rows) or bool(named(grid.rows, frozenset().union(*(f.own for f in before)), reading))
    if not rows and not _hinted(grid.rows, own, reading):
        rows = _inherited(figures, at, grid.rows, reading)
    columns = columns or _inherited(figures, at, grid.columns, reading, _LENIENT) or _columns(grid, whole, reading)
    if len(grid.columns) == 1:
        columns = dict.fromkeys(grid.columns, 1.0)
    if not rows and not columns:
        return None
    along = [c for c in grid.cells.values() if (not rows or c.row in rows) and (not columns or c.column in columns)]
    around = [c for c in grid.cells.values() if c.row in rows or c.column in columns]
    exact = bool(rows) and bool(columns) and mine > 0
    if mine == 0 and columns:
        along = [c for c in around if c.row in own_rows(grid, reading) and c.column in columns]
    likely = exact or (mine == 0 and bool(columns)) or (len(rows) == 1 and not columns)
    well = exact and sure and all(_whole(grid.rows[row], own | whole, grid.rows, reading) for row in rows)
    also = _mentioned(grid, own, rows, reading)
    if any(agree(figures[at].number, n) for c in around if c.row in also and c.column in columns for n in c.numbers):
        well = False
    return Bound(grid, tuple(along), tuple(around), exact, likely, well)


def _clause(text: str, figure: Figure) -> str:
    """The part of a number's words between the nearest commas."""
    start, end = figure.part
    before = text[start : figure.number.start]
    cut = max(before.rfind(mark) for mark in (", ", "; ", ": "))
    return text[start + cut + 1 : end]


def _matched(head: frozenset[str], words: frozenset[str], reading: Reading) -> set[str]:
    return {stem for stem in head if stands(stem, words, reading)}


def _hinted(heads: dict[int, frozenset[str]], words: frozenset[str], reading: Reading) -> bool:
    """Whether words name rows, but not one of them: ``the smaller Llama``."""
    found = [len(_matched(head, words, reading)) for head in heads.values()]
    return sum(map(bool, found)) > 1 and max(found) * 2 >= min(len(heads[row]) for row in heads)


def _whole(head: frozenset[str], words: frozenset[str], heads: dict[int, frozenset[str]], reading: Reading) -> bool:
    """Whether enough of a head is named to hold its row against a statement."""
    held = Counter(stem for one in heads.values() for stem in one)
    matched = _matched(head, words, reading)
    share = sum(1 / held[s] for s in matched) / max(1e-9, sum(1 / held[s] for s in head))
    return share >= 0.6 or (len(matched) > 1 and share >= 0.45)


def _mentioned(grid: Grid, words: frozenset[str], best: Iterable[int], reading: Reading) -> set[int]:
    """The rows that words name at all, by a word that the best ones lack."""
    held = Counter(stem for head in grid.rows.values() for stem in head)
    of_best = frozenset().union(*(grid.rows[row] for row in best))
    return {
        row
        for row, head in grid.rows.items()
        if sum(1 / held[s] for s in _matched(head - of_best, words, reading)) >= 0.3
    }


def _listed(text: str, figures: Sequence[Figure], grid: Grid, reading: Reading) -> Bound | None:
    """The cells that all the words of a statement point at, for ``(83.6 against 84.6)`` and ``from 79.5 to 80.7``."""
    rows, columns = pointed(text, figures, grid, reading)
    if not rows:
        return None
    if len(rows) == 1:
        rows = rows | (own_rows(grid, reading) if len(columns) == 1 else set())
    cells = tuple(c for c in grid.cells.values() if c.row in rows and (not columns or c.column in columns))
    return Bound(
        grid, cells, tuple(c for c in grid.cells.values() if c.row in rows or c.column in columns), False, True, False
    )


def is_listed(text: str, figures: Sequence[Figure], at: int) -> bool:
    """Whether a number stands in brackets with another one, or in ``from … to …``: its part names it no nearer."""
    start, end = figures[at].number.start, figures[at].number.end
    opened, closed = text.rfind("(", 0, start), text.find(")", end)
    if opened >= 0 and closed > 0 and ")" not in text[opened:start] and "(" not in text[end:closed]:
        inside = sum(opened < f.number.start < closed for f in figures)
        if inside > 1:
            return True
    for one, other in pairwise(figures):
        if figures[at] in (one, other) and re.fullmatch(
            r"[^,;.]{0,30}?\s*\b(?:to|versus|vs\.?|against)\s+(?:only |just )?",
            text[one.number.end : other.number.start],
        ):
            return re.search(r"\bfrom\s+(?:\w+\s+)?$", text[: one.number.start]) is not None
    return False


def pointed(text: str, figures: Sequence[Figure], grid: Grid, reading: Reading) -> tuple[set[int], set[int]]:
    """The rows and the columns of a table that the parts of a statement name, each part one."""
    halves = re.split(r"[,;:()]|\b(?:and|but|while|whereas|against|versus|vs|than|over|to)\b", text)
    for figure in figures:
        halves += [text[figure.part[0] : figure.number.start], text[figure.number.end : figure.part[1]]]
    parts = [*(f.own for f in figures), *(frozenset(w.stem for w in words_of(half)) for half in halves)]
    rows = {row for part in parts for row in _only(named(grid.rows, part, reading))}
    columns = {column for part in parts for column in _only(_columns(grid, part, reading))}
    return rows, set(grid.columns) if len(grid.columns) == 1 else columns


def _only(found: dict[int, float]) -> Iterable[int]:
    return found if len(found) <= 2 else ()


def own_rows(grid: Grid, reading: Reading) -> set[int]:
    """The rows that the paper's title names: its own method."""
    held = Counter(stem for head in grid.rows.values() for stem in head)
    return {row for row, head in grid.rows.items() if any(held[s] < 3 and s in reading.title for s in head)}


def _inherited(
    figures: Sequence[Figure],
    at: int,
    heads: dict[int, frozenset[str]],
    reading: Reading,
    unmatched: float = _UNMATCHED,
) -> dict[int, float]:
    """What the parts before name, the nearest first, then those behind."""
    for other in (*reversed(figures[:at]), *figures[at + 1 :]):
        found = named(heads, other.own, reading, unmatched=unmatched)
        if found:
            return found
    return {}


def comparable(number: Numeral, cell: GridCell) -> bool:
    """Whether a number could be a cell's value: of its kind, its unit and its size."""
    value = cell.numbers[0]
    if number.unit == ORDINAL or not value.value or not number.value:
        return False
    ratio = abs(number.value / value.value)
    if number.unit == "%" and value.unit != "%" and abs(value.value) <= 1:
        ratio /= 100
    return Decimal(1) / 4 <= ratio <= 4 and ("" in (number.unit, value.unit) or number.unit == value.unit)


_TABLE = re.compile(r"\b(?:Table|Tab\.)\s*([A-Z]?\d+)", re.IGNORECASE)


def tables_named(text: str) -> set[str]:
    """The tables that a statement names, as their labels."""
    return {f"Table {found.upper()}" for found in _TABLE.findall(text)}
