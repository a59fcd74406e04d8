"""What a quotation must have and agree on before a passage of the paper may stand for it.

What a similar wording must still agree on before it counts as the same passage.

A fuzzy repair would correct the very error under dispute: ``0.81`` for ``0.78``, ``<`` for ``>``, ``increases`` for
``decreases``. So numbers, signs and operators must agree exactly and in order, and negations, words of direction,
one-letter names and words that differ by a negating prefix must agree as sets. All functions take normalised text.

Whether a range of a paper can be quoted as it stands: it cuts no word, no number, and no sign off a number.

Whether a wording is long enough to point at one passage of a paper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Levenshtein

from referee.evidence.passages import Passage

DifferenceKind = Literal["digits", "signs", "negation", "direction", "names"]

_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_WORD_NUMBERS = {word: str(value) for value, word in enumerate(_SMALL)} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
}
_NUMBER = re.compile(
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*|(?<!\w)\.\d+)"
    r"|\b(?P<word>" + "|".join(_WORD_NUMBERS) + r"|half|hundred|thousand|million|billion|twice|double)\b"
)
_OPERATOR = re.compile(r"[=<>≤≥≠≈~±∓×+÷∝≡≪≫∈∉→%‰^√∑∏∫∂∇∞⊂⊆∪∩∧∨¬·]|(?<=[\w)\]])/(?=[\w(\[])|(?<=\w)\*(?=\w)|-")
_NEGATION = re.compile(
    r"n't\b|\b(?:not|cannot|no|never|without|none|neither|nor|hardly|barely|fail|lack)(?=\b|s\b|ed\b)"
)
_DIRECTION = re.compile(
    r"\b(?:(increas|decreas|improv|degrad|reduc|outperform|underperform|worsen|maximi[sz]|minimi[sz])\w*"
    r"|(higher|lower|more|less|fewer|better|worse|best|worst|above|below|greater|smaller|larger|faster|slower|before"
    r"|after|always|rarely|often|sometimes|only|least|most|positive|negative|upper|maximum|minimum|max|min|first"
    r"|second|third|last|true|false|all|every)(?:ly)?\b)"
)
_LONE_LETTER = re.compile(r"(?<![\w'])[^\W\d_](?![\w'])")
_WORD = re.compile(r"[^\W\d_]+")
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "de", "anti", "ab")
_SYMBOL = re.compile(r"[=<>≤≥≠≈~±∓×+÷∝≡≪≫∈∉→^_\\{}√∑∏∫∂∇∞⊂⊆∪∩∧∨¬·*/|]|[\u0370-\u03ff]|\b(?![ai]\b)[^\W\d_]\b")
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing on which two passages disagree; ``quoted`` and ``found`` are empty where one side lacks it."""

    kind: DifferenceKind
    quoted: str
    found: str


def numbers(text: str) -> list[str]:
    """The numbers in order, digits and words alike: ``1,000`` is ``1000``, ``.05`` is ``0.05``, ``three`` is ``3``."""
    return [_number(match) for match in _NUMBER.finditer(text)]


def _number(match: re.Match[str]) -> str:
    word = match["word"]
    if word is not None:
        return _WORD_NUMBERS.get(word, word)
    digits = match["digits"].replace(",", "")
    return "0" + digits if digits.startswith(".") else digits


def operators(text: str, *, mathematics: bool = False) -> list[str]:
    """The signs, relations and operators in order.

    A ``-`` counts where it is a sign, a difference or a range, not where it joins a name (``gpt-4``, ``10-fold``,
    ``t-test``) or stands as a dash between words; in mathematics each one counts.
    """
    return [m.group() for m in _OPERATOR.finditer(text) if m.group() != "-" or mathematics or _is_sign(text, m.start())]


def _is_sign(text: str, at: int) -> bool:
    """Whether the ``-`` at that place is a sign, a difference or a range."""
    left, right = text[max(0, at - 2) : at], text[at + 1 : at + 3]
    if right[:1] in ("", " "):
        operand = text[max(0, at - 3) : at].rstrip()[-2:].strip()
        return operand[-1:].isdigit() or operand[-1:] in (")", "]") or len(operand) == 1
    if (len(left) == 2 and left.isalpha()) or (len(right) == 2 and right.isalpha()):
        return False
    follows = right[:1].isdigit() or (right[:1] == "." and right[1:].isdigit())
    if left[-1:] in ("", " ", "(", "[", ",", "="):  # a sign before a name; "a" and "I" are words
        follows = follows or (right[:1].isalpha() and right[:1] not in "aiI" and not right[1:].isalnum())
    return follows or left[-1:].isalnum() or left[-1:] in (")", "]")


def is_mathematical(text: str) -> bool:
    """Whether at least three, and three in ten, of the tokens are symbols, Greek or one-letter names."""
    symbols = len(_SYMBOL.findall(text))
    return symbols >= 3 and symbols >= 0.3 * max(1, len(_TOKEN.findall(text)))


def first_difference(quoted: str, found: str, *, mathematics: bool = False) -> Difference | None:
    """What two similar passages disagree on, or null where they may stand for each other.

    Args:
        quoted: The quotation, normalised.
        found: The passage of the paper, normalised.
        mathematics: Count every hyphen as a minus sign.

    Returns:
        The first difference in the order digits, signs, negation, direction, names.
    """
    checks: tuple[tuple[DifferenceKind, list[str], list[str]], ...] = (
        ("digits", numbers(quoted), numbers(found)),
        ("signs", operators(quoted, mathematics=mathematics), operators(found, mathematics=mathematics)),
    )
    for kind, left, right in checks:
        if left != right:
            return _in_order(kind, left, right)
    bags: tuple[tuple[DifferenceKind, Counter[str], Counter[str]], ...] = (
        ("negation", _negations(quoted), _negations(found)),
        ("direction", *_directions(quoted, found)),
        ("names", _letters(quoted), _letters(found)),
    )
    for kind, here, there in bags:
        if here != there:
            return Difference(kind, _words(quoted, here - there), _words(found, there - here))
    return _negating_prefix(quoted, found)


def _in_order(kind: DifferenceKind, left: list[str], right: list[str]) -> Difference:
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return Difference(kind, *(side[at] if at < len(side) else "" for side in (left, right)))


def _words(text: str, stems: Iterable[str]) -> str:
    """The words of the text that begin with a stem; the stem itself where it stands inside a word."""
    words = ((stem, re.search(rf"\b{re.escape(stem)}\w*", text)) for stem in stems)
    return " ".join(stem if word is None else word.group() for stem, word in words)


def _negations(text: str) -> Counter[str]:
    return Counter("not" if m in ("n't", "cannot") else m for m in _NEGATION.findall(text))


def _directions(quoted: str, found: str) -> tuple[Counter[str], Counter[str]]:
    """The words of direction that one side has and the other lacks, but for those that it only misspells."""
    here, there = (Counter(m.group(1) or m.group(2) for m in _DIRECTION.finditer(text)) for text in (quoted, found))
    lost, added = here - there, there - here
    if bool(lost) == bool(added):
        return lost, added
    other = _WORD.findall(found if lost else quoted)
    unmatched = Counter(
        {
            stem: n
            for stem, n in (lost or added).items()
            if not _misspelt(_words(quoted if lost else found, {stem}), other)
        }
    )
    return (unmatched, added) if lost else (lost, unmatched)


def _misspelt(word: str, others: list[str]) -> bool:
    return any(Levenshtein.distance(word, other, score_cutoff=2) <= min(2, len(word) // 4) for other in others)


def _letters(text: str) -> Counter[str]:
    return Counter(letter for letter in _LONE_LETTER.findall(text) if letter not in "ai")


def _negating_prefix(quoted: str, found: str) -> Difference | None:
    """``significant`` against ``insignificant``: one word of each side, alike but for a prefix."""
    here, there = set(_WORD.findall(quoted)), set(_WORD.findall(found))
    for word in sorted(here - there):
        for other in sorted(there - here):
            long, short = (word, other) if len(word) > len(other) else (other, word)
            if len(short) > 2 and long.endswith(short) and long[: -len(short)] in _PREFIXES:
                return Difference("negation", word, other)
    return None


_SIGNS_BEFORE = "+-−–±∓<>≤≥≈~∼≠×÷/^*"
_SIGNS_AFTER = ".,:/×*+-–−"


def cuts_nothing(passage: Passage, start: int, end: int) -> bool:
    """Whether a range begins and ends where a reader would begin and end.

    Words are judged on the normalised text, where a line-break hyphen is gone; numbers and signs on the source, where
    ``<0.05`` is one token and ``< 0.05`` two.

    Args:
        passage: The passage that holds the range.
        start: First character, counted in the text of all passages.
        end: One past the last character; greater than ``start``.
    """
    text = passage.normalised.text
    first, last = start - passage.start, end - passage.start
    if first and text[first].isalnum() and text[first - 1].isalnum():
        return False
    if text[last - 1].isalnum() and text[last : last + 1].isalnum():
        return False
    low, high = passage.source_span(start, end)
    source = passage.normalised.source
    before, after = source[max(0, low - 2) : low], source[high : high + 2]
    return _starts_clean(text[first : first + 2], before) and _ends_clean(text[last - 1], after)


def _starts_clean(first: str, before: str) -> bool:
    """Whether nothing that belongs to the first word or number was left outside.

    Args:
        first: The first two characters of the range.
        before: The two characters of the source in front of it.
    """
    previous = before[-1:]
    if first[0] in "+-":
        return not previous.isalnum()
    number = first[0].isdigit() or (first[0] == "." and first[1:].isdigit())
    lone = first[0].isalpha() and not first[1:].isalnum()
    if (number or lone) and previous and previous in _SIGNS_BEFORE:
        return False
    return not (number and (previous.isalnum() or (previous in (".", ",") and before[:1].isdigit())))


def _ends_clean(last: str, after: str) -> bool:
    """Whether nothing that belongs to the last number was left outside; letters are checked by the caller."""
    if not last.isdigit() or not after:
        return True
    if after[0].isalnum() or after[0] in "%‰°^_":
        return False
    return not (after[0] in _SIGNS_AFTER and after[1:].isdigit())


_COUNTED_WORD = re.compile(r"[^\W\d_\u3040-\u9fff\uac00-\ud7af]+|[\u3040-\u9fff\uac00-\ud7af]")
_MATH_SIGN = re.compile(r"[=<>≤≥≠≈~±×+÷∝≡∈→^/√∑∏∫∂∇]")


def shortfall(wording: str) -> str | None:
    """Why a normalised wording cannot serve as a quotation; null where it can."""
    if not any(char.isalnum() for char in wording):
        return "no words in it"
    if not substantial(wording, words=3, letters=12):
        return "too short to be told apart (under three words or twelve letters)"
    return None


def substantial(wording: str, *, words: int, letters: int) -> bool:
    """Whether a wording has enough words and letters, or a number of three characters, or is a formula.

    A character of a script without blanks between words counts as a word.
    """
    characters = sum(char.isalnum() for char in wording)
    if any(char.isdigit() for char in wording):
        return characters >= 3
    if _MATH_SIGN.search(wording):
        return characters >= 3 and len(wording.replace(" ", "")) >= 6
    found = _COUNTED_WORD.findall(wording)
    return len(found) >= words and sum(map(len, found)) >= letters
