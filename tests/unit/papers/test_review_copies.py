"""PDFs as authors submit them: copies with line numbers, against the same pages without them, and odd files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from referee.api.paper_read import what_was_read
from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.papers.pdf.hidden import removal
from referee.schemas.paper import Paper

Text = tuple[float, float, str, float, str]
BODY, BOLD = "Times-Roman", "Times-Bold"
STEMS = (
    "water",
    "sill",
    "tide",
    "salt",
    "heat",
    "wind",
    "layer",
    "probe",
    "season",
    "record",
    "mixing",
    "depth",
    "renew",
)


def prose(seed: int, words: int = 9) -> str:
    """Words that no other line has in this order, and one that no other line has."""
    own = "q" + "".join("abcdefghij"[int(digit)] for digit in str(seed))
    return " ".join([own, *(STEMS[(seed * 7 + k * (seed % 5 + 1)) % len(STEMS)] for k in range(words))])


def paper_lines() -> Iterator[tuple[str, str, float]]:
    """Text, font and size of a paper's lines from its title to its references."""
    yield "Deep water renewal in narrow fjords", BOLD, 16
    yield "Anonymous submission", BODY, 10
    yield "Abstract", BOLD, 12
    for seed in range(5):
        yield prose(seed), BODY, 10
    for number, name in enumerate(("Introduction", "Methods", "Results", "Conclusion"), 1):
        yield f"{number} {name}", BOLD, 12
        for seed in range(100 * number, 100 * number + 22):
            yield prose(seed), BODY, 10
    yield "References", BOLD, 12
    yield "[1] B. Hart and C. Oduya. Slow mixing in fjords. Tides, 4:12-19, 2019.", BODY, 10
    yield "[2] D. Lund. One fjord seen from above. In Proceedings of the Sea, pages 3-9, 2020.", BODY, 10


def draw(path: Path, pages: Sequence[Sequence[Text]]) -> Path:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(612, 792))
    for page in pages:
        for x, top, text, size, font in page:
            canvas.setFont(font, size)
            canvas.drawString(x, 792 - top, text)
        canvas.showPage()
    canvas.save()
    return path


def laid_out(
    number: Callable[[int, int, str], str] | None = None, *, x: float = 44, right: bool = False
) -> list[list[Text]]:
    """The paper on pages of 40 lines; ``number`` gives what stands beside a line (count in all, on its page, text)."""
    pages: list[list[Text]] = []
    for count, (text, font, size) in enumerate(paper_lines()):
        if count % 40 == 0:
            pages.append([])
        top = 80 + 16 * (count % 40)
        pages[-1].append((90, top, text, size, font))
        if number and (beside := number(count, count % 40, text)):
            pages[-1].append((560 if right else x, top, beside, 6, BODY))
    return pages


def counted(*, anew: bool) -> Callable[[int, int, str], str]:
    """Numbers that start again at each heading, or leave headings out."""
    state = {"count": 0}

    def number(count: int, on_page: int, text: str) -> str:
        heading = text[:2] in ("1 ", "2 ", "3 ", "4 ") or text in ("Abstract", "References")
        state["count"] = 1 if heading and anew else state["count"] + (anew or not heading)
        return "" if heading and not anew else str(state["count"])

    return number


NUMBERINGS: dict[str, dict[str, object]] = {
    "left": {"number": lambda count, on_page, text: f"{count + 1:03}"},
    "right": {"number": lambda count, on_page, text: str(count + 1), "right": True},
    "each page anew": {"number": lambda count, on_page, text: str(on_page + 1)},
    "each page anew, right": {"number": lambda count, on_page, text: str(on_page), "right": True},
    "each section anew": {"number": counted(anew=True)},
    "every fifth line": {"number": lambda count, on_page, text: "" if (count + 1) % 5 else str(count + 1)},
    "not beside headings": {"number": counted(anew=False)},
}


def outline(paper: Paper) -> list[tuple[str, str | None, str, str]]:
    return [(section.role, section.number, section.heading, section.text) for section in paper.sections]


@pytest.mark.parametrize("how", NUMBERINGS)
def test_a_numbered_copy_is_read_as_the_same_page_without_numbers(tmp_path: Path, how: str) -> None:
    bare = load_paper(draw(tmp_path / "bare.pdf", laid_out()))
    pages = laid_out(**NUMBERINGS[how])  # type: ignore[arg-type]
    paper = load_paper(draw(tmp_path / "numbered.pdf", pages))
    assert bare.title == "Deep water renewal in narrow fjords"
    assert len(bare.references) == 2
    assert (paper.title, paper.abstract, outline(paper)) == (bare.title, bare.abstract, outline(bare))
    assert paper.references == bare.references
    count = sum(size == 6 for page in pages for _, _, _, size, _ in page)
    (repair,) = [repair for repair in paper.repairs if repair.kind == "line_numbers"]
    assert repair.before.startswith(f"{count} line numbers on {len(pages)} page(s)")
    assert not [finding for finding in paper.findings if finding.certainty != "low"]


def two_columns(*, numbered: bool) -> list[list[Text]]:
    """Two columns of 40 lines a page, numbers left of the left and right of the right one, running down both."""
    lines = list(paper_lines())[2:]
    pages: list[list[Text]] = []
    for count, (text, font, size) in enumerate(lines):
        column, on_page = count // 44 % 2, count % 88
        if on_page == 0:
            pages.append([(200, 60, "Deep water renewal in narrow fjords", 16, BOLD)] if not pages else [])
        top = 90 + 15 * (count % 44)
        pages[-1].append((60 + 255 * column, top, " ".join(text.split()[:6]), size, font))
        if numbered:
            pages[-1].append((575 if column else 30, top, f"{count:03}", 6, BODY))
    return pages


def test_two_columns(tmp_path: Path) -> None:
    bare, paper = (
        load_paper(draw(tmp_path / f"{numbered}.pdf", two_columns(numbered=numbered))) for numbered in (False, True)
    )
    assert [s.heading for s in bare.sections][:3] == ["Abstract", "Introduction", "Methods"]
    assert (paper.title, outline(paper)) == (bare.title, outline(bare))


def with_table(*, numbered: bool) -> list[list[Text]]:
    pages = laid_out((lambda count, on_page, text: f"{count + 1:03}") if numbered else None, x=20)
    table: list[Text] = [(90, 60, "Table 1: Depth by station.", 10, BODY)]
    for row in range(1, 41):
        cells = ((60, str(row)), (150, f"station{row}"), (300, f"{row * 3}.5"), (430, f"{row * 7}.1"))
        table += [(x, 70 + 15 * row, cell, 10, BODY) for x, cell in cells]
    return [pages[0], table, *pages[1:]]


@pytest.mark.parametrize("numbered", [False, True])
def test_a_table_with_1_to_40_in_the_margin_survives(tmp_path: Path, numbered: bool) -> None:
    paper = load_paper(draw(tmp_path / "table.pdf", with_table(numbered=numbered)))
    text = "\n".join(block.text for _, block in paper.blocks() if block.page == 2)
    tokens = text.replace("|", " ").split()
    assert [str(row) for row in range(1, 41) if str(row) not in tokens] == []
    assert [f"station{row}" for row in range(1, 41) if f"station{row}" not in tokens] == []
    assert any(repair.kind == "line_numbers" for repair in paper.repairs) == numbered


def test_a_table_that_fills_a_file_of_one_page_survives(tmp_path: Path) -> None:
    paper = load_paper(draw(tmp_path / "table.pdf", [with_table(numbered=False)[1]]))
    assert not any(repair.kind == "line_numbers" for repair in paper.repairs)


def test_numbered_references_and_numbers_in_sentences_stay(tmp_path: Path) -> None:
    pages = laid_out()
    for number in range(1, 31):
        pages.append([]) if number == 1 else None
        pages[-1].append((70, 60 + 20 * number, str(number), 10, BODY))
        pages[-1].append(
            (90, 60 + 20 * number, f"Author{number} A. A work of some length. Journal {number}, 2001.", 10, BODY)
        )
    paper = load_paper(draw(tmp_path / "references.pdf", pages))
    assert not any(repair.kind == "line_numbers" for repair in paper.repairs)


def one_page() -> list[list[Text]]:
    return [list(laid_out()[0])]


def three_columns() -> list[list[Text]]:
    page: list[Text] = [(150, 60, "Deep water renewal in narrow fjords", 16, BOLD)]
    for count in range(120):
        column = count // 40
        page.append((40 + 185 * column, 100 + 16 * (count % 40), prose(count, 4), 9, BODY))
    return [page]


def slides() -> list[list[Text]]:
    return [
        [(60, 100, f"Slide {number} on the tides", 28, BOLD)]
        + [(80, 180 + 60 * k, f"{prose(10 * number + k, 4)}", 20, BODY) for k in range(4)]
        for number in range(1, 13)
    ]


def figures_at_the_end() -> list[list[Text]]:
    pages = laid_out()
    pages[1].append((90, 740, "The depth of the sills is drawn in Figure 1 and in Figure 2 of this paper.", 10, BODY))
    for number in (1, 2):
        text = f"Figure {number}: Depth of the sills over the year, drawn from the records."
        pages.append([(90, 600, text, 10, BODY)])
    return pages


def two_papers() -> list[list[Text]]:
    return [*laid_out(), *laid_out()]


@pytest.mark.parametrize("made", [one_page, three_columns, slides, figures_at_the_end, two_papers])
def test_no_word_of_an_odd_file_is_lost_and_nobody_is_accused(
    tmp_path: Path, made: Callable[[], list[list[Text]]]
) -> None:
    pages = made()
    paper = load_paper(draw(tmp_path / "odd.pdf", pages))
    held = " ".join([paper.title, *(f"{s.heading} {s.text}" for s in paper.sections)])
    words = {word for page in pages for _, _, text, _, _ in page for word in text.split() if word.startswith("q")}
    assert [word for word in sorted(words) if word not in held.split()] == []
    assert [finding.kind for finding in paper.findings if finding.kind != "no_headings"] == []


def test_three_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    paper = load_paper(draw(tmp_path / "three.pdf", three_columns()))
    held = " ".join(section.text for section in paper.sections).split()
    places = [held.index(prose(count, 4).split()[0]) for count in range(120)]
    assert places == sorted(places)


def test_two_papers_in_one_file_are_said(tmp_path: Path) -> None:
    paper = load_paper(draw(tmp_path / "two.pdf", two_papers()))
    assert "2 abstracts: are these several papers?" in what_was_read(paper)


def test_pages_that_cannot_be_written_again_are_read_without_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where pdfium loses letters when it writes a page again: numbers stay in the file, and not in the text."""
    bare = load_paper(draw(tmp_path / "bare.pdf", laid_out()))
    path = draw(tmp_path / "numbered.pdf", laid_out(lambda count, on_page, text: f"{count + 1:03}"))
    monkeypatch.setattr(removal, "_cut_page", lambda page, cut: page.gen_content())
    paper = load_paper(path)
    assert paper.title == bare.title
    held = " ".join([paper.abstract, *(section.text for section in paper.sections)]).split()
    assert [token for token in held if len(token) == 3 and token.isdigit()] == []
    assert [s.heading for s in paper.sections if s.number] == [s.heading for s in bare.sections if s.number]


def test_figures_at_the_end_stand_where_they_are_named(tmp_path: Path) -> None:
    paper = load_paper(draw(tmp_path / "odd.pdf", figures_at_the_end()))
    shown = [block.label for section in paper.content for block in section.blocks if block.kind == "caption"]
    assert shown == ["Figure 1", "Figure 2"]


@pytest.mark.slow
def test_a_thesis_of_300_pages(tmp_path: Path) -> None:
    pages: list[list[Text]] = [[(90, 200, "Tides of the north: a thesis", 20, BOLD)]]
    for number in range(299):
        page: list[Text] = [(90, 80, f"{number // 30 + 1} A {STEMS[number // 30]} of the north", 14, BOLD)]
        page = [] if number % 30 else page
        page += [(90, 110 + 16 * k, prose(20 * number + k), 10, BODY) for k in range(12)]
        pages.append([*page, (300, 770, str(number + 1), 10, BODY)])
    paper = load_paper(draw(tmp_path / "thesis.pdf", pages))
    assert (paper.page_count, [s.number for s in paper.sections if s.number]) == (300, [str(n) for n in range(1, 11)])
    assert not any(repair.kind == "line_numbers" for repair in paper.repairs)
    with pytest.raises(PaperParseError, match="300 pages; at most 200"):
        load_paper(tmp_path / "thesis.pdf", max_pages=200)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["line_numbers_one_column.pdf", "line_numbers_two_columns.pdf"])
def test_the_shared_numbered_copies(shared_data: Path, name: str) -> None:
    paper = load_paper(shared_data / "cases" / "papers" / name)
    assert paper.title == "Deep water renewal in narrow fjords"
    assert (len(paper.abstract.split()), len(paper.references)) == (32, 3)
    sections = {(s.number, s.heading): len(s.text.split()) for s in paper.sections}
    assert list(sections) == [
        (None, "Front matter"), (None, "Abstract"), ("1", "Introduction"), ("2", "Methods"), ("2.1", "Probes"),
        ("3", "Results"), ("4", "Conclusion"), (None, "References"), ("A", "Extra runs"),
    ]  # fmt: skip
    assert (sections[None, "Front matter"], sections["3", "Results"]) == (2, 186)
    assert [block.label for _, block in paper.blocks() if block.kind == "caption"] == ["Table 1"]
    assert not [finding for finding in paper.findings if finding.certainty != "low"]
    assert not {token for _, block in paper.blocks() for token in block.text.split() if token.startswith("0")}
