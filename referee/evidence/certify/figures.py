"""Numbers of a sentence with the words that go with each: what a statement says, or what a passage of the paper does.

A sentence is cut between two of its numbers at the first sign or word that separates them (comma, ``and``, ``while``,
``against``), so that each number keeps its own words. ``respectively`` gives each number the name at its rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from referee.evidence.numerals import Bound, Numeral, find_numerals, plain
from referee.evidence.stems import STOPWORDS, stem

TOKEN = re.compile(r"[^\W_]+(?:[.’'][^\W_]+)*")
_SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * value
    for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
        ],
        1,
    )
}
ORDINAL = "th"
_SMALL_WORD = 12
_PART = "|".join((*_SMALL, *_SCALES))
_SPELLED = re.compile(
    rf"\b(?!one\b(?!\s*[- ]?(?:hundred|thousand|million)))(?:{_PART})(?:(?:\s*-\s*|\s+)(?:{_PART}))*\b", re.I
)
_RANK = re.compile(rf"(?<!\ba )(?<!\bone )(?<!\btwo )\b(?:{'|'.join(_ORDINALS)})\b(?!\s+of\s+all\b|ly)", re.I)
_SEPARATOR = re.compile(
    r"(?P<weak>\b(?:against|versus|vs|than|compared|instead|or|to|plus)\b)|[;:|)]|,(?!\d)|\b(?:and|but|"
    r"while|whereas)\b",
    re.I,
)
_RESPECTIVELY = re.compile(r"\brespectively\b", re.I)
_NAMES = re.compile(r"(?:,\s*(?:and\s+)?|\s+and\s+)", re.I)
_JOINED = re.compile(r"(?<![\w-])([^\W_]{1,8})-([^\W_]{1,6})(?![\w-]|\.\d)")
_REFERENCE = re.compile(
    r"\b(?:Tables?|Tab\.|Figures?|Figs?\.|Sections?|Secs?\.|Appendix|Appendices|Equations?|Eqs?\.|"
    r"§+)\s*\(?[A-Z]?\d+(?:\.\d+)*[a-z]?\)?"
)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d{2}(?![\d,])|\d\s*[%±])(?<![\d.,]\d{3},)(?<!\d{4},)")
_THOUSANDS = re.compile(r"(?<=\d)[’'](?=\d{3}(?!\d))")
_ADDS_UP = re.compile(r"\b(?:adds?|added|adding|sums?|summed)\s+up\s+to\s+$", re.I)
_UNIT_WORD = re.compile(r"[^\W\d_]{2,}")
OWN_WORDS = frozenset(
    map(
        stem,
        [
            "paper",
            "author",
            "authors",
            "report",
            "reports",
            "reported",
            "reporting",
            "give",
            "given",
            "gives",
            "table",
            "tables",
            "section",
            "state",
            "states",
            "stated",
            "value",
            "values",
            "show",
            "shows",
            "shown",
            "according",
            "say",
            "says",
            "said",
            "list",
            "lists",
            "listed",
            "reach",
            "reaches",
            "reached",
            "get",
            "gets",
            "got",
            "hold",
            "holds",
            "only",
            "still",
            "clear",
            "just",
            "result",
            "results",
            "number",
            "numbers",
            "figure",
            "namely",
            "roughly",
            "about",
            "around",
            "approximately",
            "nearly",
            "almost",
            "text",
            "i.e",
            "e.g",
            "mention",
            "mentions",
            "describe",
            "describes",
        ],
    )
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word that carries meaning: its stem and its place in the text."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its words.

    ``own`` are the stems of its part of the sentence, ``close`` the three before it and the three behind, ``before``
    and ``after`` the nearest ones.
    ``spelled`` marks a number in words. ``part`` is the place of its part of the sentence.
    """

    number: Numeral
    own: frozenset[str]
    close: frozenset[str]
    before: str
    after: str
    spelled: bool
    part: tuple[int, int]

    @property
    def small(self) -> bool:
        """Whether it is a word up to twelve, which may count anything."""
        return self.spelled and self.value <= _SMALL_WORD

    @property
    def value(self) -> Decimal:
        """The number's value."""
        return self.number.value


def words_of(text: str) -> list[Word]:
    """The words of a text that carry meaning, in order; names such as ``F1`` and ``S2ORC`` stay whole."""
    shown = _REFERENCE.sub(lambda found: " " * len(found.group()), plain(text))
    words = [
        Word(_stem(found.group()), *found.span())
        for found in TOKEN.finditer(shown)
        if found.group().casefold() not in STOPWORDS or _is_letter(found.group(), shown[: found.start()])
    ]
    names = (found for found in _JOINED.finditer(shown) if any(map(str.isdigit, found.group())))
    words += (
        Word((found[1] + found[2]).casefold(), *found.span()) for found in names if any(map(str.isalpha, found[1]))
    )
    return sorted(words, key=lambda word: word.start)


def _is_letter(word: str, before: str) -> bool:
    """Whether a letter is a name or part of one (``CLUSTER-T``, ``S. aureus``) rather than an article."""
    return len(word) == 1 and word.isupper() and (word != "A" or before.rstrip()[-1:] not in ("", ".", "!", "?"))


def _stem(word: str) -> str:
    word = re.sub(r"[’']s?$", "", word)
    if word.casefold() in _SMALL:
        return str(_SMALL[word.casefold()])
    return stem(word) if word.isalpha() else word.casefold()


def numbers_in(text: str) -> list[Numeral]:
    """Numbers in digits and in words, and ranks (``sixth``), in order."""
    text = _THOUSANDS.sub(",", text)
    apart = _DECIMAL_COMMA.sub(".", _REFERENCE.sub(lambda one: " " * len(one.group()), text))
    found = [replace(n, bound="") if _ADDS_UP.search(text[: n.start]) else n for n in find_numerals(apart)]
    taken = [(n.start, n.end) for n in found]
    for pattern, read in ((_SPELLED, _spelled), (_RANK, _ranked)):
        for match in pattern.finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                found.append(read(match))
                taken.append(match.span())
    return sorted(found, key=lambda n: n.start)


def is_spelled(number: Numeral) -> bool:
    """Whether a number stands in words."""
    return not any(char.isdigit() for char in number.text)


def _spelled(match: re.Match[str]) -> Numeral:
    total = current = 0
    for part in re.split(r"[\s-]+", match.group().casefold()):
        if part in _SMALL:
            current += _SMALL[part]
        elif part == "hundred":
            current = max(current, 1) * 100
        elif part in _SCALES:
            total, current = total + max(current, 1) * _SCALES[part], 0
    return _made(match, total + current, "")


def _ranked(match: re.Match[str]) -> Numeral:
    return _made(match, _ORDINALS[match.group().casefold()], ORDINAL)


def _made(match: re.Match[str], value: int, unit: str) -> Numeral:
    bound: Bound = ""
    return Numeral(Decimal(value), Decimal(1), 0, unit, bound, match.group(), *match.span())


def figures_in(text: str, numbers: Sequence[Numeral] | None = None) -> list[Figure]:
    """The numbers of one sentence, each with its own words."""
    found = numbers_in(text) if numbers is None else list(numbers)
    words = words_of(text)
    parts = list(_parts(text, found))
    ranked = _by_rank(text, found)
    return [_figure(n, part, words, ranked.get(i)) for i, (n, part) in enumerate(zip(found, parts, strict=True))]


def _parts(text: str, found: Sequence[Numeral]) -> Iterator[tuple[int, int]]:
    """Where each number's part of the sentence begins and ends; parts that nothing separates share their words."""
    start = 0
    for one, other in pairwise(found):
        between = text[one.end : other.start]
        cut = _cut(between)
        yield start, one.end + (len(between) if cut is None else cut)
        start = one.start if cut is None else one.end + cut
    if found:
        yield start, len(text)


def _cut(between: str) -> int | None:
    """Where the words between two numbers part: at the first separator that is not at once behind the first number.

    ``60% against A to 76%`` parts at ``to``; ``, and`` is one separator. None where nothing separates them: the words
    are those of both.
    """
    marks = list(_SEPARATOR.finditer(between))
    if not marks:
        return None
    for at, mark in enumerate(marks):
        if TOKEN.search(between[: mark.start()]) or (not mark["weak"] and at + 1 == len(marks)):
            return mark.end()
        if not mark["weak"] and TOKEN.search(between[mark.end() : marks[at + 1].start()]):
            return mark.end()
    return marks[-1].end() if marks[-1]["weak"] is None or len(marks) == 1 else None


def _by_rank(text: str, found: Sequence[Numeral]) -> dict[int, tuple[frozenset[str], frozenset[str]]]:
    """For ``A and B were 1 and 2, respectively``: per number the stems of its own name, and those of the others."""
    end = _RESPECTIVELY.search(text)
    before = [i for i, n in enumerate(found) if end and n.end <= end.start()]
    run = before[-1:]
    while before and len(run) < len(before):
        previous = run[0] - 1
        gap = text[found[previous].end : found[run[0]].start]
        if previous < 0 or len(gap) > 24 or not re.search(r",|\band\b", gap):
            break
        run.insert(0, previous)
    if len(run) < 2:
        return {}
    head = text[: found[run[0]].start]
    names = _NAMES.split(head)
    if len(names) < len(run):
        return {}
    chosen = [frozenset(w.stem for w in words_of(name)) for name in names[-len(run) :]]
    first, last = words_of(names[-len(run)]), words_of(names[-1])
    chosen[0] = frozenset(w.stem for w in first[-2:])
    chosen[-1] = frozenset(w.stem for w in last[:2])
    every = frozenset().union(*chosen)
    return {i: (own, every - own) for i, own in zip(run, chosen, strict=True)}


def _figure(
    number: Numeral, part: tuple[int, int], words: Sequence[Word], rank: tuple[frozenset[str], frozenset[str]] | None
) -> Figure:
    unit = [Word(_stem(u.group()), number.end, number.end) for u in _UNIT_WORD.finditer(number.text)]
    apart = [w for w in words if not (number.start <= w.start < number.end)]
    inside = [w for w in apart if part[0] <= w.start < part[1]]
    if rank is not None:
        inside = [w for w in apart if w.start < number.start and w.stem not in rank[1]]
    inside = [w for w in inside if "." not in w.stem]
    before = [w for w in inside if w.end <= number.start and not w.stem.isdigit()]
    after = [w for w in inside if w.start >= number.end and not w.stem.isdigit()]
    return Figure(
        number,
        frozenset(w.stem for w in (*inside, *unit)),
        frozenset(w.stem for w in (*before[-3:], *after[:3])) - OWN_WORDS,
        before[-1].stem if before else "",
        after[0].stem if after and after[0].start - number.end <= 2 else "",
        is_spelled(number),
        part,
    )


def agree(one: Numeral, other: Numeral) -> bool:
    """Whether two numbers can be one: at the digits of the coarser, as a fraction and a percentage too.

    A stated bound (``over 28``) or approximation (``about 30``) agrees with what lies near on its side.
    """
    if (one.unit == ORDINAL) != (other.unit == ORDINAL):
        return False
    if _near(one, other.value, other.step):
        return True
    share, part = (one, other) if one.unit == "%" else (other, one)
    if share.unit != "%" or part.unit or part.decimals < 2 or abs(part.value) > 1:
        return False
    scale = Decimal(100) if part is other else Decimal("0.01")
    return _near(one, other.value * scale, other.step * scale)


def printed_alike(one: Numeral, other: Numeral) -> bool:
    """Whether the other number, printed as finely as the one or finer, agrees with it."""
    return other.step <= one.step and agree(one, other)


def _near(one: Numeral, value: Decimal, step: Decimal) -> bool:
    slack = max(one.step, step) / 2
    if abs(abs(one.value) - abs(value)) <= slack:  # a file may have lost a minus sign
        return True
    if one.bound == "~":
        return abs(one.value - value) <= max(one.step, abs(value) / 20)
    if one.bound == ">":
        return one.value <= value <= one.value * Decimal("1.25")
    if one.bound == "<":
        return one.value * Decimal("0.75") <= value <= one.value
    return False
