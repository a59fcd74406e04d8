"""One PDF searched for text that a reader cannot see, and a copy of it without that text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.papers.pdf.hidden.elsewhere import find_elsewhere
from referee.papers.pdf.hidden.layers import has_layers
from referee.papers.pdf.hidden.page_scan import Mark, PageScan, scan_page
from referee.papers.pdf.hidden.removal import PageCut, cut_out
from referee.schemas.paper import Finding

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


@dataclass
class Scan:
    """What was found, in page order. ``clean`` is the file without the hidden text; null when nothing had to go."""

    findings: list[Finding] = field(default_factory=list)
    clean: bytes | None = None


def scan_pdf(document: PdfDocument, data: bytes, name: str) -> Scan:
    """Find text that a reader cannot see, and take it out of a copy.

    The object walk is cheap; only pages with something that could be hidden are painted. The document is changed in
    memory when something is taken out: close it, and go on with ``clean``.

    Args:
        document: The open file.
        data: Its bytes, for what pdfium does not tell (layers, XMP).
        name: The file's name, for messages.

    Returns:
        The findings (``hidden_text``, ``ocr_layer``), and the bytes without the hidden text, or None.

    Raises:
        PaperParseError: Hidden text was found and could not be taken out.
    """
    pages = _scan_pages(document, layers=has_layers(data))
    _drop_repeated(pages)
    findings = [finding for page in pages for finding in page.findings()]
    if scanned := [page.number for page in pages if page.scanned]:
        findings.append(_ocr_layer(scanned, len(pages)))
    findings += find_elsewhere(document, [page.page for page in pages], data)
    cuts = {page.number - 1: cut for page in pages if (cut := _cut(page))}
    return Scan(findings, cut_out(document, cuts, name) if cuts else None)


def _scan_pages(document: PdfDocument, *, layers: bool) -> list[PageScan]:
    pages: list[PageScan] = []
    known: set[Mark] = set()
    for index in range(len(document)):
        pages.append(scan_page(document[index], index + 1, layers=layers, known=known))
        known |= pages[-1].visible_marks()
    return pages


def _drop_repeated(pages: Sequence[PageScan]) -> None:
    if not any(page.runs for page in pages):
        return
    shown: Counter[Mark] = Counter(mark for page in pages for mark in page.visible_marks())
    for page in pages:
        if page.runs:
            own = page.visible_marks()
            page.drop_repeated({mark for mark, count in shown.items() if count > (mark in own)})


def _cut(page: PageScan) -> PageCut:
    cut = PageCut(page.page, marks=page.replaced.objects)
    cut.take(page.runs, page.chars, [text for text, _ in page.flat])
    return cut


def _ocr_layer(scanned: Sequence[int], pages: int) -> Finding:
    which = f"page {scanned[0]}" if len(scanned) == 1 else f"{len(scanned)} of {pages} pages"
    return Finding(
        kind="ocr_layer",
        message=(
            f"On {which} the text is an invisible layer over a picture of the page, as text recognition makes it. It "
            "was used as the paper's text and can differ from what the picture shows."
        ),
        certainty="high",
        page=scanned[0],
    )
