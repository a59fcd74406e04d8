"""Prose cut into sentences, and texts that a limit broke off ended with a whole one."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“(\[]?[A-Z0-9])")
_NO_END = re.compile(
    r"(?:\b(?:et al|e\.g|i\.e|cf|vs|resp|approx|figs?|tab|eqs?|secs?|refs?|no|app|dr|prof|st)|\b[a-z])\.$", re.I
)
# Longer than the longest abbreviation by more than a character: looking at all that stands before takes square time.
_TAIL = 16
_ENDED = re.compile(r"[.!?][\"'”’)\]]*$")
_LIST_MARK = re.compile(r"\(?\d{1,3}[.)]|[-*•–]")
# A bounded reply may end up to a token before its bound, and never by chance so near to a long one.
_TOKEN_CHARS, _BOUND_SHARE = 12, 40
MORE = " […]"
"""Stands where a text goes on."""


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


def sentence_units(text: str) -> list[str]:
    """Sentences, and lines that end without one; a list's mark and what ends with a colon stay with what follows."""
    units: list[str] = []
    leads = False
    for line in text.splitlines():
        for sentence in split_sentences(" ".join(line.split())):
            if leads:
                units[-1] += f" {sentence}"
            else:
                units.append(sentence)
            leads = _LIST_MARK.fullmatch(sentence) is not None or sentence.endswith(":")
    return units


def without_broken_end(text: str, limit: int) -> str:
    """A text that was bounded by ``limit`` characters, without the sentence in which the bound broke it off.

    A model that is held to the bound while it writes may stop some characters before it, where no token fits any more.
    Shorter texts, and those that end with a sentence, stay as they are. Where no whole sentence or line is left, the
    text stays up to its last whole word, and ``[…]`` says that it goes on.
    """
    if len(text) < limit - min(_TOKEN_CHARS, limit // _BOUND_SHARE) or not text.strip() or _ends(text.rstrip()):
        return text
    *lines, last = text.rstrip().split("\n")
    *whole, broken = split_sentences(last)
    kept = last[: last.rindex(broken)].rstrip()
    if whole and _LIST_MARK.fullmatch(whole[-1]):
        kept = kept[: -len(whole[-1])].rstrip()
    while not kept and lines:
        kept = lines.pop().rstrip()
        kept = "" if kept.endswith(":") else kept
    return "\n".join([*lines, kept]) if kept else text.rstrip().rpartition(" ")[0] + MORE


def _ends(text: str) -> bool:
    return _ENDED.search(text) is not None and _NO_END.search(text[-_TAIL:]) is None
