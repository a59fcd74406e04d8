"""Readability of the view ``clean`` from the pieces of the view ``raw``, where only lists and headings were removed."""

from __future__ import annotations

import numpy as np

from referee.evals.behaviour.columns import Pieces, Speech, readabilities, sentence_counts
from referee.evals.behaviour.marks import LINE_END, Marks, find_marks
from referee.evals.behaviour.packing import pack
from referee.evals.behaviour.readability import Readability
from referee.evals.behaviour.word_table import Ints

_STOPS = np.isin(np.arange(256), list(b".!?"))
_CLOSERS = np.isin(np.arange(256), list(pack("\"'”’)]*_") or b""))


def without_marks(pieces: Pieces, said: Speech, words: Ints, syllables: Ints) -> list[Readability]:
    """Readability of each text without the marks of its items and headings, whose ends are ends of sentences.

    It is that of ``without_blocks``. A number is a word of one syllable; nothing else in a mark is a word.

    Args:
        pieces: Of the texts as they stand.
        said: Their words and stops.
        words: How many each text has.
        syllables: How many these have.
    """
    lines = np.flatnonzero(np.frombuffer(pieces.texts, dtype=np.uint8) == LINE_END)
    marks = find_marks(pieces.texts, lines[:-1])
    first = np.searchsorted(pieces.starts, marks.starts[marks.numbered])
    behind = np.searchsorted(pieces.starts, marks.ends[marks.numbered])
    unended = _unended(pieces, marks.ends, _item_ends(pieces, lines, marks))
    sentences = sentence_counts(_with_ends(said, first, behind, unended), pieces.bounds, first)
    numbers = np.diff(np.searchsorted(first, pieces.bounds))
    return readabilities(words - numbers, syllables - numbers, sentences)


def _with_ends(said: Speech, first: Ints, behind: Ints, unended: Ints) -> Speech:
    """Words and stops without the stops of numbers, and with one behind each piece that ends an item without one."""
    mark = np.searchsorted(first, said.stops, side="right") - 1
    kept = said.stops >= np.append(behind, 0)[mark]
    stops = np.concatenate([unended, said.stops[kept]])
    tails = np.append(np.zeros(len(unended), dtype=bool), said.tails[kept])
    stops, at = np.unique(stops, return_index=True)
    return Speech(said.heard, stops, tails[at])


def _item_ends(pieces: Pieces, lines: Ints, marks: Marks) -> Ints:
    """Where items end: at the next mark or the text's end, a heading's line end, or a blank line."""
    before = np.searchsorted(pieces.starts, lines)
    blank = lines[:-1][before[1:] == before[:-1]]
    begins, heading = marks.ends, marks.headings
    ends = np.append(marks.starts, len(pieces.texts))[1:]
    np.minimum(ends, blank[np.searchsorted(blank, begins)], out=ends)
    ends[heading] = np.minimum(ends[heading], lines[np.searchsorted(lines, begins[heading])])
    text_ends = pieces.offsets[np.searchsorted(pieces.offsets, begins, side="right")] - 1
    np.minimum(ends, text_ends, out=ends)
    return ends


def _unended(pieces: Pieces, begins: Ints, ends: Ints) -> Ints:
    """The last pieces of the items that hold any and end without a stop."""
    texts = np.frombuffer(pieces.texts, dtype=np.uint8)
    last = np.searchsorted(pieces.starts, ends) - 1
    held = pieces.starts[last] >= begins
    last, begins = last[held], begins[held]
    at = pieces.ends[last] - 1
    while (closed := _CLOSERS[texts[at]] & (at > begins)).any():
        at = at - closed
    found: Ints = last[~_STOPS[texts[at]]]
    return found
