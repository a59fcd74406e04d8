"""Text that a reader of a PDF cannot see: reported with its words, and nowhere in the paper; visible text stays."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pypdfium2
import pytest

from referee.errors import PaperParseError
from referee.papers.pdf import load_pdf
from referee.papers.pdf.hidden import removal, scan_pdf
from referee.schemas.paper import Paper

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The benchmark's module that writes attacks, forgotten afterwards."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield import_module("hidden_attacks")
    sys.modules.pop("hidden_attacks", None)


def key(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def words_of(paper: Paper) -> str:
    parts = [paper.title, paper.abstract, *(reference.text for reference in paper.references)]
    parts += [f"{section.heading} {section.text}" for section in paper.sections]
    parts += [" ".join(cell for row in block.cells for cell in row) for _, block in paper.blocks()]
    return key(" ".join(parts))


def read(data: bytes, tmp_path: Path) -> Paper:
    path = tmp_path / "paper.pdf"
    path.write_bytes(data)
    return load_pdf(path, data, max_pages=20)


def hidden(paper: Paper) -> list[Any]:
    return [finding for finding in paper.findings if finding.kind == "hidden_text"]


TECHNIQUES = [
    "invisible mode",
    "clip mode",
    "white on page",
    "near white",
    "transparent",
    "tiny by matrix",
    "small font",
    "outside left",
    "clipped away",
    "covered by a box",
    "no size",
    "no width",
    "same colour",
    "nearly the colour",
    "layer switched off",
    "form, invisible mode",
    "form, clipped by its box",
    "form on a layer switched off",
    "covered by an image",
    "outside the crop box",
    "replacement text",
    "one word each, white",
    "half of a line covered",
    "white under visible text",
]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_hidden_text_is_reported_and_stays_out(suite: ModuleType, tmp_path: Path, technique: str) -> None:
    attack = next(attack for attack in suite.attacks() if attack.technique == technique)
    paper = read(attack.data, tmp_path)
    told = [finding for finding in hidden(paper) if key(attack.text) in key(finding.text)]
    assert told
    assert told[0].certainty in ("medium", "high")
    assert told[0].page == 1
    assert told[0].box is not None
    assert "a reader cannot see" in told[0].message
    assert key(attack.text)[10:50] not in words_of(paper)
    assert key("Visible line number 20 of plain words about samples goes on.") in words_of(paper)
    assert paper.paper_id == hashlib.sha256(attack.data).hexdigest()


def test_text_that_no_page_prints_is_listed(suite: ModuleType, tmp_path: Path) -> None:
    for attack in suite.unprinted_attacks():
        paper = read(attack.data, tmp_path)
        told = hidden(paper)
        assert [finding.certainty for finding in told] == ["high"], attack.technique
        assert key(attack.text) in key(told[0].text)
        assert key(attack.text)[:40] not in words_of(paper)


@pytest.mark.parametrize("colour", ["0.1 0.1 0.3", "0.5 0 0", "0 0.3 0"])
def test_white_text_on_a_dark_box_is_plain_to_see(suite: ModuleType, tmp_path: Path, colour: str) -> None:
    content = suite.box(396, colour) + suite.line(suite.CANARY, "F2", 396, before="1 g")
    paper = read(suite.written(suite.Page(suite.visible_body() + content)), tmp_path)
    assert hidden(paper) == []
    assert key(suite.CANARY) in words_of(paper)


@pytest.mark.parametrize("grey", ["0.6 g", "0.75 g", "1 1 0 rg"])
def test_pale_text_that_can_be_read_is_no_finding(suite: ModuleType, tmp_path: Path, grey: str) -> None:
    content = suite.line(suite.CANARY, "F1", 396, before=grey, size=9)
    assert hidden(read(suite.written(suite.Page(suite.visible_body() + content)), tmp_path)) == []


def scanned(suite: ModuleType, lines: list[tuple[str, float]], inked: list[float]) -> bytes:
    """A page-wide picture with strokes at some heights, and invisible lines over it."""
    strokes, blank = "\x00\xff\xff" * 102, "\xff" * 306
    rows = [strokes if any(abs(y - height) < 6 for height in inked) else blank for y in range(792, 0, -1)]
    page = suite.Page("q 612 0 0 792 0 0 cm /I1 Do Q\n")
    entries = "/Type /XObject /Subtype /Image /Width 306 /Height 792 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    page.resources = f"/XObject << /I1 {page.stream(entries, ''.join(rows))} 0 R >>"
    page.content += "".join(suite.line(text, "F1", y, before="3 Tr", size=10) for text, y in lines)
    data: bytes = suite.written(page)
    return data


def test_the_text_layer_of_a_scan_is_used(suite: ModuleType, tmp_path: Path) -> None:
    lines = [(f"Recognised line number {n} of the scanned page goes on here.", 700.0 - 14 * n) for n in range(30)]
    paper = read(scanned(suite, lines, [y + 3 for _, y in lines]), tmp_path)
    assert [finding.kind for finding in paper.findings if finding.kind != "no_headings"] == ["ocr_layer"]
    assert key(lines[5][0]) in words_of(paper)


def test_a_line_over_blank_paper_is_no_part_of_the_layer(suite: ModuleType, tmp_path: Path) -> None:
    lines = [(f"Recognised line number {n} of the scanned page goes on here.", 700.0 - 14 * n) for n in range(30)]
    data = scanned(suite, [*lines, (suite.SENTENCE, 60.0)], [y + 3 for _, y in lines])
    paper = read(data, tmp_path)
    assert {"ocr_layer", "hidden_text"} <= {finding.kind for finding in paper.findings}
    assert key(suite.SENTENCE)[:40] not in words_of(paper)
    assert key(lines[5][0]) in words_of(paper)


def test_a_watermark_under_a_figure_is_no_finding(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "marked.pdf"), pagesize=(612, 792))
    for covered in (False, True):
        canvas.setFillGray(0.9)
        canvas.setFont("Helvetica", 40)
        canvas.drawString(100, 300, "DRAFT OF THE AUTHORS")
        canvas.setFillGray(0)
        canvas.setFont("Helvetica", 10)
        for n in range(20):
            canvas.drawString(72, 740 - 14 * n, f"Line {n} of the page has some plain words to read.")
        if covered:
            canvas.setFillGray(1)
            canvas.rect(90, 290, 500, 60, stroke=0, fill=1)
        canvas.showPage()
    canvas.save()
    data = (tmp_path / "marked.pdf").read_bytes()
    assert scan_pdf(pypdfium2.PdfDocument(data), data, "marked.pdf").findings == []


def test_what_cannot_be_taken_out_and_speaks_to_nobody_stays_and_is_low(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with letters that pdfium loses when it writes a page again: no clean paper is refused for them."""
    page = suite.Page(suite.visible_body() + suite.line(suite.CANARY, "F1", 396, before="3 Tr"))
    keep: Callable[..., None] = lambda page, cut: page.gen_content()  # noqa: E731
    monkeypatch.setattr(removal, "_cut_page", keep)
    paper = read(suite.written(page), tmp_path)
    (finding,) = [finding for finding in paper.findings if finding.kind == "hidden_text"]
    assert (finding.certainty, finding.page) == ("low", 1)
    assert "stays in the text" in finding.message
    assert key("Visible line number 3 of plain words") in words_of(paper)


def test_what_cannot_be_taken_out_and_speaks_to_a_model_is_refused(
    suite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = suite.Page(suite.visible_body() + suite.line(suite.SENTENCE, "F1", 396, before="3 Tr"))
    keep: Callable[..., None] = lambda page, cut: page.gen_content()  # noqa: E731
    monkeypatch.setattr(removal, "_cut_page", keep)
    with pytest.raises(PaperParseError, match="could not be taken out") as caught:
        read(suite.written(page), tmp_path)
    assert caught.value.hint


@pytest.mark.shared_data
def test_published_papers_have_no_finding(shared_data: Path) -> None:
    for path in sorted((shared_data / "pdfs").glob("*.pdf"))[:3]:
        data = path.read_bytes()
        scan = scan_pdf(pypdfium2.PdfDocument(data), data, path.name)
        assert (scan.findings, scan.clean) == ([], None)
