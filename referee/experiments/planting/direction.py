"""Comparatives and verbs of change that two values beside them contradict: kind ``direction``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from referee.evidence.numerals import Numeral, find_numerals, plain
from referee.experiments.planting.candidate import Anchor, Candidate, Edit, Rejection, Site, edited, span
from referee.experiments.planting.source import Passage, Source, is_headline

_UP_DOWN = (
    "higher/lower", "larger/smaller", "greater/smaller", "longer/shorter", "above/below", "increased/decreased",
    "increases/decreases", "increase/decrease", "increasing/decreasing", "rose/fell", "rises/falls", "grew/shrank",
    "raised/lowered", "raises/lowers", "raising/lowering", "raise/lower", "increased/reduced", "increases/reduces",
    "increase/reduce", "increasing/reducing", "increased/dropped", "increases/drops", "increase/drop", "rise/fall",
    "more/fewer", "increased/declined", "increases/declines",
)  # fmt: skip
_GOOD_BAD = (
    "improved/degraded", "improves/degrades", "improve/degrade", "improving/degrading", "better/worse",
    "gained/lost", "gains/loses",
)  # fmt: skip
_FAST_SLOW = ("faster/slower",)
_OPPOSITE = {
    word: (pair.split("/")[1 - i], "up" if i == 0 else "down", family)
    for family, pairs in (("speed", _FAST_SLOW), ("good", _GOOD_BAD), ("size", _UP_DOWN))
    for pair in reversed(pairs)
    for i, word in enumerate(pair.split("/"))
}
_WORD = re.compile(
    rf"(?<![\w-])(?:(?P<article>an?)\s+)?(?P<word>{'|'.join(sorted(_OPPOSITE, key=len, reverse=True))})(?![\w-])"
)
_NEGATED = re.compile(
    r"\b(?:not?|n't|never|neither|nor|without|than expected|than anticipated|although|despite|instead|rather)\b"
    r"|\bn[o']t\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\bfrom\s+(?:only\s+|about\s+|an?\s+|the\s+)?$", re.IGNORECASE)
_TO = re.compile(r"^\s*(?:\([^()]*\)\s*)?(?:[a-zA-Z]+\s+)?(?:to|→|->)\s+(?:only\s+|about\s+|just\s+)?$")
_AGAINST = re.compile(
    r"^\s*(?:±\s*[\d.]+\s*%?)?\s*,?\s*(?:against|vs\.?|versus|compared\s+(?:to|with))\s+(?:only\s+|about\s+)?$",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(r"\b(?:by|of)\s+(?:about\s+|a factor of\s+)?$", re.IGNORECASE)
_LESS_IS_BETTER = re.compile(
    r"\b(?:errors?|loss(?:es)?|perplexity|latency|runtime|time|rmse|mae|mse|wer|cer|fid|nll|regret|cost|memory|ppl|bpc)\b",
    re.I,
)
_MORE_IS_BETTER = re.compile(
    r"\b(?:accurac(?:y|ies)|f1|auc|auroc|bleu|rouge\S*|precision|recall|scores?|map|ndcg|iou|success|reward|coverage|r2|psnr|ssim|dice)\b",
    re.I,
)
_TIME = frozenset({"ms", "s", "min", "h", "d"})


@dataclass(frozen=True)
class _Pair:
    """Two values of which the first belongs to what the word is said of, or is what it came to."""

    subject: Numeral
    other: Numeral


def good_side(text: str) -> str:
    """Whether more or less of what a text measures is better: ``up``, ``down``, or empty where it is not known."""
    down, up = _LESS_IS_BETTER.search(text) is not None, _MORE_IS_BETTER.search(text) is not None
    return "" if down == up else "down" if down else "up"


def direction_sites(source: Source) -> Iterator[Site | Rejection]:
    """Words of order with two values in their own sentence."""
    for passage in source.edited:
        words = list(_WORD.finditer(passage.text))
        pairs = _pairs(passage.text)
        if not words or not pairs:
            continue
        reason = _unclear(passage.text, words, pairs)
        if reason:
            yield Rejection("direction", reason, passage.text)
            continue
        opposite = _OPPOSITE[words[0]["word"]][0]
        article = words[0]["article"]
        after = f"{_article(opposite)} {opposite}" if article else opposite
        place = (span(passage, *words[0].span()),)
        anchor = Anchor(passage, f"the sentence itself gives {pairs[0].subject.text} and {pairs[0].other.text}")
        examine = partial(_examine, passage, place, anchor, pairs[0])
        yield Site("direction", place, ((after,),), examine, (anchor,))


def order_contradicted(text: str) -> bool:
    """Whether a sentence's word of order is contradicted by its two values; false where either is missing."""
    words, pairs = list(_WORD.finditer(text)), _pairs(text)
    if len(words) != 1 or len(pairs) != 1:
        return False
    truth = _order(words[0]["word"], pairs[0], text)
    return truth is False


def _unclear(text: str, words: list[re.Match[str]], pairs: list[_Pair]) -> str:
    if len(words) != 1:
        return "several words of order in the sentence"
    if len(pairs) != 1:
        return "several pairs of values in the sentence"
    if _NEGATED.search(text):
        return "negation or expectation in the sentence"
    truth = _order(words[0]["word"], pairs[0], text)
    if truth is None:
        return "which side is good is not known"
    return "" if truth else "V3: the values already contradict the word"


def _order(word: str, pair: _Pair, text: str) -> bool | None:
    """Whether the values stand in the order that the word says; null where that cannot be known."""
    _, way, family = _OPPOSITE[word]
    if pair.subject.value == pair.other.value or pair.subject.unit != pair.other.unit:
        return None
    more = pair.subject.value > pair.other.value
    if family == "size":
        return more == (way == "up")
    if family == "speed":
        return more == (way == "down") if pair.subject.unit in _TIME else None
    side = good_side(text)
    return (more == (side == "up")) == (way == "up") if side else None


def _pairs(text: str) -> list[_Pair]:
    """Values joined by ``against``, ``vs``, ``from … to``, or on both sides of a comparative's ``than``."""
    shown = plain(text)
    numerals = [n for n in find_numerals(text) if not n.bound and not re.search(r"±\s*$", shown[: n.start])]
    found = []
    for a, b in pairwise(numerals):
        between = shown[a.end : b.start]
        if _FROM_TO.search(shown[: a.start]) and _TO.match(between):
            found.append(_Pair(subject=_unit_like(b, b), other=_unit_like(a, b)))
        elif _AGAINST.match(between) and not _DIFFERENCE.search(shown[: a.start]):
            found.append(_Pair(subject=_unit_like(a, b), other=b))
    if not found and len(numerals) == 2:
        found = _around_than(shown, numerals[0], numerals[1])
    return found


_SUBJECT_VALUE = re.compile(r"\(\s*(?:mean|median|M|n)?\s*=?\s*$")


def _around_than(shown: str, a: Numeral, b: Numeral) -> list[_Pair]:
    """``higher in A (12.1) than in B (9.0)``: values in brackets on both sides of ``than``."""
    between = shown[a.end : b.start]
    bracketed = _SUBJECT_VALUE.search(shown[: a.start]) and _SUBJECT_VALUE.search(shown[: b.start])
    if bracketed and re.search(r"\)[^()]*\bthan\b[^()]*\(", between) and ";" not in between:
        return [_Pair(a, b)]
    return []


def _unit_like(n: Numeral, other: Numeral) -> Numeral:
    """A value without a unit takes that of its partner: ``from 71 to 75%``."""
    if n.unit or not other.unit:
        return n
    return Numeral(n.value, n.step, n.decimals, other.unit, n.bound, n.text, n.start, n.end)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _examine(
    passage: Passage, place: tuple[Edit, ...], anchor: Anchor, pair: _Pair, after: tuple[str, ...]
) -> Candidate | str:
    edits = edited(place, after)
    sentence = edits[0].sentence_after
    if not order_contradicted(sentence):
        return "both words can be true of the values"
    old, new = edits[0].before.split()[-1], after[0].split()[-1]
    return Candidate(
        kind="direction",
        subtype="comparative" if old.endswith("er") or old in ("above", "below", "worse") else "change",
        severity="H" if is_headline(passage.section) else "M",
        anchor_class="A3",
        edits=edits,
        anchors=(anchor,),
        conflict=lambda passages, _: order_contradicted(passages[0]),
        expected=old,
        statement=f"The sentence says {new!r}, and its values {pair.subject.text} and {pair.other.text} say {old!r}.",
    )
