"""Whatever a text file holds, in bounded time it becomes a paper that can be stored, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import PaperParseError
from referee.papers import load_paper
from referee.schemas.paper import Paper
from tests.processor_time import within

from .fuzz_budget import tries

MARKDOWN = [
    *["# ", "## 1.1 ", "\n", "\n\n", "---\n", "===\n", "```", "~~~", "| a | b |\n|---|---|\n", "|", "|:-", "$$", "- "],
    *["![x](y)", "**", "`", "[1] ", "title: x\n", "# References\n\n", "Abstract. ", "Table 1: ", "A. B. ", "2020. "],
]
LATEX = [
    *["\\section{", "}", "{", "\\begin{", "\\end{", "itemize}", "\\item ", "$", "$$", "\\(", "\\[", "&", "%", "\\\\"],
    *[
        "\\newcommand{\\a}[1]{",
        "\\def\\a#1{",
        "\\a",
        "#1",
        "\\input{a}",
        "\\iffalse ",
        "\\fi ",
        "\\newif\\ifx",
        "\\verb|",
    ],
    *[
        "\\begin{tabular}{cc}",
        "\\multicolumn{9}{c}{",
        "\\end{tabular}",
        "\\cite{a}",
        "\\ref{",
        "\\label{",
        "\\footnote{",
    ],
    *[
        "\\color{white}",
        "\\textcolor{white}{",
        "\\tiny ",
        "\\caption{",
        "\\begin{figure}",
        "\\bibitem{a}",
        "\\appendix\n",
    ],
    *[
        "\\title{",
        "\\author{",
        "\\end{document}",
        "\\documentclass{article}",
        "^",
        "_",
        "~",
        "\\csname ",
        "\\makeatletter",
    ],
]
HTML = [
    *[
        "<",
        ">",
        "<p>",
        "</p>",
        "<div>",
        "<h2>1 A</h2>",
        "<table><tr><td colspan=9>",
        "<td rowspan=99>",
        "</table>",
        "&",
    ],
    *[
        "<math>",
        "<mi>x</mi>",
        "<annotation encoding='application/x-tex'>",
        "<span style='display:none'>",
        "&#0;",
        "&#xD800;",
    ],
    *[
        "<style>p{color:#fff}</style>",
        "<script>",
        "<!--",
        "-->",
        "<![CDATA[",
        "<p class='ltx_p'>",
        "<li>",
        "<svg>",
        "<a href='",
    ],
    *["<section class='ltx_bibliography'>", "<br>", "<sup>", "<title>", "<body>", "<iframe>", "<template>", "<pre>"],
]
FORMATS = {"a.md": MARKDOWN, "a.txt": MARKDOWN, "a.tex": LATEX, "a.html": HTML}
FRAMES = {
    "a.tex": "\\documentclass{{article}}\n\\begin{{document}}\n\\section{{A}}\nWords.\n{}\n\\end{{document}}\n",
    "a.html": "<html><body><h1>T</h1><h2>1 Introduction</h2><p>Words.</p>{}</body></html>",
}
ODD = st.sampled_from(
    ["\x00", "\x0b", "\x85", "\u2028", "\u200b", "\u202e", "\U000e0041", "\ud800", "\ufeff", "ﬁ", "e\u0301"]
)


def read(folder: Path, name: str, text: str, seconds: float = 20) -> None:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with within(seconds):
        try:
            paper = load_paper(path)
        except PaperParseError:
            return
    assert Paper.model_validate_json(paper.model_dump_json()) == paper


@pytest.mark.parametrize("name", FORMATS)
def test_any_mixture_of_marks_and_text(tmp_path: Path, name: str) -> None:
    pieces = st.lists(st.sampled_from(FORMATS[name]) | ODD | st.text(max_size=12), max_size=40).map("".join)

    @tries(100)
    @given(pieces, st.booleans())
    def check(text: str, framed: bool) -> None:
        read(tmp_path, name, FRAMES.get(name, "{}").format(text) if framed else text)

    check()


@pytest.mark.parametrize("name", FORMATS)
def test_repetition_takes_no_quadratic_time(tmp_path: Path, name: str) -> None:
    """The same few marks thousands of times, closed or not."""
    unit = st.lists(st.sampled_from([*FORMATS[name], " ", "\n", "a", "A ", "1. "]), min_size=1, max_size=3).map("".join)

    @tries(12)
    @given(unit, st.sampled_from(["", "x", "}", "|", ">"]), st.sampled_from([3_000, 12_000]))
    def check(marks: str, last: str, size: int) -> None:
        read(tmp_path, name, FRAMES.get(name, "{}").format(marks * (size // len(marks)) + last))

    check()


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
@pytest.mark.parametrize(
    "text",
    [
        "a\n===\n" * 20_000,
        "===\n" * 30_000,
        "Introduction\nMethods\nResults\n" * 8_000,
        "# a\n" * 20_000,
        "1 A\n\n" * 15_000,
        "# " + " " * 100_000 + "x" + " " * 100_000 + "#x",
        "a|b\n" + " " * 100_000 + "|x\n",
        "a|b\n|" + " " * 100_000 + "x|\n",
        "# References\n\n- a" + " " * 100_000 + "b 2020\n",
        "|" * 30_000 + "\n" + "|-" * 100 + "\n" + "|a\n" * 30_000,
    ],
    ids=["underlined", "underlines", "names", "headings", "numbered", "atx", "rule", "rule-in", "entry", "wide-table"],
)
def test_what_once_took_quadratic_time_or_all_the_stack(tmp_path: Path, name: str, text: str) -> None:
    read(tmp_path, name, text, seconds=10)


@pytest.mark.parametrize(
    "text",
    [
        "<style>p{color:#fff}</style>\x08<p>words</p>",
        "<script></script>\x0b\x1f\ufffe<nav></nav>\x0c<p>x</p>",
        "\\(" * 40_000,
    ],
    ids=["style", "furniture", "formulas"],
)
def test_pages_that_once_broke_the_reader(tmp_path: Path, text: str) -> None:
    read(tmp_path, "a.html", FRAMES["a.html"].format(text), seconds=10)
