"""What becomes of LaTeXML's pages and of plain ones: headings, formulas, tables, notes, entries, authors."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from referee.papers.html import load_html
from referee.schemas.paper import Block, Paper

LATEXML = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>Window title</title></head><body>
<header class="desktop_header"><a href="/">arXiv home</a></header><nav class="ltx_page_navbar">1 Introduction</nav>
<div class="ltx_page_main"><div id="watermark-tr">arXiv:2401.00001v1</div>
<article class="ltx_document">
<h1 class="ltx_title ltx_title_document">Counting <em>Clusters</em></h1>
<div class="ltx_authors"><span class="ltx_creator ltx_role_author"><span class="ltx_personname">Ada Author
</span><span class="ltx_author_notes">Institute of Tests, a very long name that goes on</span></span></div>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">We count.</p></div>
<section class="ltx_section"><h2 class="ltx_title ltx_title_section"><span class="ltx_tag ltx_tag_section">1 </span>
Introduction</h2>
<div class="ltx_para"><p class="ltx_p">Old work<span class="ltx_note ltx_role_footnote"
><sup class="ltx_note_mark">1</sup>
<span class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup>
<span class="ltx_tag ltx_tag_note">1</span>See the book.</span></span></span> needs
<math alttext="x_{1}" display="inline"><mi>x</mi></math>.<!-- never --></p>
<table class="ltx_equationgroup ltx_eqn_table">
<tbody><tr class="ltx_equation ltx_eqn_row"><td><math alttext="\\displaystyle a" display="inline"></math></td>
<td><math alttext="\\displaystyle=b%&#10;+c" display="inline"></math></td>
<td class="ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">(1)</span></td></tr></tbody>
<tbody><tr class="ltx_equation ltx_eqn_row"><td><math alttext="d" display="inline"></math></td>
<td class="ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">(2)</span></td></tr></tbody></table></div>
<section class="ltx_paragraph"><h5 class="ltx_title ltx_title_paragraph">Scope.</h5>
<div class="ltx_para"><p class="ltx_p">Only counts.</p></div></section>
<section class="ltx_subsection"><h3 class="ltx_title ltx_title_subsection"><span class="ltx_tag">1.1 </span>Data</h3>
<figure class="ltx_table"><span class="ltx_tabular"><span class="ltx_tr"><span class="ltx_td ltx_colspan_2">Head</span>
</span><span class="ltx_tr"><span class="ltx_td">1</span><span class="ltx_td">2</span></span></span>
<figcaption class="ltx_caption"><span class="ltx_tag ltx_tag_table">Table 1: </span>Counts.</figcaption></figure>
<figure class="ltx_figure"><img alt="Refer to caption"><figcaption class="ltx_caption">
<span class="ltx_tag">Figure 1: </span>A picture.</figcaption></figure>
<ul class="ltx_itemize"><li class="ltx_item"><span class="ltx_tag ltx_tag_item">(a)</span>
<div class="ltx_para"><p class="ltx_p">first</p></div></li></ul></section></section>
<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2><ul class="ltx_biblist">
<li class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">[1]</span><span class="ltx_bibblock">A. Author.</span>
<span class="ltx_bibblock">Counting things.</span><span class="ltx_bibblock">Journal, 2019.
<a href="https://doi.org/10.1000/xyz">Document</a></span><span class="ltx_bib_cited">Cited by: §1</span></li>
<li class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">Lo et al. (2020)</span>
<span class="ltx_bibblock">K. Lo and others. 2020. More counting.</span></li></ul></section>
<section class="ltx_appendix"><h2 class="ltx_title ltx_title_appendix">
<span class="ltx_tag">Appendix A </span>Proofs</h2>
<div class="ltx_para"><p class="ltx_p">None.</p></div></section>
</article></div><footer class="ltx_page_footer">Generated</footer></body></html>"""

PLAIN = """<html><head><title>T - Site</title></head><body><nav>Menu</nav><main><header><h1>A Plain Paper</h1></header>
<p class="authors">Ada Author, Institute</p>
<section id="abstract"><p>Short abstract.</p></section>
<h2>1 Introduction</h2><p>Ten is 10<sup>1</sup>, and a note<sup><a href="#fn1">1</a></sup> on the 2<sup>nd</sup>.</p>
<math display="block"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>
<h2>2 Results</h2><h3>2.1 Counts</h3>
<figure><figcaption>Table 2. Numbers.</figcaption><table><tr><th rowspan="2">n</th><th colspan="2">both</th></tr>
<tr><td>1</td><td>2</td></tr></table></figure>
<ol><li>one<ul><li>inner</li></ul></li><li>two</li></ol><pre>x = 1
y = 2</pre><dl><dt>term</dt><dd>meaning</dd></dl>
<h2>References</h2><ol><li>A. Author. Counting. 2019.</li><li>B. Writer. Measuring. 2020.</li></ol>
<aside id="fn1">The note. <a href="#r">↩</a></aside></main><script>evil()</script></body></html>"""


def read(source: str) -> Paper:
    return load_html(Path("paper.html"), source.encode())


def blocks(paper: Paper, kind: str) -> list[Block]:
    return [block for _, block in paper.blocks() if block.kind == kind]


def test_the_record_says_bytes_reader_and_format() -> None:
    paper = read(LATEXML)
    assert paper.paper_id == hashlib.sha256(LATEXML.encode()).hexdigest()
    assert (paper.format, paper.converter.name, paper.page_count) == ("html", "referee-html", None)
    assert [block.id for _, block in paper.blocks()] == [f"b{i + 1}" for i in range(len(list(paper.blocks())))]


def test_latexml_headings_numbers_and_roles() -> None:
    paper = read(LATEXML)
    assert paper.title == "Counting Clusters"
    assert paper.abstract == "We count."
    assert [(s.level, s.number, s.heading, s.role) for s in paper.sections] == [
        (1, None, "Front matter", "front"),
        (1, None, "Abstract", "abstract"),
        (1, "1", "Introduction", "content"),
        (2, "1.1", "Data", "content"),
        (1, None, "References", "references"),
        (1, "A", "Proofs", "appendix"),
    ]


def test_latexml_formulas_notes_and_run_in_headings() -> None:
    paper = read(LATEXML)
    assert [(b.text, b.label) for b in blocks(paper, "equation")] == [("a =b+c", "(1)"), ("d", "(2)")]
    assert [(b.text, b.label) for b in blocks(paper, "footnote")] == [("See the book.", "1")]
    texts = [b.text for b in blocks(paper, "paragraph")]
    assert "Old work[^1] needs $x_{1}$." in texts
    assert "Scope. Only counts." in texts


def test_latexml_floats_and_lists() -> None:
    paper = read(LATEXML)
    (table,) = blocks(paper, "table")
    assert (table.label, table.cells) == ("Table 1", (("Head", ""), ("1", "2")))
    assert [(b.label, b.text) for b in blocks(paper, "caption")] == [
        ("Table 1", "Table 1: Counts."),
        ("Figure 1", "Figure 1: A picture."),
    ]
    assert [b.text for b in blocks(paper, "list")] == ["(a) first"]


def test_latexml_entries() -> None:
    first, second = read(LATEXML).references
    assert first.text == "[1] A. Author. Counting things. Journal, 2019. Document"
    assert (first.label, first.doi, first.title) == ("1", "10.1000/xyz", "Counting things")
    assert (second.label, second.year) == ("Lo et al. (2020)", 2020)
    assert second.text.startswith("K. Lo")


@pytest.mark.parametrize("word", ["arXiv", "Author", "Institute", "never", "Generated", "navbar"])
def test_furniture_and_authors_are_not_content(word: str) -> None:
    assert not any(word in section.text for section in read(LATEXML).content)


def test_plain_markup() -> None:
    paper = read(PLAIN)
    assert (paper.title, paper.abstract) == ("A Plain Paper", "Short abstract.")
    assert [(s.number, s.heading, s.level, s.role) for s in paper.sections[2:]] == [
        ("1", "Introduction", 1, "content"),
        ("2", "Results", 1, "content"),
        ("2.1", "Counts", 2, "content"),
        (None, "References", 1, "references"),
    ]
    assert paper.sections[0].role == "front"
    assert paper.sections[2].blocks[0].text == "Ten is 10^1, and a note[^1] on the 2nd."
    assert [b.text for b in blocks(paper, "equation")] == ["E=mc^2"]
    assert [(b.kind, b.text) for b in paper.sections[2].blocks[1:2]] == [("footnote", "The note.")]


def test_plain_tables_lists_and_code() -> None:
    paper = read(PLAIN)
    (table,) = blocks(paper, "table")
    assert table.cells == (("n", "both", ""), ("", "1", "2"))
    assert table.label == "Table 2"
    assert [b.text for b in blocks(paper, "list")] == ["1. one\n  • inner\n2. two", "term\nmeaning"]
    assert [b.text for b in blocks(paper, "code")] == ["x = 1\ny = 2"]
    assert [r.text for r in paper.references] == ["1. A. Author. Counting. 2019.", "2. B. Writer. Measuring. 2020."]


def test_katex_and_annotations_are_read_once() -> None:
    katex = (
        '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow>'
        '<annotation encoding="application/x-tex">\\bar x</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true">xxx</span></span>'
    )
    paper = read(f"<h1>T</h1><h2>1 Introduction</h2><p>Let {katex} be.</p>")
    assert paper.sections[0].text == "Let $\\bar x$ be."
    assert not paper.findings


def test_tex_between_marks_is_a_formula() -> None:
    paper = read("<h1>T</h1><h2>1 Introduction</h2><p>Let \\(x\\) be</p><p>\\[x = 1 \\tag{4}\\]</p><p>$$y$$</p>")
    assert paper.sections[0].blocks[0].text == "Let $x$ be"
    assert [(b.text, b.label) for b in blocks(paper, "equation")] == [("x = 1", "(4)"), ("y", None)]


def test_theorems_boxes_and_algorithms() -> None:
    theorem = (
        '<h6 class="ltx_title ltx_title_theorem"><span class="ltx_tag">Theorem 1</span>.</h6><p>All is x.</p>'
        '<figure class="ltx_float"><figcaption>Algorithm 1: Go</figcaption><div class="ltx_listing">'
        '<div class="ltx_listingline">x=1</div><div class="ltx_listingline">y=2</div></div></figure>'
        "<svg><text>axis</text><foreignObject><p>In a box.</p></foreignObject></svg>"
    )
    section = read(f"<h1>T</h1><h2>1 Introduction</h2>{theorem}").sections[0]
    assert [(b.kind, b.text) for b in section.blocks] == [
        ("paragraph", "Theorem 1. All is x."),
        ("caption", "Algorithm 1: Go"),
        ("code", "x=1\ny=2"),
        ("paragraph", "In a box."),
    ]


def test_mathml_without_tex_is_written_out() -> None:
    math = (
        '<math display="block"><mfrac><mi>a</mi><msub><mi>b</mi><mi>i</mi></msub></mfrac><mo>+</mo><msqrt><mi>c</mi>'
        "</msqrt><mo>&#x2211;</mo><munderover><mo>&#x2211;</mo><mn>1</mn><mi>n</mi></munderover>"
        "<mover><mi>x</mi><mo>^</mo></mover></math>"
    )
    paper = read(f"<h1>T</h1><h2>1 Introduction</h2><p>See</p>{math}")
    assert blocks(paper, "equation")[0].text == "\\frac{a}{b_i}+\\sqrt{c}∑∑_1^n\\hat{x}"


@pytest.mark.parametrize("label", ["iso-8859-1", "windows-1252", "Latin1"])
def test_a_declared_encoding_is_honoured(label: str) -> None:
    source = f'<html><head><meta charset="{label}"></head><body><h1>T</h1><h2>1 Introduction</h2><p>naïve “x”</p>'
    paper = load_html(Path("p.html"), source.encode("cp1252"))
    assert paper.sections[0].text == "naïve “x”"


def test_a_span_that_is_no_number_is_one_cell() -> None:
    table = '<table><tr><td colspan="²">a</td><td rowspan="x">b</td></tr><tr><td>c</td><td>d</td></tr></table>'
    paper = load_html(Path("p.html"), f"<h1>T</h1><h2>1 Introduction</h2>{table}<p>x</p>".encode())
    assert next(block.cells for _, block in paper.blocks()) == (("a", "b"), ("c", "d"))


def test_utf16_with_its_mark_is_read() -> None:
    paper = load_html(Path("p.html"), "<h1>T</h1><h2>1 Introduction</h2><p>é</p>".encode("utf-16"))
    assert paper.sections[0].text == "é"
