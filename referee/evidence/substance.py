"""Whether a wording is long enough to point at one passage of a paper."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_\u3040-\u9fff\uac00-\ud7af]+|[\u3040-\u9fff\uac00-\ud7af]")
_MATH_SIGN = re.compile(r"[=<>≤≥≠≈~±×+÷∝≡∈→^/√∑∏∫∂∇]")


def shortfall(wording: str) -> str | None:
    """Why a normalised wording cannot serve as a quotation; null where it can."""
    if not any(char.isalnum() for char in wording):
        return "no words in it"
    if not substantial(wording, words=3, letters=12):
        return "too short to be told apart (under three words or twelve letters)"
    return None


def substantial(wording: str, *, words: int, letters: int) -> bool:
    """Whether a wording has enough words and letters, or a number of three characters, or is a formula.

    A character of a script without blanks between words counts as a word.
    """
    characters = sum(char.isalnum() for char in wording)
    if any(char.isdigit() for char in wording):
        return characters >= 3
    if _MATH_SIGN.search(wording):
        return characters >= 3 and len(wording.replace(" ", "")) >= 6
    found = _WORD.findall(wording)
    return len(found) >= words and sum(map(len, found)) >= letters
