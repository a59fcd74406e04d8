"""A confidence interval against its estimate and its p value.

``1.21 (95% CI 1.02 to 1.43; p = 0.03)``: the estimate must lie inside, and p below 0.05 must mean that the interval
leaves out no effect (1 for ratios, 0 for differences; only where the sentence names the measure). Rounding of all
numbers is allowed for; p within 0.045 and 0.055 and intervals from resampling decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

NAME = "interval"

_NUMBER = r"[-+]?\d+(?:\.\d+)?|[-+]?\.\d+"
_PATTERN = re.compile(
    rf"(?<![\w.,-])(?P<estimate>{_NUMBER})(?P<unit>\s?%|\s[a-zA-Z]{{1,12}})?\s*[,;]?\s*[(\[;,]?\s*"
    r"(?P<level>9[059])\s*%\s*(?:CI|C\.I\.|confidence (?:interval|limit)s?)\s*(?:\(CI\))?"
    r"\s*(?:of|is|was|from|[:=,])?\s*"
    rf"[(\[]?\s*(?P<low>{_NUMBER})\s*%?(?P<separator>\s*(?:to|and|,|;|–|—)\s*|\s*-\s*)(?P<high>{_NUMBER})\s*%?\s*[)\]]?"
    r"(?:\s*[,;)]*\s*[pP](?:[- ]?value)?\s*(?P<relation>=|<|>)\s*(?P<p>0?\.\d+))?",
)
_NOT_AN_ESTIMATE = re.compile(
    r"(?:\b[pPnNFtz]|\bdf|[χ]2?|P[- ]value)\s*(?:=|<|>|≤|≥)\s*$|\d\s*(?:-|–|to|and)\s*$|±\s*$"
)
_RATIO = re.compile(
    r"\b(?:OR|aOR|HR|aHR|RR|IRR|PR)\b|\b(?:odds|hazards?|risk|rate|prevalence)[- ]ratios?\b|\brelative risk\b"
    r"|d[A-Z]\w*/dS"
)
_DIFFERENCE = re.compile(
    r"\b(?:mean|risk|absolute|standardi[sz]ed mean)\s+differences?\b|\bMD\b|\bSMD\b|β|\bbeta\b|\bregression coefficient"
)
_RESAMPLED = re.compile(
    r"bootstrap|credible|bayes|posterior|percentile|profile|permutation|log[- ]?(?:odds|scale|hazard)", re.IGNORECASE
)
_UNCLEAR_P = (0.045, 0.055)


@dataclass(frozen=True, slots=True)
class _Printed:
    """A printed number and half a unit of its last digit."""

    value: float
    half: float

    @classmethod
    def of(cls, text: str) -> _Printed:
        return cls(float(text), 0.5 * 10.0 ** -len(text.partition(".")[2]))


def interval(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Intervals that leave out their estimate, or contradict the p value beside them.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        One hit an interval, in reading order.
    """
    return [hit for sentence in sentences_of(paper) for hit in _in_sentence(sentence)]


def _in_sentence(sentence: Sentence) -> Iterator[RuleHit]:
    if not re.search(r"CI\b|C\.I\.|confidence", sentence.text):
        return
    shown = plain(sentence.text)
    for found in _PATTERN.finditer(shown):
        if _NOT_AN_ESTIMATE.search(shown[: found.start("estimate")]):
            continue
        estimate, low, high = (_Printed.of(found[name]) for name in ("estimate", "low", "high"))
        if low.value > high.value:
            continue
        if not _inside(estimate, low, high):
            yield _hit(sentence, found, _outside(found))
        elif found["p"] and found["level"] == "95" and not _RESAMPLED.search(sentence.text):
            contradiction = _against_p(found, low, high, shown[: found.start("estimate")])
            if contradiction:
                yield _hit(sentence, found, contradiction)


def _inside(estimate: _Printed, low: _Printed, high: _Printed) -> bool:
    """Whether an estimate can lie in its interval, rounding allowed for."""
    return low.value - low.half - estimate.half <= estimate.value <= high.value + high.half + estimate.half


def _outside(found: re.Match[str]) -> str:
    interval_printed = f"{found['level']}% interval {found['low']} to {found['high']}"
    return f"The estimate {found['estimate']} lies outside its {interval_printed}."


def _against_p(found: re.Match[str], low: _Printed, high: _Printed, lead: str) -> str:
    """The claim where interval and p decide differently about no effect; empty where they agree or say nothing."""
    null = 1.0 if _RATIO.search(lead[-80:]) else 0.0 if _DIFFERENCE.search(lead[-80:]) else None
    if null is None:
        return ""
    p, relation = float(found["p"]), found["relation"]
    significant = p <= 0.05 if relation == "<" else p < _UNCLEAR_P[0] if relation == "=" else False
    not_significant = p >= 0.05 if relation == ">" else p > _UNCLEAR_P[1] if relation == "=" else False
    includes = low.value + low.half < null < high.value - high.half
    excludes = low.value - low.half > null or high.value + high.half < null
    if (significant and includes) or (not_significant and excludes):
        word = "includes" if includes else "leaves out"
        return (
            f"The 95% interval {found['low']} to {found['high']} {word} {null:g}, "
            f"while p {relation} {found['p']} says the opposite about no effect."
        )
    return ""


def _hit(sentence: Sentence, found: re.Match[str], claim: str) -> RuleHit:
    numbers = tuple(found[name] for name in ("estimate", "low", "high", "p") if found[name])
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="statistics",
        severity="minor",
        evidence=(sentence_evidence(sentence, "shows", around=(found.start("estimate"), found.end())),),
        numbers=numbers,
    )
