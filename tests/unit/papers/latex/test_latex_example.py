"""The example paper from its source and from its PDF: the same paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.papers import load_paper
from referee.papers.latex import load_latex
from referee.papers.pieces import squeeze
from referee.schemas.paper import Paper

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
_NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.fixture(scope="module")
def pdf() -> Paper:
    return load_paper(EXAMPLES / "paper.pdf")


@pytest.fixture(scope="module")
def tex() -> Paper:
    path = EXAMPLES / "paper" / "paper.tex"
    return load_latex(path, path.read_bytes())


def words(text: str) -> str:
    return squeeze(re.sub(r"\\[a-z]+|\$", "", text.replace("ρ", "")))


def of_kind(paper: Paper, kind: str) -> list[str]:
    return [block.label or "" for _, block in paper.blocks() if block.kind == kind]


def test_title_abstract_and_front_matter(pdf: Paper, tex: Paper) -> None:
    assert tex.title == pdf.title
    assert squeeze(tex.abstract.replace("$", "")) == squeeze(pdf.abstract.replace("$", ""))
    assert tex.sections[0].text == "Anonymous Authors Paper under review"
    assert pdf.sections[0].text == "Anonymous Authors\n\nPaper under review"
    assert tex.findings == ()


def test_sections(pdf: Paper, tex: Paper) -> None:
    def shape(paper: Paper) -> list[tuple[str | None, str, int, str]]:
        return [(s.number, s.heading, s.level, s.role) for s in paper.sections]

    assert shape(tex) == shape(pdf)


def test_equations_by_number(pdf: Paper, tex: Paper) -> None:
    assert of_kind(tex, "equation") == of_kind(pdf, "equation") == [f"({i})" for i in range(1, 7)]


def test_tables_hold_the_same_numbers(pdf: Paper, tex: Paper) -> None:
    def numbers(paper: Paper) -> dict[str, list[str]]:
        """Decimal numbers by table: heads over several columns lie elsewhere in the PDF's cells."""
        tables = [block for _, block in paper.blocks() if block.kind == "table"]
        return {str(t.label): [n for row in t.cells for c in row for n in _NUMBER.findall(c)] for t in tables}

    assert numbers(tex) == numbers(pdf)
    assert {label: len(found) for label, found in numbers(tex).items()} == {"Table 1": 48, "Table 2": 42, "Table 3": 45}


def test_captions(pdf: Paper, tex: Paper) -> None:
    def captions(paper: Paper) -> dict[str, str]:
        return {str(b.label): words(b.text) for _, b in paper.blocks() if b.kind == "caption"}

    assert captions(tex) == captions(pdf)
    assert sorted(captions(tex)) == ["Figure 1", "Figure 2", "Figure 3", "Table 1", "Table 2", "Table 3"]


def test_references(pdf: Paper, tex: Paper) -> None:
    assert len(tex.references) == 15
    for ours, theirs in zip(tex.references, pdf.references, strict=True):
        assert squeeze(ours.text) == squeeze(theirs.text)
        assert (ours.label, ours.year) == (theirs.label, theirs.year)


def test_the_words_of_the_whole_paper(pdf: Paper, tex: Paper) -> None:
    """Words of four letters upwards, over all sections: the PDF's floats stand elsewhere than in the source."""

    def known(paper: Paper) -> set[str]:
        text = "\n".join(b.text for s in paper.content for b in s.blocks if b.kind != "equation")
        plain = re.sub(r"\$[^$]*\$|\\[a-z]+", " ", text.replace("- ", "").replace("\n", " "))
        return set(re.findall(r"[a-z]{4,}", plain.casefold()))

    missing = known(tex) - known(pdf)
    assert len(missing) <= 0.01 * len(known(tex)), sorted(missing)
    lost = known(pdf) - known(tex)
    assert len(lost) <= 0.01 * len(known(pdf)), sorted(lost)
