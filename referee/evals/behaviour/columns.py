"""Many texts in one array: their tokens, their words, and sums over each text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.evals.behaviour.packing import (
    BLANKS,
    JOINERS,
    PUNCTUATION,
    SEPARATOR,
    SMALL,
    TERMINATORS,
    WORDS,
    classes,
)
from referee.evals.behaviour.readability import Readability, scored
from referee.evals.behaviour.results import Diversity
from referee.evals.behaviour.tokens import MATTR_WINDOW
from referee.evals.behaviour.word_table import JOINED, SLOT_BITS, Ints, WordTable

_END = bytes([SEPARATOR])
_PADDING = bytes(48)
_SHAPE = classes(BLANKS, JOINERS, WORDS, TERMINATORS)
_SPEECH = classes(WORDS, TERMINATORS, frozenset([SEPARATOR]))
_NO_STOPS = bytes(code for code in PUNCTUATION if code not in TERMINATORS)
_POSITION_BITS = 24
_FEW_WORDS = 2


@dataclass(frozen=True)
class Tokens:
    """The tokens of all texts in order.

    ``bounds`` are the first token of each text and the number of all; ``text_of`` the text of each token, ``starts``
    and ``lengths`` its place in the joined bytes, ``blank`` which of these are blanks.
    """

    small: bytes
    offsets: Ints
    bounds: Ints
    text_of: Ints
    starts: Ints
    lengths: Ints
    is_word: NDArray[np.bool_]
    is_stop: NDArray[np.bool_]
    slots: Ints
    flags: NDArray[np.uint8]
    blank: NDArray[np.bool_]


def joined(packed: Sequence[bytes]) -> bytes:
    """The texts, a separator before, between and behind them."""
    return _END + _END.join(packed) + _END


def find_tokens(texts: bytes, table: WordTable) -> Tokens:
    """The tokens of joined texts: runs of word characters with single joiners between them, and all other symbols."""
    shape = np.frombuffer(texts.translate(_SHAPE), dtype=np.uint8)
    word = shape == 3
    blank = shape == 1
    word[1:-1] |= (shape[1:-1] == 2) & word[:-2] & word[2:]
    within = word[1:] & word[:-1]
    first = ~blank
    last = first.copy()
    first[1:] &= ~within
    last[:-1] &= ~within
    starts = np.flatnonzero(first)
    lengths = np.flatnonzero(last) - starts + 1
    table.make_room(len(starts))
    separators = np.flatnonzero(np.frombuffer(texts, dtype=np.uint8) == SEPARATOR)
    bounds = np.searchsorted(starts, separators)
    small = texts.translate(SMALL) + _PADDING
    slots = table.slots(small, starts, lengths)
    text_of = np.repeat(np.arange(len(separators) - 1), np.diff(bounds))
    return Tokens(
        small=small,
        offsets=separators + 1,
        bounds=bounds,
        text_of=text_of,
        starts=starts,
        lengths=lengths,
        is_word=word[starts],
        is_stop=shape[starts] == 4,
        slots=slots,
        flags=table.flags[slots],
        blank=blank,
    )


def diversities(tokens: Tokens) -> list[Diversity]:
    """Counts and MATTR of each text.

    A pair of neighbouring occurrences of a type takes one type from each window that holds both.
    """
    counts = np.diff(tokens.bounds)
    texts = len(counts)
    position = np.arange(len(tokens.starts)) - tokens.bounds[tokens.text_of]
    keys = tokens.text_of << (SLOT_BITS + 1 + _POSITION_BITS)
    keys |= tokens.slots << (1 + _POSITION_BITS)
    keys |= tokens.is_word.astype(np.int64) << _POSITION_BITS
    keys |= position
    keys.sort()
    again = np.flatnonzero((keys[1:] >> _POSITION_BITS) == (keys[:-1] >> _POSITION_BITS))
    earlier, later = keys[again], keys[again + 1]
    text = earlier >> (SLOT_BITS + 1 + _POSITION_BITS)
    is_word = (earlier >> _POSITION_BITS) & 1
    mask = (1 << _POSITION_BITS) - 1
    before, after = earlier & mask, later & mask
    last_start = counts[text] - MATTR_WINDOW
    held = np.minimum(before, last_start) - np.maximum(0, after - MATTR_WINDOW + 1) + 1
    repeated = np.bincount(text, weights=np.maximum(held, 0), minlength=texts)
    types = counts - np.bincount(text, minlength=texts)
    words = sums(tokens.is_word, tokens.bounds)
    word_types = words - np.bincount(text[is_word == 1], minlength=texts)
    rows = zip(*(column.tolist() for column in (counts, types, words, word_types, repeated)), strict=True)
    return [
        Diversity(n, kinds, heard, heard_kinds, _mattr(n, kinds, held)) for n, kinds, heard, heard_kinds, held in rows
    ]


def readabilities(tokens: Tokens, table: WordTable) -> list[Readability]:
    """Readability of each text, from its tokens before the table is emptied.

    Tokens without a blank between them are one word as readability counts: "state-of-the-art", "95.3%", "(e.g.".
    """
    words = np.flatnonzero(tokens.is_word)
    begins = np.ones(len(tokens.starts), dtype=bool)
    begins[1:] = tokens.starts[1:] > tokens.starts[:-1] + tokens.lengths[:-1]
    chunks = np.cumsum(begins)[words]
    follows = chunks[1:] == chunks[:-1]
    first = np.ones(len(words), dtype=bool)
    first[1:] = ~follows
    mixed = tokens.flags[words] & JOINED != 0
    mixed[:-1] |= follows
    heads = words[first]
    simple = ~np.logical_or.reduceat(mixed, np.flatnonzero(first)) if len(words) else first
    spoken = np.zeros(len(heads), dtype=np.int64)
    low = tokens.small
    spoken[simple] = table.syllables(
        low, tokens.slots[heads[simple]], tokens.starts[heads[simple]], tokens.lengths[heads[simple]]
    )
    starts, lengths = _chunks(tokens, begins, heads[~simple])
    spoken[~simple] = table.syllables(low, table.slots(low, starts, lengths), starts, lengths)
    bounds = np.searchsorted(heads, tokens.bounds)
    rows = zip(np.diff(bounds).tolist(), _sentences(tokens, words, begins), sums(spoken, bounds).tolist(), strict=True)
    return [scored(count, max(1, sentences) if count else 0, total) for count, sentences, total in rows]


def _chunks(tokens: Tokens, begins: NDArray[np.bool_], heads: Ints) -> tuple[Ints, Ints]:
    """Where the whole chunks begin in which some words stand, and how many bytes they have."""
    opening = np.flatnonzero(begins)
    number = np.searchsorted(opening, heads, side="right")
    last = np.append(opening, len(begins))[number] - 1
    starts = tokens.starts[opening[number - 1]]
    return starts, tokens.starts[last] + tokens.lengths[last] - starts


def _sentences(tokens: Tokens, words: Ints, begins: NDArray[np.bool_]) -> list[int]:
    """Runs with more than two words up to a stop or the text's end, by text; a stop within a chunk parts its words."""
    pieces = np.cumsum(begins | tokens.is_stop)[words]
    first = np.ones(len(words), dtype=bool)
    first[1:] = pieces[1:] != pieces[:-1]
    counted = words[first]
    stops = np.flatnonzero(tokens.is_stop)
    ends = np.sort(np.concatenate([stops, tokens.bounds]))
    long = np.diff(np.searchsorted(counted, ends)) > _FEW_WORDS
    found: list[int] = sums(long, np.searchsorted(ends, tokens.bounds)).tolist()
    return found


def sentence_counts(texts: bytes) -> list[int]:
    """Runs with more than two words up to a stop or the text's end, of each of the joined texts, without tokens."""
    speech = np.frombuffer(texts.translate(_SPEECH, _NO_STOPS), dtype=np.uint8)
    word = speech == 1
    begins = np.flatnonzero(word[1:] & ~word[:-1]) + 1
    ends = np.flatnonzero(speech > 1)
    long = np.diff(np.searchsorted(begins, ends)) > _FEW_WORDS
    found: list[int] = sums(long, np.flatnonzero(speech[ends] == 3)).tolist()
    return found


def sums(values: NDArray[np.bool_] | Ints, bounds: Ints) -> Ints:
    """The sum of each text's values."""
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    found: Ints = np.diff(total[bounds])
    return found


def _mattr(tokens: int, types: int, repeated: float) -> float | None:
    if tokens <= MATTR_WINDOW:
        return types / tokens if tokens else None
    windows = tokens - MATTR_WINDOW + 1
    return (MATTR_WINDOW * windows - int(repeated)) / (MATTR_WINDOW * windows)
