"""Whether atomic items are the review's own words, and how much they repeat each other.

Source: PRAIB. Its table calls the first three "pairwise intra-review redundancy"; overlaps of .96 to 1.00 beside a
Jaccard of .13 to .32 cannot be pairwise, so they are taken as item against source. True redundancy stands apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from rapidfuzz.distance import LCSseq

from referee.evals.behaviour.atomic import AtomicItems
from referee.schemas.metric import MetricStatus

NO_ITEMS = "the review has no atomic item"
NO_WORDS = "no atomic item has a word"
ONE_ITEM = "one item repeats nothing; it takes two"
MOST_COMPARED = 400
"""Items; of more, not every pair is compared."""

_WORD = re.compile(r"\w+")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_LINE_MARK = re.compile(r"^[ \t>]*(?:#{1,6}|[-*+•‣▪◦–—]|\(?\d{1,3}[.)])[ \t]+", re.MULTILINE)
_SPAN_MARK = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")


@dataclass(frozen=True, slots=True)
class ItemFidelity:
    """One item against its source: ``rouge_l`` and ``jaccard`` are in [0, 1]."""

    rouge_l: float
    contained: bool
    jaccard: float


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Means over the items of a review, or of these means over reviews; null where there is nothing to average.

    ``n`` counts items or reviews, ``skipped`` those without a word or without a value.
    """

    rouge_l: float | None
    contained: float | None
    jaccard: float | None
    n: int
    skipped: int
    status: MetricStatus = "scored"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Redundancy:
    """How much the items of one review repeat each other; null below two items.

    ``rouge_l`` is the mean F1 over pairs, ``jaccard`` the largest of a pair, ``contained`` the share of items that are
    contained in another one.
    """

    rouge_l: float | None
    jaccard: float | None
    contained: float | None
    n: int
    status: MetricStatus = "scored"
    reason: str = ""


class Source:
    """A source text, read once for all items that are compared with it."""

    def __init__(self, text: str) -> None:
        self.words = words(text)
        self.types = frozenset(self.words)
        self.plain = normalised(text)
        self._joined = f" {' '.join(self.words)} "

    def longest_common(self, item: Sequence[str]) -> int:
        """Length of the longest common subsequence of words."""
        if f" {' '.join(item)} " in self._joined:
            return len(item)
        return LCSseq.similarity(item, self.words)


def words(text: str) -> list[str]:
    r"""The words of a text: lower-case runs of ``\w``."""
    return _WORD.findall(text.lower())


def normalised(text: str) -> str:
    """A text without markup, its blanks collapsed, without regard to case."""
    plain = _LINK.sub(r"\1", text) if "](" in text else text
    return " ".join(_SPAN_MARK.sub("", _LINE_MARK.sub("", plain)).casefold().split())


def item_fidelity(item: str, source: Source | str) -> ItemFidelity | None:
    """One item against its source; None for an item without a word.

    ``rouge_l`` = LCS(item, source) / words of the item; ``contained``: the normalised item is a substring of the
    normalised source; ``jaccard`` of the two sets of words.
    """
    own = words(item)
    if not own:
        return None
    held = Source(source) if isinstance(source, str) else source
    types = set(own)
    shared = len(types & held.types)
    return ItemFidelity(
        rouge_l=held.longest_common(own) / len(own),
        contained=normalised(item) in held.plain,
        jaccard=shared / (len(types) + len(held.types) - shared),
    )


def fidelity(items: AtomicItems) -> Fidelity:
    """The means over the strengths and weaknesses of one review."""
    if items.status != "scored" or not items.all:
        status: MetricStatus = "not_applicable" if items.status == "scored" else items.status
        return Fidelity(None, None, None, 0, 0, status, items.reason or NO_ITEMS)
    source = Source(items.source)
    found = [one for item in items.all if (one := item_fidelity(item, source)) is not None]
    skipped = len(items.all) - len(found)
    if not found:
        return Fidelity(None, None, None, 0, skipped, "not_applicable", NO_WORDS)
    return Fidelity(
        fmean(one.rouge_l for one in found),
        fmean(one.contained for one in found),
        fmean(one.jaccard for one in found),
        len(found),
        skipped,
    )


def redundancy(items: Sequence[str]) -> Redundancy:
    """How much items repeat each other. Of two equal items each is contained in the other."""
    own = [(item, tokens) for item in items if (tokens := words(item))]
    if not 2 <= len(own) <= MOST_COMPARED:
        reason = ONE_ITEM if len(own) < 2 else f"more than {MOST_COMPARED} items, too many to compare each two"
        return Redundancy(None, None, None, len(own), "not_applicable", reason)
    plain = [normalised(item) for item, _ in own]
    types = [frozenset(tokens) for _, tokens in own]
    overlaps = [_f1(a, b) for (_, a), (_, b) in combinations(own, 2)]
    inside = sum(any(one in other for m, other in enumerate(plain) if m != n) for n, one in enumerate(plain))
    return Redundancy(
        rouge_l=fmean(overlaps),
        jaccard=max(len(a & b) / len(a | b) for a, b in combinations(types, 2)),
        contained=inside / len(own),
        n=len(own),
    )


def _f1(a: Sequence[str], b: Sequence[str]) -> float:
    """ROUGE-L F1 of two token lists, neither empty: 2 LCS / (|a| + |b|)."""
    return 2 * LCSseq.similarity(a, b) / (len(a) + len(b))
