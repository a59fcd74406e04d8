"""Whether the paper holds a number that a statement gives, under the words that the statement gives it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

from referee.evidence.certify.cells import bind, comparable, holding, stands, tables_named
from referee.evidence.certify.figures import ORDINAL, OWN_WORDS, Figure, agree, printed_alike, words_of
from referee.evidence.certify.reading import Fact, Grid, GridCell, Reading
from referee.evidence.numerals import Numeral, plain

Standing = Literal["tied", "found", "denied", "unknown", "incidental"]

_REST = 0.35
_SAME_SENTENCE = 0.6
_STRONG, _ENOUGH = 0.62, 0.55
_MARGIN = 0.72
_MANY_TIMES = 6
_COMPLETE = 0.8
_MOST = 4  # with more numbers in a sentence, which words go with which is a guess
_REST_OF = re.compile(r"\b(?:others?|rest|remaining|competitors)\b", re.I)
_TELLING, _BOTH = 2.0, 1.5


@dataclass(frozen=True)
class Verdict:
    """What became of one number: tied to its place, found without it, denied by a passage, or neither.

    ``words`` is the share of the statement's words about the number that stand at the place; ``computed`` marks a
    result that was computed again.
    ``heads`` of a denial by a table are the words that only the named cell's heads have, and those that only the heads
    of the cell with the number have.
    """

    standing: Standing
    reason: str = ""
    place: str = ""
    passage: str = ""
    words: float = 0.0
    computed: bool = False
    heads: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


UNKNOWN = Verdict("unknown")

_CHANGE = re.compile(
    r"^\s*(?:percent(?:age)?\s+)?(?:points?\s+)?(?:of \w+\s+)?(?:(?!is\b|was\b|are\b|were\b|and\b|but\b|"
    r"of\b)\w+\s+)?(?:higher|lower|better|worse|more|less|fewer|above|"
    r"below|over|ahead|larger|smaller|faster|slower|increase|decrease|gain|drop|improvement|difference|"
    r"gap|margin)\b(?! than one)",
    re.I,
)
_CHANGED_BY = re.compile(
    r"\b(?:by|(?:gap|gain|gains|margin|difference|drop|increase|decrease|improvement|rise|advantage)(?: \w+){0,6} "
    r"(?:of|is|was|only|just)|cost|costs|loses?|lost|adds?|differ)\s+(?:only |just |about |roughly |a mere )*$",
    re.I,
)


def is_change(text: str, figure: Figure) -> bool:
    """Whether a number is worded as a difference rather than as a level."""
    shown, number = plain(text), figure.number
    return bool(_CHANGE.match(shown[number.end : number.end + 60]) or _CHANGED_BY.search(shown[: number.start])) or (
        number.unit == "pp"
    )


def value_verdict(text: str, figures: Sequence[Figure], at: int, whole: frozenset[str], reading: Reading) -> Verdict:
    """The verdict on one number of a statement, by the tables and by the prose of the paper."""
    figure = figures[at]
    change = is_change(text, figure)
    in_cells = UNKNOWN if figure.number.unit == ORDINAL else _by_cells(text, figures, at, whole, reading, change=change)
    if in_cells.standing == "tied":
        return in_cells
    in_prose = _by_prose(text, figures, at, whole, reading)
    crowded = sum(not f.small and f.number.unit != ORDINAL for f in figures) > _MOST
    if crowded or _REST_OF.search(text[figure.part[0] : figure.part[1]]):
        in_cells, in_prose = (UNKNOWN if v.standing == "denied" else v for v in (in_cells, in_prose))
    if in_cells.standing == "denied":
        told = in_prose.standing in ("tied", "found") and in_prose.words >= _STRONG
        here = frozenset(word.stem for word in words_of(in_prose.passage))
        named, other = in_cells.heads
        if other and not any(stands(w, here, reading) for w in named) and any(stands(w, here, reading) for w in other):
            return in_cells
        complete = in_prose.words >= _COMPLETE or all(w in here or not reading.knows(w) for w in figure.close)
        return in_prose if told and complete else in_cells
    if in_prose.standing == "denied":
        return UNKNOWN if in_cells.standing == "found" or change else in_prose
    return in_cells if in_cells.standing == "found" and in_prose.standing != "tied" else in_prose


def _by_cells(
    text: str, figures: Sequence[Figure], at: int, whole: frozenset[str], reading: Reading, *, change: bool
) -> Verdict:
    figure = figures[at]
    loose = denied = UNKNOWN
    for grid in grids_of(text, reading):
        bound = bind(text, figures, at, whole, grid, reading)
        if bound is None:
            continue
        cell = holding(bound.cells, figure.number)
        if cell is not None and bound.sure and not figure.small:
            return Verdict("tied", f"{figure.number.text} stands there", grid.place, grid.shown(cell), 1.0)
        near = cell or holding(bound.loose, figure.number)
        if near is not None and loose is UNKNOWN:
            loose = Verdict("found", f"{figure.number.text} stands there", grid.place, grid.shown(near))
        if not bound.named or change or not bound.cells:
            continue
        if near is None and not all(comparable(figure.number, c) for c in bound.cells):
            continue
        if len(bound.cells) > 2 or figure.small:
            continue
        if near is not None or not _anywhere(figure, reading):
            other = f", where {grid.shown(near)}" if near is not None else ""
            shown = grid.shown(bound.cells[0])
            heads = _apart(grid, bound.cells[0], near) if near is not None else denied.heads
            reason = f"the paper has {shown}, not {figure.number.text}{other}"
            denied = Verdict("denied", reason, grid.place, shown, 1.0, heads=heads)
    return denied if denied is not UNKNOWN else loose


def _apart(grid: Grid, named: GridCell, other: GridCell) -> tuple[frozenset[str], frozenset[str]]:
    one, two = (grid.rows[c.row] | grid.columns[c.column] for c in (named, other))
    return one - two, two - one


def _anywhere(figure: Figure, reading: Reading) -> bool:
    return any(printed_alike(figure.number, value) for value in reading.values)


def _by_prose(text: str, figures: Sequence[Figure], at: int, whole: frozenset[str], reading: Reading) -> Verdict:
    figure = figures[at]
    mine = (figure.own - OWN_WORDS) | ({figure.after} if figure.after else frozenset())
    own = {s: reading.rarity(s) for s in mine if reading.knows(s)}
    rest = {s: reading.rarity(s) * _REST for s in whole - mine - OWN_WORDS if reading.knows(s)}
    unknown = sum(1.0 for s in mine if not reading.knows(s))
    total = sum(own.values()) + sum(rest.values()) * 0.5 + unknown
    if not own or not total:
        return UNKNOWN
    scores: Counter[int] = Counter()
    for weights, part in ((own, True), (rest, False)):
        for word, weight in weights.items():
            for index in reading.by_stem.get(word, ()):
                inside = part and word in reading.facts[index].figure.own
                scores[index] += weight if inside or not part else weight * _SAME_SENTENCE  # type: ignore[assignment]
    same = rival = None
    others = [f for f in figures if f is not figure]
    for index, score in scores.most_common(80):
        fact = reading.facts[index]
        if agree(figure.number, fact.figure.number):
            same = same or (score / total, fact)
        elif (
            rival is None
            and not fact.passage.row
            and _could_be(figure, fact.figure)
            and not any(agree(f.number, fact.figure.number) for f in others)
        ):
            rival = (score / total, fact)
    if same is None:
        found = (i for i, _ in scores.most_common() if agree(figure.number, reading.facts[i].figure.number))
        first = next(found, None)
        same = None if first is None else (scores[first] / total, reading.facts[first])
    return _weighed(text, figure, same, rival, own, others, reading)


def _units_fit(one: Numeral, two: Numeral) -> bool:
    units = {one.unit, two.unit}
    percent = "%" not in units or bool(one.decimals and two.decimals)
    return len(units) == 1 or ("" in units and ORDINAL not in units and percent)


def _could_be(figure: Figure, other: Figure) -> bool:
    """Whether another number plays the same part: unit, size, and a word next to it."""
    one, two = figure.number, other.number
    if not _units_fit(one, two):
        return False
    if one.value and two.value and not 1 / _MANY_TIMES <= abs(one.value / two.value) <= _MANY_TIMES:
        return False
    return (
        bool(figure.close & other.close)
        or bool(figure.after and figure.after == other.after)
        or (len(figure.close & other.own) > 1)
    )


def _weighed(
    text: str,
    figure: Figure,
    same: tuple[float, Fact] | None,
    rival: tuple[float, Fact] | None,
    own: dict[str, float],
    others: Sequence[Figure],
    reading: Reading,
) -> Verdict:
    held, fact = same or (0.0, None)
    against, other = rival or (0.0, None)
    if fact is not None and held >= _STRONG and not fact.passage.row:
        inside = (f for f in reading.facts if f.passage is fact.passage)
        exchanged = next((f for f in inside if _exchanged(figure, fact.figure, f.figure, own, others, reading)), None)
        if exchanged is not None:
            return _denied(figure, exchanged, held)
    if fact is not None and held >= _MARGIN * against:
        tied = held >= _STRONG and bool(figure.close & fact.figure.own) and _nearest(figure, fact, reading)
        return Verdict(
            "tied" if tied else "found",
            f"{figure.number.text} stands there",
            fact.passage.place,
            fact.passage.text,
            held,
        )
    if other is None or held >= _MARGIN * against or (fact is not None and other.passage is fact.passage):
        return UNKNOWN
    if is_change(text, figure) and not is_change(other.passage.text, other.figure):
        return UNKNOWN
    needed = _ENOUGH if _same_part(figure, other.figure) else _STRONG + 0.06
    if against < needed or (figure.small and figure.after != other.figure.after):
        return UNKNOWN
    if _unread(figure, own, reading):
        return UNKNOWN
    if _follows(text, figure.number, [f.number for f in others]) or _follows(
        text, figure.number, [f.figure.number for f in reading.facts if f.passage is other.passage]
    ):
        return Verdict(
            "found", "a sum or difference of numbers there", other.passage.place, other.passage.text, against
        )
    return _denied(figure, other, against)


_TOTALS = re.compile(r"\b(?:together|total\w*|sum\w*|all|altogether|combined|overall|plus|whole|both)\b", re.I)


def _nearest(figure: Figure, fact: Fact, reading: Reading) -> bool:
    """Whether no other number of the sentence has more of a number's words beside it."""

    def beside(other: Figure) -> float:
        return sum(map(reading.rarity, figure.close & other.close))

    own = beside(fact.figure)
    return all(beside(f.figure) <= own for f in reading.facts if f.passage is fact.passage)


def _unread(figure: Figure, own: dict[str, float], reading: Reading) -> bool:
    """Whether a number stands with half of its words in what is no sentence and may be a table that was misread."""
    total = sum(own.values())
    return any(
        sum(weight for word, weight in own.items() if word in stems) * 2 >= total
        and any(printed_alike(figure.number, value) for value in numbers)
        for numbers, stems in reading.unread
    )


_COMPUTES = re.compile(
    r"\b(?:minus|less|remain\w*|difference|gap|left|missing|lost|without|excluding|still|apart|drop\w*)\b", re.I
)


def _follows(text: str, number: Numeral, given: Sequence[Numeral]) -> bool:
    """Whether a number is a sum of numbers of one sentence, or a difference where the statement speaks of one."""
    alike = [n.value for n in given if n.unit == number.unit][:8]
    least = 2 if _TOTALS.search(text) else 3
    sums = (sum(parts) for size in range(least, len(alike) + 1) for parts in combinations(alike, size))
    gaps = (abs(one - other) for one, other in combinations(alike, 2)) if _COMPUTES.search(text) else ()
    return any(abs(number.value - value) <= number.step / 2 for value in chain(sums, gaps))


def _same_part(figure: Figure, other: Figure) -> bool:
    """Whether the word at once before or behind both numbers is the same, or their unit."""
    return (
        (bool(figure.after) and figure.after == other.after)
        or (bool(figure.before) and figure.before == other.before)
        or (bool(figure.number.unit) and figure.number.unit == other.number.unit)
    )


def _exchanged(
    figure: Figure, own: Figure, other: Figure, weights: dict[str, float], others: Sequence[Figure], reading: Reading
) -> bool:
    """Whether a number's words go with another number of the same sentence, and none of them with its own.

    Where the statement gives the other number too, one telling word of each that changed places is enough.
    """
    if own is other or agree(figure.number, other.number) or not _units_fit(figure.number, other.number):
        return False
    if other.small and not figure.small:
        return False
    alike = figure.spelled == other.spelled and _could_be(figure, other)
    if alike and figure.after and figure.after == other.after != own.after and reading.rarity(figure.after) >= _BOTH:
        return not own.number.decimals and not other.number.decimals and not own.number.unit
    theirs = [w for w in figure.close & other.close - own.close if w in weights]
    weight = sum(weights[w] for w in theirs)
    swapped = [f for f in others if agree(f.number, other.number)]
    back = max((sum(map(reading.rarity, f.close & own.close - other.close)) for f in swapped), default=0.0)
    if min(weight, back) >= _BOTH:
        return True
    enough = weight >= (_TELLING if swapped else 2 * _TELLING) and (bool(swapped) or len(theirs) > 1)
    return enough and not figure.close & own.close - other.close and bool(own.close - other.close)


def _denied(figure: Figure, fact: Fact, words: float) -> Verdict:
    return Verdict(
        "denied", f"the paper has {fact.figure.number.text} there, not {figure.number.text}",
        fact.passage.place, fact.passage.text, words,
    )  # fmt: skip


def grids_of(text: str, reading: Reading) -> list[Grid]:
    """The tables that a statement names, or all where it names none."""
    wanted = tables_named(text)
    return [grid for grid in reading.grids if not wanted or grid.label in wanted]
