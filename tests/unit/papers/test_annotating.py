"""Copies of PDFs with highlights: read back by pdfium, on pages that are turned and cut, with the rest untouched."""

from __future__ import annotations

import ctypes
import io
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from pypdfium2 import raw
from reportlab.pdfgen.canvas import Canvas

from referee.errors import PaperParseError
from referee.evidence.listing import listed
from referee.papers.isolated import annotate_copy, draw_pages
from referee.reports.highlights import highlights_of
from referee.schemas.page import Highlight, Highlights, PageImages
from referee.schemas.paper import Box
from referee.schemas.point import PointEvidence, ReviewPoint
from referee.schemas.review import Review
from referee.settings import PaperSettings
from referee.venues import load_venue

LINES = [f"Line {n} says that the interval covers {90 + n} per cent of all sets." for n in range(8)]


def paper(path: Path, *, rotate: int = 0, crop: bool = False, note: bool = False) -> Path:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(612, 792))
    for number in (1, 2):
        if crop:
            canvas.setCropBox((36, 36, 576, 756))
        canvas.setFont("Helvetica", 12)
        for at, line in enumerate(LINES):
            if rotate:
                canvas.saveState()
                canvas.translate(100 + 30 * at, 100)
                canvas.rotate(rotate)
                canvas.drawString(0, 0, f"{number}: {line}")
                canvas.restoreState()
            else:
                canvas.drawString(72, 700 - 30 * at, f"{number}: {line}")
        if note:
            canvas.textAnnotation("mine", (10, 10, 30, 30))
        canvas.showPage()
    canvas.save()
    path.write_bytes(stream.getvalue())
    return path


def review_of(*quotes: tuple[str, int]) -> Review:
    evidence = [
        PointEvidence(quote=quote, status="exact", section_id="s1", section="Results", page=page)
        for quote, page in quotes
    ]
    points = tuple(
        ReviewPoint(
            **{"id": f"p-{n}", "claim": "Not $\\alpha$.", "polarity": "weakness", "kind": "error", "source": "whole"},
            **{"severity": "major", "raised_severity": "major", "evidence": (one,), "outcome": "printed"},
        )
        for n, one in enumerate(evidence)
    )
    made = Review(review_id="r", paper_id="0" * 64, venue="arr", source="m", fields={}, points=points)
    return listed(made, load_venue("arr"))


def marked(path: Path) -> list[tuple[int, str, str]]:
    """Page, note, and the words under each highlight."""
    found = []
    document = pdfium.PdfDocument(path)
    for number, page in enumerate(document, start=1):
        text = page.get_textpage()
        for index in range(raw.FPDFPage_GetAnnotCount(page.raw)):
            one = raw.FPDFPage_GetAnnot(page.raw, index)
            if raw.FPDFAnnot_GetSubtype(one) != raw.FPDF_ANNOT_HIGHLIGHT:
                found.append((number, "other", ""))
                continue
            size = raw.FPDFAnnot_GetStringValue(one, b"Contents", None, 0)
            units = (ctypes.c_ushort * (size // 2))()
            raw.FPDFAnnot_GetStringValue(one, b"Contents", units, size)
            quad = raw.FS_QUADPOINTSF()
            assert raw.FPDFAnnot_GetAttachmentPoints(one, 0, ctypes.byref(quad))
            words = text.get_text_bounded(quad.x1 - 1, quad.y4 - 1, quad.x2 + 1, quad.y1 + 1)
            found.append((number, bytes(units).decode("utf-16-le").rstrip("\0"), " ".join(words.split())))
            raw.FPDFPage_CloseAnnot(one)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"crop": True}, {"note": True}, {"rotate": 90}], ids=str)
async def test_highlights_stand_on_the_quoted_words(tmp_path: Path, given: dict[str, object]) -> None:
    source = paper(tmp_path / "p.pdf", **given)  # type: ignore[arg-type]
    before = source.read_bytes()
    pages = await draw_pages(source, tmp_path, PaperSettings())
    review = review_of((LINES[3], 1), (LINES[6], 2))
    copy = tmp_path / "copy.pdf"
    made = await annotate_copy(source, copy, highlights_of(review, pages), PaperSettings())
    assert len(made.items) == 2
    found = [one for one in marked(copy) if one[1] != "other"]
    assert [(page, note.split("\n")[0]) for page, note, _ in found] == [
        (1, "1. [Main reason, material] Not α."),
        (2, "2. [Main reason, material] Not α."),
    ]
    assert LINES[3] in found[0][2]
    assert LINES[6] in found[1][2]
    assert len([one for one in marked(copy) if one[1] == "other"]) == (2 if given.get("note") else 0)
    assert source.read_bytes() == before
    assert not [name for name in tmp_path.iterdir() if name.name.startswith(".referee")]


async def test_a_file_that_is_none_is_refused_and_leaves_no_copy(tmp_path: Path) -> None:
    broken = tmp_path / "p.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing")
    one = Highlight(page=1, height=792, boxes=(Box(x0=1, y0=1, x1=2, y1=2),), title="t", note="n", weight="major")
    with pytest.raises(PaperParseError):
        await annotate_copy(broken, tmp_path / "copy.pdf", Highlights(items=(one,)), PaperSettings())
    assert [path.name for path in tmp_path.iterdir()] == ["p.pdf"]


async def test_pages_that_are_not_there_are_not_marked(tmp_path: Path) -> None:
    source = paper(tmp_path / "p.pdf")
    box = Box(x0=72, y0=90, x1=200, y1=104)
    items = tuple(
        Highlight(page=page, height=792, boxes=(box,) if page < 3 else (), title="t", note="n", weight="x")
        for page in (0, 2, 3, 99)
    )
    made = await annotate_copy(source, tmp_path / "copy.pdf", Highlights(items=items), PaperSettings())
    assert [one.page for one in made.items] == [2]


def test_only_printed_points_and_found_words_are_marked() -> None:
    empty = PageImages(paper_id="0" * 64, pages=())
    assert highlights_of(review_of((LINES[0], 1)), empty).items == ()


async def test_a_point_without_a_place_has_a_note_at_the_edge_of_the_first_page(tmp_path: Path) -> None:
    source = paper(tmp_path / "p.pdf")
    pages = await draw_pages(source, tmp_path, PaperSettings())
    review = review_of((LINES[3], 1), ("words that the paper does not hold", 1))
    copy = tmp_path / "copy.pdf"
    made = await annotate_copy(source, copy, highlights_of(review, pages), PaperSettings())
    assert [(one.page, one.pinned) for one in made.items] == [(1, False), (1, True)]
    assert [note for _, note, _ in marked(copy)].count("other") == 1
