"""Where a wording that is not in the text comes closest to it.

Words of the quotation vote for the place where it would start; the few best places are aligned character by
character, and the result is moved to the edges of whole words. This looks at a few hundred characters instead of
the whole paper, which keeps a miss as cheap as a hit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

_WORD = re.compile(r"\w+")
_EDGE = re.compile(r"[^\s\x00]+")
_MAX_WORDS = 40
_MAX_POSTINGS = 400
_MAX_PLACES = 6
_PROBE = 64
_FLOOR = 0.5
_LEADING, _TRAILING = "([{'\"", ")]}'\".,;:!?"


@dataclass(frozen=True, slots=True)
class Aligned:
    """A range of the text and how much of it agrees with the quotation, in [0, 1]."""

    start: int
    end: int
    similarity: float


class Aligner:
    """Finds the passages closest to a wording in one text; built once, its word index on first use."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._postings: dict[str, list[int]] = {}

    def places(self, wording: str) -> list[int]:
        """Positions where the wording may start, best first, at most six; they may lie a little off."""
        self._index()
        words = sorted(
            ((len(found), word.start(), found) for word in _WORD.finditer(wording) if (found := self._found(word))),
            key=lambda item: item[:2],
        )
        width = max(16, len(wording) // 4)
        votes: Counter[int] = Counter()
        for count, offset, found in words[:_MAX_WORDS]:
            weight = round(1000 / count**0.5)
            for position in found[:_MAX_POSTINGS]:
                bucket = max(0, position - offset) // width
                votes[bucket] += weight
                votes[bucket + 1] += weight // 2
        return [bucket * width for bucket, _ in votes.most_common(_MAX_PLACES)]

    def align(self, wording: str, low: int, high: int, allowed: Callable[[int, int], bool]) -> Aligned | None:
        """The range of ``text[low:high]`` closest to the wording, from one word's edge to another's.

        Args:
            wording: Normalised text.
            low: Start of the range to look at.
            high: One past its end.
            allowed: Whether a range may be quoted as it stands (it does not cut a number or lose a sign).

        Returns:
            The best range, or null where not even half of the characters agree.
        """
        window = self._text[low:high]
        rough = _rough(wording, window)
        if rough is None:
            return None
        tokens = [(low + m.start(), low + m.end()) for m in _EDGE.finditer(window)]
        starts = _nearest([_trimmed_start(self._text, *t) for t in tokens], low + rough[0])
        ends = _nearest([_trimmed_end(self._text, *t) for t in tokens], low + rough[1])
        if not starts or not ends:
            return None
        centre = min(ends, key=lambda end: abs(end - low - rough[1]))
        by_start = sorted(starts, key=lambda s: -_ratio(wording, self._text[s:centre]))[:3]
        pairs = [(s, e) for s in by_start for e in ends if s < e and allowed(s, e)]
        best = max(pairs, key=lambda pair: _ratio(wording, self._text[pair[0] : pair[1]]), default=None)
        return None if best is None else Aligned(*best, _ratio(wording, self._text[best[0] : best[1]]))

    def _index(self) -> None:
        if not self._postings:
            for match in _WORD.finditer(self._text):
                self._postings.setdefault(match.group(), []).append(match.start())

    def _found(self, word: re.Match[str]) -> list[int]:
        return self._postings.get(word.group(), [])


def _rough(wording: str, window: str) -> tuple[int, int] | None:
    """Start and end in the window, by characters.

    A long wording is placed by its first and its last characters: sliding all of it would cost its length squared.
    """
    if len(window) <= len(wording):
        return (0, len(window)) if window and _ratio(wording, window) >= _FLOOR else None
    if len(wording) <= 2 * _PROBE:
        found = fuzz.partial_ratio_alignment(wording, window, score_cutoff=100 * _FLOOR)
        return None if found is None else (found.dest_start, found.dest_end)
    head = fuzz.partial_ratio_alignment(wording[:_PROBE], window, score_cutoff=100 * _FLOOR)
    tail = fuzz.partial_ratio_alignment(wording[-_PROBE:], window, score_cutoff=100 * _FLOOR)
    if head is None and tail is None:
        return None
    start = head.dest_start if head is not None else 0
    end = tail.dest_end if tail is not None else len(window)
    if head is None or end <= start:
        start = max(0, end - len(wording))
    if tail is None:
        end = min(len(window), start + len(wording))
    return start, end


def _ratio(left: str, right: str) -> float:
    return fuzz.ratio(left, right) / 100


def _nearest(edges: Iterable[int], target: int) -> list[int]:
    return sorted(set(edges), key=lambda edge: abs(edge - target))[:9]


def _trimmed_start(text: str, start: int, end: int) -> int:
    while start < end - 1 and text[start] in _LEADING:
        start += 1
    return start


def _trimmed_end(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in _TRAILING:
        end -= 1
    return end
