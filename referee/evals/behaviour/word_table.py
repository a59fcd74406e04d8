"""What is known of a word, looked up for thousands of words at once: a hash table over arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from referee.evals.behaviour.citations import YEAR
from referee.evals.behaviour.cross_references import APPENDIX, KEYWORD
from referee.evals.behaviour.packing import unpack

Ints = NDArray[np.int64]
_Words = NDArray[np.uint64]

POINTS, LETTERED, NUMBER, BETWEEN, YEARLY, LISTED, MARKUP, JOINED = (1 << n for n in range(8))
"""Flags of a token: may begin a numbered or a lettered reference; holds a number; may stand before the number; holds a
year; belongs to an arXiv id; may belong to markup around or within a line; is a word of several parts."""

SLOT_BITS = 18
SLOTS = 1 << SLOT_BITS
FULL = SLOTS // 2
_EIGHT = 8
_PARTS = 5
_READ = _PARTS * _EIGHT
_UNKNOWN = 0
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_EIGHT)] + [(1 << 64) - 1], dtype=np.uint64)
_PRIMES = np.array(
    [
        *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
        *(0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB),
    ],
    dtype=np.uint64,
)
_BETWEEN = frozenset({".", "~", "#", "(", "no", "set", "sets"})
_MARKUP = re.compile(r"[`~$\\\[_]|http|ftp|www")
_JOINER = re.compile(r"[^\w]")
_DIGIT = re.compile(r"[1-9]")


class WordTable:
    """Words by a 64-bit digest of their bytes; two different words share one with a chance of about 1 in 10^19.

    It is emptied when half full, so that it stays within 8 MiB whatever is read. Not for several threads at once.

    Args:
        syllables: Counts the syllables of a word in small letters.
    """

    def __init__(self, syllables: Callable[[str], int]) -> None:
        self._count = syllables
        self._empty()

    def _empty(self) -> None:
        self._digests: _Words = np.zeros(SLOTS, dtype=np.uint64)
        self._syllables: Ints = np.zeros(SLOTS, dtype=np.int64)
        self.flags: NDArray[np.uint8] = np.zeros(SLOTS, dtype=np.uint8)
        self._held = 0

    def make_room(self, words: int) -> None:
        """Before a batch of so many words: empty the table if they might not fit."""
        if self._held + words > FULL:
            self._empty()

    def slots(self, text: bytes, starts: Ints, lengths: Ints) -> Ints:
        """The slot of each word; equal words and only they have one slot, until the table is emptied.

        Args:
            text: Packed texts in small letters, followed by at least 48 bytes of anything.
            starts: Where each word begins.
            lengths: How many bytes it has.
        """
        digests = _digests(text, starts, lengths)
        slots = (digests >> np.uint64(64 - SLOT_BITS)).astype(np.int64)
        held = self._digests[slots]
        open_ = np.flatnonzero(held != digests)
        while open_.size:
            free = open_[held[open_] == 0]
            if free.size:
                self._add(text, starts, lengths, digests, slots, free)
            open_ = open_[self._digests[slots[open_]] != digests[open_]]
            slots[open_] = (slots[open_] + 1) & (SLOTS - 1)
            held[open_] = self._digests[slots[open_]]
            open_ = open_[held[open_] != digests[open_]]
        return slots

    def syllables(self, text: bytes, slots: Ints, starts: Ints, lengths: Ints) -> Ints:
        """The syllables of words in these slots, counted once for each that the table holds."""
        found = self._syllables[slots]
        missing = np.flatnonzero(found == _UNKNOWN).tolist()
        for at in missing:
            slot = slots[at]
            if self._syllables[slot] == _UNKNOWN:
                self._syllables[slot] = self._count(_word(text, starts[at], lengths[at]))
        return self._syllables[slots] if missing else found

    def _add(self, text: bytes, starts: Ints, lengths: Ints, digests: _Words, slots: Ints, new: Ints) -> None:
        """Put words into slots that were free when they were looked at; the first of two for one slot gets it."""
        for at in new.tolist():
            slot = slots[at]
            if self._digests[slot] == 0:
                self._digests[slot] = digests[at]
                self.flags[slot] = _flags(_word(text, starts[at], lengths[at]))
                self._held += 1


def _word(text: bytes, start: int, length: int) -> str:
    return unpack(text[start : start + length])


def _flags(word: str) -> int:
    return (
        POINTS * bool(KEYWORD.search(word))
        | LETTERED * bool(APPENDIX.search(word))
        | NUMBER * bool(_DIGIT.search(word))
        | BETWEEN * (word in _BETWEEN)
        | YEARLY * bool(YEAR.search(word))
        | LISTED * ("arxiv" in word)
        | MARKUP * bool(_MARKUP.search(word))
        | JOINED * bool(_JOINER.search(word))
    )


def _digests(text: bytes, starts: Ints, lengths: Ints) -> _Words:
    """Digests of the words' bytes, read eight at a time; words of more than 40 bytes go one by one."""
    eights: _Words = np.ndarray((len(text) - _EIGHT + 1,), dtype="<u8", buffer=text, strides=(1,))
    mixed = _mixed(eights[starts] & _MASKS[np.minimum(lengths, _EIGHT)], 0)
    longer = np.flatnonzero(lengths > _EIGHT)
    for part in range(1, _PARTS):
        rest = lengths[longer] - part * _EIGHT
        mixed[longer] += _mixed(eights[starts[longer] + part * _EIGHT] & _MASKS[np.minimum(rest, _EIGHT)], part)
        longer = longer[rest > _EIGHT]
    for at in np.flatnonzero(lengths > _READ).tolist():
        word = text[starts[at] : starts[at] + lengths[at]]
        mixed[at] = np.uint64(int.from_bytes(hashlib.blake2b(word, digest_size=_EIGHT).digest(), "little"))
    mixed ^= mixed >> np.uint64(32)
    mixed *= _PRIMES[_PARTS]
    found: _Words = mixed | np.uint64(1)
    return found


def _mixed(words: _Words, prime: int) -> _Words:
    mixed: _Words = (words ^ (words >> np.uint64(29))) * _PRIMES[prime]
    return mixed
