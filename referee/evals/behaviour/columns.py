"""Many texts in one array: their pieces, and sums over each text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.evals.behaviour.packing import BLANKS, SMALL, WORDS, classes
from referee.evals.behaviour.readability import Readability, scored
from referee.evals.behaviour.results import Diversity
from referee.evals.behaviour.tokens import MATTR_WINDOW
from referee.evals.behaviour.word_table import (
    FIELD_BITS,
    ID_BITS,
    LEAD,
    RARE,
    SEVERAL,
    STOP,
    TAIL,
    Flags,
    Ints,
    WordTable,
    with_flag,
)

_PADDING = b"\n" * 48
_SHAPE = classes(BLANKS, WORDS)
_POSITION_BITS = 20
_SAME = 1 << _POSITION_BITS - 1
"""Two tokens of one type are not as far apart: a batch has fewer. Keys of two types are farther."""
_FIELD = (1 << FIELD_BITS) - 1
_FEW_WORDS = 2
_UNREAD = scored(0, 0, 0)
_EMPTY = Diversity(0, 0, 0, 0, None)
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Pieces:
    """The pieces of all texts in order: what stands between blanks, without one mark before and one behind it.

    Such a mark is a piece of its own. It belongs to no word, so that each word of readability is in one piece and each
    token too. ``texts`` are the bytes of all texts, ``offsets`` where each text begins in them and where one more
    would; ``bounds`` the first piece of each text and the number of all; ``starts`` and ``ends`` the place of each
    piece; ``rare`` the pieces with a flag that few have.
    """

    texts: bytes
    offsets: Ints
    bounds: Ints
    starts: Ints
    ends: Ints
    slots: Ints
    flags: Flags
    rare: Ints

    def having(self, flag: int) -> Ints:
        """The pieces with a flag of those in ``RARE``, or with one of some."""
        found: Ints = self.rare[self.flags[self.rare] & flag != 0]
        return found


def find_pieces(packed: Sequence[bytes], table: WordTable) -> Pieces:
    """The pieces of texts, a line's end before, between and behind them."""
    texts = b"".join((b"\n", b"\n".join(packed), b"\n", _PADDING))
    offsets = np.ones(len(packed) + 1, dtype=np.int64)
    np.cumsum([len(one) + 1 for one in packed], out=offsets[1:])
    offsets[1:] += 1
    starts, ends = _cut(texts)
    slots = table.slots(texts.translate(SMALL), starts, ends - starts)
    bounds = np.searchsorted(starts, offsets)
    flags = table.flags.take(slots)
    return Pieces(texts, offsets, bounds, starts, ends, slots, flags, with_flag(flags, RARE))


def _cut(texts: bytes) -> tuple[Ints, Ints]:
    """Where pieces begin and end."""
    shape = np.frombuffer(texts.translate(_SHAPE), dtype=np.uint8)
    blank, mark = shape == 1, shape == 0
    first = np.zeros(len(shape), dtype=bool)
    first[1:] = blank[:-1]
    first[2:] |= mark[1:-1] & blank[:-2]
    first[:-1] |= mark[:-1] & blank[1:]
    first &= ~blank
    last = first | blank
    last[:-1] = last[1:]
    last &= ~blank
    return np.flatnonzero(first), np.flatnonzero(last) + 1


def diversities(pieces: Pieces, words: Ints, table: WordTable) -> list[Diversity]:
    """Counts and MATTR of each text.

    A pair of neighbouring occurrences of a type takes one type from each window that holds both.

    Args:
        pieces: Of the texts.
        words: How many tokens of each text are words.
        table: The table that knows them.
    """
    keys, begins = table.spread(pieces.slots, pieces.having(SEVERAL), pieces.bounds)
    counts = np.diff(begins)
    texts = len(counts)
    keys |= np.repeat(np.arange(texts) << ID_BITS, counts)
    keys <<= _POSITION_BITS
    keys |= np.arange(len(keys))
    keys.sort()
    gaps = keys[1:] - keys[:-1]
    again = np.flatnonzero(gaps < _SAME)
    keys = keys.take(again)
    kinds = keys >> _POSITION_BITS
    text = kinds >> ID_BITS
    bounds = np.searchsorted(text, np.arange(texts + 1))
    before = keys & ((1 << _POSITION_BITS) - 1)
    held = np.minimum(before, (begins[1:] - MATTR_WINDOW).take(text))
    held -= np.maximum(begins.take(text), before + (gaps.take(again) - (MATTR_WINDOW - 1)))
    repeated = sums(np.maximum(held + 1, 0), bounds)
    types_of = counts - np.diff(bounds)
    word_types = words - sums(kinds & 1, bounds)
    columns = (counts, types_of, words, word_types, _mattrs(counts, types_of, repeated))
    found = list(map(Diversity._make, zip(*(column.tolist() for column in columns), strict=True)))
    for empty in np.flatnonzero(counts == 0).tolist():
        found[empty] = _EMPTY
    return found


def spoken(pieces: Pieces, table: WordTable) -> tuple[Ints, Ints, Ints]:
    """The words of each text as readability counts them, their syllables, and the tokens that are words."""
    both = sums(table.counts.take(pieces.slots), pieces.bounds)
    return both & _FIELD, both >> FIELD_BITS & _FIELD, both >> 2 * FIELD_BITS


def readabilities(words: Ints, syllables: Ints, sentences: Ints) -> list[Readability]:
    """The scores of each text, as ``scored`` has them; one that has words has a sentence."""
    sentences = np.maximum(sentences, words > 0)
    spoken = np.maximum(words, 1)
    length, per_word = spoken / np.maximum(sentences, 1), syllables / spoken
    ease = 206.835 - 1.015 * length - 84.6 * per_word
    grade = 0.39 * length + 11.8 * per_word - 15.59
    rows = zip(*(column.tolist() for column in (words, sentences, syllables, ease, grade)), strict=True)
    found = list(map(Readability._make, rows))
    for silent in np.flatnonzero(words == 0).tolist():
        found[silent] = _UNREAD
    return found


class Speech(NamedTuple):
    """What sentences are made of: words before each piece and before the end, and the pieces that hold a stop.

    ``tails`` says of each such piece whether a word follows its last stop.
    """

    heard: Ints
    stops: Ints
    tails: NDArray[np.bool_]


def speech(flags: Flags) -> Speech:
    """The words and stops of pieces. Between two stops within a piece there is one word at most, which is none here."""
    heard = np.zeros(len(flags) + 1, dtype=np.int64)
    np.cumsum((flags & LEAD).view(np.int16), dtype=np.int64, out=heard[1:])
    stops = with_flag(flags, STOP)
    return Speech(heard, stops, flags[stops] & TAIL != 0)


def sentence_counts(said: Speech, bounds: Ints, dropped: Ints = _NONE) -> Ints:
    """Runs with more than two words up to a stop or the text's end, of each text.

    Args:
        said: The words and stops of all texts.
        bounds: The first piece of each text and the number of all.
        dropped: Pieces whose word does not count, in order.
    """
    cuts = np.concatenate([said.stops + 1, bounds])
    order = np.argsort(cuts, kind="stable")
    cuts = cuts[order]
    tails = np.append(said.tails, np.zeros(len(bounds), dtype=bool))[order]
    heard = said.heard[cuts] - np.searchsorted(dropped, cuts)
    long = np.flatnonzero(np.diff(heard) + tails[:-1] > _FEW_WORDS)
    found: Ints = np.diff(np.searchsorted(long, np.searchsorted(cuts, bounds)))
    return found


def sums(values: Ints, bounds: Ints) -> Ints:
    """The sum of each text's values."""
    held = np.flatnonzero(np.diff(bounds))
    found = np.zeros(len(bounds) - 1, dtype=np.int64)
    if held.size:
        found[held] = np.add.reduceat(values, bounds[held])
    return found


def _mattrs(tokens: Ints, types: Ints, repeated: Ints) -> NDArray[np.float64]:
    """MATTR of each text, of a short one its plain ratio."""
    whole = MATTR_WINDOW * np.maximum(tokens - MATTR_WINDOW + 1, 1)
    found: NDArray[np.float64] = np.where(
        tokens > MATTR_WINDOW, (whole - repeated) / whole, types / np.maximum(tokens, 1)
    )
    return found
