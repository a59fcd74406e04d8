"""Sentences of a review that only repeat the instructions it was asked with."""

from __future__ import annotations

import re

from rapidfuzz import fuzz

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\n|$)\s*")
_WORD = re.compile(r"\w+")
_MIN_WORDS = 6
_SAME = 92.0


def without_echo(text: str, instructions: str) -> tuple[str, int]:
    """Take out what a model copied from its own instructions.

    A sentence of six words or more goes when the instructions hold it, near to the letter (similarity of at least 92
    of 100 to its best place there); shorter ones are too common to tell. Everything else stays as it is.

    Args:
        text: One field of a review.
        instructions: The form and the guidelines as they stood in the prompt.

    Returns:
        The text without the copied sentences, and how many there were.
    """
    source = _plain(instructions)
    kept: list[str] = []
    copied = 0
    for sentence in _SENTENCE.findall(text):
        plain = _plain(sentence)
        if len(plain.split()) >= _MIN_WORDS and fuzz.partial_ratio(plain, source, score_cutoff=_SAME) >= _SAME:
            copied += 1
        else:
            kept.append(sentence)
    return ("".join(kept).strip(), copied) if copied else (text, 0)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
