"""Test statistics and intervals that no longer fit what stands beside them: kind ``stats``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from referee.evidence.numerals import find_numerals, plain
from referee.evidence.rules.hits import figure
from referee.evidence.rules.statistics import Statistic, contradicts_p, decision_of, p_range, reported_tests
from referee.experiments.planting.candidate import Anchor, Candidate, Edit, Rejection, Site, edited, span
from referee.experiments.planting.source import Passage, Source

_ONE_SIDED = re.compile(r"\bone[- ](?:tailed|sided)\b", re.IGNORECASE)
_RESAMPLED = re.compile(
    r"greenhouse|huynh|permutation|bootstrap|corrected|adjusted|bonferroni|tukey|post[- ]?hoc", re.I
)
_NUMBER = r"[-+−]?\s?\d+(?:\.\d+)?"
_INTERVAL = re.compile(
    rf"(?:9[059]%|0?\.9[59])\s*(?:confidence |credible )?(?:intervals?|CI|CrI)\b[^\[\](;\d]{{0,30}}[:=,]?\s*[\[(]?\s*"
    rf"(?P<low>{_NUMBER})\s*%?\s*(?:,|;|to|[-–])\s*(?P<high>{_NUMBER})"
)
_RATIO = re.compile(r"\b(?:HR|OR|RR|IRR|(?:hazard|odds|risk|rate)\s+ratio)\b")
_SMALL_P = re.compile(r"\bp\s*(?:<|=|≤)\s*(0?\.\d+)")


def stats_sites(source: Source) -> Iterator[Site | Rejection]:
    """Reported tests with degrees of freedom and p, and intervals with their estimate."""
    one_sided = _ONE_SIDED.search(source.text) is not None
    for passage in source.edited:
        for test, found in reported_tests(passage.text):
            if one_sided or _RESAMPLED.search(passage.text):
                yield Rejection("stats", "a one-sided, corrected or resampled test", passage.text)
            elif contradicts_p(test, found):
                yield Rejection("stats", "V3: statistic and p already disagree", passage.text)
            else:
                yield _test_site(source, passage, test, found)
        for found in _INTERVAL.finditer(plain(passage.text)):
            yield _interval_site(passage, found)


def _test_site(source: Source, passage: Passage, test: Statistic, found: re.Match[str]) -> Site:
    printed = found["value"]
    lead = len(printed) - len(printed.lstrip("+- "))
    place = (span(passage, found.start("value") + lead, found.end("value")),)
    digits = printed[lead:]
    anchor = Anchor(passage, f"p {found['relation']} {found['p']} in the same sentence")
    nth = [at.start() for _, at in reported_tests(passage.text)].index(found.start())
    examine = partial(_test, source, place, anchor, nth)
    return Site("stats", place, tuple((moved,) for moved in _moved(digits)), examine, (anchor,))


def _moved(digits: str) -> Iterator[str]:
    """The same digits with the point one place to the left, or to the right."""
    whole, _, rest = digits.partition(".")
    left = f"{whole[:-1] or '0'}.{whole[-1:]}{rest}"
    yield left
    if rest:
        yield f"{int(whole + rest[:1])}.{rest[1:]}".rstrip(".")


def _nth(text: str, nth: int) -> tuple[Statistic, re.Match[str]] | None:
    found = list(reported_tests(text))
    return found[nth] if nth < len(found) else None


def _test(source: Source, place: tuple[Edit, ...], anchor: Anchor, nth: int, after: tuple[str, ...]) -> Candidate | str:
    edits = edited(place, after)
    now = _nth(edits[0].sentence_after, nth)
    was = _nth(anchor.passage.text, nth)
    if now is None or was is None:
        return "the replacement is no statistic"
    if not contradicts_p(*now):
        return "p is still true"
    computed = p_range(*now)
    if computed is None:
        return "no test gives such a value"
    low, high = computed
    p = (low * high) ** 0.5
    crosses = (decision_of(was[1]) is True and low > 0.05) or (decision_of(was[1]) is False and high < 0.05)

    if decision_of(was[1]) is not None and not crosses:
        return "p stays on the same side of .05: a slip on which nothing depends"

    def conflict(passages: tuple[str, ...], _: tuple[str, ...]) -> bool:
        reported = _nth(passages[0], nth)
        return reported is not None and contradicts_p(*reported)

    return Candidate(
        kind="stats",
        subtype="statistic",
        severity="H" if crosses else "L",
        anchor_class="A3",
        edits=edits,
        anchors=(anchor,),
        conflict=conflict,
        expected=f"{edits[0].before}, which fits p {was[1]['relation']} {was[1]['p']}",
        statement=(
            f"{now[0]} = {after[0]} gives p = {figure(p)}, and the sentence has p {now[1]['relation']} {now[1]['p']}."
        ),
        derived=True,
    )


def _interval_site(passage: Passage, found: re.Match[str]) -> Site | Rejection:
    estimate = _estimate(passage.text, found)
    low, high = _signed(found["low"]), _signed(found["high"])
    if estimate is None:
        return Rejection("stats", "no estimate beside the interval", passage.text)
    if not low < estimate < high:
        return Rejection("stats", "V3: the estimate already lies outside the interval", passage.text)
    lead = len(found["low"]) - len(found["low"].lstrip())
    place = (span(passage, found.start("low") + lead, found.end("low")),)
    anchor = Anchor(passage, f"the estimate {estimate:g} in the same sentence")
    decimals = len(found["low"].partition(".")[2])
    above = estimate + (high - estimate) / 2
    proposals = [(f"{above:.{decimals}f}",)] if decimals and above < high else []
    if _SMALL_P.search(passage.text) and low > 0 and not _RATIO.search(passage.text) and "-" in passage.text:
        proposals.append((f"-{(estimate - low) / 2:.{decimals}f}",))
    return Site("stats", place, tuple(proposals), partial(_interval, place, anchor, estimate, found.start()), (anchor,))


def _estimate(text: str, found: re.Match[str]) -> float | None:
    """The value right before the interval, or the difference of ``from A to B`` in the sentence."""
    shown = plain(text)
    ends = re.search(r"\bfrom\s+(\d+(?:\.\d+)?)\s*%?\s+to\s+(\d+(?:\.\d+)?)", shown[: found.start()])
    if ends is not None and re.search(r"\b(?:gain|difference|change|increase|improvement)\b", found.group()):
        return round(abs(float(ends[2]) - float(ends[1])), 6)
    before = [n for n in find_numerals(text) if n.end <= found.start() and found.start() - n.end <= 6]
    joined = before and re.fullmatch(r"\s*%?\s*[,;(\[]*\s*", shown[before[-1].end : found.start()])
    return float(before[-1].value) if joined else None


def _signed(printed: str) -> float:
    return float(re.sub(r"\s", "", printed).replace("−", "-"))


def _interval(
    place: tuple[Edit, ...], anchor: Anchor, estimate: float, at: int, after: tuple[str, ...]
) -> Candidate | str:
    edits = edited(place, after)
    why = _misfit(edits[0].sentence_after, at, estimate)
    if not why:
        return "the interval still fits the estimate and p"
    return Candidate(
        kind="stats",
        subtype="interval",
        severity="H" if "0 lies" in why else "M",
        anchor_class="A3",
        edits=edits,
        anchors=(anchor,),
        conflict=lambda passages, _: bool(_misfit(passages[0], at, estimate)),
        expected=edits[0].before,
        statement=f"The interval does not fit what stands beside it: {why}.",
        derived=True,
    )


def _misfit(text: str, at: int, estimate: float) -> str:
    """What an interval contradicts; empty where it fits. A difference lies in the middle, within the rounding."""
    found = _INTERVAL.search(plain(text), at)
    if found is None:
        return ""
    low, high = _signed(found["low"]), _signed(found["high"])
    if not low < estimate < high:
        return f"the estimate {estimate:g} lies outside it"
    p = _SMALL_P.search(plain(text))
    if p is not None and float(p[1]) <= 0.05 and low < 0 < high and not _RATIO.search(text):
        return f"its middle {(low + high) / 2:g} is not {estimate:g} and 0 lies inside, with p {p.group()[1:].strip()}"
    return ""


def t_interval(estimate: float, t: float, df: float, level: float = 0.95) -> tuple[float, float]:
    """The two-sided interval of an estimate whose t statistic is known: estimate -/+ quantile times estimate / t.

    Args:
        estimate: A difference from 0.
        t: Its statistic, not 0.
        df: Degrees of freedom, above 0.
        level: The interval's level, between 0 and 1.

    Returns:
        Both bounds, in the estimate's unit.
    """
    from scipy import special  # a third of a second of imports

    half = float(special.stdtrit(df, (1 + level) / 2)) * abs(estimate / t)
    return estimate - half, estimate + half
