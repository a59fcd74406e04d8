"""PDF papers, drawn for the test: sections, repairs with their proof, and lost text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest

from referee.papers import load_paper
from referee.papers.pdf.compare import find_losses, measure_loss, measure_losses
from referee.papers.pdf.convert import clean
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Page, PageReader, Word
from referee.papers.pdf.repairs.equations import repair_equations
from referee.papers.pdf.repairs.false_headings import (
    demote_other_styles,
    drop_running_heads,
)
from referee.papers.pdf.repairs.front import demote_front, repair_title
from referee.papers.pdf.repairs.headings import recover_headings
from referee.papers.pdf.repairs.kinds import repair_kinds
from referee.papers.pdf.repairs.references import repair_references
from referee.papers.pdf.repairs.tables import grid
from referee.papers.pdf.repairs.words import Vocabulary, compose_accents, repair_words
from referee.papers.pieces import Piece
from referee.schemas.paper import Box

BODY, BOLD = "Times-Roman", "Times-Bold"
Drawn = Callable[..., Path]


def read_pages(path: Path) -> tuple[Page, ...]:
    with pypdfium2.PdfDocument(path) as document:
        return PageReader(document).read()


def piece(
    text: str, kind: str = "paragraph", *, page: int = 1, top: float = 100, size: float = 10, **more: object
) -> Piece:
    box = Box(x0=72, y0=top - 8, x1=500, y1=top + 2)
    return Piece(kind=kind, text=text, page=page, box=box, size=size, **more)  # type: ignore[arg-type]


def draft(path: Path, pieces: list[Piece], title: str = "") -> Draft:
    return Draft(title=title, pieces=pieces, pages=read_pages(path), words_in=lambda page, box: [])


def body(top: float, count: int = 12) -> list[tuple[str, float, str, float]]:
    return [(f"Plain body text in line {i} of this page goes on here.", top + 13 * i, BODY, 10) for i in range(count)]


def varied(top: float, count: int = 20) -> list[tuple[str, float, str, float]]:
    """Lines that share no word with each other."""
    stems = ["copper", "silver", "golden", "marble", "velvet", "purple"]
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [(" ".join(f"{stem}{letters[i]}" for stem in stems), top + 13 * i, BODY, 10) for i in range(count)]


def test_small_paper(small_paper: Path) -> None:
    paper = load_paper(small_paper)
    assert paper.paper_id == hashlib.sha256(small_paper.read_bytes()).hexdigest()
    assert paper.title == "A Small Paper About Intervals"
    assert [(s.number, s.heading, s.level, s.role) for s in paper.sections] == [
        (None, "Front matter", 1, "front"),
        (None, "Abstract", 1, "abstract"),
        ("1", "Introduction", 1, "content"),
        ("2", "Method", 1, "content"),
        ("2.1", "Details", 2, "content"),
        (None, "References", 1, "references"),
    ]
    assert paper.sections[-1].pages == (2,)
    assert [(r.label, r.year) for r in paper.references] == [("1", 2019), ("2", 2021)]
    assert "Ada Author" not in "".join(section.text for section in paper.content)
    assert (paper.page_count, paper.converter.name, paper.findings) == (2, "rustypaper", ())


def test_blocks_have_pages_from_one_and_boxes_from_the_top(small_paper: Path) -> None:
    paper = load_paper(small_paper)
    first = paper.sections[1].blocks[0]
    assert first.page == 1
    assert first.box is not None
    assert 140 < first.box.y0 < 175
    assert all(block.text.strip() for _, block in paper.blocks())
    assert len({block.id for _, block in paper.blocks()}) == sum(1 for _ in paper.blocks())


def test_no_headings_is_a_finding(draw_pdf: Drawn) -> None:
    paper = load_paper(draw_pdf([body(100, 30)]))
    assert [f.kind for f in paper.findings] == ["no_headings"]
    assert [s.heading for s in paper.sections] == ["Text"]


def test_missed_numbered_heading_is_cut_out_of_its_paragraph(draw_pdf: Drawn) -> None:
    path = draw_pdf(
        [[("3 Method", 80, BOLD, 12), ("3.1 Known Parts", 110, BOLD, 10), *body(130), ("3.2 Rest", 300, BOLD, 10)]]
    )
    pieces = [
        piece("3 Method", "heading", top=80, size=12),
        piece("3.1 Known Parts Plain body text in line 0 of this page", top=110),
        piece("3.2 Rest", "heading", top=300),
    ]
    subject = draft(path, pieces)
    recover_headings(subject)
    assert [(p.kind, p.text) for p in subject.pieces] == [
        ("heading", "3 Method"),
        ("heading", "3.1 Known Parts"),
        ("paragraph", "Plain body text in line 0 of this page"),
        ("heading", "3.2 Rest"),
    ]
    assert subject.repairs[0].kind == "missed_heading"
    assert "next one" in subject.repairs[0].proof


def test_a_numbered_line_in_body_style_is_no_heading(draw_pdf: Drawn) -> None:
    path = draw_pdf([[("3 Method", 80, BOLD, 12), ("3.1 Not A Heading At All", 110, BODY, 10), *body(130)]])
    subject = draft(path, [piece("3 Method", "heading", top=80, size=12), piece("3.1 Not A Heading At All", top=110)])
    recover_headings(subject)
    assert subject.repairs == []


def test_a_number_out_of_sequence_is_no_heading(draw_pdf: Drawn) -> None:
    path = draw_pdf([[("3 Method", 80, BOLD, 12), ("7.4 Elsewhere", 110, BOLD, 10), *body(130)]])
    subject = draft(path, [piece("3 Method", "heading", top=80, size=12), piece("7.4 Elsewhere", top=110)])
    recover_headings(subject)
    assert subject.repairs == []


def test_heading_and_sentences_swallowed_by_a_table_are_freed(draw_pdf: Drawn) -> None:
    path = draw_pdf([[("1 Results", 80, BOLD, 12), ("1.1 Ablation", 110, BOLD, 10), *body(130)]])
    cells = (("1.1", "Ablation"), ("we tested the", "parts of it"), ("Name", "Score"), ("a", "0.5"))
    table = piece("x", "table", top=110, cells=cells)
    subject = draft(path, [piece("1 Results", "heading", top=80, size=12), table])
    recover_headings(subject)
    assert [(p.kind, p.text) for p in subject.pieces[1:]] == [
        ("heading", "1.1 Ablation"),
        ("paragraph", "we tested the parts of it"),
        ("table", "Name | Score\na | 0.5"),
    ]


SECTIONS = (("6 Results", 2, 80), ("7 Limits", 3, 80), ("8 Outlook", 3, 300), ("9 Thanks", 3, 400))


def test_list_items_and_running_heads_lose_their_heading(draw_pdf: Drawn) -> None:
    head = ("Author et al. On Intervals", 40, BODY, 9)
    pages = [
        [head, ("5 Setup", 80, BOLD, 12), ("1. Baseline model", 110, BODY, 10), *body(130)],
        [head, ("6 Results", 80, BOLD, 12), *varied(90)],
        [head, *((text, top, BOLD, 12) for text, page, top in SECTIONS if page == 3)],
    ]
    others = [piece(text, "heading", page=page, top=top, size=12) for text, page, top in SECTIONS]
    subject = draft(
        draw_pdf(pages),
        [
            piece("Author et al. On Intervals", "heading", top=40),
            piece("5 Setup", "heading", top=80, size=12),
            piece("1. Baseline model", "heading", top=110),
            *others,
        ],
    )
    drop_running_heads(subject)
    demote_other_styles(subject)
    found = [("heading", "5 Setup"), ("list", "1. Baseline model"), *(("heading", text) for text, _, _ in SECTIONS)]
    assert [(p.kind, p.text) for p in subject.pieces] == found
    assert [r.kind for r in subject.repairs] == ["running_head", "false_heading"]


def test_a_numbered_line_with_a_full_stop_is_a_heading_in_their_style_alone(draw_pdf: Drawn) -> None:
    lines = [("3 Method", 80, BOLD, 12), ("3.1 Parts", 110, BOLD, 10), *body(130)]
    lines += [("3.2 Data.", 300, BOLD, 10), ("3.3 A bold item of a list.", 320, BOLD, 11)]
    pieces = [piece("3 Method", "heading", top=80, size=12), piece("3.1 Parts", "heading", top=110)]
    subject = draft(draw_pdf([lines]), pieces)
    recover_headings(subject)
    assert [p.text for p in subject.pieces] == ["3 Method", "3.1 Parts", "3.2 Data."]


def test_names_of_paragraphs_and_heads_of_tables_open_no_section_where_sections_have_numbers(draw_pdf: Drawn) -> None:
    numbered = [("1 Tides", 80, BOLD, 14), ("2 Method", 110, BOLD, 14), ("2.1 Parts", 140, BOLD, 12)]
    numbered += [("2.2 Rest", 170, BOLD, 12), ("2.2.1 Deep", 200, BOLD, 10)]
    others = [("Software", 230, BOLD, 14), ("Acknowledgements", 260, BOLD, 10), ("Countries:", 290, BOLD, 10)]
    others += [("Mean (SD)", 320, BODY, 10), ("Sill 0.1 0.2", 350, BOLD, 12)]
    pieces = [piece(text, "heading", top=top) for text, top, _, _ in [*numbered, *others]]
    pieces[-1] = replace(pieces[-1], text="Sill")
    subject = draft(draw_pdf([[*numbered, *others, *body(400)]]), list(pieces))
    demote_other_styles(subject)
    kept = [p.text for p in subject.pieces if p.kind == "heading"]
    assert kept == [*(text for text, _, _, _ in numbered), "Software", "Acknowledgements"]
    assert [p.text for p in subject.pieces if p.kind == "paragraph"] == ["Countries:", "Mean (SD)", "Sill"]
    few = draft(draw_pdf([[*numbered[:3], *others]], name="few.pdf"), [pieces[0], pieces[7]])
    demote_other_styles(few)
    assert [p.kind for p in few.pieces] == ["heading", "heading"]


def test_page_numbers_beside_the_name_of_a_chapter_are_furniture(draw_pdf: Drawn) -> None:
    names = ["TIDES", "FJORDS", "METHODS", "RESULTS", "SILLS", "ENDS"]
    feet = [f"{page + 7} {name}" if page % 2 else f"{name} {page + 7}" for page, name in enumerate(names)]
    pages = [[*varied(90), (foot, 770, BODY, 10)] for foot in feet]
    assert [page.lines[-1].furniture for page in read_pages(draw_pdf(pages))] == [True] * 6
    romans = [
        [*varied(90), (f"{name} {numeral}", 770, BODY, 10)]
        for name, numeral in zip(names[:3], ["i", "ii", "iii"], strict=True)
    ]
    assert [page.lines[-1].furniture for page in read_pages(draw_pdf(romans))] == [True] * 3


def test_footnotes_that_are_numbered_as_the_pages_stay(draw_pdf: Drawn) -> None:
    notes = [f"{page + 1} See the note on {stem}." for page, stem in enumerate(["copper", "silver", "gold"])]
    pages = [[*varied(90), (note, 770, BODY, 8)] for note in notes] + [varied(90)] * 4
    assert [page.lines[-1].text for page in read_pages(draw_pdf(pages)) if not page.lines[-1].furniture][:3] == notes


def test_author_names_open_no_section(draw_pdf: Drawn) -> None:
    path = draw_pdf([[("Ada Author", 80, BOLD, 14), ("1 Introduction", 110, BOLD, 12), *body(130)]])
    subject = draft(path, [piece("Ada Author", "heading", top=80), piece("1 Introduction", "heading", top=110)])
    demote_front(subject)
    assert [p.kind for p in subject.pieces] == ["paragraph", "heading"]


def test_title_that_lost_its_first_line(draw_pdf: Drawn) -> None:
    text = piece("Plain body text in line 0 of this page goes on here.", top=150)
    lines = [("A Title That Needs", 80, BOLD, 17), ("Two Lines", 100, BOLD, 17), *body(150)]
    subject = draft(draw_pdf([lines]), [piece("A Title That Needs", top=80, size=17), text], title="Two Lines")
    repair_title(subject, Vocabulary(subject.pages))
    assert subject.title == "A Title That Needs Two Lines"
    assert subject.pieces == [text]


def test_title_that_the_page_contradicts_is_kept(draw_pdf: Drawn) -> None:
    subject = draft(draw_pdf([[("Some Banner", 60, BOLD, 20), *body(150)]]), [], title="The Real Title")
    repair_title(subject, Vocabulary(subject.pages))
    assert (subject.title, subject.repairs) == ("The Real Title", [])


def test_a_title_page_of_a_thesis(draw_pdf: Drawn) -> None:
    lines = [("University of the North", 80, BODY, 18), ("Faculty of Ice", 105, BODY, 18)]
    lines += [("Slow Mixing in Narrow Fjords", 180, BOLD, 15), ("over the Sills", 200, BOLD, 15)]
    lines += [("Master’s Thesis", 260, BOLD, 18), *body(300)]
    subject = draft(draw_pdf([lines]), [], title="University of the North Faculty of Ice")
    repair_title(subject, Vocabulary(subject.pages))
    assert subject.title == "Slow Mixing in Narrow Fjords over the Sills"
    kind = [("Master’s Thesis", 80, BOLD, 18), ("Slow Mixing in Fjords", 180, BOLD, 15), *body(300)]
    subject = draft(draw_pdf([kind], name="kind.pdf"), [], title="Mixing in Fjords")
    repair_title(subject, Vocabulary(subject.pages))
    assert subject.title == "Slow Mixing in Fjords"


def test_a_title_in_the_size_of_the_text_ends_with_its_font(draw_pdf: Drawn) -> None:
    lines = [("Slow Mixing in Narrow Fjords", 80, BOLD, 10), ("Ana Maria Beispiel", 100, BODY, 10), *body(150)]
    subject = draft(draw_pdf([lines]), [], title="Slow Mixing in Narrow Fjords Ana Maria Beispiel")
    repair_title(subject, Vocabulary(subject.pages))
    assert subject.title == "Slow Mixing in Narrow Fjords"
    assert [p.text for p in subject.pieces] == ["Ana Maria Beispiel"]


def test_glued_words_and_words_in_formulas(draw_pdf: Drawn) -> None:
    path = draw_pdf([[("the state x denotes what Mark Neumann wrote", 100, BODY, 10), *body(120)]])
    subject = draft(path, [piece("the state $x denotes$ what MarkNeumann wrote")])
    repair_words(subject, Vocabulary(subject.pages))
    assert subject.pieces[0].text == "the state $x$ denotes what Mark Neumann wrote"
    assert {r.kind for r in subject.repairs} == {"words_in_formula", "glued_words"}


def test_accents_are_put_on_their_letters() -> None:
    assert compose_accents("Fa¨rber, Mitrovic´, Mart´ın") == "Färber, Mitrović, Martín"


@pytest.mark.parametrize(
    ("head", "tail", "whole"),
    [("limi", "tations", "limitations"), ("plain", "body", "plain-body"), ("human", "AI", "human-AI")],
)
def test_words_broken_at_line_ends(draw_pdf: Drawn, head: str, tail: str, whole: str) -> None:
    assert Vocabulary(read_pages(draw_pdf([body(100)]))).join(head, tail) == whole


def test_sentences_are_no_captions_and_footnotes_stand_last(draw_pdf: Drawn) -> None:
    subject = draft(
        draw_pdf([body(100)]),
        [
            piece("Table 1 shows the scores.", "caption", top=100, label="Table 1"),
            piece("Table 1: Scores.", "caption", top=120, label="Table 1", size=9),
            piece("e.g. this one", "footnote", top=140),
            piece("goes on", top=160),
        ],
    )
    repair_kinds(subject, Vocabulary(subject.pages))
    assert [p.kind for p in subject.pieces] == ["paragraph", "caption", "paragraph", "paragraph"]


def test_references_are_parted_at_printed_labels_and_taken_back_from_footnotes(draw_pdf: Drawn) -> None:
    texts = ["[1] A. One. First work. 2001.", "[2] B. Two. Second work. 2002."]
    texts += ["[3] C. Three. A third printed work of note. 2003."]
    lines = [(text, 100 + 13 * at, BODY, 10) for at, text in enumerate(texts)]
    path = draw_pdf([[("References", 80, BOLD, 12), *lines, *body(200)]])
    joined = Piece("reference", " ".join(texts[:2]), 1, Box(x0=72, y0=90, x1=300, y1=116), 10)
    third = Piece("footnote", texts[2], 1, Box(x0=72, y0=118, x1=300, y1=129), 10)
    with pypdfium2.PdfDocument(path) as document:
        reader = PageReader(document)
        heading = piece("References", "heading", top=80, size=12)
        subject = Draft("", [heading, joined, third], reader.read(), reader.words_in)
        repair_references(subject, Vocabulary(subject.pages))
    entries = [p for p in subject.pieces if p.kind == "reference"]
    assert [p.entry.year for p in entries if p.entry] == [2001, 2002, 2003]
    assert [(r.kind, r.after) for r in subject.repairs] == [("cut_references", "3 entries")]


def test_equation_number_inside_a_formula_paragraph(draw_pdf: Drawn) -> None:
    subject = draft(draw_pdf([body(100)]), [piece("$a = b + c (7)$")])
    repair_equations(subject, Vocabulary(subject.pages))
    assert [(p.kind, p.text, p.label) for p in subject.pieces] == [("equation", "a = b + c", "(7)")]


def test_grid_of_words() -> None:
    words = [
        Word("Name", 10, 0, 30, 8),
        Word("Score", 60, 0, 80, 8),
        Word("new", 10, 12, 20, 20),
        Word("model", 22, 12, 40, 20),
        Word("0.5", 60, 12, 70, 20),
    ]
    assert grid(words) == (("Name", "Score"), ("new model", "0.5"))
    assert grid([]) == ()


def test_lost_text_is_found_and_complete_text_is_not(draw_pdf: Drawn) -> None:
    pages = read_pages(draw_pdf([varied(100)]))
    everything = [piece(line.text) for line in pages[0].lines]
    assert find_losses(measure_losses(pages, everything, ""), 10) == []
    assert measure_loss(pages[0], [p.text for p in everything]).lost == 0
    (finding,) = find_losses(measure_losses(pages, everything[:12], ""), 10)
    assert (finding.kind, finding.page, finding.certainty) == ("lost_text", 1, "high")
    assert "copperm" in finding.text


def test_small_lost_lines_are_of_low_certainty(draw_pdf: Drawn) -> None:
    axis = [(f"axis label {n}{n} of curve", 380 + 11 * n, BODY, 6) for n in range(1, 20, 2)]
    pages = read_pages(draw_pdf([[*varied(100), *axis]]))
    held = [piece(line.text) for line in pages[0].lines if line.size > 8]
    assert [f.certainty for f in find_losses(measure_losses(pages, held, ""), 10)] == ["low"]


def test_an_equation_number_that_no_piece_holds_is_said(draw_pdf: Drawn) -> None:
    number = ("(5)", 400, BODY, 10)
    mention = ("by Eq. (5) the mean of every cluster is known", 420, BODY, 10)
    pages = read_pages(draw_pdf([[*varied(100), number, mention]]))
    everything = [piece(line.text) for line in pages[0].lines]
    assert find_losses(measure_losses(pages, everything, ""), 10) == []
    (finding,) = find_losses(measure_losses(pages, [p for p in everything if p.text != "(5)"], ""), 10)
    assert (finding.kind, finding.page, finding.certainty) == ("lost_text", 1, "low")
    assert finding.message == "Page 1 prints (5) at the end of a line, as equations do; this was not read."
    labelled = [p for p in everything if p.text != "(5)"] + [replace(piece("y = x"), kind="equation", label="(5)")]
    assert find_losses(measure_losses(pages, labelled, ""), 10) == []


def test_page_without_pieces_is_missing(draw_pdf: Drawn) -> None:
    pages = read_pages(draw_pdf([varied(100), body(107)]))
    held = [piece(line.text) for line in pages[0].lines]
    assert [(f.kind, f.page) for f in find_losses(measure_losses(pages, held, ""), 10)] == [("missing_page", 2)]


def test_furniture_counts_as_neither(draw_pdf: Drawn) -> None:
    pages = read_pages(
        draw_pdf(
            [[("Running head here", 40, BODY, 9), *varied(90 + 20 * n), (str(n), 760, BODY, 9)] for n in range(1, 4)]
        )
    )
    assert [line.text for line in pages[1].lines if line.furniture] == ["Running head here", "2"]
    assert replace(pages[0], lines=()).tokens == ()


def test_a_link_within_the_paper_reads_as_it_is_printed(examples: Path) -> None:
    assert clean("Bouthillier et al. [[2](#ref-2)] say") == "Bouthillier et al. [2] say"
    text = "".join(block.text for _, block in load_paper(examples / "paper.pdf").blocks())
    assert "](#" not in text
