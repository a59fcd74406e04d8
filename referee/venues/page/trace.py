"""Whether words stand on the page, and which of the page's own words they are."""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz

from referee.evidence.normalise import Normalised, normalise
from referee.venues.page.page_types import GuidelinePage

NEAR = 92.0
_SHORTEST_NEAR = 24
_SHORTEST = 3
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_MARKERS = re.compile(r"^(?:#{1,6} | *[-*] | *\d{1,3}\. )", re.MULTILINE)
_NEGATIONS = re.compile(r"\b(?:not|no|never|cannot|without|none|nor|neither)\b|n't\b", re.IGNORECASE)


def trace(words: str, page: GuidelinePage) -> str | None:
    """The page's own words for ``words``, or none where they do not stand there.

    Case, quotation marks, dashes, markup and white space do not count. Words of 24 characters or more may differ a
    little (rapidfuzz's partial ratio of at least 92), but never in a number or a negation.

    Returns:
        A stretch of the page's text, white space as single blanks.
    """
    wanted = normalise(words.strip()).text
    if len(wanted) < _SHORTEST:
        return None
    text = _comparable(page.text)
    start = _whole_words(text.text, wanted)
    if start is not None:
        return _own(text, start, start + len(wanted))
    if len(wanted) < _SHORTEST_NEAR:
        return None
    near = fuzz.partial_ratio_alignment(wanted, text.text, score_cutoff=NEAR)
    if near is None or near.dest_end <= near.dest_start:
        return None
    found = _own(text, *_to_word_ends(text.text, near.dest_start, near.dest_end))
    return found if _same_facts(words, found) else None


@lru_cache(maxsize=4)
def _comparable(text: str) -> Normalised:
    """The page's text without line markers, made comparable; kept for the many questions that one page is asked."""
    return normalise(_MARKERS.sub("", text))


def _whole_words(text: str, wanted: str) -> int | None:
    """Where ``wanted`` stands in ``text`` without cutting a word at either end."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        before = at == 0 or not (text[at - 1].isalnum() and wanted[0].isalnum() and wanted[0].isascii())
        after = end == len(text) or not (text[end].isalnum() and wanted[-1].isalnum() and wanted[-1].isascii())
        if before and after:
            return at
        at = text.find(wanted, at + 1)
    return None


def _to_word_ends(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to whole words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _own(text: Normalised, start: int, end: int) -> str:
    low, high = text.span(start, end)
    return " ".join(text.source[low:high].split())


def _same_facts(words: str, found: str) -> bool:
    numbers = [sorted(_DIGITS.findall(side)) for side in (words, found)]
    negations = [len(_NEGATIONS.findall(side.replace("’", "'"))) for side in (words, found)]
    return numbers[0] == numbers[1] and negations[0] == negations[1]
