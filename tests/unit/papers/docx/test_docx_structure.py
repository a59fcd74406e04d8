"""What becomes of a Word paper: headings, lists, tables, notes, formulas, revisions, entries."""

from __future__ import annotations

import hashlib
from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Pt

from referee.papers.docx.equations import tex_of
from referee.schemas.paper import Block, Paper

from .conftest import Read, to_bytes, with_part, xml

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def blocks(paper: Paper, kind: str) -> list[Block]:
    return [block for _, block in paper.blocks() if block.kind == kind]


def test_styles_give_title_sections_and_front_matter(paper_docx: Any, read: Read) -> None:
    paper_docx.add_heading("1.1 Details", 2)
    paper_docx.add_paragraph("More.")
    data = to_bytes(paper_docx)
    paper = read(data)
    assert paper.paper_id == hashlib.sha256(data).hexdigest()
    assert (paper.title, paper.abstract, paper.format) == ("A Paper About Counting", "We count things.", "docx")
    assert paper.converter.name == "python-docx"
    assert paper.converter.version
    assert [(s.level, s.number, s.heading, s.role) for s in paper.sections] == [
        (1, None, "Front matter", "front"),
        (1, None, "Abstract", "abstract"),
        (1, "1", "Introduction", "content"),
        (2, "1.1", "Details", "content"),
    ]
    assert not paper.repairs


def test_word_counts_headings_and_items(paper_docx: Any, read: Read) -> None:
    numbering = paper_docx.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{i}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for i, (form, text) in enumerate((("decimal", "%1"), ("decimal", "%1.%2"), ("lowerRoman", "(%3)")))
    )
    numbering.insert(0, xml(f'<w:abstractNum {{ns}} w:abstractNumId="77">{levels}</w:abstractNum>'))
    numbering.append(xml('<w:num {ns} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))

    def add(text: str, level: int, style: str | None = None) -> None:
        paragraph = paper_docx.add_paragraph(text, style=style)
        number = f'<w:numPr {{ns}}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>'
        paragraph._p.get_or_add_pPr().append(xml(number))

    add("Setup", 0, "Heading 1")
    add("Data", 1, "Heading 2")
    add("one", 2)
    add("two", 2)
    add("Results", 0, "Heading 1")
    add("Tables", 1, "Heading 2")
    paper_docx.add_paragraph("a bullet", style="List Bullet")
    paper = read(paper_docx)
    assert [(s.number, s.heading) for s in paper.sections[3:]] == [
        ("1", "Setup"),
        ("1.1", "Data"),
        ("2", "Results"),
        ("2.1", "Tables"),
    ]
    assert [b.text for b in blocks(paper, "list")] == ["    (i) one\n    (ii) two".strip(), "• a bullet"]


def test_a_document_without_heading_styles(read: Read) -> None:
    document = docx.Document()
    document.add_paragraph().add_run("Counting Without Styles").font.size = Pt(20)
    document.add_paragraph("Ada Author")
    document.add_paragraph("Abstract")
    document.add_paragraph("We count.")
    for text in ("1 Introduction", "2 Our Way of Counting"):
        document.add_paragraph(text)
        document.add_paragraph("A sentence that is text, set in plain type.")
    document.add_paragraph().add_run("A Bold Line").bold = True
    document.add_paragraph("3 apples were counted.")
    document.add_paragraph("References")
    document.add_paragraph("[1] A. Author. Counting things for years. 2019.")
    paper = read(document)
    assert paper.title == "Counting Without Styles"
    assert [(s.number, s.heading) for s in paper.sections] == [
        (None, "Front matter"),
        (None, "Abstract"),
        ("1", "Introduction"),
        ("2", "Our Way of Counting"),
        (None, "A Bold Line"),
        (None, "References"),
    ]
    assert [(repair.kind, repair.after) for repair in paper.repairs] == [
        ("title_by_look", "Counting Without Styles"),
        ("heading_by_look", "1 Introduction"),
        ("heading_by_look", "2 Our Way of Counting"),
        ("heading_by_look", "A Bold Line"),
        ("heading_by_look", "References"),
    ]
    assert all(repair.proof for repair in paper.repairs)
    assert [reference.label for reference in paper.references] == ["1"]


def test_the_kind_of_an_article_over_its_title_is_no_title(read: Read) -> None:
    document = docx.Document()
    document.add_paragraph("Research Article")
    document.add_paragraph().add_run("Counting Without Styles").bold = True
    for text in ("Ada Author", "Abstract", "We count.", "1 Introduction", "A sentence."):
        document.add_paragraph(text)
    assert read(document).title == "Counting Without Styles"


def test_tables_with_merged_cells_and_captions(paper_docx: Any, read: Read) -> None:
    paper_docx.add_paragraph("Table 1: Above.", style="Caption")
    first = paper_docx.add_table(rows=3, cols=3)
    for row in range(3):
        for column in range(3):
            first.cell(row, column).text = f"{row}{column}"
    first.cell(0, 1).merge(first.cell(0, 2)).text = "wide"
    first.cell(1, 0).merge(first.cell(2, 0)).text = "tall"
    paper_docx.add_paragraph("Between the tables.")
    second = paper_docx.add_table(rows=2, cols=2)
    second.cell(0, 0).text, second.cell(1, 1).text = "a", "b"
    paper_docx.add_paragraph("Table 2: Below.", style="Caption")
    tables = blocks(read(paper_docx), "table")
    assert [table.label for table in tables] == ["Table 1", "Table 2"]
    assert tables[0].cells == (("00", "wide", ""), ("tall", "11", "12"), ("", "21", "22"))
    assert tables[1].cells == (("a", ""), ("", "b"))


def test_deleted_text_and_comments_are_no_text(paper_docx: Any, read: Read) -> None:
    source = (
        '<w:p {ns}><w:r><w:t xml:space="preserve">We </w:t></w:r><w:del w:id="1" w:author="a"><w:r>'
        "<w:delText>never</w:delText></w:r></w:del><w:ins><w:r><w:t>always</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r>"
        '<w:commentRangeStart w:id="0"/><w:r><w:t xml:space="preserve"> count</w:t></w:r><w:commentRangeEnd w:id="0"/>'
        "</w:p>"
    )
    joined = '<w:p {ns}><w:pPr><w:rPr><w:del w:id="2"/></w:rPr></w:pPr><w:r><w:t>First </w:t></w:r></w:p>'
    body = paper_docx.element.body
    for element in (source, joined, "<w:p {ns}><w:r><w:t>second.</w:t></w:r></w:p>"):
        body.insert(len(body) - 1, xml(element))
    paper_docx.add_comment(paper_docx.paragraphs[-1].runs, text="A reviewer's remark", author="x", initials="x")
    row = '<w:tr><w:trPr><w:del w:id="3"/></w:trPr><w:tc><w:p><w:r><w:t>old</w:t></w:r></w:p></w:tc></w:tr>'
    kept = row.replace('<w:trPr><w:del w:id="3"/></w:trPr>', "").replace("old", "new")
    body.insert(len(body) - 1, xml(f"<w:tbl {{ns}}>{row}{kept}{kept}</w:tbl>"))
    paper = read(paper_docx)
    texts = [block.text for block in paper.sections[-1].blocks]
    assert texts == ["Counting is old.", "We always count", "First second.", "new\nnew"]


def test_notes_follow_their_paragraph(paper_docx: Any, read: Read) -> None:
    call = '<w:r {ns}><w:footnoteReference w:id="5"/></w:r>'
    paper_docx.paragraphs[-1]._p.append(xml(call))
    paper_docx.paragraphs[-1]._p.append(xml('<w:r {ns}><w:endnoteReference w:id="2"/></w:r>'))
    foot = (
        f'<w:footnotes {W}><w:footnote w:id="5"><w:p><w:r><w:t>See below.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    end = foot.replace("footnote", "endnote").replace('"5"', '"2"').replace("below", "the end")
    data = with_part(to_bytes(paper_docx), "word/footnotes.xml", foot, kind="footnotes")
    data = with_part(data, "word/endnotes.xml", end, kind="endnotes")
    section = read(_typed(data, "footnotes", "endnotes")).sections[-1]
    assert [(b.kind, b.text, b.label) for b in section.blocks] == [
        ("paragraph", "Counting is old.[^1][^i]", None),
        ("footnote", "See below.", "1"),
        ("footnote", "See the end.", "i"),
    ]


def _typed(data: bytes, *names: str) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        types = archive.read("[Content_Types].xml").decode()
    for name in names:
        kind = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{name}+xml"
        types = types.replace("</Types>", f'<Override PartName="/word/{name}.xml" ContentType="{kind}"/></Types>')
    return with_part(data, "[Content_Types].xml", types)


def test_displayed_formulas_and_their_numbers(paper_docx: Any, read: Read) -> None:
    formula = "<m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"
    tab = "<w:r><w:tab/></w:r>"
    body = paper_docx.element.body
    sources = (
        f"<w:p {{ns}}><m:oMathPara>{formula}</m:oMathPara></w:p>",
        f"<w:p {{ns}}>{tab}{formula}{tab}<w:r><w:t>(2)</w:t></w:r></w:p>",
        f"<w:tbl {{ns}}><w:tr><w:tc><w:p>{formula}</w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>(3)</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        "<w:p {ns}><m:oMathPara><m:oMath><m:r><m:t>c=d#(4)</m:t></m:r></m:oMath></m:oMathPara></w:p>",
        f"<w:p {{ns}}><w:r><w:t>Let </w:t></w:r>{formula}<w:r><w:t>.</w:t></w:r></w:p>",
    )
    for source in sources:
        body.insert(len(body) - 1, xml(source))
    paper = read(paper_docx)
    assert [(b.text, b.label) for b in blocks(paper, "equation")] == [
        ("a=b", None),
        ("a=b", "(2)"),
        ("a=b", "(3)"),
        ("c=d", "(4)"),
    ]
    assert paper.sections[-1].blocks[-1].text == "Let $a=b$."


def test_entries_are_parted_and_raised_text_is_marked(paper_docx: Any, read: Read) -> None:
    power = paper_docx.add_paragraph("About 10")
    power.add_run("-3").font.superscript = True
    power.add_run(" of H")
    power.add_run("2").font.subscript = True
    power.add_run("O.")
    paper_docx.add_heading("References", 1)
    paper_docx.add_paragraph("[1] A. Author. Counting things. Journal, 2019.")
    paper_docx.add_paragraph("[2] B. Writer. Measuring things. Journal, 2020. doi:10.1000/abc")
    paper = read(paper_docx)
    assert paper.sections[2].blocks[-1].text == "About 10^-3 of H_2O."
    assert [(r.label, r.year, r.doi) for r in paper.references] == [("1", 2019, None), ("2", 2020, "10.1000/abc")]


def test_text_boxes_controls_and_links_are_read_contents_lists_are_not(paper_docx: Any, read: Read) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
    choice = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    sources = (
        f'<w:p {{ns}} xmlns:mc="{choice}"><w:r><mc:AlternateContent><mc:Choice Requires="wps">'
        f"<w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        "<w:sdt {ns}><w:sdtContent><w:p><w:r><w:t>Controlled.</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        '<w:sdt {ns}><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        "<w:sdtContent><w:p><w:r><w:t>Introduction 3</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        "<w:p {ns}><w:hyperlink><w:r><w:t>linked</w:t></w:r></w:hyperlink></w:p>",
    )
    body = paper_docx.element.body
    for source in sources:
        body.insert(len(body) - 1, xml(source))
    texts = [block.text for block in read(paper_docx).sections[-1].blocks]
    assert texts == ["Counting is old.", "In a box.", "Controlled.", "linked"]


def test_a_deep_heading_that_ends_like_a_sentence_is_a_heading(paper_docx: Any, read: Read) -> None:
    paper_docx.add_heading("Scope.", 4)
    paper_docx.add_paragraph("Only counts.")
    last = read(paper_docx).sections[-1]
    assert (last.heading, last.level, last.text) == ("Scope.", 4, "Only counts.")


def test_a_style_based_on_a_heading_is_one(paper_docx: Any, read: Read) -> None:
    style = paper_docx.styles.add_style("My Section", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = paper_docx.styles["Heading 1"]
    paper_docx.add_paragraph("Own Style", style="My Section")
    paper_docx.add_paragraph("Text.")
    assert read(paper_docx).sections[-1].heading == "Own Style"


def r(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(text: str) -> str:
    return f"<m:e>{r(text)}</m:e>"


SUM = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
SQUARE = '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/><m:sepChr m:val=","/></m:dPr>'
LOG = '<m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>log</m:t></m:r>'
CASES = {
    f"<m:f><m:num>{r('a')}</m:num><m:den>{r('b')}</m:den></m:f>": "\\frac{a}{b}",
    f'<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>{r("a")}</m:num><m:den>{r("b")}</m:den></m:f>': "a/b",
    f"<m:rad><m:deg/>{e('x')}</m:rad>": "\\sqrt{x}",
    f"<m:rad><m:deg>{r('3')}</m:deg>{e('x')}</m:rad>": "\\sqrt[3]{x}",
    f"<m:sSub>{e('x')}<m:sub>{r('gi')}</m:sub></m:sSub>": "x_{gi}",
    f"<m:sSubSup>{e('x')}<m:sub>{r('i')}</m:sub><m:sup>{r('2')}</m:sup></m:sSubSup>": "x_i^2",
    f"<m:nary>{SUM}<m:sub>{r('i=1')}</m:sub><m:sup>{r('n')}</m:sup>{e('x')}</m:nary>": "\\sum_{i=1}^n x",
    f"<m:nary><m:sub/><m:sup/>{e('x')}</m:nary>": "\\int x",
    f"<m:d>{SQUARE}{e('a')}{e('b')}</m:d>": "[a,b]",
    f"<m:d>{e('a')}</m:d>": "(a)",
    f"<m:acc>{e('θ')}</m:acc>": "\\hat{\\theta}",
    f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{e("x")}</m:bar>': "\\overline{x}",
    f"<m:eqArr>{e('a=b')}{e('c=d')}</m:eqArr>": "a=b \\\\ c=d",
    f"<m:m><m:mr>{e('1')}{e('0')}</m:mr><m:mr>{e('0')}{e('1')}</m:mr></m:m>": (
        "\\begin{matrix}1 & 0 \\\\ 0 & 1\\end{matrix}"
    ),
    f"<m:func><m:fName>{LOG}</m:fName>{e('x')}</m:func>": "\\log x",
    f"<m:limLow>{e('min')}<m:lim>{r('x')}</m:lim></m:limLow>": "min_x",
    f'<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>{e("secret")}</m:phant>': "",
    "<m:r><m:rPr><m:nor/></m:rPr><m:t>if even</m:t></m:r>": "\\text{if even}",
    r("α≤𝛽x"): "\\alpha\\leq\\beta x",
    r("{1}"): "\\{1\\}",
    f"<w:del><m:r><m:t>old</m:t></m:r></w:del>{r('new')}": "new",
    "<m:r><w:rPr><w:vanish/></w:rPr><m:t>unseen</m:t></m:r>": "",
    f"<m:unknown>{r('kept')}</m:unknown>": "kept",
}


@pytest.mark.parametrize("source", CASES)
def test_formula(source: str) -> None:
    assert tex_of(xml(f"<m:oMath {{ns}}>{source}</m:oMath>")) == CASES[source]
