"""Text from models and papers made safe to print: no control characters, no terminal sequences, no hidden marks."""

from __future__ import annotations

import re

from referee.evidence.sentences import MORE, sentence_units

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,2000}(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    r"\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """The text with its lines, without terminal sequences, control characters, marks of direction and zero width."""
    return _UNSEEN.sub("", _LINE_BREAK.sub("\n", _TERMINAL.sub("", text))).replace("\t", "    ")


def one_line(text: str) -> str:
    """The clean text on one line, blanks in a row as one."""
    return " ".join(clean(text).split())


MOST_CHARS = 1200
"""Longer than a sentence: what has no end by then, as a table's numbers in a row, is cut between words."""


def excerpt(text: str, limit: int) -> str:
    """One line of the whole sentences that ``limit`` characters hold, at least the first; ``[…]`` where more follows.

    A line without a full stop, as an item of a list, counts as a sentence.
    """
    line = one_line(text)
    if len(line) <= limit:
        return line
    first, *rest = sentence_units(clean(text))
    kept = first
    for unit in rest:
        if len(kept) + 1 + len(unit) > limit:
            break
        kept += f" {unit}"
    if len(kept) > MOST_CHARS:
        kept = kept[:MOST_CHARS].rsplit(" ", 1)[0]
    return kept if kept == line else kept + MORE


def shortened(text: str, limit: int) -> str:
    """One line of at most about ``limit`` characters, cut between words and marked with an ellipsis."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    head = line[:limit]
    return (head.rsplit(" ", 1)[0] if " " in head else head) + " …"
