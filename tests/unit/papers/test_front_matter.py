"""Title pages, second lists of references, supplements and pictures in PDFs: what reaches a reader of a blind copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from referee.agents.briefing import fit_paper
from referee.api.paper_read import what_was_read
from referee.papers import load_paper
from referee.papers.headings import name_headings
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Page
from referee.papers.pdf.repairs.false_headings import demote_captions
from referee.papers.people import is_address, is_biography, looks_like_names, names_a_place
from referee.papers.pieces import Piece
from referee.schemas.paper import Paper

BODY, BOLD = "Times-Roman", "Times-Bold"
Drawn = Callable[..., Path]
STEMS = ("copper", "silver", "golden", "marble", "velvet", "purple", "timber", "amber")


def prose(top: float, count: int, seed: int) -> list[tuple[str, float, str, float]]:
    lines = []
    for line in range(count):
        own = "".join("abcdefghij"[int(digit)] for digit in str(1000 * seed + line))
        lines.append((" ".join(f"{stem}{own}" for stem in STEMS), top + 14 * line, BODY, 10))
    return lines


def shown(paper: Paper) -> str:
    return fit_paper(paper, 10**6, lambda text: len(text.split())).text


def test_names_addresses_and_biographies() -> None:
    assert looks_like_names("Samantha L. Heiman*,1, Scott Claessens*,2, Jessica D. Ayers3 & Peter M. Todd")
    assert looks_like_names("Stephen Soderland, Brendan Roof, Bo Qin, Shi Xu, Mausam, and Oren Etzioni")
    assert looks_like_names("Ludwig van Beethoven, Anna de la Cruz, Bo Li, and Cy Twombly")
    assert not looks_like_names("Deep Learning, Large Models and Human Values")
    assert not looks_like_names(
        "Keywords: Deep Learning, Graph Theory, Machine Vision, Neural Networks, Speech Synthesis"
    )
    assert not looks_like_names("Attention, memory, and language in children of four years, and their parents")
    assert names_a_place("Department of Biology, University of Oslo, 0316 Oslo")
    assert names_a_place("write to ada@example.org")
    assert not names_a_place("We study how students of one university choose courses, and what follows from it.")
    assert is_address(
        "1 Institute of Physics, University of Oslo, 0316 Oslo, ada@example.org, and the Academy of Norway"
    )
    assert not is_address("We asked one university, two colleges and three hospitals how many patients they have seen.")
    assert not names_a_place("It reaches a Recall@10 of 0.9 and a Precision@5.")
    assert is_biography("Ada Lovelace received the Ph.D. degree in mathematics from the University of London in 1843.")
    assert is_biography("Bo Li is a professor of physics.")
    assert not is_biography("Table 3 is a list of the degrees of all nodes.")


def test_initials_are_no_appendix() -> None:
    names = name_headings(["1 Introduction", "References", "A. G. Hart", "A. G.", "A Proofs", "B. Extra runs"])
    assert [name.number for name in names] == ["1", None, None, None, "A", "B"]


def test_a_title_is_neither_an_author_nor_an_address(draw_pdf: Drawn) -> None:
    first = [
        ("Noisy decomposition of matrices", 80, BOLD, 15),
        ("with optimal rates", 98, BOLD, 15),
        ("Martin J. Wainwright wainwrig@example.org", 130, BOLD, 10),
        ("Abstract", 160, BOLD, 12),
        *prose(180, 6, 1),
        ("1 Introduction", 290, BOLD, 12),
        *prose(310, 20, 2),
    ]
    paper = load_paper(draw_pdf([first]))
    assert paper.title == "Noisy decomposition of matrices with optimal rates"
    assert "Wainwright" not in shown(paper)
    assert "example.org" not in shown(paper)
    assert paper.abstract.split()[0] == prose(0, 1, 1)[0][0].split()[0]
    assert len(paper.abstract.split()) == 48


def test_a_run_in_abstract_after_addresses(draw_pdf: Drawn) -> None:
    address = "1 Department of Informatics, University of Bari, via Orabona 4, 70126 Bari, Italy, ada@example.org"
    more = "2 Institute of Java Technology, Via Tridente 42, 70125 Bari, Italy, and the School of Engineering there"
    first = [
        ("Mining rules in the literature of medicine", 80, BOLD, 16),
        ("Margherita Berardi1, Michele Lapi1, Pietro Leo2, Corrado Loglisci1", 110, BODY, 10),
        (address, 140, BODY, 9),
        (more, 152, BODY, 9),
        ("Abstract. The discovery of new relations attracts many researchers.", 190, BODY, 10),
        *prose(204, 5, 1),
        ("1 Introduction", 320, BOLD, 12),
        *prose(340, 20, 2),
    ]
    paper = load_paper(draw_pdf([first]))
    assert paper.abstract.startswith("The discovery of new relations")
    assert not {"Berardi", "Orabona", "Tridente", "example.org"} & set(shown(paper).replace(",", " ").split())


@pytest.mark.parametrize("name", ["Resumo", "Executive Summary"])
def test_numbered_addresses_are_no_headings_and_an_abstract_has_many_names(draw_pdf: Drawn, name: str) -> None:
    first = [
        ("Mining rules in the literature of medicine", 80, BOLD, 18),
        ("1 Center for Marine Research, Institute of Bari, Italy", 120, BOLD, 12),
        ("2 Department of Ecology, University of Vienna, Austria", 150, BOLD, 12),
        (name, 190, BOLD, 12),
        *prose(210, 6, 1),
        ("Introduction", 320, BOLD, 12),
        *prose(340, 20, 2),
    ]
    paper = load_paper(draw_pdf([first]))
    assert [s.heading for s in paper.sections if s.role == "content"] == ["Introduction"]
    assert len(paper.abstract.split()) == 48


def test_an_abstract_begins_behind_its_name(draw_pdf: Drawn) -> None:
    first = [
        ("Mining rules in the literature of medicine", 80, BOLD, 18),
        ("Abstract", 120, BODY, 10),
        ("The discovery of new relations attracts many researchers.", 132, BODY, 10),
        *prose(146, 6, 1),
        ("1 Introduction", 290, BOLD, 12),
        *prose(310, 20, 2),
    ]
    assert load_paper(draw_pdf([first])).abstract.startswith("The discovery")


def test_contents_and_lists_of_figures_are_front_matter_and_an_abstract_named_there_is_none(tmp_path: Path) -> None:
    source = ["Zusammenfassung", "Wir mischen langsam.", "Abstract", "We mix slowly."]
    source += ["Inhaltsverzeichnis", "Fjorde 1", "Abbildungsverzeichnis", "Abb. 1. Die Schwelle 3", "Zusammenfassung"]
    source += ["Viel Text.", "Einleitung", "Die Abb. 1 zeigt die Schwelle.", "Literatur", "Hart, A. Eis. Tides, 2019."]
    kinds = ["#" if line.isalpha() else "" for line in source]
    path = tmp_path / "thesis.md"
    path.write_text("\n\n".join(f"{kind} {line}".strip() for kind, line in zip(kinds, source, strict=True)))
    paper = load_paper(path)
    assert paper.abstract == "Wir mischen langsam.\n\nWe mix slowly."
    assert [s.heading for s in paper.sections if s.role == "front"] == ["Inhaltsverzeichnis", "Abbildungsverzeichnis"]
    assert "Abb. 1. Die" not in shown(paper)


def test_a_heading_that_is_a_caption_by_its_words_is_one() -> None:
    pieces = [Piece("heading", "Tabla 2. Estados", 1), Piece("heading", "Table manners", 1)]
    draft = Draft("", pieces, (Page(number=1, width=600, height=800, lines=()),), lambda page, box: [])
    demote_captions(draft)
    assert [(p.kind, p.label) for p in draft.pieces] == [("caption", "Table 2"), ("heading", None)]


def test_labels_in_a_column_of_their_own_get_the_text_beside_them(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    texts = ["Hart, A. Slow mixing. Tides 4 (2019).", "Oduya, C. Fast mixing. Tides 5 (2020).", "Lu, D. Dry (2021)."]
    canvas = Canvas(str(tmp_path / "labels.pdf"), pagesize=(612, 792))
    canvas.drawString(72, 700, "References")
    for x, rows in ((72, ["8.", "9.", "10."]), (100, texts)):
        for at, row in enumerate(rows):
            canvas.drawString(x, 670 - 30 * at, row)
    canvas.save()
    found = load_paper(tmp_path / "labels.pdf").references
    assert [one.text for one in found] == [f"{8 + at}. {text}" for at, text in enumerate(texts)]


def test_an_introduction_without_a_heading_on_the_page_after_the_abstract(draw_pdf: Drawn) -> None:
    first = [("Norms of wearing masks", 80, BOLD, 16), ("Abstract", 120, BOLD, 12), *prose(140, 12, 1)]
    opening = ("Social norms of wearing masks are what people learn from others.", 80, BODY, 10)
    pages = [
        first,
        [opening, *prose(94, 42, 2)],
        [*prose(80, 20, 3), ("Results", 400, BOLD, 12), *prose(420, 10, 4)],
    ]
    paper = load_paper(draw_pdf(pages))
    assert len(paper.abstract.split()) == 96
    assert [s.heading for s in paper.sections if s.role == "content"] == ["Introduction", "Results"]


def test_a_second_list_of_references_and_a_supplement_numbered_anew(draw_pdf: Drawn) -> None:
    entry = "[{0}] {1}. Hart and C. Oduya. Slow mixing number {0}. Tides, 4:12-19, 2019."
    front = [("Deep water renewal", 80, BOLD, 18), ("Abstract", 110, BOLD, 14), *prose(130, 4, 1)]
    body = [("1 Introduction", 200, BOLD, 14), *prose(220, 12, 2), ("2 Methods", 400, BOLD, 14), *prose(420, 12, 3)]
    entries = [(entry.format(n, "AB"[n % 2]), 100 + 20 * n, BODY, 10) for n in range(1, 5)]
    supplement = [("1 More methods", 290, BOLD, 14), *prose(310, 8, 4), ("2 More results", 440, BOLD, 14)]
    supplement += [*prose(460, 8, 5), ("3 Data", 590, BOLD, 14), *prose(610, 5, 6)]
    more = [(entry.format(n, "DE"[n % 2]), 100 + 20 * n, BODY, 10) for n in range(1, 4)]
    pages = [
        [*front, *body],
        [("References", 80, BOLD, 14), *entries, ("Supplementary Material", 260, BOLD, 14), *supplement],
        [("Supplementary References", 80, BOLD, 14), *more],
    ]
    paper = load_paper(draw_pdf(pages))
    assert len(paper.references) == 7
    roles = {section.heading: section.role for section in paper.sections}
    assert (roles["More methods"], roles["More results"], roles["Data"]) == ("appendix", "appendix", "appendix")
    assert roles["Supplementary References"] == "references"
    assert paper.title == "Deep water renewal"


@pytest.mark.shared_data
def test_the_shared_file_with_two_lists(shared_data: Path) -> None:
    paper = load_paper(shared_data / "cases" / "papers" / "two_reference_lists.pdf")
    assert paper.title == "Deep water renewal in narrow fjords"
    assert [reference.label for reference in paper.references] == ["1", "2", "3", "1", "2"]
    roles = [(section.heading, section.role) for section in paper.sections[-4:]]
    assert roles == [
        ("Supplementary Material", "appendix"),
        ("Further methods", "appendix"),
        ("Further results", "appendix"),
        ("Supplementary References", "references"),
    ]


def test_biographies_behind_the_references_are_front_matter(draw_pdf: Drawn) -> None:
    life = "Ada Lovelace received the Ph.D. degree in mathematics from a university that is known to many people here."
    rest = [
        (f"She is now a professor of engines, and her interests are {stem} and all the things of it", 260 + 14 * n)
        for n, stem in enumerate(STEMS)
    ]
    front = [("Engines of the future", 80, BOLD, 18), ("Abstract", 110, BOLD, 14), *prose(130, 4, 1)]
    entries = [
        (f"[{n}] B. Hart. Slow mixing number {n}. Tides, 4:12-19, 2019.", 100 + 20 * n, BODY, 10) for n in (1, 2)
    ]
    about = [("Author Biography", 210, BOLD, 14), (life, 230, BODY, 10), *((text, top, BODY, 10) for text, top in rest)]
    pages = [
        [*front, ("1 Introduction", 200, BOLD, 14), *prose(220, 20, 2)],
        [("References", 80, BOLD, 14), *entries, *about],
    ]
    assert "Lovelace" not in shown(load_paper(draw_pdf(pages)))


def test_labels_on_a_picture_cost_no_scores(tmp_path: Path) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "legend.pdf"), pagesize=(612, 792))
    for text, top, font, size in [("1 Introduction", 80, BOLD, 12), *prose(100, 14, 1)]:
        canvas.setFont(font, size)
        canvas.drawString(72, 792 - top, text)
    canvas.drawImage(ImageReader(Image.new("RGB", (40, 20), (20, 20, 60))), 100, 200, 400, 250)
    canvas.setFillGray(1)
    canvas.setFont(BODY, 10)
    for row in range(12):
        canvas.drawString(120 + 90 * (row % 4), 420 - 60 * (row // 4), f"legend{'abcdefghijkl'[row]} depth")
    canvas.showPage()
    canvas.save()
    paper = load_paper(tmp_path / "legend.pdf")
    assert [(finding.kind, finding.certainty) for finding in paper.findings if finding.certainty != "low"] == []


def test_a_covered_foot_on_each_page_is_low(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "foot.pdf"), pagesize=(612, 792))
    for page in range(4):
        canvas.setFillGray(0)
        canvas.setFont(BODY, 10)
        for text, top, _, _ in prose(100, 20, page + 1):
            canvas.drawString(72, 792 - top, text)
        canvas.drawString(72, 40, f"www.journal.example The Authors, compilation of the Society, volume {page}")
        canvas.setFillGray(1)
        canvas.rect(60, 30, 500, 25, stroke=0, fill=1)
        canvas.showPage()
    canvas.save()
    findings = [f for f in load_paper(tmp_path / "foot.pdf").findings if f.kind == "hidden_text"]
    assert {finding.certainty for finding in findings} == {"low"}


def test_what_was_read_is_said_in_one_line(small_paper: Path, shared_data: Path) -> None:
    said = what_was_read(load_paper(small_paper))
    assert said.startswith("Read 'A Small Paper About Intervals': 2 pages, 3 sections, ")
    assert said.endswith(" words, 2 references, 0 figures, 0 tables.")
    numbered = shared_data / "cases" / "papers" / "line_numbers_two_columns.pdf"
    assert "taken out: 104 line numbers on 2 page(s), 000 to 103" in what_was_read(load_paper(numbered))
    assert "missing" not in said
    entries = load_paper(small_paper).references[:1] * 52
    entries = tuple(
        one.model_copy(update={"label": str(n if n < 7 else n + 27)}) for n, one in enumerate(entries, start=1)
    )
    told = "; 52 of about 79 references found (7 to 33 are missing)"
    assert told in what_was_read(load_paper(small_paper).model_copy(update={"references": entries}))
    twice = (*entries[:3], *entries[:2], entries[3])
    assert "; 6 of about 7 references found (3 is missing)" in what_was_read(
        load_paper(small_paper).model_copy(update={"references": twice})
    )
    endless = load_paper(small_paper).model_copy(update={"title": "a word " * 1000})
    assert len(what_was_read(endless)) < 400
