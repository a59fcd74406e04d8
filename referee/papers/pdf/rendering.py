"""The pages of a PDF as pictures with their lines, from the copy without hidden text and line numbers."""

from __future__ import annotations

import hashlib
from pathlib import Path

from referee.papers.pdf.load import readable
from referee.schemas.page import PageImage, PageImages, PageLine

_DOTS_PER_POINT, _MOST_DOTS = 110 / 72, 1400
_QUALITY = 45


def render_pages(path: Path, folder: Path, *, max_pages: int) -> PageImages:
    """Write a WebP picture of each page into a folder.

    Args:
        path: The PDF.
        folder: Where the pictures are written: ``001.webp`` and so on.
        max_pages: Pages allowed.

    Returns:
        The pages with their lines, boxes like those of a ``Paper`` of the same file.

    Raises:
        PaperParseError: As ``load_pdf``.
        OSError: A picture cannot be written.
    """
    data = path.read_bytes()
    with readable(data, path.name, max_pages) as shown:
        pages = []
        for page in shown.reader().read():
            name = f"{page.number:03}.webp"
            scale = min(_DOTS_PER_POINT, _MOST_DOTS / max(page.width, page.height, 1.0))
            picture = shown.document[page.number - 1].render(scale=scale, may_draw_forms=False).to_pil()
            picture.convert("RGB").save(folder / name, "WEBP", quality=_QUALITY, method=4)
            lines = tuple(PageLine(text=line.text, box=line.box) for line in page.lines if line.text.strip())
            pages.append(PageImage(number=page.number, width=page.width, height=page.height, image=name, lines=lines))
    return PageImages(paper_id=hashlib.sha256(data).hexdigest(), pages=tuple(pages))
