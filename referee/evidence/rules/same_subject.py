"""Two values for what reads as one quantity, in two sentences.

``a 38.7% reduction in KL divergence on the complex dino dataset`` and, elsewhere, ``a 29.3% reduction in KL divergence
on the complex dino dataset``. Compared are the words beside the two numbers: five in a row on one side must be the same
by stem and name a result, and nearly half of all words of both sentences must be shared. Values that can be one number
after rounding agree. Numbers under different conditions (``s = 0.5``) are different quantities.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.evidence.rules.hits import RuleHit, Sentence, sentence_evidence, sentences_of, shortened
from referee.evidence.stems import STOPWORDS, stem, stems
from referee.schemas.paper import Paper

NAME = "same_subject"

_SIDE = 7
_MIN_RUN = 5
_MIN_ALIKE = 0.45
_MAX_SAME_FRAME = 12
_RESULT_WORDS = (
    "accuracy precision recall error rate loss score reduction increase decrease improvement divergence coverage gain "
    "speedup perplexity auc correlation hazard odds ratio prevalence mortality sensitivity specificity agreement cost "
    "average mean median time latency throughput effect difference drop rise rmse mae bleu rouge"
)
_RESULT = frozenset(map(stem, _RESULT_WORDS.split()))
_CONDITION = re.compile(r"([^\W\d_][\w_]{0,7})\s*=\s*(-?\d[\d.,]*)")
_COUNT_WORDS = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|hundred|first|second|third|"
    r"fourth|fifth|last|smaller|larger|small|large|medium|male|female|men|women|left|right|upper|lower|before|after|train|"
    r"training|test|validation|dev)\b",
    re.IGNORECASE,
)
_OTHERS_WORK = re.compile(
    r"\bet al\b|\[\d+\]|\bprevious(?:ly)?\b|\bprior\b|\bearlier\b|\((?:19|20)\d\d\)", re.IGNORECASE
)


@dataclass(frozen=True)
class _Frame:
    """A number with the stems beside it, nearest first on both sides."""

    numeral: Numeral
    sentence: Sentence
    left: tuple[str, ...]
    right: tuple[str, ...]
    words: frozenset[str]
    conditions: frozenset[str]


def same_subject(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Pairs of sentences that give one quantity two values.

    Args:
        paper: The paper.
        ledger: Not used; the words on each side of a number are read from the sentences.

    Returns:
        At most one hit for each pair of values; a value that is given again and again is compared with the first one.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[_Frame]] = defaultdict(list)
    for sentence in sentences_of(paper):
        for frame in _frames(sentence):
            for key in _keys(frame):
                groups[key].append(frame)
    hits: dict[tuple[str, str], RuleHit] = {}
    for frames in groups.values():
        for second in frames[1:_MAX_SAME_FRAME]:
            first = next((f for f in frames if _conflict(f, second)), None)
            if first is not None and frames.index(first) < frames.index(second):
                hits.setdefault((first.numeral.text, second.numeral.text), _hit(first, second))
    return list(hits.values())


def _frames(sentence: Sentence) -> Iterator[_Frame]:
    shown = plain(sentence.text)
    numerals = list(find_numerals(sentence.text))
    if not numerals or not _is_prose(shown, len(numerals)) or _OTHERS_WORK.search(shown):
        return
    words = frozenset(w for w in stems(shown) if not w[0].isdigit())
    conditions = frozenset(f"{f[1]}={f[2].rstrip('.,')}" for f in _CONDITION.finditer(shown))
    conditions |= frozenset(f.group().casefold() for f in _COUNT_WORDS.finditer(shown))
    edges = [0, *(edge for n in numerals for edge in (n.start, n.end)), len(shown)]
    for i, numeral in enumerate(numerals):
        if not numeral.bound and (numeral.unit in ("%", "x", "pp") or numeral.decimals > 0):
            left = [w for w in stems(shown[edges[2 * i] : numeral.start]) if not w[0].isdigit()][-_SIDE:][::-1]
            right = [w for w in stems(shown[numeral.end : edges[2 * i + 3]]) if not w[0].isdigit()][:_SIDE]
            yield _Frame(numeral, sentence, tuple(left), tuple(right), words, conditions)


def _is_prose(shown: str, numbers: int) -> bool:
    """Whether a sentence is made of words: printouts of programs and rows of figures are not."""
    words = re.findall(r"[A-Za-z]{2,}", shown)
    return len(words) >= 5 * numbers / 2 and sum(w.casefold() in STOPWORDS for w in words) >= 3


def _keys(frame: _Frame) -> Iterator[tuple[str, tuple[str, ...]]]:
    if len(frame.left) >= _MIN_RUN:
        yield "<" + frame.numeral.unit, frame.left[:_MIN_RUN]
    if len(frame.right) >= _MIN_RUN:
        yield ">" + frame.numeral.unit, frame.right[:_MIN_RUN]


def _conflict(first: _Frame, second: _Frame) -> bool:
    a, b = first.numeral, second.numeral
    if first.words == second.words or (first.sentence.block is second.sentence.block):
        return False
    if a.low <= b.high and b.low <= a.high:
        return False
    left, right = _run(first.left, second.left), _run(first.right, second.right)
    shared = {*first.left[:left], *first.right[:right]}
    if max(left, right) < _MIN_RUN or not shared & _RESULT or first.conditions != second.conditions:
        return False
    return len(first.words & second.words) >= _MIN_ALIKE * len(first.words | second.words)


def _run(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """How many stems from the number outwards are the same."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return i
    return min(len(one), len(other))


def _hit(first: _Frame, second: _Frame) -> RuleHit:
    a, b = first.numeral, second.numeral
    claim = f"What reads as one quantity is given as {a.text} and, in another sentence, as {b.text}."
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="contradiction",
        severity="minor",
        evidence=(
            sentence_evidence(first.sentence, "shows", around=(a.start, a.end)),
            sentence_evidence(second.sentence, "contradicts", around=(b.start, b.end)),
        ),
        numbers=(a.text, b.text),
    )
