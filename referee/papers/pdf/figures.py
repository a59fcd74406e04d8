"""Figures and tables of a PDF as pictures, cut out of the pages as they are shown: without what the file hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from PIL.Image import Image
from pypdfium2 import PdfDocument, PdfPage

from referee.papers.captions import UNCAPTIONED, Caption
from referee.papers.pdf.hidden.objects import frame_of
from referee.papers.pdf.load import readable
from referee.papers.pdf.pages import Page
from referee.papers.pdf.regions import Regions, Setting, places
from referee.papers.pictures import MOST_MEGAPIXELS, MOST_PIXELS_A_SIDE, Pictures
from referee.schemas.figure import Figure
from referee.schemas.paper import Block, Box, Paper

_DOTS_PER_POINT = 200 / 72
_BLANK = 250
_FORM_DEPTH = 3
_NOTHING = "nothing drawn stands between the caption and the text around it"


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
    found: dict[str, Figure] = {}
    parts = [replace(one, block=block) for one in captions for block in (one.block, *one.continued) if block.page]
    with readable(path.read_bytes(), path.name, max_pages) as shown:
        pages = shown.reader().read()
        by_page = [(page, [one for one in parts if one.block.page == page.number]) for page in pages]
        boxes, alone = ({}, []) if whole_pages else _places(shown.document, by_page, paper, pages)
        for page, every in by_page:
            every += [one for one in alone if one.block.page == page.number]
            here = [one for one in every if one.block.id in boxes or one.label not in found]
            for one in _cut_page(shown.document, page, here, boxes, pictures, whole=whole_pages) if here else ():
                first = found.get(one.label)
                images = (*first.images, *one.images) if first else one.images
                found[one.label] = (first or one).model_copy(update={"images": images})
    return list(found.values())


def _places(
    document: PdfDocument, by_page: Sequence[tuple[Page, list[Caption]]], paper: Paper, pages: Sequence[Page]
) -> tuple[dict[str, Box], list[Caption]]:
    """Where captions' figures stand, and, as captions without words, the figures that have none."""
    setting, found, alone = Setting.of(paper, pages), list[tuple[Regions, list[Caption]]](), list[Caption]()
    for page, here in by_page:
        with closing(document[page.number - 1]) as shown:
            if _megapixels(shown) <= MOST_MEGAPIXELS:
                found.append((Regions(_displayed(shown, page), _drawing(shown), paper, here, setting), here))
    boxes = places(found)
    for region, here in found:
        number = region.page.number
        if lone := region.uncaptioned([boxes[one.block.id] for one in here if one.block.id in boxes]):
            block = Block(id=f"p{number}", kind="figure", text="(no caption)", page=number)
            boxes[block.id] = lone
            alone.append(Caption(f"{UNCAPTIONED} on page {number}", "figure", block))
    return boxes, alone


def _displayed(shown: PdfPage, page: Page) -> Page:
    """The page with its lines where they are displayed: it may be turned, or cut to a part."""
    frame, high = frame_of(shown, shown.get_bbox()), page.height
    boxes = [frame.place((b.x0, high - b.y1, b.x1, high - b.y0)) for b in (line.box for line in page.lines)]
    return replace(
        page,
        lines=tuple(
            replace(line, box=Box(x0=x0, y0=y0, x1=x1, y1=y1))
            for line, (x0, y0, x1, y1) in zip(page.lines, boxes, strict=True)
        ),
    )


def first_page(data: bytes, name: str) -> Image | str:
    """The first page of a PDF that another paper shows as a picture, or why there is none.

    Raises:
        PaperParseError: It cannot be opened.
    """
    with readable(data, name, 20) as read:
        shown, page = read.document[0], read.reader().read()[0]
        if (size := _megapixels(shown)) > MOST_MEGAPIXELS:
            return f"{name} holds pictures of {size:,.0f} megapixels; at most {MOST_MEGAPIXELS} are drawn"
        return _drawn(shown, page, None)


def _cut_page(
    document: PdfDocument,
    page: Page,
    captions: Sequence[Caption],
    boxes: dict[str, Box],
    pictures: Pictures,
    *,
    whole: bool,
) -> Iterator[Figure]:
    with closing(document[page.number - 1]) as shown:
        if (size := _megapixels(shown)) > MOST_MEGAPIXELS:
            why = f"page {page.number} holds pictures of {size:,.0f} megapixels; at most {MOST_MEGAPIXELS} are drawn"
            yield from (pictures.figure(one, page=page.number, problem=why) for one in captions)
            return
        for caption in captions:
            if not pictures.has_room():
                yield pictures.beyond(caption)
                continue
            box = boxes.get(caption.block.id)
            why = "" if box else "whole pages were asked for" if whole else _NOTHING
            name = pictures.write(_drawn(shown, page, box))
            yield pictures.figure(
                caption, page=page.number, box=box, images=(name,) if name else (),
                whole_page=box is None and bool(name), problem=why if name else pictures.full,
            )  # fmt: skip


def _megapixels(page: PdfPage) -> float:
    """Pixels of the largest picture of a page, as the file gives it, in millions; nothing is decoded for it."""
    images = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_FORM_DEPTH)
    return max((width * height for width, height in (image.get_px_size() for image in images)), default=0) / 1e6


def _drawing(shown: PdfPage) -> Any:
    """The page without its text, true where a dot is not blank; one dot a point."""
    texts = list(shown.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT], max_depth=_FORM_DEPTH))
    for text in texts:
        raw.FPDFPageObj_SetIsActive(text.raw, False)
    grey = shown.render(scale=1, grayscale=True, may_draw_forms=False).to_numpy()
    for text in texts:
        raw.FPDFPageObj_SetIsActive(text.raw, True)
    return np.asarray(grey).reshape(grey.shape[0], grey.shape[1]) < _BLANK


def _drawn(shown: PdfPage, page: Page, box: Box | None) -> Image:
    """A box of the page, or all of it."""
    left, top, right, bottom = (box.x0, box.y0, box.x1, box.y1) if box else (0.0, 0.0, page.width, page.height)
    scale = min(_DOTS_PER_POINT, MOST_PIXELS_A_SIDE / max(right - left, bottom - top, 1.0))
    crop = (left, page.height - bottom, page.width - right, top)
    picture: Image = shown.render(scale=scale, crop=crop, may_draw_forms=False).to_pil()
    return picture
