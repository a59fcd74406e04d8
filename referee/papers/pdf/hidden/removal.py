"""Hidden text taken out of a copy of the file, and the proof that it is gone and the rest is there."""

from __future__ import annotations

import ctypes
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from referee.papers.pdf.hidden.objects import (
    MAX_FORM_DEPTH,
    Char,
    Matrix,
    TextObject,
    address_of,
    matrix_of,
    multiply,
    page_text,
    set_active,
)
from referee.papers.pdf.hidden.stored import take_off


@dataclass
class PageCut:
    """What has to go from one page: whole objects, and marks that put other words in a text's place.

    ``page`` is the loaded page that the objects' handles belong to; they live as long as it does. ``rest`` are the
    visible parts of objects of which only a part is hidden, as first character and text.
    """

    page: PdfPage
    objects: list[TextObject] = field(default_factory=list)
    rest: list[tuple[Char, str]] = field(default_factory=list)
    marks: list[TextObject] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.objects or self.marks)

    def take(self, gone: Sequence[Char], chars: Sequence[Char]) -> None:
        """Mark the objects of characters that go, and what of them has to stay.

        Args:
            gone: Characters that are taken out.
            chars: All measured characters of the page, these among them.
        """
        hidden = {char.index for char in gone}
        touched = {char.object.address: char.object for char in gone}
        self.objects += touched.values()
        staying = [char for char in chars if char.object.address in touched and char.index not in hidden]
        before: Char | None = None
        for char in staying:
            # Word by word: a font need not have a sign for the blank.
            if before and before.object.address == char.object.address and char.index == before.index + 1:
                first, text = self.rest[-1]
                self.rest[-1] = (first, text + char.text)
            else:
                self.rest.append((char, char.text))
            before = char


def cut_out(document: PdfDocument, cuts: Mapping[int, PageCut]) -> tuple[bytes, frozenset[int]]:
    """Take hidden text out of a document; gives its bytes, and the pages that do not hold what they have to.

    pdfium loses letters of some fonts when it writes a page again: such a page still holds hidden text, or lost other
    words.

    Objects go as a whole. Where only a part of an object is hidden, its visible part is set again in the same font.
    A form that holds hidden text is opened: its other objects are put on the page itself, since pdfium does not write
    changed forms. The saved copy is opened again and its words are compared with what has to be there.

    Args:
        document: The open file; it is changed.
        cuts: What goes, by page index from 0.
    """
    wanted = {}
    for index, cut in cuts.items():
        for text in cut.marks:
            take_off(text)
        set_active(cut.objects, False)
        wanted[index] = _words(cut.page) + Counter(word for _, text in cut.rest for word in _split(text))
        set_active(cut.objects, True)
        _cut_page(cut.page, cut)
    buffer = io.BytesIO()
    document.save(buffer)
    with closing(pypdfium2.PdfDocument(buffer.getvalue())) as copy:
        changed = frozenset(index for index, words in wanted.items() if not _agree(words, _words(copy[index])))
    return buffer.getvalue(), changed


def _cut_page(page: PdfPage, cut: PageCut) -> None:
    forms = {address_of(text.form): text.form for text in (*cut.objects, *cut.marks) if text.form is not None}
    replacements = [_set_again(page, first, text) for first, text in cut.rest]
    gone = {text.address for text in cut.objects}
    for form in forms.values():
        _lift(page, form, matrix_of(form), gone, 0)
        if pdfium.FPDFPage_RemoveObject(page.raw, form):
            pdfium.FPDFPageObj_Destroy(form)
    for text in cut.objects:
        if text.form is None and pdfium.FPDFPage_RemoveObject(page.raw, text.handle):
            pdfium.FPDFPageObj_Destroy(text.handle)
    for handle in replacements:
        pdfium.FPDFPage_InsertObject(page.raw, handle)
    page.gen_content()


def _lift(page: PdfPage, form: Any, matrix: Matrix, gone: set[int], depth: int) -> None:
    """Put a form's objects on the page, without those that go."""
    children = [pdfium.FPDFFormObj_GetObject(form, index) for index in range(pdfium.FPDFFormObj_CountObjects(form))]
    for child in children:
        if pdfium.FPDFPageObj_GetType(child) == pdfium.FPDF_PAGEOBJ_FORM and depth < MAX_FORM_DEPTH:
            _lift(page, child, multiply(matrix_of(child), matrix), gone, depth + 1)
        elif pdfium.FPDFFormObj_RemoveObject(form, child):
            if address_of(child) in gone:
                pdfium.FPDFPageObj_Destroy(child)
            else:
                pdfium.FPDFPageObj_Transform(child, *matrix)
                pdfium.FPDFPageObj_TransformClipPath(child, *matrix)
                pdfium.FPDFPage_InsertObject(page.raw, child)


def _set_again(page: PdfPage, first: Char, text: str) -> Any:
    """A new object with the visible part of an old one, where that part begins."""
    old = first.object
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(old.handle, size)
    font = pdfium.FPDFTextObj_GetFont(old.handle)
    new = pdfium.FPDFPageObj_CreateTextObj(page.pdf.raw, font, size.value or 1.0)
    units = text.encode("utf-16-le") + b"\x00\x00"
    pdfium.FPDFText_SetText(new, ctypes.cast(ctypes.create_string_buffer(units, len(units)), pdfium.FPDF_WIDESTRING))
    a, b, c, d, _, _ = matrix_of(old.handle)
    scale = old.size / abs(size.value) / ((c * c + d * d) ** 0.5 or 1.0) if size.value else 1.0
    pdfium.FPDFPageObj_Transform(new, a * scale, b * scale, c * scale, d * scale, first.bounds[0], first.bounds[1])
    return new


def _words(page: PdfPage) -> Counter[str]:
    return Counter(_split(page_text(page)))


def _split(text: str) -> list[str]:
    return re.findall(r"\w{2,}", text)


def _agree(wanted: Counter[str], found: Counter[str]) -> bool:
    # Words may join or part at their ends when objects move, so letters are compared as well as words.
    lost_letters, extra_letters = _letters(wanted - found), _letters(found - wanted)
    differing = (lost_letters - extra_letters).total() + (extra_letters - lost_letters).total()
    return differing <= max(4, 0.01 * _letters(wanted).total())


def _letters(words: Counter[str]) -> Counter[str]:
    return Counter(letter for word in words.elements() for letter in word)
