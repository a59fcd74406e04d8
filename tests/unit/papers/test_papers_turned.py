"""Pages whose words stand on their side, or on their head: read as if they had been turned."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.papers import load_paper
from referee.schemas.paper import Paper

ROTATIONS = (0, 90, 180, 270)
# Where the page's lower left corner has to be put, so that what is turned counter-clockwise lies on a page again.
ORIGINS = {0: (0, 0), 90: (612, 0), 180: (612, 612), 270: (0, 612)}


def drawn(path: Path, *, shown: int, content: int) -> Path:
    """Three square pages; the second is shown turned clockwise, and what it prints is turned counter-clockwise."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(612, 612))
    for page in (1, 2, 3):
        turned = page == 2
        canvas.setPageRotation(shown if turned else 0)
        canvas.translate(*ORIGINS[content if turned else 0])
        canvas.rotate(content if turned else 0)
        canvas.setFont("Times-Bold", 14)
        canvas.drawString(72, 540, f"{page} Section number {page}")
        canvas.setFont("Times-Roman", 11)
        for line in range(15):
            words = f"Line {line} of page {page} says that the learning rate was chosen by hand."
            canvas.drawString(72, 510 - 16 * line, words)
        canvas.showPage()
    canvas.save()
    return path


def words(paper: Paper) -> list[str]:
    return " ".join(block.text for _, block in paper.blocks()).split()


@pytest.mark.parametrize("content", ROTATIONS)
@pytest.mark.parametrize("shown", ROTATIONS)
def test_no_word_is_lost_however_a_page_is_turned(tmp_path: Path, shown: int, content: int) -> None:
    paper = load_paper(drawn(tmp_path / "turned.pdf", shown=shown, content=content))
    for page in (1, 2, 3):
        assert words(paper).count(f"{page}") >= 15
    assert [finding.kind for finding in paper.findings if finding.kind not in ("no_headings",)] == []
    turned = [repair for repair in paper.repairs if repair.kind == "turned_page"]
    if shown == content:
        assert turned == [], "as it is shown, its words run from left to right"
    else:
        assert [(r.page, r.before, r.after) for r in turned] == [(2, f"/Rotate {shown}", f"/Rotate {content}")]


def test_the_words_stand_where_the_turned_page_shows_them(tmp_path: Path) -> None:
    boxes = {}
    for name, shown in (("upright", 0), ("turned", 90)):
        paper = load_paper(drawn(tmp_path / f"{name}.pdf", shown=shown, content=0))
        boxes[name] = [(block.page, block.text, block.box) for _, block in paper.blocks()]
    assert boxes["turned"] == boxes["upright"]


def test_the_id_is_that_of_the_file_and_the_file_stays(tmp_path: Path) -> None:
    import hashlib

    path = drawn(tmp_path / "turned.pdf", shown=90, content=0)
    before = path.read_bytes()
    assert load_paper(path).paper_id == hashlib.sha256(before).hexdigest()
    assert path.read_bytes() == before


def test_a_few_turned_words_turn_no_page(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "axis.pdf"), pagesize=(612, 792))
    canvas.setFont("Times-Roman", 11)
    for line in range(20):
        canvas.drawString(100, 700 - 16 * line, f"Line {line} says that the learning rate was chosen by hand.")
    canvas.rotate(90)
    canvas.drawString(200, -60, "share of reviews, in percent, of all that were read in the second year")
    canvas.save()
    assert [r for r in load_paper(tmp_path / "axis.pdf").repairs if r.kind == "turned_page"] == []
