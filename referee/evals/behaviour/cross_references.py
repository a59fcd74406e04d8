"""Where a review points into the paper: figures, tables, sections, equations, theorems, pages, lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

Bin = Literal["0", "1", "2-5", ">5"]

_B = r"(?<![^\W\d_])"
_NUM = (
    r"(?:\(\s*[1-9]\d{0,3}(?:\.\d+)*[a-z]?\s*\)|[1-9]\d{0,3}(?:\.\d+)*(?:[a-z](?![a-z]))?)"
    r"(?!\.?\d|%)"
)
_NUM2 = r"[1-9]\d?(?![\w.]*\d|%)"
_WORD = (
    r"fig(?:ure)?s?|(?:sub[\s-]?)?sec(?:tion)?s?|eqn?s?|equations?|tab(?:le)?s?|def(?:inition)?s?|theorems?|thms?"
    r"|lem(?:ma)?s?|cor(?:ollar(?:y|ies))?|pages?|lines?"
)
_DATA = r"databases?|data[\s-]?sets?"
_DOT = r"pp?|ll?|s"
_EXTRA = r"alg(?:orithm)?s?|prop(?:osition)?s?|assumptions?|remarks?|claims?|conjectures?|footnotes?|examples?"

CORE = re.compile(
    rf"{_B}(?:(?:(?P<word>{_WORD})\.?|(?P<dot>{_DOT})\.)[\s~]*(?:no\.\s*|\#)?(?P<num>{_NUM})"
    rf"|(?P<data>{_DATA})\s+(?P<num2>{_NUM2}))|§{{1,2}}\s*(?P<num3>{_NUM})",
    re.IGNORECASE,
)
EXT = re.compile(
    rf"{_B}(?P<word>{_EXTRA})\.?[\s~]*(?P<num>{_NUM})"
    rf"|{_B}(?P<app>app(?:endix|endices|\.)?)[\s~]*(?P<letter>(?-i:[A-Z])(?:\.?\d+)*)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[1-9]\d*")
_LAST_KEYWORD = re.compile(rf"(?:{_B}(?:{_WORD}|{_DOT}|{_DATA}|{_EXTRA})|§{{1,2}})\Z", re.IGNORECASE)
_LONGEST_KEYWORD = 16
_BEFORE_NUMBER = "~.#(" + "".join(char for char in map(chr, range(0x3001)) if char.isspace())
_APPENDIX = re.compile(r"[Aa][Pp][Pp]")

_KINDS = {
    **{"fig": "figure", "subsec": "section", "sec": "section", "eq": "equation", "tab": "table", "def": "definition"},
    **{"theorem": "theorem", "thm": "theorem", "lem": "lemma", "cor": "corollary", "page": "page", "line": "line"},
    **{"database": "database", "dataset": "dataset", "alg": "algorithm", "prop": "proposition"},
    **{"assumption": "assumption", "remark": "remark", "claim": "claim", "conjecture": "conjecture"},
    **{"footnote": "footnote", "example": "example", "app": "appendix"},
}
_DOT_KINDS = {"p": "page", "pp": "page", "l": "line", "ll": "line", "s": "section"}
_BETWEEN = re.compile(r"[\s~.\-]+")
_PARENTHESES = re.compile(r"[()\s]")
# Letters that a search without case takes for "i" and "s", and that have no such small letter.
_LOOKALIKES = str.maketrans({"ı": "i", "İ": "i", "ſ": "s"})
_MOST_FEW = 5


class Target(NamedTuple):
    """A part of the paper: its kind, and its number in small letters without parentheses (``4.1``, ``2a``)."""

    kind: str
    number: str


class CrossReferences(NamedTuple):
    """Mentions of parts of the paper, in order; a list or a range ("Figs. 2-4") is one mention, of its first part.

    ``core`` are PRAIB's elements, ``extra`` those its printed expression leaves out (algorithm, appendix, ...).
    """

    core: tuple[Target, ...]
    extra: tuple[Target, ...]

    @property
    def xref(self) -> int:
        """Mentions of PRAIB's elements."""
        return len(self.core)

    @property
    def xref_ext(self) -> int:
        """Mentions of further elements."""
        return len(self.extra)


def cross_references(text: str) -> CrossReferences:
    """All cross-references of a text; PRAIB's corrupted expression in the clean form this project settled on.

    "S1", "W2" and "P 3" are labels of points and no references; nor are years after "dataset".

    What is found are the matches of ``CORE`` and of ``EXT``. They are tried where a keyword stands before a number, or
    "app": looking for them from each character takes seven times as long.
    """
    core: list[Target] = []
    extra: dict[int, Target] = {}
    done = 0
    for start in _keywords(text):
        if start >= done and (found := CORE.match(text, start)):
            core.append(core_target(found))
            done = found.end()
        elif found := EXT.match(text, start):
            extra[start] = extra_target(found)
    for place in _APPENDIX.finditer(text):
        if found := EXT.match(text, place.start()):
            extra[place.start()] = extra_target(found)
    return CrossReferences(tuple(core), tuple(extra[start] for start in sorted(extra)))


def _keywords(text: str) -> Iterator[int]:
    """Where keywords begin that stand before a number."""
    begin = 0
    for number in _NUMBER.finditer(text):
        head = text[begin : number.start()].rstrip(_BEFORE_NUMBER)
        if head[-2:].lower() == "no":
            head = head[:-2].rstrip(_BEFORE_NUMBER)
        if found := _LAST_KEYWORD.search(head, max(0, len(head) - _LONGEST_KEYWORD)):
            yield begin + found.start()
        begin = number.end()


def core_target(found: re.Match[str]) -> Target:
    """The part of the paper that a match of ``CORE`` names."""
    number = _plain(found["num"] or found["num2"] or found["num3"])
    if found["dot"]:
        return Target(_DOT_KINDS[_small(found["dot"])], number)
    return Target(_kind(found["word"] or found["data"] or "section"), number)


def extra_target(found: re.Match[str]) -> Target:
    """The part of the paper that a match of ``EXT`` names."""
    return Target(_kind(found["word"] or found["app"]), _plain(found["num"] or found["letter"]))


def xref_density(xref: int, words: int) -> float | None:
    """Cross-references per 100 words of profile ``words``; null without words."""
    return 100 * xref / words if words else None


def xref_bin(xref: int) -> Bin:
    """PRAIB's bins of the number of cross-references."""
    if xref < 2:
        return "1" if xref else "0"
    return "2-5" if xref <= _MOST_FEW else ">5"


def distinct(targets: Iterable[Target]) -> int:
    """How many different parts are named."""
    return len(set(targets))


@lru_cache(maxsize=4096)
def _kind(word: str) -> str:
    plain = _BETWEEN.sub("", _small(word))
    return next(kind for prefix, kind in _KINDS.items() if plain.startswith(prefix))


def _small(word: str) -> str:
    return word.translate(_LOOKALIKES).lower()


@lru_cache(maxsize=4096)
def _plain(number: str) -> str:
    return _PARENTHESES.sub("", number).lower()
