"""Texts as one byte a character, so that a whole batch of reviews is searched in one array.

A byte below 128 is ASCII; the others stand for the characters that reviews in English hold beside it. A text with any
other character is not packed, and is measured character by character instead: slower, with the same result.
"""

from __future__ import annotations

import codecs
import re

SEPARATOR = 0xFF
"""Stands between texts and is in none."""

_SYMBOLS = "‘’‚“”„«»–—―‐‑−…•·●○▪†′§©®°²³¹½£€±×÷´¨‣◦"
_SPACES = "\u00a0\u2009\u2028\u202f\u3000"
_UNSEEN = "\u200b\ufeff\u00ad"
_MATHEMATICS = "≤≥≠≈∈∑∫√∂∆∞∝∀→←↔⇒"
_LATIN = "áàâäãåçéèêëíïñóôöøúüšžčćµﬁÁÄÅÇÉÖØÜŠ"
_GREEK = "αβγδεζηθκλμνξπρστφχψωϵϕΔΩΦΘΛ"
_EXTRA = _SYMBOLS + _SPACES + _UNSEEN + _MATHEMATICS + _LATIN + _GREEK
_UNUSED = "\ufffe"

CHARACTERS = ("".join(map(chr, range(128))) + _EXTRA).ljust(256, _UNUSED)
"""The character that each byte stands for."""

_USED = [(code, char) for code, char in enumerate(CHARACTERS) if char != _UNUSED]
_CODES = {char: code for code, char in _USED}
_ENCODING = codecs.charmap_build(CHARACTERS)

_WORD, _SPACE, _SPECIAL = re.compile(r"\w"), re.compile(r"\s"), re.compile(r"[\s\dﬀ-ﬆ]")
# Letters and symbols that mean nothing to any metric, the letters small and with none that is their capital.
_STAND_INS = {True: "ñïíèâçåëêµﬁϵϕ", False: "»«†®©£∂∆∝∀⇒●○"}
_MOST_STAND_INS = 12
_LAST_LATIN = 0x24F
WORDS = frozenset(code for code, char in _USED if _WORD.match(char))
BLANKS = frozenset(code for code, char in _USED if _SPACE.match(char)) | {SEPARATOR}
TERMINATORS = frozenset(b".!?")
JOINERS = frozenset(_CODES[char] for char in "-'’")
PUNCTUATION = bytes(code for code, _ in _USED if code not in WORDS and code not in BLANKS)

SMALL = bytes(_CODES.get(char.lower(), code) for code, char in enumerate(CHARACTERS))
"""Translates to small letters."""


def pack(text: str) -> bytes | None:
    """A text's bytes, one for each character; null for a text that cannot be packed.

    A character without a byte of its own gets, for this text alone, the byte of one of its kind that the text does
    not hold: which letters or symbols are equal is all that is asked of them.
    """
    try:
        packed = text.encode("ascii") if text.isascii() else codecs.charmap_encode(text, "strict", _ENCODING)[0]
    except UnicodeEncodeError:
        return None if "\x00" in text else _with_stand_ins(text)
    return None if b"\x00" in packed else packed


def _with_stand_ins(text: str) -> bytes | None:
    held = set(text)
    small = {char: char.lower() for char in held if char not in _CODES}
    if "Σ" in held and "ς" in text.lower():
        return None
    if len(small) > _MOST_STAND_INS or not all(map(_replaceable, small)):
        return None
    free = {kind: [char for char in chars if char not in held] for kind, chars in _STAND_INS.items()}
    chosen: dict[str, str] = {}
    for char in sorted(small):
        if small[char] in _CODES:
            chosen[char] = small[char]
            continue
        kind = bool(_WORD.match(char))
        if small[char] not in chosen:
            if not free[kind]:
                return None
            chosen[small[char]] = free[kind].pop()
        chosen[char] = chosen[small[char]]
    for char, other in chosen.items():
        text = text.replace(char, other)
    return pack(text)


def _replaceable(char: str) -> bool:
    """Whether a character is no digit and no blank, has one small letter, and is no Latin one.

    Rules of hyphenation know some Latin letters with accents, and ligatures.
    """
    return (
        char != "\x00"
        and char != "ς"
        and (ord(char) > _LAST_LATIN or not _WORD.match(char))
        and char not in "\u212a\u212b"
        and len(char.lower()) == 1
        and not _SPECIAL.match(char)
    )


def unpack(packed: bytes) -> str:
    """The text that was packed."""
    return codecs.charmap_decode(packed, "strict", CHARACTERS)[0]


def classes(*members: frozenset[int]) -> bytes:
    """A translation of bytes to classes: members of the first set to 1, of the second to 2, all others to 0."""
    codes = bytearray(256)
    for number, some in enumerate(members, 1):
        for member in some:
            codes[member] = number
    return bytes(codes)
