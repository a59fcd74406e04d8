"""Text stored otherwise than it is painted: objects of no size, and replacement texts (``ActualText``) of marks."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from referee.papers.hidden.addresses import addresses_a_model
from referee.papers.pdf.hidden.objects import Char, Frame, TextObject, mark_value, marks_of, matrix_of, string_of
from referee.papers.pdf.hidden.runs import unseen
from referee.papers.pieces import squeeze
from referee.schemas.paper import Finding

_NOTHING = 1e-3
_READABLE_PT = 10.0


def open_flat(page: PdfPage, suspects: Sequence[TextObject], chars: Sequence[Char]) -> list[tuple[TextObject, str]]:
    """Suspects of no size with their text; they are given a size in memory, so that pdfium spells them.

    Only objects without any character in ``chars`` are tried. Those that hold nothing but blanks are left out.
    """
    seen = {char.object.address for char in chars}
    others = (text for text in suspects if text.address not in seen)
    flat = [text for text in others if min(text.size, text.bounds[2] - text.bounds[0]) < _NOTHING]
    if not flat:
        return []
    for text in flat:
        _give_size(text.handle)
    with closing(page.get_textpage()) as text_page:
        spelled = [(text, spell(text.handle, text_page)) for text in flat]
    return [(text, words) for text, words in spelled if words]


def spell(handle: Any, text_page: PdfTextPage) -> str:
    """The text of one object, blanks at its ends removed."""
    return string_of(partial(pdfium.FPDFTextObj_GetText, handle, text_page.raw))


def _give_size(handle: Any) -> None:
    a, b, c, d, e, f = matrix_of(handle)
    if abs(a * d - b * c) < _NOTHING:
        pdfium.FPDFPageObj_SetMatrix(handle, pdfium.FS_MATRIX(1, 0, 0, 1, e, f))
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(handle, size)
    if abs(size.value) < 1:
        pdfium.FPDFTextObj_SetFontSize(handle, _READABLE_PT)
    # Only a transformation makes pdfium measure the object again.
    pdfium.FPDFPageObj_Transform(handle, 1, 0, 0, 1, 0, 0)


_WORDS = 3
_KEY = b"ActualText"


@dataclass
class Replaced:
    """Objects that carry replacement words of some length, and what to say of them."""

    objects: list[TextObject] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def find_replaced(page: PdfPage, texts: Sequence[TextObject], number: int, frame: Frame) -> Replaced:
    """Replacement texts of three words or more that say something else than what is painted.

    Shorter ones are ordinary: ligatures, hyphens and formulas carry them.
    """
    found = Replaced()
    groups: dict[str, list[TextObject]] = {}
    for text in (one for one in texts if one.marks):
        values = (mark_value(mark, _KEY) for mark in marks_of(text.handle))
        words = next(filter(None, values), "")
        if len(words.split()) >= _WORDS:
            groups.setdefault(words, []).append(text)
    if not groups:
        return found
    replacements = {text.address: words for words, group in groups.items() for text in group}
    painted = _painted(page, [text for group in groups.values() for text in group], replacements)
    for words, group in groups.items():
        key = squeeze("".join(painted[text.address] for text in group))
        speaks = addresses_a_model(words)
        if squeeze(words) == key or (not speaks and _close(squeeze(words), key)):
            continue
        found.objects += group
        why = "it is stored as the replacement of other, printed signs. Only the printed signs were read."
        places = [frame.place(text.bounds) for text in group]
        found.findings.append(unseen(number, words, why, "high" if speaks else "medium", places))
    return found


def _painted(page: PdfPage, texts: Sequence[TextObject], replacements: Mapping[int, str]) -> dict[int, str]:
    """What each object paints, spelled while its replacement is taken off in memory."""
    for text in texts:
        take_off(text)
    with closing(page.get_textpage()) as text_page:
        painted = {text.address: spell(text.handle, text_page) for text in texts}
    for text in texts:
        mark = pdfium.FPDFPageObj_GetMark(text.handle, 0)
        value = b"\xfe\xff" + replacements[text.address].encode("utf-16-be")
        units = (ctypes.c_ubyte * len(value)).from_buffer_copy(value)
        pdfium.FPDFPageObjMark_SetBlobParam(page.pdf.raw, text.handle, mark, _KEY, units, len(value))
    return painted


def take_off(text: TextObject) -> None:
    """Remove the replacement from an object's marks, in memory."""
    for mark in marks_of(text.handle):
        pdfium.FPDFPageObjMark_RemoveParam(text.handle, mark, _KEY)


def _close(one: str, other: str) -> bool:
    """Whether two spellings differ in a few signs only, as a formula's two spellings do."""
    from rapidfuzz.fuzz import ratio

    return bool(other) and ratio(one, other) >= 60
