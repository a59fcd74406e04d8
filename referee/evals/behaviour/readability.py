"""Flesch reading ease and Flesch-Kincaid grade, counted as the library textstat counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from referee.evals.behaviour.syllables import Syllables, backend

NO_WORDS = "the text holds no word"

_SENTENCE = re.compile(r"\w[^\s.!?]*+((?:\s[^\w.!?]*+\w[^\s.!?]*+){2})?[^.!?]*+")
"""A run up to a stop; what it captures shows that it has three words."""


class Readability(NamedTuple):
    """What readability is made of, and both scores; null where the text holds no word.

    ``fre`` is higher for easier texts and not clipped to 0..100; ``fkg`` is a school year.
    """

    words: int
    sentences: int
    syllables: int
    fre: float | None
    fkg: float | None


def readability(text: str, syllables: Syllables | None = None) -> Readability:
    """Both scores of a text.

    A word is what stands between blanks once punctuation is deleted, if anything is left. A sentence is a run up to
    ``.``, ``!`` or ``?`` with more than two words; line ends, bullets and colons end none, and a text with words has
    at least one.

    Args:
        text: One view of a review.
        syllables: The backend; ``pyphen`` by default.

    Source: Flesch 1948; Kincaid et al. 1975; the counts of textstat 0.7, which deletes apostrophes too.
    """
    counts = list(map((syllables or backend()).count, text.split()))
    return scored(len(counts) - counts.count(0), sentences(text), sum(counts))


def sentences(text: str) -> int:
    """Sentences with more than two words, at least 1; 0 for a text without words."""
    found = _SENTENCE.findall(text)
    return max(1, sum(map(bool, found))) if found else 0


def scored(words: int, sentences: int, syllables: int) -> Readability:
    """The scores that belong to three counts.

    FRE = 206.835 - 1.015 W/S - 84.6 Sy/W; FKG = 0.39 W/S + 11.8 Sy/W - 15.59.
    """
    if not words:
        return Readability(0, 0, 0, None, None)
    length, per_word = words / sentences, syllables / words
    ease = 206.835 - 1.015 * length - 84.6 * per_word
    grade = 0.39 * length + 11.8 * per_word - 15.59
    return Readability(words, sentences, syllables, ease, grade)
