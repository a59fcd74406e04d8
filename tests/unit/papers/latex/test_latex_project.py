"""A paper of several files, read as a folder and as an archive, and what classes and packages do differently."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from referee.errors import PaperParseError
from referee.papers.latex import load_latex
from referee.schemas.paper import Block, Paper


def read(folder: Path) -> Paper:
    path = folder / "main.tex"
    return load_latex(path, path.read_bytes())


def zipped(files: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return whole.getvalue()


def block(paper: Paper, label: str, kind: str) -> Block:
    return next(b for _, b in paper.blocks() if b.label == label and b.kind == kind)


def whole_text(paper: Paper) -> str:
    return "\n".join([paper.title, *(b.text for s, b in paper.blocks() if s.role != "front")])


def test_title_abstract_and_format(project: Path) -> None:
    paper = read(project)
    assert paper.title == "A Small Paper About Ours and k-Means"
    assert paper.abstract == "We study Ours, which improves 12.5% over others."
    assert paper.format == "latex"
    assert paper.converter.name == "referee-latex"
    assert "pylatexenc" in paper.converter.version
    assert {finding.kind for finding in paper.findings} == {"not_printed"}


def test_headings_with_numbers_and_roles(project: Path) -> None:
    assert [(s.number, s.heading, s.level, s.role) for s in read(project).sections] == [
        (None, "Front matter", 1, "front"),
        (None, "Abstract", 1, "abstract"),
        ("1", "Introduction", 1, "content"),
        ("2", "Method", 1, "content"),
        ("2.1", "Results", 2, "content"),
        (None, "Acknowledgments", 1, "acknowledgements"),
        (None, "References", 1, "references"),
        ("A", "Proofs", 1, "appendix"),
        ("A.1", "First Proof", 2, "appendix"),
    ]


def test_authors_stand_only_in_the_front_matter(project: Path) -> None:
    paper = read(project)
    front = paper.sections[0].text
    assert all(word in front for word in ("Ada Author", "Ben Writer", "University of Tests", "Funded by nobody"))
    for section in paper.content:
        assert not any(word in section.text for word in ("Ada", "Ben Writer", "University", "Funded"))


def test_what_latex_does_not_print_never_appears(project: Path) -> None:
    text = whole_text(read(project))
    assert "SECRET" not in text
    assert "after the end" not in text
    assert "Never Cited" not in text


def test_citations_and_references_by_author_and_year(project: Path) -> None:
    paper = read(project)
    assert "As Lo et al. (2020) said, and others agree (see Wu, 2019; Lo et al., 2020, p. 3), Ours" in whole_text(paper)
    first, second = paper.references
    assert (first.title, first.year, first.doi, first.venue) == (
        "A BIG Corpus",
        2020,
        "10.1000/xyz",
        "Journal of Tests",
    )
    assert first.authors == ("Kyle Lo", "Ana de la Cruz", "Lucy Wang")
    assert second.text == "Jane Wu. On Things. In Proceedings of Things, 2019."


def test_numeric_style_labels_references_and_citations(project: Path) -> None:
    main = project / "main.tex"
    main.write_text(main.read_text().replace("plainnat", "plain").replace("[round]{natbib}", "{cite}"))
    paper = read(project)
    assert [reference.label for reference in paper.references] == ["1", "2"]
    assert paper.references[0].text.startswith("[1] Kyle Lo")
    assert "[see 2, 1, p. 3]" in whole_text(paper)


def test_a_printed_bibliography_is_preferred(project: Path) -> None:
    entries = r"\begin{thebibliography}{1}\bibitem[Wu(2019)]{wu2019}J.~Wu. \newblock On printed things. \newblock 2019."
    (project / "main.bbl").write_text(entries + r"\end{thebibliography}")
    paper = read(project)
    assert [(r.text, r.title) for r in paper.references] == [("J. Wu. On printed things. 2019.", "On printed things")]
    assert "Wu, 2019" in whole_text(paper)


def test_references_inside_the_paper_carry_its_numbers(project: Path) -> None:
    text = whole_text(read(project))
    assert "in Section 2, (1) and Theorem 2.1; the data are in Tables 1 and 2, Figure 1 and Algorithm 1." in text
    assert "so (2) precedes (3)" in text
    assert "See table 1 and Appendix A." in text
    assert "??" not in text


def test_equations_keep_their_latex_and_number(project: Path) -> None:
    equations = [(b.label, b.text) for _, b in read(project).blocks() if b.kind == "equation"]
    assert equations == [
        ("(1)", r"L(\theta) = \lVert y - f_\theta(x) \rVert_{2}"),
        ("(2)", "a &= b"),
        ("(3)", r"c &= d \\ e &= \operatorname{arg\,min}_x \begin{cases} 1 \\ 2 \end{cases}"),
        (None, "z = 1"),
    ]


def test_tables_with_spans_and_bold_numbers(project: Path) -> None:
    paper = read(project)
    assert block(paper, "Table 1", "table").cells == (
        ("", "", "Score", ""),
        ("Data", "Method", "mean", "sd"),
        ("A", "base", "81.2", "± 0.3"),
        ("", "Ours", "**84.5**", "± 0.2"),
    )
    assert block(paper, "Table 2", "table").cells == (("x", "-1.5"), ("y", "2 %"))


def test_captions(project: Path) -> None:
    captions = [b.text for _, b in read(project).blocks() if b.kind == "caption"]
    assert captions == [
        "Algorithm 1: Doing it",
        "Table 1: Main results. Bold is best.",
        "Table 2: More results.",
        "Figure 1: One plot of $x^2$.",
    ]


def test_theorems_lists_footnotes_code(project: Path) -> None:
    paper = read(project)
    assert block(paper, "Theorem 2.1", "paragraph").text == "Theorem 2.1 (Main). All is well."
    assert block(paper, "Lemma 2.2", "paragraph").text == "Lemma 2.2. So it stays."
    assert [b.text for _, b in paper.blocks() if b.kind == "list"] == [
        "1. A first one.\n2. A second one with a list:\n  - inner"
    ]
    assert [b.text for _, b in paper.blocks() if b.kind == "footnote"] == ["A note on goodness."]
    codes = [b.text for _, b in paper.blocks() if b.kind == "code"]
    assert codes == [
        "Require: data x\nfor i=1 to n:\n  if $x_i > 0$:\n    add $x_i$ ▷ only positive\nreturn sum",
        "code % stays \\here",
    ]


def test_verb_unknown_commands_and_accents(project: Path) -> None:
    assert "Use a_b%c and kept words. A hat over é and ö." in whole_text(read(project))


def test_the_digest_covers_every_file_that_was_read(project: Path) -> None:
    before = read(project).paper_id
    assert before == read(project).paper_id
    assert before != hashlib.sha256((project / "main.tex").read_bytes()).hexdigest()
    (project / "refs.bib").write_text("@misc{lo2020, title={Other}, year=2021}")
    assert read(project).paper_id != before


def test_the_digest_of_a_single_file_is_its_own(tmp_path: Path) -> None:
    data = b"\\documentclass{article}\\begin{document}\\section{A} text\\end{document}"
    assert load_latex(tmp_path / "a.tex", data).paper_id == hashlib.sha256(data).hexdigest()


def test_zip_and_tar_give_the_same_paper(project: Path, project_files: Mapping[str, bytes]) -> None:
    folder = read(project)
    nested = zipped({f"paper/{name}": data for name, data in project_files.items()})
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as tar:
        for name, data in project_files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    for data in (nested, whole.getvalue()):
        paper = load_latex(Path("paper.archive"), data)
        assert paper.paper_id == hashlib.sha256(data).hexdigest()
        assert paper.sections == folder.sections
        assert paper.references == folder.references


def test_a_lone_gzipped_file(tmp_path: Path) -> None:
    source = b"\\documentclass{article}\\begin{document}\\section{One} Words.\\end{document}"
    paper = load_latex(Path("2301.00001.gz"), gzip.compress(source))
    assert paper.sections[0].heading == "One"


DOCUMENT = b"\\documentclass{article}\\begin{document}\\section{%s}%s\\end{document}"


def headings(files: Mapping[str, bytes]) -> list[str]:
    return [s.heading for s in load_latex(Path("p.zip"), zipped(files)).sections]


@pytest.mark.parametrize(
    "extra",
    [
        {"00README.XXX": b"b.tex toplevelfile\n"},
        {"00README.json": b'{"sources": [{"usage": "toplevel", "filename": "b.tex"}]}'},
    ],
)
def test_of_several_papers_the_readme_names_one(extra: Mapping[str, bytes]) -> None:
    assert headings({"a.tex": DOCUMENT % (b"A", b""), "b.tex": DOCUMENT % (b"B", b"x"), **extra}) == ["B"]


def test_of_several_papers_the_one_that_reads_others() -> None:
    files = {"a.tex": DOCUMENT % (b"A", b"x"), "b.tex": DOCUMENT % (b"B", b"\\input{part}"), "part.tex": b"Words."}
    assert headings(files) == ["B"]


@pytest.mark.parametrize("name", ["ms.tex", "main.tex"])
def test_of_several_papers_the_customary_name(name: str) -> None:
    assert headings({"a.tex": DOCUMENT % (b"A", b"x"), name: DOCUMENT % (b"B", b"x")}) == ["B"]


def test_several_equally_likely_papers_are_named() -> None:
    with pytest.raises(PaperParseError) as caught:
        headings({"a.tex": DOCUMENT % (b"A", b"x"), "b.tex": DOCUMENT % (b"B", b"x")})
    assert "'a.tex', 'b.tex'" in caught.value.message
    assert "main.tex" in caught.value.hint


def test_no_paper_in_an_archive() -> None:
    with pytest.raises(PaperParseError, match="documentclass"):
        headings({"part.tex": b"\\section{A} words"})


Read = Callable[..., Paper]

ICML = r"""\documentclass{article}\usepackage{icml2024}\begin{document}
\twocolumn[\icmltitle{A Great Paper}\begin{icmlauthorlist}\icmlauthor{Jane Doe}{uni}\end{icmlauthorlist}
\icmlaffiliation{uni}{University of Secrets}\vskip 0.3in]
\printAffiliationsAndNotice{}
\begin{abstract}The abstract.\end{abstract}
\section{Introduction} Text \citep{a}. \Cref{fig:both,fig:left}.
\begin{figure}\begin{subfigure}{3cm}\caption{Left}\label{fig:left}\end{subfigure}\caption{Both}\label{fig:both}\end{figure}
\begin{algorithm}\caption{X}\KwIn{data}
\For{$i$ in $1..n$}{ do it\; \If{x}{y\;} }
\Return z\;
\end{algorithm}
\begin{thebibliography}{1}
\bibitem[Alpha \& Beta(2020)Alpha and Beta]{a} Alpha, A. and Beta, B. \newblock A title. \newblock \emph{Journal}, 2020.
\end{thebibliography}
\appendix
\section{More}
\renewcommand{\thetable}{A\arabic{table}}
\begin{table}\resizebox{\textwidth}{!}{\begin{tabular}{l|c} a & b \\ 1.0 & 2.0 \end{tabular}}\caption{T}\end{table}
\end{document}"""
IEEE = r"""\documentclass{IEEEtran}\begin{document}\title{A Thing}
\author{\IEEEauthorblockN{Jane Doe}\IEEEauthorblockA{University of Secrets}}\maketitle
\begin{abstract}The abstract.\end{abstract}
\section{Introduction}\IEEEPARstart{T}{his} is \cite{b1}. \subsection{Ease} x
\begin{equation}\label{e} a+b\end{equation} and \eqref{e}
\begin{thebibliography}{00}\bibitem{b1} G. Eason, ``On certain integrals,'' Trans., 1955.\end{thebibliography}
\end{document}"""


def blocks(paper: Paper, kind: str) -> list[tuple[str | None, str]]:
    return [(b.label, b.text) for _, b in paper.blocks() if b.kind == kind]


def test_icml(read_tex: Read) -> None:
    paper = read_tex(ICML, whole=True)
    assert (paper.title, paper.abstract) == ("A Great Paper", "The abstract.")
    assert "University of Secrets" in paper.sections[0].text
    assert not any("Secrets" in s.text or "Jane" in s.text for s in paper.content)
    assert paper.content[1].blocks[0].text == "Text (Alpha & Beta, 2020). Figures 1 and 1a."
    assert [text for _, text in blocks(paper, "caption")] == [
        "(a) Left",
        "Figure 1: Both",
        "Algorithm 1: X",
        "Table A1: T",
    ]
    assert blocks(paper, "code") == [("Algorithm 1", "Input: data\nfor i in 1..n:\n  do it\n  if x:\n    y\nreturn z")]
    assert blocks(paper, "table") == [("Table A1", "a | b\n1.0 | 2.0")]
    assert [(s.number, s.role) for s in paper.sections[-2:]] == [(None, "references"), ("A", "appendix")]


def test_ieee_numbers(read_tex: Read) -> None:
    paper = read_tex(IEEE, whole=True)
    assert [(s.number, s.heading) for s in paper.content[1:]] == [("I", "Introduction"), ("A", "Ease")]
    assert paper.content[1].text == "This is [1]."
    assert blocks(paper, "equation") == [("(1)", "a+b")]
    assert paper.references[0].label == "1"


@pytest.mark.parametrize(
    ("preamble", "body", "expected"),
    [
        (r"\numberwithin{equation}{section}", r"\begin{equation} a \end{equation}", "(1.1)"),
        ("", r"\begin{equation} a \tag{*} \end{equation}", "(*)"),
        ("", r"\begin{subequations}\begin{equation} a \end{equation}\end{subequations}", "(1a)"),
        ("", r"\setcounter{equation}{6}\begin{gather} a \end{gather}", "(7)"),
        ("", r"\begin{align*} a \end{align*}", None),
    ],
)
def test_equation_numbers(read_tex: Read, preamble: str, body: str, expected: str | None) -> None:
    assert [label for label, _ in blocks(read_tex(rf"\section{{A}} x {body}", preamble=preamble), "equation")] == [
        expected
    ]


@pytest.mark.parametrize(
    ("options", "marks"),
    [
        ("", ["1.", "2."]),
        (r"[label=(\roman*)]", ["(i)", "(ii)"]),
        ("[a)]", ["a)", "b)"]),
        (r"[label=\Alph*.]", ["A.", "B."]),
    ],
)
def test_list_marks(read_tex: Read, options: str, marks: list[str]) -> None:
    paper = read_tex(rf"\section{{A}} x \begin{{enumerate}}{options}\item one \item two\end{{enumerate}}")
    assert blocks(paper, "list") == [(None, f"{marks[0]} one\n{marks[1]} two")]


def test_a_paper_in_chapters(read_tex: Read) -> None:
    body = r"\chapter{One}\section{Two} x\begin{equation}a\end{equation}"
    source = rf"\documentclass{{report}}\begin{{document}}{body}\end{{document}}"
    paper = read_tex(source, whole=True)
    assert [(s.number, s.level) for s in paper.sections] == [("1", 1), ("1.1", 2)]
    assert blocks(paper, "equation") == [("(1.1)", "a")]


def test_a_long_table_prints_its_head_once(read_tex: Read) -> None:
    body = r"""\section{A} x \begin{longtable}{ll}\caption{Long}\label{t}\\ \hline a & b \\ \endfirsthead
    a & b (continued) \\ \endhead 1 & 2 \\ 3 & 4 \\ \end{longtable} Table~\ref{t}."""
    paper = read_tex(body)
    assert blocks(paper, "table") == [("Table 1", "a | b\n1 | 2\n3 | 4")]
    assert ("Table 1", "Table 1: Long") in blocks(paper, "caption")
    assert paper.sections[0].blocks[-1].text == "Table 1."


def test_without_any_heading_authors_stay_out(read_tex: Read) -> None:
    paper = read_tex(r"\title{T}\author{Jane Doe}\maketitle Only a paragraph.")
    assert [(s.heading, s.text) for s in paper.sections] == [("Text", "Only a paragraph.")]
    assert paper.findings[0].kind == "no_headings"
