"""Figures and tables as pictures: cut at the right place, from every format, and bounded."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from pathlib import Path

import docx
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.captions import doubted_tables, tables_by_label
from referee.papers.figures import cut_figures
from referee.papers.isolated import draw_figures
from referee.schemas.figure import Figure, Figures
from referee.settings import PaperSettings

from .conftest import prose

RED, BLUE = (200, 30, 30), (30, 30, 200)


def picture(colour: tuple[int, int, int], size: tuple[int, int] = (120, 80)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def cut(path: Path, folder: Path, most: int = 40) -> Figures:
    folder.mkdir(exist_ok=True)
    return cut_figures(path, load_paper(path), folder, max_pages=400, max_bytes=10**8, max_figures=most)


def middle(folder: Path, name: str) -> tuple[int, ...]:
    with Image.open(folder / name) as shown:
        return tuple(shown.convert("RGB").getpixel((shown.width // 2, shown.height // 2)))


def near(colour: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 12 for a, b in zip(colour, wanted, strict=True))


def is_around(one: Figure, drawn: tuple[float, float, float, float], slack: float = 2) -> bool:
    """Whether the box holds what was drawn, and a margin of at most 12 points that text may have cut short."""
    x0, y0, x1, y1 = drawn
    assert one.box is not None
    beyond = (x0 - one.box.x0, y0 - one.box.y0, one.box.x1 - x1, one.box.y1 - y1)
    return all(-slack <= side <= 12 + slack for side in beyond) and min(beyond[0], beyond[2]) > 8


def text(canvas: Canvas, start: float, count: int, x: float = 72) -> None:
    for line, top, font, size in prose(start, count):
        canvas.setFont(font, size)
        canvas.drawString(x, 792 - top, line)


def figure(canvas: Canvas, data: bytes, top: float, caption: str, x: float = 200) -> None:
    canvas.drawImage(ImageReader(io.BytesIO(data)), x, 792 - top - 120, 180, 120)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(x, 792 - top - 140, caption)


@pytest.fixture
def two_figures(tmp_path: Path) -> Path:
    """Two pages, on each prose, a figure with its caption, prose."""
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    for number, colour in ((1, RED), (2, BLUE)):
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 792 - 80, f"{number} Section of this part")
        text(canvas, 100, 10)
        figure(canvas, picture(colour), 260, f"Figure {number}: The share of intervals that hold the value.")
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(72, 792 - 440, f"As Figure {number} shows, most of the intervals of the study hold it.")
        text(canvas, 453, 12)
        canvas.showPage()
    canvas.save()
    return path


def test_a_figure_is_cut_between_its_caption_and_the_text_around_it(two_figures: Path, tmp_path: Path) -> None:
    found = cut(two_figures, tmp_path / "cut")

    assert [(one.label, one.page, one.whole_page) for one in found.items] == [
        ("Figure 1", 1, False),
        ("Figure 2", 2, False),
    ]
    for one, colour in zip(found.items, (RED, BLUE), strict=True):
        assert one.box is not None
        assert is_around(one, (200, 260, 380, 380))
        assert near(middle(tmp_path / "cut", one.images[0]), colour)
        assert one.mentions == (f"As {one.label} shows, most of the intervals of the study hold it.",)
        assert one.caption.startswith(f"{one.label}: The share")
    assert found.left_out == ()


@pytest.mark.slow
async def test_the_isolated_reader_cuts_the_same(two_figures: Path, tmp_path: Path) -> None:
    paper, folder = load_paper(two_figures), tmp_path / "isolated"
    folder.mkdir()
    found = await draw_figures(two_figures, paper, folder, PaperSettings())

    assert found == cut(two_figures, tmp_path / "here")
    assert sorted(one.name for one in folder.iterdir()) == ["001.png", "002.png"]


def test_a_caption_without_a_figure_gets_its_page_and_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 700, "1 Introduction")
    text(canvas, 110, 12)
    canvas.drawString(72, 792 - 280, "Figure 1: What was to be drawn here was left out.")
    text(canvas, 310, 12)
    canvas.save()
    (one,) = cut(path, tmp_path / "cut").items

    assert one.whole_page
    assert one.box is None
    assert one.problem == "nothing drawn stands between the caption and the text around it"
    with Image.open(tmp_path / "cut" / one.images[0]) as page:
        assert max(page.size) == 1568


def test_a_figure_without_a_caption_is_shown_as_such_and_a_frame_around_text_is_none(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    for number in (1, 2, 3):
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 792 - 80, f"{number} Section of this part")
        text(canvas, 100, 10)
        if number == 1:
            figure(canvas, picture(RED), 260, "Figure 1: The share of intervals that hold the value.")
        elif number == 2:
            canvas.drawImage(ImageReader(io.BytesIO(picture(BLUE))), 200, 792 - 380, 180, 120)
        else:
            canvas.rect(60, 792 - 395, 480, 150)
            text(canvas, 260, 11)
        text(canvas, 453, 12)
        canvas.showPage()
    canvas.save()
    first, second = cut(path, tmp_path / "cut").items

    assert (first.label, second.label) == ("Figure 1", "Figure without a caption on page 2")
    assert (second.kind, second.page, second.whole_page, second.problem) == ("figure", 2, False, "")
    assert is_around(second, (200, 260, 380, 380))
    assert near(middle(tmp_path / "cut", second.images[0]), BLUE)


def test_a_table_that_is_a_picture_is_cut_by_its_caption_and_gets_no_cells(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 792 - 80, "1 Results")
    text(canvas, 100, 10)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(200, 792 - 250, "Table 1: The share of intervals, as a scan.")
    canvas.drawImage(ImageReader(io.BytesIO(picture(RED))), 200, 792 - 380, 180, 120)
    text(canvas, 420, 12)
    canvas.save()
    (one,) = cut(path, tmp_path / "cut").items
    paper = load_paper(path)

    assert (one.label, one.kind, one.whole_page) == ("Table 1", "table", False)
    assert is_around(one, (200, 260, 380, 380))
    assert near(middle(tmp_path / "cut", one.images[0]), RED)
    assert [block.kind for _, block in paper.blocks() if block.cells or block.kind == "table"] == []
    assert doubted_tables(paper) == {"Table 1"}, "so the picture is shown to a model"


def test_panels_over_both_columns_are_one_figure_below_a_caption_in_the_first(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(60, 712, "1 Introduction")
    for x, colour in ((60, RED), (330, BLUE)):
        canvas.drawImage(ImageReader(io.BytesIO(picture(colour))), x, 530, 222, 120)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(60, 512, "Figure 1: The shares, left and right.")
    for number, x in enumerate((60, 330)):
        for line in range(30):
            words = f"{chr(97 + line)}{number} intervals of the study hold the value that was meant"
            canvas.drawString(x, 480 - 12 * line, words)
    canvas.save()
    (one,) = cut(path, tmp_path / "cut").items

    assert is_around(one, (60, 142, 552, 262))


@pytest.fixture
def captions_below_tables(tmp_path: Path) -> Path:
    """Two tables above their captions; below the second stands a figure that has its own caption."""
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    for number in (1, 2):
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 712, f"{number} Section of this part")
        text(canvas, 100, 8)
        figure(canvas, picture(RED), 230, f"Table {number}: The shares of intervals in the study.")
        if number == 2:
            figure(canvas, picture(BLUE), 400, "Figure 1: The share of intervals that hold the value.")
        text(canvas, 560, 8)
        canvas.showPage()
    canvas.save()
    return path


def test_captions_stand_on_the_side_where_this_paper_puts_them(captions_below_tables: Path, tmp_path: Path) -> None:
    found = {one.label: one for one in cut(captions_below_tables, tmp_path / "cut").items}

    assert is_around(found["Table 1"], (200, 230, 380, 350))
    assert is_around(found["Table 2"], (200, 230, 380, 350))
    assert is_around(found["Figure 1"], (200, 400, 380, 520))


def test_what_stands_between_two_captions_is_shared_out_at_the_widest_blank(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 712, "1 Results")
    text(canvas, 100, 8)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(200, 792 - 240, "Table 1: The times of the study.")
    canvas.drawImage(ImageReader(io.BytesIO(picture(RED))), 200, 792 - 310, 180, 60)
    figure(canvas, picture(BLUE), 340, "Figure 1: The share of intervals that hold the value.")
    text(canvas, 500, 12)
    canvas.save()
    found = {one.label: one for one in cut(path, tmp_path / "cut").items}

    assert is_around(found["Table 1"], (200, 250, 380, 310))
    assert is_around(found["Figure 1"], (200, 340, 380, 460))


@pytest.mark.parametrize("turn", [90, -90])
def test_a_sideways_figure_is_turned_and_cut_where_it_is_shown(turn: int, tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 712, "1 Introduction")
    text(canvas, 100, 30)
    canvas.showPage()
    canvas.translate(612 if turn > 0 else 0, 0 if turn > 0 else 792)
    canvas.rotate(turn)
    text(canvas, 240, 6)
    canvas.drawImage(ImageReader(io.BytesIO(picture(RED))), 200, 300, 300, 150)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(120, 280, "Figure 1: The share of intervals that hold the value in all sets that were looked at.")
    canvas.save()
    (one,) = cut(path, tmp_path / "cut").items

    assert is_around(one, (200, 162, 500, 312))
    assert near(middle(tmp_path / "cut", one.images[0]), RED)


def test_a_figure_over_two_pages_has_both_pictures(tmp_path: Path) -> None:
    path = tmp_path / "continued.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    for number, colour in ((1, RED), (2, BLUE)):
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 712, f"{number} Section of this part")
        text(canvas, 100, 10)
        again = " (continued)" if number == 2 else ""
        figure(canvas, picture(colour), 260, f"Figure 1{again}: The share of intervals that hold the value.")
        text(canvas, 453, 12)
        canvas.showPage()
    canvas.save()
    (one,) = cut(path, tmp_path / "cut").items

    assert one.page == 1
    assert [near(middle(tmp_path / "cut", name), c) for name, c in zip(one.images, (RED, BLUE), strict=True)] == [
        True
    ] * 2


def test_a_label_that_only_the_text_names_is_said_to_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 712, "1 Introduction")
    text(canvas, 100, 10)
    canvas.setFont("Times-Roman", 10)
    canvas.drawString(72, 792 - 240, "As Figure 1 and Figure 2 show, most of the intervals of the study hold it.")
    figure(canvas, picture(RED), 260, "Figure 1: The share of intervals that hold the value.")
    canvas.save()

    assert cut(path, tmp_path / "cut").left_out == (
        "Not found: Figure 2. The text names what no caption was read for.",
    )


@pytest.mark.slow
def test_four_hundred_figures_are_bounded_and_said(tmp_path: Path) -> None:
    path, data = tmp_path / "paper.pdf", picture(RED)
    canvas = Canvas(str(path), pagesize=(612, 792))
    for page in range(100):
        canvas.setFont("Times-Bold", 12)
        canvas.drawString(72, 770, f"{page + 1} Section of many")
        for at in range(4):
            number = 4 * page + at + 1
            words = f"{chr(97 + number % 26)}{chr(97 + number // 26)}" * 4
            figure(canvas, data, 40 + 180 * at, f"Figure {number}: The shares of {words} in that study of intervals.")
        canvas.showPage()
    canvas.save()
    found = cut(path, tmp_path / "cut", most=12)

    assert len(found.items) == 400
    assert sum(bool(one.images) for one in found.items) == 12
    assert len(list((tmp_path / "cut").iterdir())) == 12
    assert found.left_out == (
        "388 figures and tables have no picture: at most 12 figures and tables get one (paper.max_figures).",
    )
    assert all("at most 12" in one.problem for one in found.items if not one.images)


def test_a_page_with_a_picture_of_a_hundred_megapixels_is_not_drawn(two_figures: Path, tmp_path: Path) -> None:
    """The picture's own width and height decide, before anything of it is decoded."""
    rows = zlib.compress(b"\0" * (10_000 * 10_000), 1)
    path = tmp_path / "scan.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    canvas.setFont("Times-Bold", 12)
    canvas.drawString(72, 700, "1 Introduction")
    text(canvas, 110, 12)
    figure(canvas, picture(RED, (321, 123)), 300, "Figure 1: A page that was scanned as it lay.")
    canvas.save()
    path.write_bytes(_with_large_image(path.read_bytes(), rows))
    (one,) = cut(path, tmp_path / "cut").items

    assert one.images == ()
    assert one.problem == "page 1 holds pictures of 100 megapixels; at most 50 are drawn"


def _with_large_image(data: bytes, rows: bytes) -> bytes:
    """The same file, its picture taken for one of 10,000 x 10,000 grey dots; pdfium mends the table of places."""
    start = data.index(b"/Width 321")
    begin = data.rindex(b" obj", 0, start) + 4
    end = data.index(b"endobj", start)
    head = b"<< /Type /XObject /Subtype /Image /Width 10000 /Height 10000 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    one = b"\n%s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\n" % (head, len(rows), rows)
    return data[:begin] + one + data[end:]


MARKDOWN = """# A Paper on Intervals

## Introduction

Most of them hold, as Figure 1 shows, and Figure 2 agrees with it.

![Figure 1: The share of intervals that hold](one.png)

![](https://example.org/two.png)

Figure 2: Another share, which lies elsewhere.

![Figure 3: A file from above](../secret.png)

![Figure 4: No picture](paper.md)
"""


def test_markdown_shows_files_beside_it_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(picture(BLUE))
    own = tmp_path / "own"
    own.mkdir()
    (own / "paper.md").write_text(MARKDOWN)
    (own / "one.png").write_bytes(picture(RED))
    first, second, third, fourth = cut(own / "paper.md", tmp_path / "cut").items

    assert near(middle(tmp_path / "cut", first.images[0]), RED)
    assert first.mentions == ("Most of them hold, as Figure 1 shows, and Figure 2 agrees with it.",)
    assert first.page is None
    assert "is not fetched" in second.problem
    assert "not beside the paper" in third.problem
    assert "no picture of a kind that is read" in fourth.problem
    assert [bool(one.images) for one in (second, third, fourth)] == [False] * 3


def test_html_figures_by_their_captions(tmp_path: Path) -> None:
    inline = base64.b64encode(picture(BLUE)).decode()
    words = "<p>The intervals of this study hold the value, as Figure 1 and Figure 2 show it to all who look.</p>" * 4
    (tmp_path / "one.png").write_bytes(picture(RED))
    page = tmp_path / "paper.html"
    page.write_text(
        f"<html><body><h1>A paper on intervals</h1><h2>1 Results</h2>{words}"
        "<figure><img src='one.png'><figcaption>Figure 1: Shares.</figcaption></figure>"
        f"<figure><img src='data:image/png;base64,{inline}'><figcaption>Figure 2: More.</figcaption></figure>"
        "</body></html>"
    )
    first, second = cut(page, tmp_path / "cut").items

    assert near(middle(tmp_path / "cut", first.images[0]), RED)
    assert near(middle(tmp_path / "cut", second.images[0]), BLUE)


LATEX = r"""\documentclass{article}
\usepackage{graphicx}
\graphicspath{{figs/}}
\begin{document}
\title{A Paper on Intervals}\maketitle
\section{Results}
Most of them hold, as Figure~\ref{fig:a} shows to all who look.
\begin{figure}\includegraphics[width=3cm]{one}\caption{Shares of intervals.}\label{fig:a}\end{figure}
\begin{figure}
\begin{subfigure}{.4\textwidth}\includegraphics{two.pdf}\caption{left}\end{subfigure}
\begin{subfigure}{.4\textwidth}\includegraphics{gone}\caption{right}\end{subfigure}
\caption{Two of them.}
\end{figure}
\end{document}
"""


def test_latex_figures_are_the_files_that_it_includes(two_figures: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "figs").mkdir(parents=True)
    (own / "paper.tex").write_text(LATEX)
    (own / "figs" / "one.png").write_bytes(picture(RED))
    (own / "two.pdf").write_bytes(two_figures.read_bytes())
    for place in (own / "paper.tex", own):
        folder = tmp_path / f"cut-{place.name}"
        first, second = cut(place, folder).items
        assert near(middle(folder, first.images[0]), RED)
        assert first.mentions
        assert len(second.images) == 1
        assert "'gone' is not beside the paper" in second.problem


def test_word_figures_stand_before_their_captions(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("A paper on intervals", 0)
    document.add_heading("Results", 1)
    document.add_paragraph("Most of the intervals of this study hold the value, as Figure 1 shows to all who look.")
    document.add_picture(io.BytesIO(picture(RED)))
    document.add_paragraph("Figure 1: The shares.", style="Caption")
    document.save(str(tmp_path / "paper.docx"))
    (one,) = cut(tmp_path / "paper.docx", tmp_path / "cut").items

    assert near(middle(tmp_path / "cut", one.images[0]), RED)
    assert one.caption == "Figure 1: The shares."


def test_a_picture_file_of_a_hundred_megapixels_is_not_decoded(tmp_path: Path) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 10_000, 10_000, 8, 0, 0, 0, 0))
    (tmp_path / "one.png").write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
    (tmp_path / "paper.md").write_text(MARKDOWN)
    first = cut(tmp_path / "paper.md", tmp_path / "cut").items[0]

    assert first.problem == "'one.png' has 100 megapixels; at most 50 are read"


def test_a_paper_without_captions_has_none(small_paper: Path, tmp_path: Path) -> None:
    assert cut(small_paper, tmp_path / "cut").items == ()


async def test_a_file_that_changed_into_something_else_is_refused(two_figures: Path, tmp_path: Path) -> None:
    paper = load_paper(two_figures)
    two_figures.write_bytes(b"%PDF-1.4 nothing")
    folder = tmp_path / "cut"
    folder.mkdir()
    with pytest.raises(PaperParseError, match="cannot be read"):
        await draw_figures(two_figures, paper, folder, PaperSettings())


# By hand, on pictures of the pages: every figure and table of the five papers, and where each is printed.
SHARED = {
    "acl2020_s2orc_two_column": (13, ()),
    "ai_scientist_adaptive_dual_scale_denoising": (3, ()),
    "ai_scientist_mdl_grokking_correlation": (8, ()),
    "ai_scientist_rl_lr_adaptation": (5, ()),
    "naacl2025_openreviewer_two_column": (10, ("Figure 8",)),
}


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize("name", SHARED)
def test_the_shared_papers_figures_are_found_and_cut(name: str, shared_data: Path, tmp_path: Path) -> None:
    found = cut(shared_data / "pdfs" / f"{name}.pdf", tmp_path / "cut").items
    count, whole = SHARED[name]

    assert len(found) == count
    assert tuple(one.label for one in found if one.whole_page) == whole
    assert all(_tight(one) for one in found if not one.whole_page)


def _tight(one: Figure) -> bool:
    return one.box is not None and bool(one.images) and one.problem == ""


def test_a_table_goes_by_its_own_label_or_by_the_caption_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    rows = "| hour | light |\n| --- | --- |\n| 1 | {} |\n"
    below = f"{rows.format(2)}\nTable 1: Below the rows.\n\nText.\n\n"
    above = f"Table 2: Above the rows.\n\n{rows.format(3)}\nText.\n\n{rows.format(4)}"
    path.write_text(f"# On lanterns\n\n## Results\n\nWords stand here.\n\n{below}{above}", encoding="utf-8")
    found = tables_by_label(load_paper(path))
    assert {label: block.text.split()[-1] for label, block in found.items()} == {"Table 1": "2", "Table 2": "3"}
