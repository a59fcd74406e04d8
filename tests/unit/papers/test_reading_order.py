"""What cuts or hides running text: captions that go on, signs apart from their line, tables that are none or missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pypdfium2
import pytest

from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import PageReader, around
from referee.papers.pdf.repairs.front import repair_title
from referee.papers.pdf.repairs.kinds import repair_kinds
from referee.papers.pdf.repairs.tables import repair_tables
from referee.papers.pdf.repairs.words import Vocabulary
from referee.papers.pieces import Piece
from referee.schemas.paper import BlockKind, Box

Spot = tuple[float, float, str, float]
Repaired = Callable[..., Draft]

CAPTION = [
    (74.0, 100.0, "Figure 1. The depth of the sill and the renewal of the deep water, as they were measured", 11.0),
    (223.0, 113.0, "at the mouth of the fjord.", 11.0),
]
TEXT = [
    (86.0, 126.0, "The renewal begins in late spring, when dense water stands above the depth of the sill", 11.0),
    (72.0, 139.0, "and flows over it. It ends when the water inside is as dense as the water that comes in.", 11.0),
]
LONG = "Text of the paper in the size of most of its letters, so that what is smaller counts as small. "


@pytest.fixture
def repaired(tmp_path: Path) -> Repaired:
    """A function that draws (x, height, text, size) on the second of two pages, and repairs the pieces given."""
    from reportlab.pdfgen.canvas import Canvas

    def run(
        repair: Callable[[Draft, Vocabulary], None],
        spots: Sequence[Spot],
        pieces: Sequence[Piece],
        *,
        page: int = 2,
        title: str = "",
    ) -> Draft:
        canvas = Canvas(str(path := tmp_path / "paper.pdf"), pagesize=(612, 792))
        for _ in range(page - 1):
            canvas.showPage()
        for x, top, text, size in spots:
            canvas.setFont("Times-Roman", size)
            canvas.drawString(x, 792 - top, text)
        canvas.showPage()
        canvas.save()
        with pypdfium2.PdfDocument(path) as document:
            reader = PageReader(document)
            draft = Draft(title, list(pieces), reader.read(), reader.words_in)
            repair(draft, Vocabulary(draft.pages))
        return draft

    return run


def box(x0: float, y0: float, x1: float, y1: float) -> Box:
    return Box(x0=x0, y0=y0, x1=x1, y1=y1)


def said(kind: BlockKind, spots: Sequence[Spot], at: Box, cells: tuple[tuple[str, ...], ...] = ()) -> Piece:
    return Piece(kind, " ".join(text for _, _, text, _ in spots), 2, at, spots[0][3], cells=cells)


def test_a_centred_caption_ends_before_the_text_under_it(repaired: Repaired) -> None:
    spots = CAPTION + TEXT
    caption = said("caption", spots, box(72, 90, 491, 143))
    done = repaired(repair_kinds, spots, [caption])
    assert [(p.kind, p.text) for p in done.pieces] == [
        ("caption", " ".join(text for _, _, text, _ in CAPTION)),
        ("paragraph", " ".join(text for _, _, text, _ in TEXT)),
    ]
    boxes = [p.box for p in done.pieces if p.box]
    assert boxes[0].y1 < boxes[1].y0
    assert around(*boxes).y1 < 143


def test_a_caption_of_centred_sentences_stays_whole(repaired: Repaired) -> None:
    spots = [*CAPTION, (210.0, 126.0, "Crosses show the year before.", 11.0), (243.0, 139.0, "Dots show ours.", 11.0)]
    done = repaired(repair_kinds, spots, [said("caption", spots, box(72, 90, 491, 143))])
    assert [p.kind for p in done.pieces] == ["caption"]


@pytest.mark.parametrize(("left", "size", "count"), [(150.0, 10.0, 1), (420.0, 10.0, 3), (150.0, 7.0, 3)])
def test_a_sign_of_a_line_does_not_cut_its_paragraph(repaired: Repaired, left: float, size: float, count: int) -> None:
    above, below = "The phase changes at 122 K upon cooling, which lacks a theoretical", "description so far."
    spots = [(72.0, 100.0, above, size), (72.0, 112.0, below, size)]
    pieces = [
        said("paragraph", spots[:1], box(72, 92, 340, 102)),
        Piece("paragraph", "C", 2, box(left, 95, left + 5, 101), 7),
        said("paragraph", spots[1:], box(72, 104, 150, 114)),
        Piece("paragraph", LONG * 3, 1, box(72, 92, 500, 102), 10),
    ]
    done = repaired(repair_kinds, spots, pieces).pieces[:-1]
    assert len(done) == count
    assert (done[0].text == f"{above} {below}") is (count == 1)


@pytest.mark.parametrize(("columns", "kind"), [((72, 200, 300), "table"), ((72, 200, None), "paragraph")])
def test_small_text_in_full_columns_is_a_table(
    repaired: Repaired, columns: tuple[float | None, ...], kind: BlockKind
) -> None:
    rows = [("pinene", "0.83", "1.10"), ("camphene", "0.35", "0.51"), ("thujene", "1.95", "0.34")] * 2
    spots = [
        (left or 300.0, 100.0 + 10 * at, word, 7.0)
        for at, row in enumerate(rows)
        for left, word in zip(columns, row, strict=True)
        if left or not at
    ]
    part = said("paragraph", spots, box(70, 92, 330, 155))
    done = repaired(repair_tables, spots, [Piece("paragraph", LONG * 3, 1, box(72, 92, 500, 102), 10), part]).pieces[1]
    assert done.kind == kind
    assert done.cells == (tuple(rows) if kind == "table" else ())


@pytest.mark.parametrize("gap", [0, 1])
def test_a_table_whose_lines_go_on_over_its_columns_is_text(repaired: Repaired, gap: int) -> None:
    lines = [
        ("enables operations to name the buffers they", "need"),
        ("allocate at first, and then the calls", "can use"),
    ]
    spots = [(72.0 + 200 * gap * at, 100.0 + 12 * row, text, 9.0) for row, two in enumerate(lines) for at, text in
             (enumerate(two) if gap else enumerate([" ".join(two)]))]  # fmt: skip
    table = said("table", spots, box(70, 92, 330, 116), tuple(lines))
    done = repaired(repair_tables, spots, [table]).pieces[0]
    assert (done.kind, done.cells) == (("table", tuple(lines)) if gap else ("paragraph", ()))
    assert gap or done.text == " ".join(" ".join(two) for two in lines)


@pytest.mark.parametrize(
    ("first", "said_title", "title"),
    [
        ([(42, 50, "Science of Fjords", 21), (53, 100, "EDGE ARTICLE", 16)], "EDGE ARTICLE", "Water over a sill"),
        ([(72, 40, "a", 4), (42, 60, "EDGE ARTICLE", 16), (72, 90, "ON:", 9)], "EDGE ARTICLE", "Water over a sill"),
        ([(72, 130, "Renewal of water: a systematic", 16)], "Review", "Renewal of water: a systematic Review"),
    ],
)
def test_a_journal_and_the_kind_of_article_are_no_title(
    repaired: Repaired, first: list[Spot], said_title: str, title: str
) -> None:
    spots = [*first, (72.0, 150.0, "Review" if said_title == "Review" else title, 16.0), (72, 175, "With data", 13)]
    text = Piece("paragraph", LONG * 3, 1, box(72, 300, 500, 310), 10)
    assert repaired(repair_title, spots, [text], page=1, title=said_title).title == title
