"""Tokens of a review, and how varied they are: TTR and MATTR."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Literal

Profile = Literal["praib", "words"]
MATTR_WINDOW = 100

_PATTERNS: dict[Profile, re.Pattern[str]] = {
    "praib": re.compile(r"\w+(?:[-'’]\w+)*|\S"),
    "words": re.compile(r"\w+(?:[-'’]\w+)*"),
}


def tokens(text: str, profile: Profile = "praib") -> list[str]:
    """The tokens of a text, in lower case and in order.

    ``words`` takes runs of word characters, joined by single hyphens or apostrophes; ``praib`` also each other symbol
    that is no blank. PRAIB does not name its tokeniser; its printed ratios fit one that counts punctuation.
    """
    return _PATTERNS[profile].findall(text.lower())


def is_word(item: str) -> bool:
    """Whether a token of profile ``praib`` is one of profile ``words``."""
    return len(item) > 1 or item.isalnum() or item == "_"


def ttr(items: Sequence[Hashable]) -> float | None:
    """Types over tokens, in (0, 1]; null without tokens. It falls with length: compare texts of one length only."""
    return len(set(items)) / len(items) if items else None


def mattr(items: Sequence[Hashable], window: int = MATTR_WINDOW) -> float | None:
    """Mean type-token ratio of all windows of ``window`` tokens; of a shorter text its plain ratio.

    A pair of neighbouring occurrences of a type takes one type from each window that holds both, so that one pass
    over the tokens suffices. Null without tokens.

    Source: Covington and McFall, "Cutting the Gordian Knot: The Moving-Average Type-Token Ratio", 2010.
    """
    count = len(items)
    if count <= window:
        return ttr(items)
    last_start, repeated = count - window, 0
    seen: dict[Hashable, int] = {}
    for position, item in enumerate(items):
        before = seen.get(item)
        if before is not None and position - before < window:
            first = position - window + 1
            # Written out: the calls of min and max took half of the time.
            repeated += (before if before < last_start else last_start) - (first if first > 0 else 0) + 1
        seen[item] = position
    windows = last_start + 1
    return (window * windows - repeated) / (window * windows)
