"""What conference classes and packages do differently."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.schemas.paper import Paper

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
