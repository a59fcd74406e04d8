"""Printed statistics against what can be recomputed from them: p values, means of whole numbers.

What printed statistics say about each other, each of them rounded to its last printed digit.

A test statistic against its p value: decision errors only.

``t(28) = 2.20, p < .05``; also F, chi-squared, z and r with degrees of freedom, in brackets or as printed subscripts.
Recomputed over the whole range that the rounded statistic can stand for, two-sided; a hit means that statistic and p
lie on different sides of 0.05. Where the paper speaks of one-sided tests, p is also compared halved. Sentences that
speak of resampling are passed over, and so are t, z, r and chi-squared in sentences that speak of corrections or post
hoc tests. After statcheck (Nuijten et al. 2016, Behavior Research Methods 48).

A mean against the number of values it is the mean of, where the values are whole numbers.

The mean of n whole numbers is a whole number over n; with n below 10 to the power of the printed decimals, most printed
means are impossible (the GRIM test of Brown and Heathers 2017). Used only where the paper says that the values are
whole numbers: a variable declared in a set of them (``d in {-1, 0, 1}``), or a single answer on a k-point scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

from referee.evidence.numerals import plain
from referee.evidence.rules.hits import RuleHit, Sentence, figure, sentence_evidence, sentences_of, shortened
from referee.schemas.paper import Paper

Statistic = Literal["t", "F", "χ²", "r", "z"]


def recomputed_p(test: Statistic, printed: str, df: float = 0, df2: float = 0) -> tuple[float, float] | None:
    """The least and the greatest p of a test statistic that is printed like this.

    Args:
        test: The statistic; t, r and z are taken two-sided, F and chi-squared by their upper tail.
        printed: Its printed value, whose decimals say how it was rounded; the sign does not matter.
        df: Degrees of freedom (of r: n - 2; of F: the numerator's); none for z.
        df2: Those of F's denominator.

    Returns:
        Two probabilities; None where no test gives such a value.
    """
    value, half = abs(float(printed)), half_digit(printed)
    if (test != "z" and df <= 0) or (test == "F" and df2 <= 0) or value > 1e6 or (test == "r" and value > 1):
        return None
    high, low = (_p(test, max(0.0, value + sign * half), df, df2) for sign in (-1, 1))
    return low, high


def half_digit(printed: str) -> float:
    """Half a unit of a printed number's last digit: 0.005 for ``3.40``."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def _p(test: Statistic, value: float, df: float, df2: float) -> float:
    if test == "z":
        return math.erfc(value / math.sqrt(2))
    from scipy import special  # a third of a second of imports, and few papers print such a statistic

    if test == "F":
        return float(special.fdtrc(df, df2, value))
    if test == "χ²":
        return float(special.chdtrc(df, value))
    t = value if test == "t" else value * math.sqrt(df / (1 - value * value)) if value < 1 else math.inf
    return float(2 * special.stdtr(df, -t))


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


def statistic_vs_p(paper: Paper) -> list[RuleHit]:
    """Test statistics whose p lies on the other side of 0.05 than the printed one.

    Returns:
        One hit a reported test, in reading order.
    """
    sentences = list(sentences_of(paper))
    one_sided = any(_ONE_SIDED.search(sentence.text) for sentence in sentences)
    return [hit for sentence in sentences for hit in _tests_in(sentence, one_sided=one_sided)]


def reported_tests(text: str) -> Iterator[tuple[Statistic, re.Match[str]]]:
    """Every test statistic of a text with its p value: groups ``value``, ``relation`` and ``p`` have their places."""
    shown = plain(text)
    for test, pattern in _TESTS.items():
        for found in pattern.finditer(shown):
            yield test, found


def contradicts_p(test: Statistic, found: re.Match[str]) -> bool:
    """Whether a statistic and its p value cannot both be printed so, wherever 0.05 lies between them."""
    computed = p_range(test, found)
    if computed is None:
        return True
    p, half = _p_value(found["p"])
    if found["relation"] in ("<", "≤", "<="):
        return computed[0] > p + half
    if found["relation"] in (">", "≥", ">="):
        return computed[1] < p - half
    return computed[0] > p + half or computed[1] < p - half


def decision_of(found: re.Match[str]) -> bool | None:
    """Whether the printed p says significant at 0.05; null where it does not say."""
    return _stated_decision(found["relation"], found["p"])


def _tests_in(sentence: Sentence, *, one_sided: bool) -> Iterator[RuleHit]:
    if "p" not in sentence.text.casefold() or "=" not in sentence.text or _RESAMPLED.search(sentence.text):
        return
    shown = plain(sentence.text)
    corrected = _CORRECTED.search(shown) is not None
    for test, found in reported_tests(sentence.text):
        if corrected and test != "F":
            continue
        significant = decision_of(found)
        computed = p_range(test, found)
        if significant is None or computed is None:
            continue
        low, high = computed
        if one_sided and test in ("t", "r", "z"):
            low /= 2
        if (significant and low > ALPHA) or (not significant and high < ALPHA):
            yield _p_hit(sentence, found, computed)


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


def p_range(test: Statistic, found: re.Match[str]) -> tuple[float, float] | None:
    """The least and the greatest p of a reported test's statistic; null for impossible values."""
    groups = found.groupdict()
    df, df2 = (_number(groups.get(name) or groups.get(sub)) for name, sub in (("df", "sub"), ("df2", "sub2")))
    return recomputed_p(test, found["value"].replace(" ", ""), df, df2)


def _number(text: str | None) -> float:
    return float(text.replace(",", "")) if text else 0.0


def _p_hit(sentence: Sentence, found: re.Match[str], computed: tuple[float, float]) -> RuleHit:
    low, high = (figure(p) for p in computed)
    between = f"p = {low}" if low == high else f"p between {low} and {high}"
    statistic, _, stated = " ".join(found.group().split()).rpartition(found["relation"])
    statistic = re.sub(r"\s*[,;]\s*\S*\s*$", "", statistic.strip())
    printed_p = f"p {found['relation']}{stated}"
    claim = f"{statistic} gives {between} (two-sided), on the other side of 0.05 than the stated {printed_p}."
    return RuleHit(
        rule="statistic_vs_p",
        claim=shortened(claim),
        kind="statistics",
        severity="major",
        evidence=(sentence_evidence(sentence, "shows", around=found.span()),),
        numbers=(found["value"].strip(), found["p"].strip()),
    )


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


def grim(paper: Paper) -> list[RuleHit]:
    """Means that no sum of whole numbers gives.

    Returns:
        One hit a mean, in reading order.
    """
    sentences = list(sentences_of(paper))
    declared = [whole for sentence in sentences for whole in _declared(sentence)]
    if not declared:
        return []
    return [hit for sentence in sentences for hit in _means_in(sentence, declared)]


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


def _means_in(sentence: Sentence, declared: list[_Whole]) -> Iterator[RuleHit]:
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
                yield _mean_hit(sentence, found, n, whole)


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


def _mean_hit(sentence: Sentence, found: re.Match[str], n: int, whole: _Whole) -> RuleHit:
    mean = found["mean"]
    below = (Decimal(mean) * n).to_integral_value(ROUND_FLOOR)
    decimals = len(mean.partition(".")[2])
    nearest = " and ".join(f"{float((below + k) / n):.{decimals}f}" for k in (0, 1))
    claim = f"No {n} whole numbers have the mean {mean}; the nearest possible means are {nearest}."
    return RuleHit(
        rule="grim",
        claim=shortened(claim),
        kind="statistics",
        severity="minor",
        evidence=(
            sentence_evidence(sentence, "shows", around=found.span()),
            sentence_evidence(whole.sentence, "contradicts", around=whole.span),
        ),
        numbers=(mean, str(n)),
    )
