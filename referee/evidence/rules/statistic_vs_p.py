"""A test statistic against its p value: decision errors only.

``t(28) = 2.20, p < .05``; also F, chi-squared, z and r with degrees of freedom, in brackets or as printed subscripts.
Recomputed over the whole range that the rounded statistic can stand for, two-sided; a hit means that statistic and p
lie on different sides of 0.05. Where the paper speaks of one-sided tests, p is also compared halved. Sentences that
speak of resampling are passed over, and so are t, z, r and chi-squared in sentences that speak of corrections or post
hoc tests. After statcheck (Nuijten et al. 2016, Behavior Research Methods 48).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.evidence.ledger import LedgerEntry
from referee.evidence.numerals import plain
from referee.evidence.printed import Statistic, half_digit, recomputed_p
from referee.evidence.rules.hits import RuleHit, Sentence, figure, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

NAME = "statistic_vs_p"
ALPHA = 0.05

_DF = r"\d+(?:,\d{3})*(?:\.\d+)?"
_VALUE = r"(?P<value>[-+]?\s?\d*\.?\d+)"
_P = (
    r"\s*[,;]\s*(?:two[- ](?:tailed|sided)\s+)?[pP](?:[- ]?values?)?\s*(?P<relation>=|<|>|≤|≥|<=|>=)\s*"
    r"(?P<p>0?\.\d+(?:\s*[x×]\s*10\s*\^?\s*-?\s*\d+|[eE]-?\d+)?|\d(?:\.\d+)?\s*[x×]\s*10\s*\^?\s*-\s*\d+|10\s*\^?\s*-\s*\d+)"
)
_TESTS: dict[Statistic, re.Pattern[str]] = {
    "t": re.compile(rf"(?<![\w-])t\s*(?:\(\s*(?P<df>{_DF})\s*\)|_?\s?(?P<sub>\d+(?:\.\d+)?))\s*=\s*{_VALUE}{_P}"),
    "F": re.compile(
        rf"(?<![\w-])F\s*(?:\(\s*(?P<df>\d+(?:\.\d+)?)\s*[,;]\s*(?P<df2>{_DF})\s*\)"
        rf"|_?\s?(?P<sub>\d+)\s*,\s*(?P<sub2>\d+(?:\.\d+)?))\s*=\s*{_VALUE}{_P}"
    ),
    "χ²": re.compile(
        rf"(?:χ|𝜒|\bchi|(?<![\w])X)\s*-?\s*\^?\s*(?:2|²|squared?)?\s*(?:\(\s*(?P<df>\d+)\s*(?:,\s*[nN]\s*=\s*[\d,]+\s*)?\)"
        rf"|_\s?(?P<sub>\d+))\s*=\s*{_VALUE}{_P}"
    ),
    "r": re.compile(rf"(?<![\w-])r\s*\(\s*(?P<df>\d+)\s*\)\s*=\s*{_VALUE}{_P}"),
    "z": re.compile(rf"(?<![\w-])[zZ]\s*=\s*{_VALUE}{_P}"),
}
_RESAMPLED = re.compile(r"greenhouse|huynh|permutation|bootstrap|monte carlo", re.IGNORECASE)
_CORRECTED = re.compile(
    r"bonferroni|holm|\bfdr\b|adjust|correct(?:ed|ion)|tukey|scheff|post[- ]?hoc|multiple (?:test|compar)",
    re.IGNORECASE,
)
_ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)\b|\bdirectional (?:test|hypothes)", re.IGNORECASE)


def statistic_vs_p(paper: Paper, ledger: list[LedgerEntry]) -> list[RuleHit]:
    """Test statistics whose p lies on the other side of 0.05 than the printed one.

    Args:
        paper: The paper.
        ledger: Not used; every rule is called alike.

    Returns:
        One hit a reported test, in reading order.
    """
    sentences = list(sentences_of(paper))
    one_sided = any(_ONE_SIDED.search(sentence.text) for sentence in sentences)
    return [hit for sentence in sentences for hit in _in_sentence(sentence, one_sided=one_sided)]


def _in_sentence(sentence: Sentence, *, one_sided: bool) -> Iterator[RuleHit]:
    if "p" not in sentence.text.casefold() or "=" not in sentence.text or _RESAMPLED.search(sentence.text):
        return
    shown = plain(sentence.text)
    corrected = _CORRECTED.search(shown) is not None
    for test, pattern in _TESTS.items():
        if corrected and test != "F":
            continue
        for found in pattern.finditer(shown):
            significant = _stated_decision(found["relation"], found["p"])
            computed = _p_range(test, found)
            if significant is None or computed is None:
                continue
            low, high = computed
            if one_sided and test in ("t", "r", "z"):
                low /= 2
            if (significant and low > ALPHA) or (not significant and high < ALPHA):
                yield _hit(sentence, found, computed)


def _stated_decision(relation: str, printed: str) -> bool | None:
    """Whether the printed p says significant at 0.05; null where it does not say."""
    p, half = _p_value(printed)
    if relation in ("<", "≤", "<="):
        return True if p <= ALPHA else None
    if relation in (">", "≥", ">="):
        return False if p >= ALPHA else None
    if p + half < ALPHA:
        return True
    return False if p - half > ALPHA else None


def _p_value(printed: str) -> tuple[float, float]:
    """The value of a printed p and half a unit of its last digit."""
    text = re.sub(r"\s", "", printed).replace("×", "x")
    mantissa, _, power = text.partition("x10")
    if not power and text.startswith("10") and ("^" in text or "-" in text):
        return 10.0 ** int(text[2:].lstrip("^")), 0.0
    scale = 10.0 ** int(power.lstrip("^")) if power else 1.0
    if re.search(r"[eE]", mantissa):
        return float(mantissa), 0.0
    return float(mantissa) * scale, half_digit(mantissa) * scale


def _p_range(test: Statistic, found: re.Match[str]) -> tuple[float, float] | None:
    """The least and the greatest p of a statistic that is printed like this; null for impossible values."""
    groups = found.groupdict()
    df, df2 = (_number(groups.get(name) or groups.get(sub)) for name, sub in (("df", "sub"), ("df2", "sub2")))
    return recomputed_p(test, found["value"].replace(" ", ""), df, df2)


def _number(text: str | None) -> float:
    return float(text.replace(",", "")) if text else 0.0


def _hit(sentence: Sentence, found: re.Match[str], computed: tuple[float, float]) -> RuleHit:
    low, high = (figure(p) for p in computed)
    between = f"p = {low}" if low == high else f"p between {low} and {high}"
    statistic, _, stated = " ".join(found.group().split()).rpartition(found["relation"])
    statistic = re.sub(r"\s*[,;]\s*\S*\s*$", "", statistic.strip())
    printed_p = f"p {found['relation']}{stated}"
    claim = f"{statistic} gives {between} (two-sided), on the other side of 0.05 than the stated {printed_p}."
    return RuleHit(
        rule=NAME,
        claim=shortened(claim),
        kind="statistics",
        severity="major",
        evidence=(sentence_evidence(sentence, "shows", around=found.span()),),
        numbers=(found["value"].strip(), found["p"].strip()),
    )
