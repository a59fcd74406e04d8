"""What is known of a piece of text, looked up for thousands of pieces at once: a hash table over arrays."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.evals.behaviour.citations import YEAR
from referee.evals.behaviour.cross_references import APPENDIX, KEYWORD
from referee.evals.behaviour.informal_citations import LEADING_YEAR
from referee.evals.behaviour.packing import unpack
from referee.evals.behaviour.readability import spoken
from referee.evals.behaviour.tokens import tokens

Ints = NDArray[np.int64]
Flags = NDArray[np.uint16]
_Digests = NDArray[np.uint64]

LEAD, TAIL, STOP, POINTS, LETTERED, NUMBER, BETWEEN, YEARLY, DATED, LISTED, MARKUP, ADDRESSED, SEVERAL = (
    1 << n for n in range(13)
)
"""Flags of a piece: holds a word before its first stop, and behind its last one; holds a stop; may begin a numbered or
a lettered reference; holds a number; may stand before the number; holds a year; one that authors may stand before;
belongs to an arXiv id or a DOI; may belong to markup around or within a line; may belong to an address; has more than
one token."""

RARE = POINTS | LETTERED | BETWEEN | YEARLY | DATED | LISTED | MARKUP | ADDRESSED | SEVERAL
"""Flags that few pieces have, and that are asked for one after the other."""

FIELD_BITS = 21
"""Bits of each of the three sums in ``counts``: more than a batch has characters."""

SLOT_BITS = 17
SLOTS = 1 << SLOT_BITS
FULL = SLOTS * 3 // 4
"""Most pieces it may hold: more than the different ones in a batch, of which some 80,000 fit into its characters."""
MOST_TOKENS = 1 << 20
ID_BITS = 22
_EIGHT = 8
_PARTS = 5
_READ = _PARTS * _EIGHT
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_EIGHT)] + [(1 << 64) - 1], dtype=np.uint64)
_PRIMES = np.array(
    [
        *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
        *(0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB),
    ],
    dtype=np.uint64,
)
_BETWEEN = frozenset({".", "~", "#", "(", "no", "set", "sets"})
_MARKUP = re.compile(r"[`~$\\\[_]")
_ADDRESSED = re.compile(r"http|ftp|www")
_STOPS = re.compile(r"[.!?]")
_WORD = re.compile(r"\w")
_DIGIT = re.compile(r"[1-9]")


class WordTable:
    """Pieces by a 64-bit digest of their bytes; two different ones share one with a chance of about 1 in 10^19.

    It is emptied when three quarters full, so that it stays within some 30 MiB whatever is read. Not for threads at
    once.

    Args:
        syllables: Counts the syllables of a word in small letters.
    """

    def __init__(self, syllables: Callable[[str], int]) -> None:
        self._count = syllables
        self._empty()

    def _empty(self) -> None:
        self._digests: _Digests = np.zeros(SLOTS, dtype=np.uint64)
        self.flags: Flags = np.zeros(SLOTS, dtype=np.uint16)
        self.counts: Ints = np.zeros(SLOTS, dtype=np.int64)
        """Of each piece: words of readability (0 or 1), their syllables, tokens that are words; see ``FIELD_BITS``."""
        self._ids: Ints = np.zeros(SLOTS, dtype=np.int64)
        self._more: NDArray[np.int32] = np.zeros(SLOTS, dtype=np.int32)
        self._first: NDArray[np.int32] = np.zeros(SLOTS, dtype=np.int32)
        self._further: Ints = np.zeros(MOST_TOKENS, dtype=np.int64)
        self._listed = 0
        self._numbers: dict[str, int] = {}
        self._held = 0

    def slots(self, text: bytes, starts: Ints, lengths: Ints) -> Ints:
        """The slot of each piece; equal pieces and only they have one slot, until the table is emptied.

        Args:
            text: Packed texts in small letters, followed by at least 48 bytes of anything.
            starts: Where each piece begins.
            lengths: How many bytes it has.
        """
        digests = _digests(text, starts, lengths)
        slots = (digests >> np.uint64(64 - SLOT_BITS)).astype(np.int64)
        open_ = np.flatnonzero(self._digests.take(slots) != digests)
        if self._held + len(open_) > FULL or self._listed + len(text) > MOST_TOKENS:
            self._empty()
            open_ = np.arange(len(slots))
        held = self._digests[slots[open_]]
        while open_.size:
            free = open_[held == 0]
            if free.size:
                self._add(text, starts, lengths, digests, slots, free)
            open_ = open_[self._digests[slots[open_]] != digests[open_]]
            slots[open_] = (slots[open_] + 1) & (SLOTS - 1)
            held = self._digests[slots[open_]]
            other = held != digests[open_]
            open_, held = open_[other], held[other]
        return slots

    def spread(self, slots: Ints, several: Ints, bounds: Ints) -> tuple[Ints, Ints]:
        """The numbers of the tokens of pieces, and the bounds of texts in them instead of in the pieces.

        The last bit of a number says whether the token is a word. ``several`` are the few pieces with more than one.
        """
        ids = self._ids.take(slots)
        if not several.size:
            return ids, bounds
        more = self._more[slots[several]].astype(np.int64)
        ends = np.cumsum(more)
        places = np.repeat(self._first[slots[several]] - (ends - more), more) + np.arange(ends[-1])
        ids = np.insert(ids, np.repeat(several + 1, more), self._further[places])
        return ids, bounds + np.append(0, ends)[np.searchsorted(several, bounds)]

    def _add(self, text: bytes, starts: Ints, lengths: Ints, digests: _Digests, slots: Ints, new: Ints) -> None:
        """Put pieces into slots that are free; the first of two for one slot gets it."""
        taken, first = np.unique(slots[new], return_index=True)
        new = new[first]
        ends = starts[new] + lengths[new]
        found = [self._described(unpack(text[start:end])) for start, end in zip(starts[new], ends, strict=True)]
        columns: tuple[NDArray[Any], ...] = (self.flags, self.counts, self._ids, self._more, self._first)
        for column, values in zip(columns, zip(*found, strict=True), strict=True):
            column[taken] = values
        self._digests[taken] = digests[new]
        self._held += len(new)

    def _described(self, piece: str) -> tuple[int, int, int, int, int]:
        """The piece's flags, counts, first token, and how many further ones are listed from where on."""
        own = tokens(piece)
        ids = [self._number(token) for token in own]
        words = sum(number & 1 for number in ids)
        syllables = self._count(spoken(piece)) if words else 0
        counts = (words > 0) | syllables << FIELD_BITS | words << 2 * FIELD_BITS
        first, more = self._listed, len(ids) - 1
        self._further[first : first + more] = ids[1:]
        self._listed += more
        return _flags(piece, own), counts, ids[0], more, first

    def _number(self, token: str) -> int:
        found = self._numbers.get(token)
        if found is None:
            found = self._numbers[token] = 2 * len(self._numbers) | (_WORD.match(token) is not None)
        return found


def with_flag(flags: Flags, one: int) -> Ints:
    """The pieces that have a flag, or one of some."""
    return np.flatnonzero(flags & one != 0)


def _flags(piece: str, own: list[str]) -> int:
    runs = _STOPS.split(piece)
    return (
        POINTS * bool(KEYWORD.search(piece))
        | LETTERED * bool(APPENDIX.search(piece))
        | NUMBER * bool(_DIGIT.search(piece))
        | BETWEEN * _BETWEEN.issuperset(own)
        | YEARLY * bool(YEAR.search(piece))
        | DATED * bool(LEADING_YEAR.search(piece))
        | LISTED * ("arxiv" in piece or ("10." in piece and "/" in piece))
        | MARKUP * bool(_MARKUP.search(piece))
        | ADDRESSED * bool(_ADDRESSED.search(piece))
        | SEVERAL * (len(own) > 1)
        | LEAD * bool(_WORD.search(runs[0]))
        | TAIL * bool(_WORD.search(runs[-1]))
        | STOP * (len(runs) > 1)
    )


def _digests(text: bytes, starts: Ints, lengths: Ints) -> _Digests:
    """Digests of the pieces' bytes, read eight at a time; pieces of more than 40 bytes go one by one."""
    eights: _Digests = np.ndarray((len(text) - _EIGHT + 1,), dtype="<u8", buffer=text, strides=(1,))
    mixed = _mixed(eights[starts] & _MASKS.take(lengths, mode="clip"), 0)
    longer = np.flatnonzero(lengths > _EIGHT)
    for part in range(1, _PARTS):
        rest = lengths[longer] - part * _EIGHT
        mixed[longer] += _mixed(eights[starts[longer] + part * _EIGHT] & _MASKS.take(rest, mode="clip"), part)
        longer = longer[rest > _EIGHT]
    for at in np.flatnonzero(lengths > _READ).tolist():
        piece = text[starts[at] : starts[at] + lengths[at]]
        mixed[at] = np.uint64(int.from_bytes(hashlib.blake2b(piece, digest_size=_EIGHT).digest(), "little"))
    mixed ^= mixed >> np.uint64(32)
    mixed *= _PRIMES[_PARTS]
    found: _Digests = mixed | np.uint64(1)
    return found


def _mixed(pieces: _Digests, prime: int) -> _Digests:
    mixed: _Digests = (pieces ^ (pieces >> np.uint64(29))) * _PRIMES[prime]
    return mixed
