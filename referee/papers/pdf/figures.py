"""Figures and tables of a PDF as pictures, cut out of the pages as they are shown: without what the file hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from PIL.Image import Image
from pypdfium2 import PdfDocument, PdfObject, PdfPage

from referee.papers.captions import Caption
from referee.papers.pdf.pages import Page, PageReader
from referee.papers.pdf.regions import PageView, Regions
from referee.papers.pdf.rendering import shown_document
from referee.papers.pictures import MOST_MEGAPIXELS, MOST_PIXELS_A_SIDE, Pictures
from referee.papers.pieces import squeeze
from referee.schemas.figure import Figure
from referee.schemas.paper import Block, Box, Paper

_DOTS_PER_POINT = 200 / 72
_EDGE = 2.0
_BLANK = 250
_FORM_DEPTH = 3
_SLANT = 0.1


def cut_pdf(
    path: Path,
    paper: Paper,
    captions: Sequence[Caption],
    pictures: Pictures,
    max_pages: int,
    *,
    whole_pages: bool = False,
) -> list[Figure]:
    """Cut out what captions name; the whole page where no place is sure.

    Args:
        path: The PDF.
        paper: What was read of it.
        captions: Those of the paper, in order of reading.
        pictures: Where pictures are written, within limits.
        max_pages: Pages allowed.
        whole_pages: Whether each is shown as its whole page.

    Raises:
        PaperParseError: As ``load_pdf``.
        OSError: A picture cannot be written.
    """
    found: list[Figure] = []
    blocks = [block for _, block in paper.blocks()]
    headings = frozenset(squeeze(f"{one.number or ''}{one.heading}") for one in paper.sections)
    placed = sorted((one for one in captions if one.block.page), key=lambda one: one.block.page or 0)
    with shown_document(path.read_bytes(), path.name, max_pages) as document:
        pages = PageReader(document).read()
        for number, group in groupby(placed, key=lambda one: one.block.page or 0):
            here = list(group)
            if not any(pictures.has_room() for _ in here):
                found += [pictures.beyond(one) for one in here]
            elif number <= len(pages):
                found += _cut_page(document, pages[number - 1], here, blocks, headings, pictures, whole=whole_pages)
    return found


def first_page(data: bytes, name: str) -> Image | str:
    """The first page of a PDF that another paper shows as a picture, or why there is none.

    Raises:
        PaperParseError: It cannot be opened.
    """
    with shown_document(data, name, 20) as document:
        shown, page = document[0], PageReader(document).read()[0]
        if (size := _megapixels(shown)) > MOST_MEGAPIXELS:
            return f"{name} holds pictures of {size:,.0f} megapixels; at most {MOST_MEGAPIXELS} are drawn"
        return _drawn(shown, page, None)


def _cut_page(
    document: PdfDocument,
    page: Page,
    captions: Sequence[Caption],
    blocks: Sequence[Block],
    headings: frozenset[str],
    pictures: Pictures,
    *,
    whole: bool,
) -> Iterator[Figure]:
    shown = document[page.number - 1]
    try:
        if (size := _megapixels(shown)) > MOST_MEGAPIXELS:
            why = f"page {page.number} holds pictures of {size:,.0f} megapixels; at most {MOST_MEGAPIXELS} are drawn"
            yield from (pictures.figure(one, page=page.number, problem=why) for one in captions)
            return
        here = tuple(block for block in blocks if block.page == page.number)
        regions = None if whole else Regions(_view(shown, page, here, headings), captions)
        for caption in captions:
            if not pictures.has_room():
                yield pictures.beyond(caption)
                continue
            box, why = regions.place(caption) if regions is not None else (None, "whole pages were asked for")
            name = pictures.write(_drawn(shown, page, box))
            yield pictures.figure(
                caption, page=page.number, box=box, images=(name,) if name else (),
                whole_page=box is None and bool(name), problem=why if name else pictures.full,
            )  # fmt: skip
    finally:
        shown.close()


def _megapixels(page: PdfPage) -> float:
    """Pixels of the largest picture of a page, as the file gives it, in millions; nothing is decoded for it."""
    sizes = [
        image.get_px_size() for image in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_FORM_DEPTH)
    ]  # fmt: skip
    return max((width * height for width, height in sizes), default=0) / 1e6


def _view(shown: PdfPage, page: Page, blocks: tuple[Block, ...], headings: frozenset[str]) -> PageView:
    """The page with and without its text; stamps that run aslant over it belong to no figure."""
    texts = list(shown.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT], max_depth=1))
    _switch([text for text in texts if _is_slanted(text)], on=False)
    ink = _ink(shown)
    _switch(texts, on=False)
    drawn = _ink(shown)
    _switch(texts, on=True)
    return PageView(page.width, page.height, ink, drawn, page.lines, blocks, headings)


def _switch(texts: Sequence[PdfObject], *, on: bool) -> None:
    for text in texts:
        raw.FPDFPageObj_SetIsActive(text.raw, on)


def _is_slanted(text: PdfObject) -> bool:
    a, b = text.get_matrix().get()[:2]
    return bool(min(abs(a), abs(b)) > _SLANT * max(abs(a), abs(b)))


def _ink(page: PdfPage) -> Any:
    grey = page.render(scale=1, grayscale=True, may_draw_forms=False).to_numpy()
    return np.asarray(grey).reshape(grey.shape[0], grey.shape[1]) < _BLANK


def _drawn(shown: PdfPage, page: Page, box: Box | None) -> Image:
    """A box of the page, with a small margin, or all of it."""
    edges = (0.0, 0.0, page.width, page.height)
    if box is not None:
        edges = (
            max(0.0, box.x0 - _EDGE), max(0.0, box.y0 - _EDGE),
            min(page.width, box.x1 + _EDGE), min(page.height, box.y1 + _EDGE),
        )  # fmt: skip
    left, top, right, bottom = edges
    scale = min(_DOTS_PER_POINT, MOST_PIXELS_A_SIDE / max(right - left, bottom - top, 1.0))
    crop = (left, page.height - bottom, page.width - right, top)
    picture: Image = shown.render(scale=scale, crop=crop, may_draw_forms=False).to_pil()
    return picture
