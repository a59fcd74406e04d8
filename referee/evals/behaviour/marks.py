"""Where the marks of list items and headings stand in many texts, found in one array."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.evals.behaviour.packing import pack
from referee.evals.behaviour.word_table import Ints

LINE_END = 10
_INDENT, _GAP, _BULLET, _HEADING, _OPEN, _DIGIT, _CLOSE = (1 << n for n in range(7))
_MOST_SIGNS = 6
_MOST_DIGITS = 3


def _kinds() -> NDArray[np.uint8]:
    """What a byte can be at the beginning of a line."""
    kinds = np.zeros(256, dtype=np.uint8)
    members = {_INDENT: " \t>", _GAP: " \t", _BULLET: "-*+•‣▪◦–", _HEADING: "#", _OPEN: "(", _DIGIT: "0123456789"}
    for kind, characters in {**members, _CLOSE: ".)"}.items():
        kinds[list(pack(characters) or b"")] |= kind
    return kinds


_KINDS = _kinds()
_INDENTED = re.compile(rb"[ \t>]*")
_FEW_STEPS = 24


class Marks(NamedTuple):
    """Where marks begin, at the line end before them, and end; which are numbers, and which are headings'."""

    starts: Ints
    ends: Ints
    numbered: NDArray[np.bool_]
    headings: NDArray[np.bool_]


def find_marks(texts: bytes, lines: Ints) -> Marks:
    """All matches of the expression ``BLOCK``, without the blanks at their ends.

    Args:
        texts: Packed texts.
        lines: Where lines end; something stands behind each.
    """
    codes = np.frombuffer(texts, dtype=np.uint8)
    at = _behind_indents(texts, codes, lines + 1)
    kinds = _KINDS[codes[at]]
    signs = np.flatnonzero(kinds & (_BULLET | _HEADING | _OPEN | _DIGIT))
    starts, at, kinds = lines[signs], at[signs], kinds[signs]
    headings, numbered = kinds & _HEADING != 0, kinds & (_OPEN | _DIGIT) != 0
    ends = at + (kinds & (_BULLET | _OPEN) != 0)
    ends[headings] = _passed(codes, ends[headings], _HEADING, _MOST_SIGNS)
    first = ends[numbered]
    last = _passed(codes, first, _DIGIT, _MOST_DIGITS)
    closed = (last > first) & (_KINDS[codes[last]] & _CLOSE != 0)
    ends[numbered] = last + closed
    whole = _KINDS[codes[ends]] & _GAP != 0
    whole[numbered] &= closed
    return Marks(starts[whole], ends[whole], numbered[whole], headings[whole])


def _behind_indents(texts: bytes, codes: NDArray[np.uint8], places: Ints) -> Ints:
    """The first byte of each line that indents nothing; few lines are indented by more than some steps."""
    places = _passed(codes, places, _INDENT, _FEW_STEPS)
    for line in np.flatnonzero(_KINDS[codes[places]] & _INDENT).tolist():
        found = _INDENTED.match(texts, places[line])
        places[line] = found.end() if found else places[line]
    return places


def _passed(codes: NDArray[np.uint8], places: Ints, kind: int, most: int) -> Ints:
    """Each place, or behind it the first byte that is not of a kind; no more than so many are passed over."""
    places = places.copy()
    here = np.flatnonzero(_KINDS[codes[places]] & kind)
    while here.size and most:
        places[here] += 1
        here = here[_KINDS[codes[places[here]]] & kind != 0]
        most -= 1
    return places
