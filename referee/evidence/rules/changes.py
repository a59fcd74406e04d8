"""Stated changes and sizes against the values beside them.

A stated relative change against the two values it is said to lie between.

Looks for ``from A to B`` (or ``A → B``) with one percentage or factor beside it that is worded as a change. The stated
number passes if any usual reading gives it: relative to either value, as a difference of percentages, as a ratio, or as
a share of the remaining error; rounding of all three numbers is allowed for, and one unit more of the stated one.

One named group with two sizes: ``Broad Institute (n = 435)`` and ``Broad Institute; n = 436``.

Only names of two capitalised words or more that stand directly before the size; the same name with one size in one
paragraph and several in another is a repeated design, so each side must give one size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.evidence.rules.hits import RuleHit, Sentence, figure, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

_FROM = re.compile(r"\bfrom\s+(?:only\s+|an?\s+|the\s+|\w+[’']s\s+)?$", re.IGNORECASE)
_TO = re.compile(r"^\s*(?:[a-zA-Z]+\s+){0,2}(?:(?:down |up )?to|→|->)\s+(?:only\s+|just\s+)?$")
_CHANGE = (
    r"(?:reduc(?:tion|es?|ed|ing)|decreas(?:e[sd]?|ing)|drop(?:s|ped)?|declin(?:es?|ed)|increas(?:e[sd]?|ing)|improv(?:e[sd]?|ement|ing)"
    r"|gains?|rises?|rose|growth|grew|speed-?\s?ups?|savings?|boost(?:s|ed)?|lower(?:s|ed)?|faster|slower|higher|fewer|less|smaller)"
)
_CHANGE_AFTER = re.compile(rf"^\s*\)?\s*(?:relative |absolute |overall |average |total )?{_CHANGE}\b", re.IGNORECASE)
_CHANGE_BEFORE = re.compile(rf"\b{_CHANGE}(?:\s+(?:of|by|is|was|=|amounts? to))\s*(?:an?\s+)?$", re.IGNORECASE)
_OTHER_SUBJECT = re.compile(
    r"\b(?:when|as|if|while|after|rang\w+|var(?:y|ies|ied|ying)|years?|between)\b[^,;:]*$", re.IGNORECASE
)
_GERUND = re.compile(
    r"\b(?:by|going|moving|increasing|decreasing|scaling|raising|changing|switching|extending)\b([^,;:]*)$", re.I
)
_FINITE = re.compile(
    r"\b(?:lowers?|reduces?|improves?|increases?|decreases?|raises?|drops?|falls?|rises?|cuts?|brings?)\b"
)
_REACH = 90


def relative_gain(paper: Paper) -> list[RuleHit]:
    """Stated relative changes that do not follow from their two values.

    Returns:
        One hit a stated change, in reading order.
    """
    return [hit for sentence in sentences_of(paper) for hit in _in_sentence(sentence)]


def _in_sentence(sentence: Sentence) -> Iterator[RuleHit]:
    if "%" not in sentence.text and not re.search(r"fold|times|×|\dx\b", sentence.text):
        return
    shown = plain(sentence.text)
    numerals = list(find_numerals(sentence.text))
    pairs = [(a, b) for a, b in pairwise(numerals) if _is_pair(a, b, shown)]
    for before, after in pairs:
        stated = _stated(before, after, numerals, pairs, shown)
        if stated is not None and not _follows(stated, before, after):
            yield _change_hit(sentence, stated, before, after)


def _is_pair(a: Numeral, b: Numeral, shown: str) -> bool:
    lead = shown[: a.start]
    arrow = re.match(r"^\s*(?:→|->)\s*$", shown[a.end : b.start]) is not None
    if not arrow and not (_FROM.search(lead) and _TO.match(shown[a.end : b.start])):
        return False
    if a.bound or b.bound or a.value <= 0 or b.value <= 0 or _is_year(a) or _is_year(b):
        return False
    clause = re.split(r"[,;:(]\s", lead[:-1])[-1]
    gerund = _GERUND.search(clause)
    return not (_OTHER_SUBJECT.search(clause) or (gerund is not None and not _FINITE.search(gerund[1])))


def _is_year(n: Numeral) -> bool:
    return not n.unit and n.decimals == 0 and 1900 <= n.value <= 2100


def _stated(
    a: Numeral, b: Numeral, numerals: list[Numeral], pairs: list[tuple[Numeral, Numeral]], shown: str
) -> Numeral | None:
    """The one change that is stated beside a pair; null where there is none or a choice."""
    values = {id(n) for pair in pairs for n in pair}
    low = max((q.end for _, q in pairs if q.end <= a.start), default=0)
    high = min((p.start for p, _ in pairs if p.start >= b.end), default=len(shown))
    found = [
        n
        for n in numerals
        if id(n) not in values
        and n.unit in ("%", "x")
        and max(low, a.start - _REACH) <= n.start
        and n.end <= min(high, b.end + _REACH)
        and (_CHANGE_AFTER.search(shown[n.end :]) or _CHANGE_BEFORE.search(shown[: n.start]))
    ]
    return found[0] if len(found) == 1 and not found[0].bound else None


def _follows(stated: Numeral, before: Numeral, after: Numeral) -> bool:
    """Whether any usual reading of the change gives the stated number."""
    corners = [(float(x), float(y)) for x, y in product((before.low, before.high), (after.low, after.high))]
    low, high = float(stated.low - stated.step / 2), float(stated.high + stated.step / 2)
    scale = 100.0 if stated.unit == "%" else 1.0
    for reading in _READINGS:
        try:
            values = [scale * reading(x, y) for x, y in corners]
        except ZeroDivisionError:
            return True
        if min(values) <= high and low <= max(values):
            return True
    return stated.unit == "%" and _is_difference(low, high, corners)


def _is_difference(low: float, high: float, corners: list[tuple[float, float]]) -> bool:
    """A difference of percentages, or of fractions in percent."""
    for scale in (1.0, 100.0):
        values = [scale * abs(x - y) for x, y in corners]
        if min(values) <= high and low <= max(values):
            return True
    return False


def _of_rest(whole: float) -> Callable[[float, float], float]:
    return lambda x, y: abs(x - y) / (whole - x) if whole > x else -1.0


_READINGS: tuple[Callable[[float, float], float], ...] = (
    lambda x, y: abs(x - y) / x,
    lambda x, y: abs(x - y) / y,
    lambda x, y: x / y,
    lambda x, y: y / x,
    _of_rest(1.0),
    _of_rest(100.0),
)


def _change_hit(sentence: Sentence, stated: Numeral, before: Numeral, after: Numeral) -> RuleHit:
    a, b = float(before.value), float(after.value)
    computed = f"{figure(100 * abs(a - b) / a)}%" if stated.unit == "%" else f"a factor of {figure(max(a / b, b / a))}"
    claim = (
        f"A change of {stated.text} is stated beside the values {before.text} and {after.text}; "
        f"from the first to the second they change by {computed}."
    )
    start, end = min(stated.start, before.start), max(stated.end, after.end)
    return RuleHit(
        rule="relative_gain",
        claim=shortened(claim),
        kind="error",
        severity="minor",
        evidence=(sentence_evidence(sentence, "shows", around=(start, end)),),
        numbers=(stated.text, before.text, after.text),
    )


_NAMED = re.compile(
    r"(?P<name>\b[A-Z][\w&-]{2,}(?:\s+(?:of\s+|for\s+|the\s+)?[A-Z][\w&-]{2,})+)\s*[(;,]\s*[nN]\s*=\s*(?P<size>\d{1,3}(?:,\d{3})+|\d+)(?![\d.–-])"
)
_NO_NAMES = re.compile(r"^(?:Figure|Fig|Table|Section|Experiment|Study|Group|Panel|Trial|Cohort|Phase|Stage)\b")


@dataclass(frozen=True, slots=True)
class _Size:
    size: str
    sentence: Sentence
    span: tuple[int, int]


def sample_size(paper: Paper) -> list[RuleHit]:
    """Named groups that are given two sizes.

    Returns:
        At most one hit a name, in reading order.
    """
    sizes: dict[str, list[_Size]] = defaultdict(list)
    for sentence in sentences_of(paper):
        for found in _NAMED.finditer(plain(sentence.text)):
            if not _NO_NAMES.match(found["name"]):
                sizes[" ".join(found["name"].split())].append(
                    _Size(found["size"].replace(",", ""), sentence, found.span())
                )
    return [_size_hit(name, found) for name, found in sizes.items() if _differ(found)]


def _differ(found: list[_Size]) -> bool:
    """Two sizes in two blocks, none of which gives more than one."""
    blocks: dict[int, set[str]] = defaultdict(set)
    for size in found:
        blocks[id(size.sentence.block)].add(size.size)
    return len({s.size for s in found}) == 2 and all(len(given) == 1 for given in blocks.values())


def _size_hit(name: str, found: list[_Size]) -> RuleHit:
    first = found[0]
    second = next(s for s in found if s.size != first.size)
    claim = f"The size of {name!r} is given as n = {first.size} in one place and as n = {second.size} in another."
    return RuleHit(
        rule="sample_size",
        claim=shortened(claim),
        kind="contradiction",
        severity="minor",
        evidence=(
            sentence_evidence(first.sentence, "shows", around=first.span),
            sentence_evidence(second.sentence, "contradicts", around=second.span),
        ),
        numbers=(first.size, second.size),
    )
