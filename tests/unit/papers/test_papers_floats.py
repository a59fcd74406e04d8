"""Tables and figures printed among acknowledgements, references or authors, in every format; lost headings behind."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import pypdfium2
import pytest
from reportlab.pdfgen.canvas import Canvas

from referee.agents.briefing import fit_paper, how_read
from referee.papers import load_paper
from referee.papers.assembly import assemble
from referee.papers.pieces import Piece
from referee.schemas.paper import Box, Paper

SENTENCE = "We draw samples from every group and compute the intervals of the mean with each method in turn. "
INTRO = SENTENCE * 3
RESULTS = f"The coverage of every method is in Table 2, and Figure 3 shows how wide the intervals are. {SENTENCE}"
TABLE, FIGURE = "Table 2: Coverage by method.", "Figure 3: Width of the intervals."
ROWS = (("Method", "Coverage", "Width"), ("Plain", "94.8", "3.1"), ("Grouped", "92.3", "2.7"))
NOTE = "Note: coverage in percent, over 500 runs."
ENTRIES = (
    "[1] A. Author. Intervals for small samples. Journal of Tests, 12(3):1-9, 2019.",
    "[2] B. Writer and C. Reader. Table 9 and its history. In Proceedings of Things, 2021.",
    "[3] D. Fourth. Figures of merit. Journal of Tests, 14(1):10-19, 2022.",
)
LOST = (
    "The derivation of the width starts from the variance of the group means, which is the sum of the variance within "
    "groups and the variance between them, divided by the number of groups; see the note of Writer (2021) on this."
)


def markdown(path: Path) -> None:
    rows = ["| " + " | ".join(row) + " |" for row in ROWS]
    table = "\n".join([rows[0], "| --- | --- | --- |", *rows[1:]])
    entries = "\n\n".join(ENTRIES[:2])
    path.write_text(
        f"# A paper\n\n## Introduction\n\n{INTRO}\n\n## Results\n\n{RESULTS}\n\n## Acknowledgements\n\n"
        f"We thank Bob.\n\n{FIGURE}\n\n## References\n\n{entries}\n\n{TABLE}\n\n{table}\n\n{NOTE}\n\n"
        f"{ENTRIES[2]}\n\n{LOST}\n"
    )


def text(path: Path) -> None:
    rows = "\n".join("   ".join(row) for row in ROWS)
    path.write_text(
        f"A paper\n\n1 Introduction\n\n{INTRO}\n\n2 Results\n\n{RESULTS}\n\nAcknowledgements\n\nWe thank Bob.\n\n"
        f"{FIGURE}\n\nReferences\n\n{ENTRIES[0]}\n{ENTRIES[1]}\n\n{TABLE}\n\n{rows}\n\n{NOTE}\n\n{ENTRIES[2]}\n\n{LOST}\n"
    )


def html(path: Path) -> None:
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in ROWS)
    one, two, three = (f"<p>{entry}</p>" for entry in ENTRIES)
    path.write_text(
        f"<html><head><title>A paper</title></head><body><h1>A paper</h1><h2>1 Introduction</h2><p>{INTRO}</p>"
        f"<h2>2 Results</h2><p>{RESULTS}</p><h2>Acknowledgements</h2><p>We thank Bob.</p>"
        f"<figure><img src='w.png'><figcaption>{FIGURE}</figcaption></figure><h2>References</h2>{one}{two}"
        f"<figure><figcaption>{TABLE}</figcaption><table>{rows}</table></figure><p>{NOTE}</p>{three}<p>{LOST}</p>"
        "</body></html>"
    )


def word(path: Path) -> None:
    document = docx.Document()
    document.add_heading("A paper", 0)
    for heading, body in (("Introduction", INTRO), ("Results", RESULTS), ("Acknowledgements", "We thank Bob.")):
        document.add_heading(heading, 1)
        document.add_paragraph(body)
    document.add_paragraph(FIGURE, style="Caption")
    document.add_heading("References", 1)
    document.add_paragraph(ENTRIES[0])
    document.add_paragraph(ENTRIES[1])
    document.add_paragraph(TABLE, style="Caption")
    table = document.add_table(rows=3, cols=3)
    for row, cells in zip(table.rows, ROWS, strict=True):
        for cell, value in zip(row.cells, cells, strict=True):
            cell.text = value
    for paragraph in (NOTE, ENTRIES[2], LOST):
        document.add_paragraph(paragraph)
    stream = io.BytesIO()
    document.save(stream)
    path.write_bytes(stream.getvalue())


def latex(path: Path) -> None:
    rows = r" \\ ".join(" & ".join(row) for row in ROWS)
    table = rf"\caption{{Coverage by method.}}\label{{t}}\begin{{tabular}}{{lll}}{rows}\end{{tabular}}"
    items = [rf"\bibitem{{k{n}}} {entry.split('] ')[1]}" for n, entry in enumerate(ENTRIES)]
    path.write_text(
        r"\documentclass{article}\title{A paper}\begin{document}\maketitle\section{Introduction}" + "\n"
        + INTRO + "\n\\begin{table}\\caption{Before.}\\begin{tabular}{ll}a & 1\\\\b & 2\\end{tabular}\\end{table}\n"
        + r"\section{Results}" + "\n" + RESULTS.replace("Table 2", r"Table~\ref{t}") + "\n"
        + r"\begin{thebibliography}{9}" + "\n".join(items) + r"\end{thebibliography}" + "\n"
        + r"\begin{table}" + table + r"\end{table}" + NOTE + "\n\n" + LOST + r"\end{document}"
    )  # fmt: skip


def pdf(path: Path) -> None:
    canvas = Canvas(str(path), pagesize=(612, 792))

    def lines(top: float, shown: str, font: str = "Times-Roman", size: float = 10) -> float:
        canvas.setFont(font, size)
        words, line = shown.split(), ""
        for word in [*words, ""]:
            if line and (not word or len(line) + len(word) > 95):
                canvas.drawString(72, 792 - top, line)
                top, line = top + 13, ""
            line = f"{line} {word}".strip()
        return top + 12

    top = lines(80, "A Paper About Intervals of Groups", "Times-Bold", 17)
    top = lines(top, "Ada Author")
    for heading, body in (("Abstract", INTRO), ("1 Introduction", INTRO * 2), ("2 Results", RESULTS * 2)):
        top = lines(lines(top, heading, "Times-Bold", 12), body)
    top = lines(top, "References", "Times-Bold", 12)
    top = lines(lines(top, ENTRIES[0]), ENTRIES[1])
    canvas.showPage()
    top = lines(80, TABLE)
    for row in ROWS:
        for x, cell in zip((120, 250, 380), row, strict=True):
            canvas.drawString(x, 792 - top, cell)
        top += 14
    top = lines(top + 20, FIGURE)
    lines(lines(top + 20, ENTRIES[2]), LOST)
    canvas.showPage()
    canvas.save()


MAKERS: dict[str, Callable[[Path], None]] = {
    "paper.md": markdown,
    "paper.txt": text,
    "paper.html": html,
    "paper.docx": word,
    "paper.tex": latex,
    "paper.pdf": pdf,
}


@pytest.fixture(params=MAKERS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Paper:
    path = tmp_path / str(request.param)
    MAKERS[request.param](path)
    return load_paper(path)


def section(paper: Paper, heading: str) -> str:
    return "\n".join(s.text for s in paper.sections if s.heading == heading)


def test_a_table_among_the_references_is_read_where_it_is_referred_to(made: Paper) -> None:
    results = section(made, "Results")
    assert "Coverage by method." in results
    assert "94.8" in results
    assert "92.3" in results
    assert "94.8" not in section(made, "References")
    if made.format in ("markdown", "html", "docx"):
        assert results.index(TABLE) < results.index("94.8") < results.index("over 500 runs")
    if made.format != "latex":
        assert "Width of the intervals." in results
    moved = [repair for repair in made.repairs if repair.kind == "moved_float"]
    assert {repair.after for repair in moved} == {"in section 'Results'"}
    assert all("the section refers to" in repair.proof for repair in moved)


def test_text_behind_the_references_is_an_appendix(made: Paper) -> None:
    (tail,) = [s for s in made.content if s.heading == "Text after the references"]
    assert tail.role == "appendix"
    assert "variance of the group means" in " ".join(tail.text.split())
    assert [repair.after for repair in made.repairs if repair.kind == "unheaded_text"] == [tail.heading]


def test_entries_stay_entries(made: Paper) -> None:
    assert len(made.references) == 3
    assert "Figures of merit" in section(made, "References")
    assert not any("Figures of merit" in s.text for s in made.content)


def test_readers_are_shown_the_moved_table_and_told_what_they_are_not_shown(made: Paper) -> None:
    assert "94.8" in fit_paper(made, 4000, lambda text: len(text.split())).text
    said = how_read(made, ())
    assert "the bibliography has 3 entries" in said
    assert ("the acknowledgements" in said) == any(s.role == "acknowledgements" for s in made.sections)
    assert ("the author lines" in said) == any(s.role == "front" for s in made.sections)


PROSE = Piece(kind="paragraph", text=INTRO)
ROLES = {"References": "references", "Acknowledgments": "acknowledgements", "Paper Checklist": "checklist"}


def assembled(*pieces: Piece | str) -> dict[str, list[str]]:
    """Kinds of blocks by heading; a string is a heading."""
    made = [Piece(kind="heading", text=p) if isinstance(p, str) else p for p in pieces]
    return {s.heading: [b.kind for b in s.blocks] for s in assemble(made, front_first=True).sections}


CAPTION = Piece(kind="caption", text="Table 4: Losses.", label="Table 4", page=9, box=Box(x0=1, y0=2, x1=3, y1=4))
GRID = Piece(kind="table", text="a | 1", cells=(("a", "1"),), label="Table 4", page=9)
ENTRY = Piece(kind="reference", text=ENTRIES[0])


@pytest.mark.parametrize("heading", ["Acknowledgments", "References"])
def test_a_float_that_nobody_refers_to_stays_with_the_text_before(heading: str) -> None:
    made = assembled(
        "Introduction", PROSE, "Conclusion", PROSE, heading, ENTRY, CAPTION, GRID, ENTRY, "A Proofs", PROSE
    )
    assert made["Conclusion"] == ["paragraph", "caption", "table"]
    assert made[heading] == ["reference", "reference"]


def test_page_and_box_stay() -> None:
    pieces = [Piece(kind="heading", text="Results"), PROSE, Piece(kind="heading", text="References"), ENTRY, CAPTION]
    made = assemble(pieces, front_first=True)
    (block,) = [b for s in made.sections if s.heading == "Results" for b in s.blocks if b.kind == "caption"]
    assert (block.page, block.box, block.label) == (9, CAPTION.box, "Table 4")
    assert [block.id for s in made.sections for block in s.blocks] == ["b1", "b2", "b3"]


def test_an_appendix_that_refers_to_it_gets_a_float_that_no_section_before_names() -> None:
    proofs = Piece(kind="paragraph", text=f"Losses are in Table 4. {INTRO}")
    made = assembled("Results", PROSE, "References", ENTRY, CAPTION, GRID, "A Proofs", PROSE, proofs)
    assert made["A Proofs"] == ["paragraph", "paragraph", "caption", "table"]


def test_two_tables_with_captions_below_stay_apart() -> None:
    first = Piece(kind="paragraph", text=f"See Table 1. {INTRO}")
    second = Piece(kind="paragraph", text=f"See Table 2. {INTRO}")
    grid = Piece(kind="table", text="a | 1", cells=(("a", "1"),))
    captions = [Piece(kind="caption", text=f"Table {n}: Numbers.", label=f"Table {n}") for n in (1, 2)]
    made = assembled("One", first, "Two", second, "References", ENTRY, grid, captions[0], grid, captions[1])
    assert made == {
        "One": ["paragraph", "table", "caption"],
        "Two": ["paragraph", "table", "caption"],
        "References": ["reference"],
    }


def test_authors_and_checklists_keep_tables_without_a_label() -> None:
    authors = Piece(kind="table", text="Ada | Bob", cells=(("Ada", "Bob"),))
    teaser = Piece(kind="caption", text="Figure 1: The idea.", label="Figure 1")
    made = assembled(authors, teaser, "Abstract", PROSE, "Introduction", PROSE, "Paper Checklist", authors)
    assert made["Front matter"] == ["table"]
    assert made["Introduction"] == ["caption", "paragraph"]
    assert made["Paper Checklist"] == ["table"]


def test_entries_that_were_taken_for_a_table_are_no_float() -> None:
    rows = "[4] E. Fifth | Journal of Tests, 2020\n[5] F. Sixth | Journal of Things, 2021"
    made = assembled("Results", PROSE, "References", ENTRY, Piece(kind="table", text=rows), ENTRY)
    assert made["Results"] == ["paragraph"]


@pytest.mark.parametrize(
    "entry",
    [
        "Tarek Saier and Michael Färber. 2020. unarxive: a large scholarly data set with publications’ full-text, "
        "annotated in-text citations, and links to metadata, as it was read by the first readers of it. "
        "Scientometrics of the many texts that people write.",
        "[7] a work whose title is long and in lower case and whose venue is in lower case as well and that goes on "
        "and on until it has more than the words that running text needs to have, 2021.",
    ],
)
def test_an_entry_in_lower_case_is_no_appendix(entry: str) -> None:
    made = assembled("Results", PROSE, "References", ENTRY, Piece(kind="reference", text=entry))
    assert made["References"] == ["reference", "reference"]


@pytest.mark.slow
@pytest.mark.shared_data
def test_every_float_that_the_shared_papers_print_is_read(shared_data: Path) -> None:
    import re

    for path in sorted((shared_data / "pdfs").glob("*.pdf")):
        document = pypdfium2.PdfDocument(path)
        lines = [line for page in document for line in page.get_textpage().get_text_range().splitlines()]
        document.close()
        printed = {f"{m[1]} {m[2]}" for line in lines if (m := re.match(r"(Table|Figure) ([A-Z]?\d+)[:.] ", line))}
        paper = load_paper(path)
        read = {block.label for s in paper.content for block in s.blocks}
        assert len(printed) >= 3
        assert printed <= read
        assert not [b.label for s, b in paper.blocks() if b.kind in ("table", "figure") and s not in paper.content]
        assert not [repair for repair in paper.repairs if repair.kind in ("moved_float", "unheaded_text")]
