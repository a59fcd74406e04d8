"""Prose cut into sentences."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“(\[]?[A-Z0-9])")
_NO_END = re.compile(
    r"(?:\b(?:et al|e\.g|i\.e|cf|vs|resp|approx|figs?|tab|eqs?|secs?|refs?|no|app|dr|prof|st)|\b[a-z])\.$", re.I
)
# Longer than the longest abbreviation by more than a character: looking at all that stands before takes square time.
_TAIL = 16


def split_sentences(text: str) -> list[str]:
    """Cut a paragraph at its sentence ends; abbreviations and initials are no ends. Nothing but white space is lost."""
    sentences: list[str] = []
    start = 0
    for end in _END.finditer(text):
        stop = end.start() + len(end.group().rstrip())
        if not _NO_END.search(text[max(start, stop - _TAIL) : stop]):
            sentences.append(text[start:stop].strip())
            start = end.end()
    rest = text[start:].strip()
    return [*sentences, rest] if rest else sentences
