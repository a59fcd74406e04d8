"""A mean against the number of values it is the mean of, where the values are whole numbers.

The mean of n whole numbers is a whole number over n; with n below 10 to the power of the printed decimals, most printed
means are impossible (the GRIM test of Brown and Heathers 2017). Used only where the paper says that the values are
whole numbers: a variable declared in a set of them (``d in {-1, 0, 1}``), or a single answer on a k-point scale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

NAME = "grim"

_DECLARED = re.compile(
    r"(?P<name>[^\W\d_](?:[\w_]|\s?_\s?\w+){0,11})\s*(?:∈|\bin\b|\bfrom\b)\s*(?:the set\s*)?[({\s]*"
    r"(?P<set>-?\d+(?:\s*,\s*-?\d+){1,9})\s*[)}.,;\s]"
)
_MEAN = re.compile(
    r"\b(?:mean|average)\s+(?:(?:value\s+)?of\s+(?:the\s+|all\s+)?(?P<name>[^\W\d_][\w_ ]{0,14}?)\s+)?"
    r"(?:is|was|equals|of|=)\s*(?P<mean>-?\d+\.\d+)(?!\d|\s*%|\.\d)"
)
_MEAN_SYMBOL = re.compile(r"\bM\s*=\s*(?P<mean>-?\d+\.\d+)(?!\d)")
_COUNT = re.compile(
    r"(?<![\w.,-])(?P<n>\d{1,3})\s+(?:items|participants|respondents|subjects|raters|annotators|examples|questions|students|patients|"
    r"users|samples|responses|people|observations)\b|\b[nN]\s*=\s*(?P<symbol>\d{1,3})(?![\d.,]\d)"
)
_SINGLE_ANSWER = re.compile(
    r"\b(?:single[- ]item|one[- ]item)\b[^.]{0,80}\b(?:\d+|five|seven|ten)[- ]point\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Where the paper says that a variable's values are whole numbers."""

    name: str
    sentence: Sentence
    span: tuple[int, int]


def grim(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Means that no sum of whole numbers gives.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        One hit a mean, in reading order.
    """
    sentences = list(sentences_of(paper))
    declared = [whole for sentence in sentences for whole in _declared(sentence)]
    if not declared:
        return []
    return [hit for sentence in sentences for hit in _in_sentence(sentence, declared)]


def _declared(sentence: Sentence) -> Iterator[_Whole]:
    shown = plain(sentence.text)
    for found in _DECLARED.finditer(shown):
        yield _Whole(_bare(found["name"]), sentence, found.span())
    scale = _SINGLE_ANSWER.search(shown)
    if scale is not None:
        yield _Whole("", sentence, scale.span())


def _bare(name: str) -> str:
    """A symbol without the marks that converters differ in: ``d_{gi}``, ``d_gi`` and ``dgi`` are one."""
    return re.sub(r"[\W_]", "", name)


def _in_sentence(sentence: Sentence, declared: list[_Whole]) -> Iterator[RuleHit]:
    shown = plain(sentence.text)
    counts = {int(found["n"] or found["symbol"]) for found in _COUNT.finditer(shown)}
    if len(counts) != 1:
        return
    n = counts.pop()
    for pattern in (_MEAN, _MEAN_SYMBOL):
        for found in pattern.finditer(shown):
            name = _bare(found.groupdict().get("name") or "")
            whole = next((w for w in declared if w.name == name), None)
            if whole is not None and not possible_mean(found["mean"], n):
                yield _hit(sentence, found, n, whole)


def possible_mean(printed: str, n: int) -> bool:
    """Whether some sum of n whole numbers has the printed mean, however it was rounded (up, down, to the nearest).

    Args:
        printed: The mean as printed; its decimals say how it was rounded.
        n: How many values; at least 1.

    Returns:
        True where a sum exists, and always where n is so large that every printed mean is possible.
    """
    mean, step = Decimal(printed), Decimal(1).scaleb(-len(printed.partition(".")[2]))
    sums = (
        (mean * n).to_integral_value(ROUND_FLOOR),
        (mean * n).to_integral_value(ROUND_CEILING),
    )
    return any(abs(total / n - mean) < step for total in sums)


def _hit(sentence: Sentence, found: re.Match[str], n: int, whole: _Whole) -> RuleHit:
    mean = found["mean"]
    below = (Decimal(mean) * n).to_integral_value(ROUND_FLOOR)
    decimals = len(mean.partition(".")[2])
    nearest = " and ".join(f"{float((below + k) / n):.{decimals}f}" for k in (0, 1))
    claim = f"No {n} whole numbers have the mean {mean}; the nearest possible means are {nearest}."
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="statistics",
        severity="minor",
        evidence=(
            sentence_evidence(sentence, "shows", around=found.span()),
            sentence_evidence(whole.sentence, "contradicts", around=whole.span),
        ),
        numbers=(mean, str(n)),
    )
