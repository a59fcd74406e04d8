"""Titles as they are compared: without formulas, accents and case, by their likeness or as a short form."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

_MATH = re.compile(r"\$[^$]*\$")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?|[{}]")
_OTHER = re.compile(r"[\W_]+")
_PREFIX_WORDS, _PREFIX_CHARS = 4, 25
_LONGEST = 400


def normalised_title(title: str) -> str:
    """A title for comparison: no formulas, LaTeX commands, accents, case; one blank for what is no letter."""
    plain = _COMMAND.sub("", _MATH.sub("", title)).replace("×", "x")
    letters = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return _OTHER.sub(" ", letters.casefold()).strip()


def title_similarity(first: str, second: str) -> float:
    """Character ratio 2M/T of two normalised titles, as difflib has it without its heuristic for long texts.

    Titles are compared up to 400 characters. M is the size of difflib's matching blocks, which is not the longest
    common subsequence: other libraries' ratios differ.
    """
    return SequenceMatcher(None, first[:_LONGEST], second[:_LONGEST], autojunk=False).ratio()


def is_short_form(first: str, second: str) -> bool:
    """Whether one normalised title is the beginning of the other in whole words: 4 words and 25 characters at least."""
    short, long = sorted((first, second), key=len)
    if len(short) < _PREFIX_CHARS or len(short.split()) < _PREFIX_WORDS:
        return False
    return long == short or long.startswith(f"{short} ")
