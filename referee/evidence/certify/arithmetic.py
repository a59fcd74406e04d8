"""Sums, differences, shares and factors of a statement, computed again from its numbers or the paper's cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations

from referee.evidence.certify.cells import holding, own_rows, pointed, tables_named
from referee.evidence.certify.figures import ORDINAL, OWN_WORDS, Figure, agree
from referee.evidence.certify.reading import Grid, Reading
from referee.evidence.certify.values import Verdict, grids_of, is_change
from referee.evidence.numerals import Bound, Numeral, plain

_TOTAL = re.compile(
    r"\b(?:together|in total|a total|total(?:s|ling)?|sums?|summing|adds? up|adding up|altogether|combined|makes? up|"
    r"in all|amount to|make|makes)\b", re.I
)  # fmt: skip
_TIMES = re.compile(r"^\s*-?(?:times|fold|×|x\b)", re.I)
_FACTOR = re.compile(r"\b(?:factor|ratio)(?: \w+){0,3} (?:of|is|by) (?:only |about |roughly |just )*$", re.I)
_SPELLED_FACTOR = {
    "twice": "2", "double": "2", "doubles": "2", "doubled": "2", "halves": "2", "halved": "2",
    "triple": "3", "triples": "3", "tripled": "3", "thrice": "3", "half as": "2", "half that": "2", "half of that": "2",
    "a third of": "3", "one third of": "3",
    "a quarter of": "4", "one quarter of": "4", "a fifth of": "5", "a tenth of": "10",
}  # fmt: skip
_FACTOR_WORD = re.compile(r"\b(?:" + "|".join(sorted(_SPELLED_FACTOR, key=len, reverse=True)) + r")\b", re.I)
_MORE = re.compile(r"(?:more|greater|larger|higher|over|above|at least|exceed\w*)(?: than)?\s+(?:\w+\s+)?$", re.I)
_LESS = re.compile(
    r"(?:less|fewer|lower|under|below|at most|almost|nearly|not quite|just under)(?: than)?\s+(?:\w+\s+)?$", re.I
)
_TEST = re.compile(r"(?:\b[a-zA-Z]\w{0,2}\s*[=<>≤≥]\s*|[<>≤≥]\s*)$")
_EACH = re.compile(r"\b(?:each|per|an arm|a group|every)\b", re.I)
_OF = re.compile(r"\b(?:of|out of)\b", re.I)
DISPUTED = re.compile(
    r"\b(?:but|although|though|however|whereas|inconsistent\w*|contradict\w*|does not|do not|cannot|don't|"
    r"doesn't|wrong\w*|"
    r"error|mistake\w*|instead|mismatch|disagree\w*|differs?|should be|conflict\w*|incorrect\w*|typo|yet)\b", re.I
)  # fmt: skip


def arithmetic(text: str, figures: Sequence[Figure], reading: Reading) -> dict[int, Verdict]:
    """Verdicts on the numbers of a statement that are results, by their place in ``figures``."""
    found: dict[int, Verdict] = {}
    values = [i for i, f in enumerate(figures) if f.number.unit != ORDINAL and not _TEST.search(text[: f.number.start])]
    results = [i for i in values if _TIMES.match(text[figures[i].number.end :]) or figures[i].number.unit == "x"
               or _FACTOR.search(text[: figures[i].number.start])]  # fmt: skip
    for i in results:
        others = [figures[k].number for k in values if k != i]
        factor = figures[i].number
        if figures[i].spelled:
            factor = _replaced(factor, _bound(text[: factor.start]))
        found |= _told(i, _factor(factor, _pair(others) or _cells(text, figures, reading)))
    changes = [i for i in values if i not in results and is_change(text, figures[i])]
    for i, verdict in _stated(text, figures, values, changes):
        found[i] = verdict
    for i in [i for i in changes if i not in found]:
        rest = [figures[k].number for k in values if k not in changes and k not in results]
        found |= _told(i, _difference(text, figures[i], rest, figures, reading, alone=len(changes) == 1))
    if not changes and not results and not found:
        found |= _share(text, figures, values) or _sum(text, figures, values, reading)
    return found


_BRACKET_PAIR = re.compile(
    r"\(\s*(?:from\s+)?[^()\d]{0,20}[\d.,]+[^()\d]{0,12}?\b(?:against|vs\.?|versus|and|to|compared with|"
    r"compared to|minus|or)\b[^()\d]{0,12}[\d.,]+[^()\d]{0,12}\)"
)
_MINUS = re.compile(r"^\W{0,3}\w{0,12}\s*(minus|plus)\b", re.I)
_GAINS = re.compile(
    r"\b(?:gain|gap|differ\w*|sav\w*|step|brings?|margin|improv\w*|drops?|falls?|rises?|los[et]\w*|costs?|"
    r"lead|advantage|reduc\w*|from\b.*\bto|increas\w*|decreas\w*)\b",
    re.I,
)


def _stated(
    text: str, figures: Sequence[Figure], values: list[int], changes: list[int]
) -> Iterator[tuple[int, Verdict]]:
    """Differences that a statement spells out: ``a minus b is c``, or ``c (a against b)``."""
    for i in values:
        sign = _MINUS.match(text[figures[i].number.end :])
        if sign is not None and i + 2 in values:
            one, other, result = (figures[k].number for k in (i, i + 1, i + 2))
            value = one.value - other.value if sign[1].casefold() == "minus" else one.value + other.value
            fits = abs(value - result.value) <= max(one.step, other.step, result.step) / 2
            shown = f"{_printed(one.value)} {sign[1]} {_printed(other.value)} = {_printed(value)}"
            yield (
                i + 2,
                Verdict(
                    "tied" if fits else "denied",
                    shown if fits else f"{shown}, not {result.text}",
                    "arithmetic",
                    shown,
                    1.0,
                    True,
                ),
            )
            return
    pair = _BRACKET_PAIR.search(text)
    inside = [i for i in values if pair and pair.start() < figures[i].number.start < pair.end()]
    before = [i for i in values if pair and figures[i].number.end <= pair.start() and not figures[i].small]
    if len(inside) != 2 or not before:
        return
    one, other = (figures[i].number for i in inside)
    before = [i for i in before if figures[i].number.unit in ("pp", one.unit)] or before
    chosen = next((i for i in reversed(before) if i in changes), before[-1])
    result = figures[chosen].number
    high, low = max(one.value, other.value), min(one.value, other.value)
    shown = f"{_printed(high)} - {_printed(low)} = {_printed(high - low)}"
    if _is_difference(result, one, other) or _is_total(result, (one, other)):
        yield chosen, Verdict("tied", shown, "arithmetic", shown, 1.0, True)
    elif (
        (chosen in changes or _GAINS.search(text))
        and one.decimals == other.decimals
        and (high - low) / 5 <= abs(result.value) <= (high - low) * 5
        and not (DISPUTED.search(text) or agree(result, one) or agree(result, other))
    ):
        yield chosen, Verdict("denied", f"{shown}, not {result.text}", "arithmetic", shown, 1.0, True)


def spelled_factor(text: str, figures: Sequence[Figure], reading: Reading) -> Verdict | None:
    """The verdict on ``twice`` or ``half``: on the two values that the statement gives, or that its words point at."""
    word = _FACTOR_WORD.search(text)
    if word is None or len(_FACTOR_WORD.findall(text)) > 1:
        return None
    values = [f.number for f in figures if f.number.unit != ORDINAL and not f.small]
    pair = _pair(values) or _cells(text, figures, reading)
    value = Decimal(_SPELLED_FACTOR[word.group().casefold()])
    factor = Numeral(value, Decimal(1), 0, "x", _bound(text[: word.start()]), word.group(), *word.span())
    if (
        word.group().casefold() not in ("twice", "double", "thrice", "triple", "half as", "half that", "half of that")
        and factor.bound in ("<", ">")
    ) or (word.group().casefold().startswith("half") and factor.bound in ("<", ">")):
        factor = _replaced(factor, ">" if factor.bound == "<" else "<")
    return _factor(factor, pair)


def _replaced(n: Numeral, bound: Bound) -> Numeral:
    return Numeral(n.value, n.step, n.decimals, n.unit, bound, n.text, n.start, n.end)


def _bound(before: str) -> Bound:
    if _MORE.search(before):
        return ">"
    return "<" if _LESS.search(before) else "~"


def _told(at: int, verdict: Verdict | None) -> dict[int, Verdict]:
    return {} if verdict is None else {at: verdict}


def _pair(values: Sequence[Numeral]) -> tuple[Numeral, Numeral] | None:
    """Two stated values of one unit, the only ones but for a share of them."""
    if len(values) == 3:
        values = [n for n in values if n.unit != "%"]
    return (values[0], values[1]) if len(values) == 2 and _alike(*values) else None


def _alike(one: Numeral, other: Numeral) -> bool:
    return one.unit == other.unit or {one.unit, other.unit} <= {"", "%", "pp"}


def _factor(factor: Numeral, pair: tuple[Numeral, Numeral] | None) -> Verdict | None:
    if pair is None or factor.value < 1 or not all(n.value for n in pair):
        return None
    low, high = sorted(abs(n.value) for n in pair)
    ratio, wanted = high / low, factor.value
    slack = factor.step if factor.decimals else wanted * Decimal("0.12")
    fits = abs(ratio - wanted) <= slack
    if factor.bound == ">":
        fits = wanted * Decimal("0.99") <= ratio <= wanted * Decimal("1.6")
    if factor.bound == "<":
        fits = wanted * Decimal("0.7") <= ratio <= wanted * Decimal("1.02")
    shown = f"{_printed(high)} / {_printed(low)} = {ratio:.2f}"
    if not fits and (
        not wanted / 3 <= ratio <= wanted * 3 or (not any(n.decimals or n.unit for n in pair) and high < 13)
    ):
        return None
    return Verdict(
        "tied" if fits else "denied", shown if fits else f"{shown}, not {factor.text}", "arithmetic", shown, 1.0, True
    )


def _printed(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _cells(text: str, figures: Sequence[Figure], reading: Reading) -> tuple[Numeral, Numeral] | None:
    """The values of the two rows of one column, or of the two columns of one row, that a statement names."""
    for grid in grids_of(text, reading):
        rows, columns = pointed(text, figures, grid, reading)
        cells = [c for c in grid.cells.values() if c.row in rows and c.column in columns]
        if len(cells) == 2 and 1 in (len(rows), len(columns)):
            return cells[0].numbers[0], cells[1].numbers[0]
    return None


def _difference(
    text: str, figure: Figure, rest: list[Numeral], figures: Sequence[Figure], reading: Reading, *, alone: bool
) -> Verdict | None:
    stated = [n for n in rest if _alike(n, figure.number)]
    if len(stated) == 2 and alone and len(rest) == 2:
        one, other = stated
        high, low = max(one.value, other.value), min(one.value, other.value)
        shown = f"{_printed(high)} - {_printed(low)} = {_printed(high - low)}"
        fits = _is_difference(figure.number, one, other)
        if not fits and (one.decimals != other.decimals or not (high - low) / 5 <= abs(figure.value) <= (high - low) * 5
                         or DISPUTED.search(text)):  # fmt: skip
            return None
        return Verdict(
            "tied" if fits else "denied",
            shown if fits else f"{shown}, not {figure.number.text}",
            "arithmetic",
            shown,
            1.0,
            True,
        )
    if stated and any(_is_difference(figure.number, a, b) for a, b in combinations(stated, 2)):
        return Verdict("tied", "the difference of two stated values", "arithmetic", "", 1.0, True)
    outcomes = [
        _in_grid(text, figure, reading, grid, *pointed(text, figures, grid, reading))
        for grid in grids_of(text, reading)
    ]
    return next((v for v in outcomes if v and v.standing != "denied"), next(filter(None, outcomes), None))


def _is_difference(result: Numeral, one: Numeral, other: Numeral) -> bool:
    plain_one = abs(abs(one.value - other.value) - abs(result.value)) <= max(result.step, one.step, other.step) / 2 + (
        result.step / 100
    )
    if plain_one or (result.bound and agree(result, _numeral(abs(one.value - other.value), result))):
        return True
    if result.unit != "%" or not one.value or not other.value:
        return False
    shares = (abs(one.value - other.value) / abs(base) * 100 for base in (one.value, other.value))
    return any(abs(share - abs(result.value)) <= result.step for share in shares)


def _numeral(value: Decimal, like: Numeral) -> Numeral:
    return Numeral(value, like.step, like.decimals, like.unit, "", str(value), 0, 0)


def _in_grid(
    text: str, figure: Figure, reading: Reading, grid: Grid, rows: set[int], columns: set[int]
) -> Verdict | None:
    """A difference between two cells of a named row or column; denied where no two cells there differ by that much."""
    if not rows:
        return None
    mine = [c for c in grid.cells.values() if c.row in rows and (not columns or c.column in columns)]
    lines = [[c for c in mine if c.column == column] for column in columns or grid.columns] if len(rows) > 1 else []
    if len(rows) > 1 and columns:
        also = [c for c in grid.cells.values() if c.row in own_rows(grid, reading)]
        lines = [[*line, *(c for c in also if c.column == line[0].column and c not in line)] for line in lines if line]
    if len(rows) == 1:
        lines = [mine] if len(columns) != 1 else [[c for c in grid.cells.values() if c.column in columns]]
    pairs = [(a, b) for line in lines for a, b in combinations(line, 2) if a in mine or b in mine]
    for a, b in pairs:
        if _is_difference(figure.number, a.numbers[0], b.numbers[0]):
            return Verdict(
                "tied", "the difference of two cells", grid.place, f"{grid.shown(a)}; {grid.shown(b)}", 1.0, True
            )
    if not pairs or not columns or (len(grid.columns) == 1 and grid.label not in tables_named(text)) or len(rows) > 2:
        return None
    return Verdict("denied", f"no two values of that row or column differ by {figure.number.text}", grid.place,
                   grid.shown(mine[0]), 1.0)  # fmt: skip


def _share(text: str, figures: Sequence[Figure], values: list[int]) -> dict[int, Verdict]:
    """``a of b is p%``, with exactly one percentage and two counts."""
    shares = [i for i in values if figures[i].number.unit == "%"]
    counts = [i for i in values if i not in shares and not figures[i].small]
    if len(shares) != 1 or len(counts) != 2 or not figures[counts[0]].value:
        return {}
    first, second = (figures[i].number for i in counts)
    low, high = sorted((first, second), key=lambda n: n.value)
    between = text[first.end : second.start]
    linked = (
        _OF.search(between) and len(between) < 60
        if first is low
        else (re.search(r"\bof\s+(?:the\s+|all\s+|these\s+|its\s+)*$", text[: first.start], re.I) and len(between) < 90)
    )
    if high.value <= 0 or low.unit != high.unit or not linked:
        return {}
    share, result = low.value / high.value * 100, figures[shares[0]].number
    fits = agree(result, _numeral(share, result)) or abs(share - result.value) <= result.step
    if not fits and (DISPUTED.search(text) or not share / 4 <= result.value <= share * 4):
        return {}
    shown = f"{_printed(low.value)} / {_printed(high.value)} = {share:.1f}%"
    reason = shown if fits else f"{shown}, not {result.text}"
    return {shares[0]: Verdict("tied" if fits else "denied", reason, "arithmetic", shown, 1.0, True)}


def _sum(text: str, figures: Sequence[Figure], values: list[int], reading: Reading) -> dict[int, Verdict]:
    word = _TOTAL.search(text)
    if word is None or not values:
        return {}
    result = max(values, key=lambda i: figures[i].value)
    near = text[word.end() : figures[result].number.start] if word.end() <= figures[result].number.start else (
        text[figures[result].number.end : word.start()])  # fmt: skip
    alike = [i for i in values if _alike(figures[i].number, figures[result].number)]
    parts = [figures[i].number for i in alike if i != result]
    wanted = figures[result].number
    if len(parts) >= 2:
        total = sum((n.value for n in parts), Decimal(0))
        shown = f"{' + '.join(_printed(n.value) for n in parts)} = {_printed(total)}"
        if _is_total(wanted, parts):
            return {result: Verdict("tied", shown, "arithmetic", shown, 1.0, True)}
        subsets = (c for size in range(2, len(parts)) for c in combinations(parts, size)) if len(parts) < 8 else ()
        if any(_is_total(wanted, c) for c in subsets):
            return {result: Verdict("tied", "a sum of stated values", "arithmetic", "", 1.0, True)}
        if (
            (wanted.unit == "%" and total > 100)
            or DISPUTED.search(text)
            or not wanted.value / 2 <= total <= wanted.value * 2
            or len(near) > 40
            or len(parts) > 6
        ):
            return {}
        return {result: Verdict("denied", f"{shown}, not {wanted.text}", "arithmetic", shown, 1.0, True)}
    if len(parts) == 1 and _EACH.search(plain(text)) and parts[0].value > 0:
        times = wanted.value / parts[0].value
        shown = f"{_printed(wanted.value)} / {_printed(parts[0].value)} = {times:.2f}"
        if times == times.to_integral_value():
            return {result: Verdict("tied", shown, "arithmetic", shown, 1.0, True)}
        return (
            {}
            if DISPUTED.search(text)
            else {result: Verdict("denied", f"{shown} is no whole number", "arithmetic", shown, 1.0, True)}
        )
    return _told(result, _of_table(text, wanted, reading) or _of_passage(figures[result], reading))


def _is_total(wanted: Numeral, parts: Sequence[Numeral]) -> bool:
    total = sum((n.value for n in parts), Decimal(0))
    slack = max(wanted.step, *(n.step for n in parts)) / 2 + wanted.step / 100
    return abs(total - wanted.value) <= slack or agree(wanted, _numeral(total, wanted))


def _of_table(text: str, wanted: Numeral, reading: Reading) -> Verdict | None:
    """A total over the whole of a column of a table that the statement names."""
    for grid in reading.grids:
        if grid.label not in tables_named(text):
            continue
        for column in grid.columns:
            cells = [c for c in grid.cells.values() if c.column == column]
            if len(cells) > 1 and _is_total(wanted, [c.numbers[0] for c in cells]):
                return Verdict("tied", "the sum of a column", grid.place, "; ".join(map(grid.shown, cells)), 1.0, True)
        if len(grid.columns) == 1 and holding(grid.cells.values(), wanted) is None:
            cells = list(grid.cells.values())
            total = sum((c.numbers[0].value for c in cells), Decimal(0))
            return Verdict(
                "denied",
                f"the column adds up to {_printed(total)}, not {wanted.text}",
                grid.place,
                "; ".join(map(grid.shown, cells)),
                1.0,
                True,
            )
    return None


def _of_passage(figure: Figure, reading: Reading) -> Verdict | None:
    """A total of numbers of one sentence of the paper that holds the statement's words; never denied."""
    known = {s for s in figure.own - OWN_WORDS if reading.knows(s) and not s.isdigit()}
    for passage in reading.passages:
        if len(known & passage.stems) * 2 <= len(known) or passage.listing:
            continue
        values = [
            f.figure.number
            for f in reading.facts
            if f.passage is passage and f.figure.number.unit == figure.number.unit
        ]
        if len(values) > 8:
            continue
        for size in range(2, len(values) + 1):
            for parts in combinations(values, size):
                if _is_total(figure.number, parts):
                    return Verdict(
                        "tied", f"the sum of {', '.join(n.text for n in parts)}", passage.place, passage.text, 1.0, True
                    )
    return None
