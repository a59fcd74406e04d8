"""Lists of references of every layout, drawn row by row: what is cut into which entries, and what stays outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2
import pytest

from referee.papers import load_paper
from referee.papers.bibliography import parse_entry
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Page, PageReader, Word
from referee.papers.pdf.repairs.references import repair_references
from referee.papers.pdf.repairs.words import Vocabulary
from referee.papers.pieces import Piece
from referee.schemas.paper import Box

BODY, BOLD, ITALIC = "Times-Roman", "Times-Bold", "Times-Italic"
LEFT, TOP, STEP, FOOT = 54.0, 60.0, 11.0, 730.0
NAMES = ("Hart", "Oduya", "Lund", "Novak", "Arslan", "Bianchi", "Cohen", "Dubois", "Egede", "Fischer")
STEMS = ("water", "sill", "tide", "salt", "heat", "wind", "layer", "probe", "season", "record", "depth", "basin")
Text = tuple[float, float, str, float, str]


def sentence(seed: int, words: int = 9) -> str:
    own = "q" + "".join("abcdefghij"[int(digit)] for digit in str(seed))
    return " ".join([own, *(STEMS[(seed * 7 + k * (seed % 5 + 1)) % len(STEMS)] for k in range(words))])


def entry(number: int, label: str = "") -> list[str]:
    """An entry of three rows; no other has the words of one of them, which would be running heads."""
    name, own = NAMES[number % len(NAMES)], sentence(number, 0)
    return [
        f"{label}{name}, A. B., {own.capitalize()}, C., and Lund, D. ({1950 + number % 70}).",
        f"Slow {STEMS[number % 12]} in {sentence(number, 1)}.",
        f"Tides of {own} {number + 1}, 12-19.",
    ]


class Drawing:
    """Pages under the pen; text is set at a place, rows of entries in columns that go on by themselves."""

    def __init__(self, columns: int = 1, top: float = TOP) -> None:
        self.pages: list[list[Text]] = [[]]
        self.columns, self.top, self.wide = columns, top, (612 - 2 * LEFT) / columns
        self.column, self.y = 0, top
        self.small = (9, 8, 6)[columns - 1]

    def at(self, x: float, y: float, text: str, size: float = 9, font: str = BODY) -> None:
        self.pages[-1].append((x, y, text, size, font))

    def row(self, text: str, indent: float = 0, size: float = 0, font: str = BODY, step: float = STEP) -> None:
        if self.y + step > FOOT:
            self.column, self.y = self.column + 1, self.top
            if self.column == self.columns:
                self.pages.append([])
                self.column = 0
                self.y = self.top = TOP
        self.y += step
        self.at(LEFT + self.column * self.wide + indent, self.y, text, size or self.small, font)

    def entries(self, count: int, label: str = "", hanging: float = 12, gap: float = 0) -> None:
        for number in range(1, count + 1):
            for at, text in enumerate(entry(number, label.format(number))):
                self.row(text, hanging if at else 0, step=STEP + (0 if at else gap))

    def save(self, path: Path) -> Path:
        from reportlab.pdfgen.canvas import Canvas

        canvas = Canvas(str(path), pagesize=(612, 792))
        for page in self.pages:
            for x, y, text, size, font in page:
                canvas.setFont(font, size)
                canvas.drawString(x, 792 - y, text)
            canvas.showPage()
        canvas.save()
        return path


@contextmanager
def opened(path: Path) -> Iterator[tuple[Draft, list[int]]]:
    """A draft of a file's pages without pieces, and the pages whose words were asked for."""
    with pypdfium2.PdfDocument(path) as document:
        reader = PageReader(document)
        asked: list[int] = []

        def words(page: Page, box: Box) -> list[Word]:
            asked.append(page.number)
            return reader.words_in(page, box)

        yield Draft("", [], reader.read(), words), asked


def cut(path: Path) -> list[Piece]:
    with opened(path) as (draft, _):
        repair_references(draft, Vocabulary(draft.pages))
        return [piece for piece in draft.pieces if piece.kind == "reference"]


def whole(entries: list[Piece], count: int) -> None:
    """Each entry is there once, in order, with its three rows and nothing else."""
    assert len(entries) == count
    for number, piece in enumerate(entries, start=1):
        first, second, third = entry(number)
        assert piece.text.endswith(f"{first} {second} {third}"), piece.text
        assert len(piece.text) < len(f"{first} {second} {third}") + 8
        assert piece.entry is not None
        assert piece.entry.title == second.strip(".")
        assert piece.entry.authors[0] == f"{NAMES[number % len(NAMES)]}, A. B."


@pytest.mark.parametrize("label", ["[{0}] ", "{0}. ", "{0} ", "({0}) ", ""])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_entries_of_each_label_in_columns(tmp_path: Path, label: str, columns: int) -> None:
    drawing = Drawing(columns)
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(60, label)
    entries = cut(drawing.save(tmp_path / "list.pdf"))
    whole(entries, 60)
    if label:
        assert [one.entry.label for one in entries if one.entry] == [str(n) for n in range(1, 61)]


def test_raised_numbers(tmp_path: Path) -> None:
    drawing = Drawing(2)
    drawing.row("References", font=BOLD, size=11)
    for number in range(1, 41):
        first, *rest = entry(number)
        drawing.row(first, 10)
        drawing.at(LEFT + drawing.column * drawing.wide, drawing.y - 3, str(number), 6)
        for text in rest:
            drawing.row(text, 10)
    entries = cut(drawing.save(tmp_path / "raised.pdf"))
    whole(entries, 40)
    assert [one.entry.label for one in entries if one.entry] == [str(n) for n in range(1, 41)]


def test_gaps_alone_part_entries(tmp_path: Path) -> None:
    drawing = Drawing(2)
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(40, hanging=0, gap=5)
    whole(cut(drawing.save(tmp_path / "gaps.pdf")), 40)


@pytest.mark.parametrize("label", ["[{0}] ", ""])
def test_a_list_of_one(tmp_path: Path, label: str) -> None:
    drawing = Drawing()
    drawing.row("7 References", font=BOLD, size=11)
    drawing.entries(1, label)
    whole(cut(drawing.save(tmp_path / "one.pdf")), 1)


def test_a_list_in_two_columns_under_text_in_one_and_in_two(tmp_path: Path) -> None:
    for name, columns in (("one", 1), ("two", 2)):
        drawing = Drawing()
        for column in range(columns):
            for at in range(20):
                words = sentence(100 * column + at, 15 // columns - 3 * (columns - 1))
                drawing.at(LEFT + 252 * column, TOP + STEP * (at + 1), words, 9)
        under = Drawing(2, TOP + 24 * STEP + 30)
        under.pages = drawing.pages
        under.at(LEFT, TOP + 24 * STEP, "References", 11, BOLD)
        under.entries(44)
        whole(cut(under.save(tmp_path / f"{name}.pdf")), 44)


@pytest.mark.parametrize("label", ["[{0}] ", ""])
def test_an_appendix_behind_the_list_is_none_of_it(tmp_path: Path, label: str) -> None:
    drawing = Drawing(2)
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(30, label)
    drawing.row("A More on the method", size=11, font=BOLD, step=20)
    for at in range(24):
        drawing.row(sentence(at, 5))
    path = drawing.save(tmp_path / "appendix.pdf")
    whole(cut(path), 30)
    last = [section for section in load_paper(path).sections if section.role != "references"][-1]
    assert last.text.count(" qb") > 3
    assert "Tides" not in last.text


def test_text_behind_the_list_without_a_heading_is_none_of_it(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(8, "[{0}] ")
    drawing.y += 20
    for at in range(12):
        drawing.row(f"Where the {sentence(at, 8)} was kept by all of them.")
    whole(cut(drawing.save(tmp_path / "behind.pdf")), 8)


def test_a_list_without_a_heading(tmp_path: Path) -> None:
    drawing = Drawing(2)
    for at in range(30):
        drawing.row(sentence(at, 5))
    drawing.y += 10
    drawing.entries(30, "[{0}] ", hanging=16)
    path = drawing.save(tmp_path / "unheaded.pdf")
    whole(cut(path), 30)
    assert len(load_paper(path).references) == 30


def test_numbered_findings_without_years_are_no_list(tmp_path: Path) -> None:
    drawing = Drawing()
    for at in range(1, 9):
        drawing.row(f"[{at}] The {sentence(at, 9)} was seen.")
    assert cut(drawing.save(tmp_path / "findings.pdf")) == []


def test_watermark_side_strip_footnote_and_feet_stay_out(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    drawing = Drawing(2)
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(64)
    for number, page in enumerate(drawing.pages):
        page.append((LEFT, 30, f"HART ET AL.: SLOW MIXING {number}", 8, BODY))
        page.append((LEFT, 770, f"This article is licensed by the Society of Tides, {2019}", 8, BODY))
        page.append((LEFT, 752, "1 A note of 2019 at the foot of the column, in smaller letters.", 6.5, BODY))
    path = tmp_path / "marks.pdf"
    canvas = Canvas(str(path), pagesize=(612, 792))
    for page in drawing.pages:
        for x, y, text, size, font in page:
            canvas.setFont(font, size)
            canvas.drawString(x, 792 - y, text)
        canvas.setFont(BOLD, 64)
        canvas.setFillGray(0.85)
        for angle, x, size, text in ((45, 150, 64, "CONFIDENTIAL 2019"), (90, 24, 9, "Downloaded 2019")):
            canvas.saveState()
            canvas.setFont(BOLD, size)
            canvas.translate(x, 200)
            canvas.rotate(angle)
            canvas.drawString(0, 0, text)
            canvas.restoreState()
        canvas.setFillGray(0)
        canvas.showPage()
    canvas.save()
    whole(cut(path), 64)


def test_several_lists(tmp_path: Path) -> None:
    drawing = Drawing()
    for name, count in (("References", 5), ("Additional references", 3)):
        drawing.row(name, font=BOLD, size=11, step=30)
        drawing.entries(count, "[{0}] ")
        for at in range(6):
            drawing.row(sentence(at + 10 * count, 9), size=11, step=14)
    entries = cut(drawing.save(tmp_path / "several.pdf"))
    whole(entries[:5], 5)
    whole(entries[5:], 3)


def test_line_numbers_that_are_still_there_are_no_labels(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.row("References", 20, font=BOLD, size=11, step=22)
    for number in range(1, 21):
        for at, text in enumerate(entry(number)):
            drawing.row(text, 32 if at else 20, step=22)
            drawing.at(LEFT, drawing.y, str(400 + 3 * number + at), 9)
    whole(cut(drawing.save(tmp_path / "numbered.pdf")), 20)


@pytest.mark.parametrize("label", ["[{0}] ", ""])
def test_nine_hundred_references_are_read_page_by_page_once(tmp_path: Path, label: str) -> None:
    drawing = Drawing()
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(900, label)
    with opened(drawing.save(tmp_path / "many.pdf")) as (draft, asked):
        repair_references(draft, Vocabulary(draft.pages))
        whole([piece for piece in draft.pieces if piece.kind == "reference"], 900)
        assert sorted(asked) == [page.number for page in draft.pages]


def test_of_three_hundred_pages_only_those_of_the_list_are_read_word_by_word(tmp_path: Path) -> None:
    drawing = Drawing()
    for page in range(298):
        for at in range(3):
            drawing.row(sentence(page * 3 + at, 9))
        drawing.y = FOOT
    drawing.row("References", font=BOLD, size=11)
    drawing.entries(19, "[{0}] ")
    with opened(drawing.save(tmp_path / "long.pdf")) as (draft, asked):
        repair_references(draft, Vocabulary(draft.pages))
        whole([piece for piece in draft.pieces if piece.kind == "reference"], 19)
        assert asked == [299]


def test_what_stood_in_one_piece_with_the_list_stays(tmp_path: Path) -> None:
    drawing = Drawing()
    for at in range(4):
        drawing.row(sentence(at, 9))
    drawing.row("References", font=BOLD, size=11, step=20)
    drawing.entries(4, "[{0}] ")
    with opened(drawing.save(tmp_path / "piece.pdf")) as (draft, _):
        everything = "\n".join(line.text for line in draft.pages[0].lines)
        box = Box(x0=0, y0=0, x1=612, y1=792)
        draft.pieces = [Piece("paragraph", everything, 1, box, 9), Piece("footnote", "A note.", 1, None, 7)]
        repair_references(draft, Vocabulary(draft.pages))
        kinds = [piece.kind for piece in draft.pieces]
        assert kinds == ["paragraph", "heading", *["reference"] * 4, "footnote"]
        assert draft.pieces[0].text == " ".join(sentence(at, 9) for at in range(4))
        assert [repair.kind for repair in draft.repairs] == ["cut_references"]


def test_italics_say_where_the_venue_begins(tmp_path: Path) -> None:
    rows: list[tuple[str, str, str]] = [
        ("[1] A. Hart, Mixing in Narrow Fjords, ", "Annals of Slow Tides", " (Sea Press, 2001)."),
        ("[2] C. Oduya and D. Lund. Waves. Part two. ", "Deep Letters", " 4, 12 (2002)."),
        ("[3] D. Lund, ", "Phys. Rev. Lett.", " 116, 061102 (2016)."),
    ]
    drawing = Drawing()
    drawing.row("References", font=BOLD, size=11)
    from reportlab.pdfbase.pdfmetrics import stringWidth

    for before, venue, behind in rows:
        drawing.row(before)
        x = LEFT + stringWidth(before, BODY, 9)
        drawing.at(x, drawing.y, venue, 9, ITALIC)
        drawing.at(x + stringWidth(venue, ITALIC, 9), drawing.y, behind, 9)
    titles = [piece.entry.title for piece in cut(drawing.save(tmp_path / "italics.pdf")) if piece.entry]
    assert titles == ["Mixing in Narrow Fjords", "Waves. Part two", None]


STYLES = {
    "ACM": "Ada Hart, Bo Li, and Cara van der Berg. {1}. {0}. Journal of Tides 1, 1 ({1}), 1–9.",
    "APA": "Hart, A., Li, B., & van der Berg, C. M. ({1}). {0}. Journal of Tides, 1(1), 1–9.",
    "BMC": "Hart A, Li B, van der Berg CM: {0}. J Tides {1}, 1:1-9.",
    "Chicago": "Hart, Ada, Bo Li, and Cara van der Berg. “{0}.” Journal of Tides 1 ({1}): 1–9.",
    "Elsevier": "A. Hart, B. Li, C. van der Berg, {0}, J. Slow Tides 1 (1) ({1}) 1–9.",
    "Harvard": "Hart, A., Li, B. and van der Berg, C., {1}. {0}. Journal of Tides, 1(1), pp.1–9.",
    "IEEE": "A. Hart, B. Li, and C. van der Berg, “{0},” J. Tides, vol. 1, pp. 1–9, {1}.",
    "LNCS": "Hart, A., Li, B., van der Berg, C.M.: {0}. J. Tides 1(1), 1–9 ({1})",
    "MLA": "Hart, Ada, et al. “{0}.” Journal of Tides, vol. 1, no. 1, {1}, pp. 1–9.",
    "Nature": "Hart, A. et al. {0}. J. Tides 1, 1–9 ({1}).",
    "PNAS": "Hart A, Li B, van der Berg CM ({1}) {0}. J Tides 1(1):1–9.",
    "RSC": "A. Hart, B. Li and C. van der Berg, {0}, J. Slow Tides, {1}, 1, 1–9.",
    "Vancouver": "Hart A, Li B, van der Berg CM. {0}. J Tides. {1};1(1):1-9.",
    "plain": "Ada Hart, Bo Li, and Cara van der Berg. {0}. Journal of Tides, 1(1):1–9, {1}.",
}
TITLES = [
    "Slow mixing of deep water",
    "Design and analysis of the 2016 review process",
    "TideNet: An automatic estimator of salt in narrow fjords",
    "A successful protocol for probes",
    "Why should I trust tides? Explaining the basin",
]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("title", TITLES)
def test_title_year_and_first_author_in_each_style(style: str, title: str) -> None:
    found = parse_entry(STYLES[style].format(title, 2018))
    assert (found.title, found.year) == (title, 2018)
    assert "Hart" in found.authors[0]


@pytest.mark.parametrize(
    "text",
    [
        "A. Hart, B. Li, and C. van der Berg, Phys. Rev. Lett. 116, 061102 (2016).",
        "T. Hart and H. Li, Chem. Lett., 2018, 47, 678–681.",
        "A. Hart, B. Li, and L. Berg, Science 360, 1455 (2018).",
        "P. S. Hart and K. R. Li, Proc. Natl. Acad. Sci. U. S. A., 2014, 122, 535–542.",
        "Hart, A. 2019, ApJ, 871, 12",
    ],
)
def test_a_journal_is_no_title(text: str) -> None:
    assert parse_entry(text).title is None
