"""Text that no page prints: notes, form fields, alternative texts, document information, outline, metadata.

None of it reaches the paper's text: the readers do not look there. It is listed so that nothing goes unmentioned.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfPage

from referee.papers.hidden.addresses import addresses_a_model
from referee.papers.hidden.characters import decode, find_invisible
from referee.papers.hidden.unprinted import told
from referee.papers.pdf.hidden.objects import annotations_of, page_text, string_of
from referee.papers.pieces import squeeze
from referee.schemas.paper import Box, Finding

_NOTE_WORDS, _INFO_WORDS = 3, 25
_INFO_KEYS = ("Title", "Author", "Subject", "Keywords", "Creator", "Producer")
_XMP = re.compile(rb"<x:xmpmeta.*?</x:xmpmeta>|<\?xpacket begin.*?<\?xpacket end", re.DOTALL)
_METADATA = re.compile(rb"/Type\s*/Metadata\b[^>]{0,300}>>\s*stream\r?\n|/Subtype\s*/XML\b[^>]{0,300}>>\s*stream\r?\n")
_MAX_XMP = 2**20
_MAX_DEPTH = 40


@dataclass(frozen=True)
class _Note:
    where: str
    text: str
    least_words: int
    page: int | None = None
    box: Box | None = None


def find_elsewhere(document: PdfDocument, pages: Iterable[tuple[PdfPage, Sequence[str]]], data: bytes) -> list[Finding]:
    """Findings for text outside the pages' content; each page comes with the alternative texts of its content marks.

    Notes and form fields of three words or more are listed as low, so is document information of more than 25 words;
    alternative texts and outlines only count when they speak to a model. What speaks to a model is high.
    """
    values = ((key, document.get_metadata_value(key)) for key in _INFO_KEYS)
    notes = [_Note(f"the document information ({key})", value, _INFO_WORDS) for key, value in values if value]
    notes += _metadata(data)
    notes += [_Note("the outline", bookmark.get_title(), 10**6) for bookmark in document.get_toc(max_depth=8)]
    document.init_forms()  # the options of a choice are told only then
    for number, (page, alternatives) in enumerate(pages, start=1):
        notes += [*_annotations(page, number), *_alternatives(page, number)]
        notes += [_Note("an alternative text", text, 10**6, number) for text in alternatives]
    seen: set[str] = set()
    findings = []
    for note in notes:
        text = re.sub(r"\s+", " ", note.text).strip()
        if text not in seen and (finding := _told(note, text)):
            findings.append(finding)
        seen.add(text)
    return findings


def _told(note: _Note, text: str) -> Finding | None:
    spelled = decode(text) if find_invisible(text) else ""
    speaks = addresses_a_model(text) or addresses_a_model(spelled)
    if not speaks and len(re.findall(r"[^\W\d_]{2,}", text)) < note.least_words:
        return None
    return told(note.where, spelled or text, speaks=speaks).model_copy(update={"page": note.page, "box": note.box})


def _metadata(data: bytes) -> Iterator[_Note]:
    """The text of XMP packets, plain or deflated."""
    packets = [match[0] for match in _XMP.finditer(data)]
    for match in _METADATA.finditer(data):
        try:
            packets.append(zlib.decompressobj().decompress(data[match.end() : match.end() + _MAX_XMP], _MAX_XMP))
        except zlib.error:
            continue
    for packet in packets:
        text = html.unescape(re.sub(rb"<[^>]*>", b"\n", packet[:_MAX_XMP]).decode("utf-8", errors="ignore"))
        for line in re.split(r"\n\s*", text):
            yield _Note("the metadata (XMP)", line, _INFO_WORDS)
        for value in re.findall(rb"=\"([^\"]{20,})\"", packet[:_MAX_XMP]):
            yield _Note("the metadata (XMP)", html.unescape(value.decode("utf-8", errors="ignore")), 10**6)


def _annotations(page: PdfPage, number: int) -> Iterator[_Note]:
    printed, height = None, page.get_height()
    for annotation, kind, (left, bottom, right, top) in annotations_of(page):
        is_field, box = kind == pdfium.FPDF_ANNOT_WIDGET, Box(x0=left, y0=height - top, x1=right, y1=height - bottom)
        keys = (b"V", b"DV", b"TU", b"Contents") if is_field else (b"Contents", b"RC")
        where = "a form field" if is_field else "a note (annotation)"
        least = 10**6 if kind == pdfium.FPDF_ANNOT_LINK else _NOTE_WORDS
        values = [string_of(partial(pdfium.FPDFAnnot_GetStringValue, annotation, key)) for key in keys]
        for value in filter(None, [*values, *_options(page, annotation)]):
            printed = printed or squeeze(page_text(page))
            if squeeze(value) not in printed:
                yield _Note(where, re.sub(r"<[^>]*>", " ", value), least, number, box)


def _options(page: PdfPage, annotation: Any) -> list[str]:
    """The labels that a choice field offers."""
    form = page.pdf.formenv
    count = pdfium.FPDFAnnot_GetOptionCount(form.raw, annotation) if form else 0
    return [string_of(partial(pdfium.FPDFAnnot_GetOptionLabel, form.raw, annotation, one)) for one in range(count)]


def _alternatives(page: PdfPage, number: int) -> Iterator[_Note]:
    """Alternative and replacement texts, titles and expansions of the structure tree's elements on a page."""
    tree = pdfium.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return
    try:
        for index in range(pdfium.FPDF_StructTree_CountChildren(tree)):
            yield from _element(pdfium.FPDF_StructTree_GetChildAtIndex(tree, index), number, 0)
    finally:
        pdfium.FPDF_StructTree_Close(tree)


def _element(element: Any, number: int, depth: int) -> Iterator[_Note]:
    if not element or depth > _MAX_DEPTH:
        return
    readers = (
        pdfium.FPDF_StructElement_GetAltText,
        pdfium.FPDF_StructElement_GetActualText,
        pdfium.FPDF_StructElement_GetTitle,
        pdfium.FPDF_StructElement_GetExpansion,
    )
    for reader in readers:
        if value := string_of(partial(reader, element)):
            yield _Note("an alternative text", value, 10**6, number)
    for index in range(pdfium.FPDF_StructElement_CountChildren(element)):
        yield from _element(pdfium.FPDF_StructElement_GetChildAtIndex(element, index), number, depth + 1)
