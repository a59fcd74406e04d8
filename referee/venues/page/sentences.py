"""Sentences of a page, also where full stops are not Latin ones, and pieces of bounded length."""

from __future__ import annotations

import re

from referee.evidence.sentences import split_sentences

LONGEST = 420
_WIDE_END = re.compile(r"(?<=[。！？])\s*")
_OTHER_END = re.compile(r"(?<=[.!?])\s+(?=[«„“\"(]?[^\W\d_a-z])")
_CLAUSE_END = re.compile(r"(?<=[;:])\s+|(?<=,)\s+|\s+(?=\()|\s+")


def sentences_of(text: str, language: str = "") -> list[str]:
    """The sentences of a paragraph; all but white space between them is kept."""
    if language in ("zh", "ja"):
        return [piece.strip() for piece in _WIDE_END.split(text) if piece.strip()]
    if language in ("", "en"):
        return split_sentences(text)
    return [piece.strip() for piece in _OTHER_END.split(text) if piece.strip()]


def bounded(text: str, language: str = "") -> list[str]:
    """The text in pieces of at most 420 characters, cut between sentences, and inside one only where it is longer."""
    if len(text) <= LONGEST:
        return [text]
    pieces: list[str] = []
    for sentence in sentences_of(text, language):
        for part in _parts(sentence):
            if pieces and len(pieces[-1]) + 1 + len(part) <= LONGEST and part is sentence:
                pieces[-1] = f"{pieces[-1]} {part}"
            else:
                pieces.append(part)
    return pieces


def _parts(sentence: str) -> list[str]:
    """A sentence that is too long, cut at the last clause border before the limit."""
    parts: list[str] = []
    while len(sentence) > LONGEST:
        borders = [match.start() for match in _CLAUSE_END.finditer(sentence, LONGEST // 2, LONGEST)]
        clauses = [place for place in borders if sentence[place - 1] in ";:,)"]
        cut = (clauses or borders or [LONGEST])[-1]
        parts.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*parts, sentence] if parts else [sentence]
