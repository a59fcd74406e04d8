"""Counts over a table (``in 7 of 9 rows``) and its smallest and largest values, taken again from the cells."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise

from referee.evidence.certify.cells import own_rows, pointed, tables_named
from referee.evidence.certify.figures import ORDINAL, Figure, agree, words_of
from referee.evidence.certify.reading import Grid, GridCell, Reading
from referee.evidence.certify.values import Verdict, grids_of
from referee.evidence.numerals import Numeral

Compared = Callable[[Decimal, Decimal], bool]

_LARGEST = re.compile(r"\b(?:largest|highest|maximum|greatest|biggest|most|top|latest|longest)\b", re.I)
_SMALLEST = re.compile(r"\b(?:smallest|lowest|minimum|least|fewest|weakest|earliest|shortest)\b", re.I)
_COUNT = re.compile(r"\b(?:of|out of)\s+(?:the|its|all|these)?\s*$", re.I)
_RELATIONS: tuple[tuple[str, Compared], ...] = (
    (r"below|under|(?:less|lower|fewer|smaller|worse) than", operator.lt),
    (r"above|over|(?:more|higher|greater|larger|better) than|exceed(?:s|ing)?|beats?", operator.gt),
    (r"at least", operator.ge),
    (r"at most", operator.le),
    (r"(?:ha(?:s|ve|d)|with|shows?|reach(?:es)?|equals?)\b.*\b(?:of|exactly|value)", operator.eq),
)


def counts(text: str, figures: Sequence[Figure], reading: Reading) -> dict[int, Verdict]:
    """Verdicts on the numbers of a statement that count cells or are an extreme value, by their place."""
    return _counted(text, figures, reading) or _extreme(text, figures, reading)


def _counted(text: str, figures: Sequence[Figure], reading: Reading) -> dict[int, Verdict]:
    whole = [i for i, f in enumerate(figures) if not f.number.decimals and not f.number.unit and f.value < 200]
    pairs = [(i, k) for i, k in pairwise(whole)
             if _COUNT.search(text[figures[i].number.end : figures[k].number.start]) and k == i + 1]  # fmt: skip
    count, total = pairs[0] if pairs else (None, None)
    if (
        count is None
        and whole
        and (figures[whole[0]].spelled or text[: figures[whole[0]].number.start].strip() in ("", "Only"))
    ):
        count = whole[0]
    relation = next((r for words, r in _RELATIONS if re.search(rf"\b(?:{words})\b", text, re.I)), None)
    if count is None or relation is None:
        return {}
    limits = [
        f.number for i, f in enumerate(figures) if i not in (count, total) and f.number.unit != ORDINAL and not f.small
    ]
    found = [
        verdict
        for grid in grids_of(text, reading)
        if (verdict := _in_grid(text, figures, count, total, relation, limits, grid, reading))
    ]
    best = next((v for v in found if v.standing == "tied"), found[0] if len(found) == 1 else None)
    told = {} if best is None else {count: best}
    if told and total is not None:
        told[total] = Verdict("incidental")
    return told


def _in_grid(
    text: str, figures: Sequence[Figure], count: int, total: int | None, relation: Compared, limits: list[Numeral],
    grid: Grid, reading: Reading,
) -> Verdict | None:  # fmt: skip
    """The count of one table, where its rows or columns are named well enough to be counted."""
    _, columns = pointed(text, figures, grid, reading)
    height = len({cell.row for cell in grid.cells.values()})
    wanted = figures[count].value
    if total is not None and figures[total].value not in (height, height - 1, height - len(own_rows(grid, reading))):
        return None
    if len(columns) == 1 and len(limits) == 1:
        (column,) = columns
        cells = [c for c in grid.cells.values() if c.column == column]
        held = [c for c in cells if relation(c.numbers[0].value, limits[0].value)]
        if relation is operator.eq and not held:
            return None
    elif len(columns) == 2 and not limits and relation is not operator.eq:
        first, second = _in_order(text, grid, columns, reading)
        pairs = [
            (grid.cells[r, first], grid.cells[r, second])
            for r in grid.rows
            if (r, first) in grid.cells and (r, second) in grid.cells
        ]
        cells = [one for one, _ in pairs]
        held = [one for one, other in pairs if relation(one.numbers[0].value, other.numbers[0].value)]
    else:
        return None
    if len(cells) < 3 or (total is None and grid.label not in tables_named(text) and len(held) != wanted):
        return None
    shown = "; ".join(grid.shown(c) for c in held) or "none"
    if len(held) == wanted or sum(c.row not in own_rows(grid, reading) for c in held) == wanted:
        return Verdict("tied", f"{len(held)} of {len(cells)} cells: {shown}", grid.place, shown, 1.0, True)
    if grid.label not in tables_named(text) and total is None:
        return None
    return Verdict(
        "denied", f"{len(held)} of {len(cells)} cells, not {figures[count].number.text}", grid.place, shown, 1.0, True
    )


def _in_order(text: str, grid: Grid, columns: set[int], reading: Reading) -> tuple[int, int]:
    """The two columns in the order in which the statement names them."""
    places = {w.stem: w.start for w in reversed(words_of(text))}
    one, other = sorted(columns)

    def first(column: int, apart: int) -> int:
        return min((places.get(s, len(text)) for s in grid.columns[column] - grid.columns[apart]), default=len(text))

    at, beside = first(one, other), first(other, one)
    if len(text) in (at, beside):  # one head is part of the other's: it stands where its words come alone
        longer, shorter = (one, other) if grid.columns[one] > grid.columns[other] else (other, one)
        return (
            (longer, shorter)
            if first(longer, shorter) <= min(places.get(s, 0) for s in grid.columns[shorter]) + 40
            else (shorter, longer)
        )
    return (one, other) if at <= beside else (other, one)


def _extreme(text: str, figures: Sequence[Figure], reading: Reading) -> dict[int, Verdict]:
    largest, smallest = _LARGEST.search(text), _SMALLEST.search(text)
    values = [i for i, f in enumerate(figures) if f.number.unit != ORDINAL and not f.small]
    if bool(largest) == bool(smallest) or len(values) != 1:
        return {}
    at, pick = values[0], max if largest else min
    number = figures[at].number
    found: list[Verdict] = []
    for grid in grids_of(text, reading):
        rows, columns = pointed(text, figures, grid, reading)
        if len(grid.columns) == 1 and grid.label not in tables_named(text) and not rows:
            continue
        if len(columns) > 1 or not (columns or grid.label in tables_named(text)):
            continue
        lines = [[c for c in grid.cells.values() if c.column == column] for column in columns or grid.columns]
        ends = [_end(line, pick) for line in lines if len(line) > 2]
        ends += [_end(list(grid.cells.values()), pick)] if not columns and len(grid.cells) > 2 else []
        hit = next((c for c in ends if any(agree(number, n) for n in c.numbers[:1])), None)
        if hit is not None and (not rows or hit.row in rows):
            found.append(Verdict("tied", "that is the extreme value", grid.place, grid.shown(hit), 1.0, True))
        elif ends and (hit or any(agree(number, n) for c in grid.cells.values() for n in c.numbers[:1]) or (
            grid.label in tables_named(text)
            and len(ends) == 1
            and pick((ends[0].numbers[0].value, number.value)) != number.value
        )):  # fmt: skip
            other = hit or ends[-1]
            found.append(
                Verdict(
                    "denied",
                    f"the {'largest' if largest else 'smallest'} is {grid.shown(other)}",
                    grid.place,
                    grid.shown(other),
                    1.0,
                    True,
                )
            )
    best = next((v for v in found if v.standing == "tied"), found[0] if len(found) == 1 else None)
    return {} if best is None else {at: best}


def _end(cells: list[GridCell], pick: Callable[..., GridCell]) -> GridCell:
    return pick(cells, key=lambda c: c.numbers[0].value)
