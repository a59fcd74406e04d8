"""Headings of PDFs that have no number: by the style of others, before the text of a paragraph, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pypdfium2.raw as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from referee.papers import load_paper
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.load import readable
from referee.papers.pdf.repairs.false_headings import demote_other_styles
from referee.papers.pdf.repairs.headings import recover_headings
from referee.papers.pieces import Piece
from referee.schemas.paper import Box

BODY, BOLD = "Times-Roman", "Times-Bold"
Text = tuple[str, float, str, float]
Drawn = Callable[..., Path]


def body(top: float, count: int = 12) -> list[Text]:
    words = ["copper", "silver", "golden", "marble", "velvet", "purple"]
    return [(" ".join(f"{word}{chr(97 + i)}" for word in words) + ".", top + 13 * i, BODY, 10) for i in range(count)]


def repaired(path: Path, headings: list[tuple[str, float]]) -> list[str]:
    """The headings after the repair, where the converter saw ``headings`` at heights of page 1 and one paragraph."""
    pieces = [
        Piece(kind="heading", text=text, page=1, box=Box(x0=72, y0=top - 8, x1=300, y1=top + 2), size=10)
        for text, top in headings
    ]
    with readable(path.read_bytes(), path.name, 10) as shown:
        reader = shown.reader()
        printed = reader.read()
        rest = " ".join(line.text for line in printed[0].body if line.text not in {text for text, _ in headings})
        pieces.append(Piece(kind="paragraph", text=rest, page=1, box=Box(x0=72, y0=50, x1=500, y1=780), size=10))
        subject = Draft(title="", pieces=pieces, pages=printed, words_in=reader.words_in)
        recover_headings(subject)
        demote_other_styles(subject)
    return [one.text for one in subject.pieces if one.kind == "heading"]


def test_lines_over_text_in_one_style_are_headings_and_heads_of_tables_are_none(draw_pdf: Drawn) -> None:
    names = ["Study aims", "Ethical issues", "Sample size"]
    lines: list[Text] = []
    for at, name in enumerate(names):
        lines += [(name, 80 + 130 * at, BOLD, 9), *body(92 + 130 * at, 8)]
    lines += [("Score Loss Time", 500, BOLD, 9.5), ("A 0.91 0.88 12.5", 512, BODY, 10), ("Bold alone.", 600, BOLD, 9)]
    assert set(repaired(draw_pdf([lines]), [])) == set(names)
    assert repaired(draw_pdf([lines[:18]], name="two.pdf"), []) == []


def test_a_heading_of_two_lines_and_one_over_another_are_headings_of_their_own(draw_pdf: Drawn) -> None:
    lines: list[Text] = [("METHODS AND DATA", 80, BOLD, 12), ("Choice of all groups and of their", 98, BOLD, 12)]
    lines += [("members", 112, BOLD, 12), *body(126, 6)]
    for at, name in enumerate(("Outcomes", "Measures", "Controls")):
        lines += [(name, 300 + 120 * at, BOLD, 12), *body(314 + 120 * at, 6)]
    found = repaired(draw_pdf([lines]), [("Outcomes", 300), ("Measures", 420), ("Controls", 540)])
    assert set(found) == {
        "METHODS AND DATA",
        "Choice of all groups and of their members",
        "Outcomes",
        "Measures",
        "Controls",
    }


@pytest.mark.parametrize(("size", "found"), [(10.0, False), (11.0, True)])
def test_names_larger_than_the_text_that_they_open_are_run_in_headings(
    size: float, found: bool, tmp_path: Path
) -> None:
    path = tmp_path / "run_in.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    names = ["Plant materials.", "Bacterial strains.", "Statistical analysis."]
    for at, name in enumerate(names):
        top = 692 - 150 * at
        canvas.setFont("Helvetica-Bold", size)
        canvas.drawString(72, top, name)
        canvas.setFont(BODY, 10)
        canvas.drawString(72 + canvas.stringWidth(name + " ", "Helvetica-Bold", size), top, "All of them were taken.")
        for text, below, _, _ in body(13, 8):
            canvas.drawString(72, top - below, text)
    canvas.save()
    assert repaired(path, []) == (names if found else [])


def test_what_looks_like_the_text_or_is_no_name_is_no_heading(draw_pdf: Drawn) -> None:
    names = [(f"{word} of it", 80.0 + 100 * at) for at, word in enumerate(("Aims", "Data", "Rules", "Costs"))]
    lines: list[Text] = []
    for name, top in names:
        lines += [(name, top, BOLD, 12), *body(top + 14, 5)]
    others = [("Items that were sold", 500.0), ("(a) (b) (c) (d)", 520.0), ("A part of a title,", 540.0)]
    lines += [(others[0][0], 500, BODY, 10), (others[1][0], 520, BOLD, 12), (others[2][0], 540, BOLD, 12)]
    assert repaired(draw_pdf([lines]), [*names, *others]) == [name for name, _ in names]


def test_lines_that_the_file_does_not_part_are_parted(draw_pdf: Drawn, monkeypatch: pytest.MonkeyPatch) -> None:
    path = draw_pdf([[*body(80, 3), ("2. Related work", 119, BOLD, 10), *body(132, 3)]])
    with readable(path.read_bytes(), path.name, 10) as shown:
        parted = [line.text for line in shown.reader().read()[0].lines]
        read = pdfium.FPDFText_GetUnicode
        without_breaks = lambda text, index: 32 if read(text, index) in (10, 13) else read(text, index)  # noqa: E731
        monkeypatch.setattr(pdfium, "FPDFText_GetUnicode", without_breaks)
        assert [line.text for line in shown.reader().read()[0].lines] == parted
    assert "2. Related work" in parted


@pytest.mark.slow
def test_a_pdf_of_three_hundred_pages(draw_pdf: Drawn) -> None:
    drawn = []
    for page in range(300):
        own = chr(97 + page % 26) * 4 + chr(97 + page // 26) * 4
        lines = [(f"The {own} was {chr(97 + at) * 5} with {own} here.", 150 + 13.0 * at, BODY, 10) for at in range(20)]
        drawn.append([(f"{page + 1} Part {own}", 130, BOLD, 14), *lines])
    drawn[0].insert(0, ("A Long Report on Many Parts of It", 100, BOLD, 20))
    paper = load_paper(draw_pdf(drawn))
    assert paper.page_count == 300
    assert [section.number for section in paper.sections if section.number][:99] == [str(n) for n in range(1, 100)]
    assert "was eeeee with" in paper.sections[-1].text
