"""The example paper read from four formats: what must agree, and the differences that are known and tolerated."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from referee.papers import load_paper
from referee.papers.docx import load_docx
from referee.papers.html import load_html
from referee.papers.pieces import squeeze
from referee.schemas.paper import Block, Paper

EXAMPLES = Path(__file__).resolve().parents[4] / "examples"
FORMATS = ("md", "docx", "html")


@cache
def paper(suffix: str) -> Paper:
    path = EXAMPLES / f"paper.{suffix}"
    readers: dict[str, Callable[[Path, bytes], Paper]] = {"docx": load_docx, "html": load_html}
    return readers[suffix](path, path.read_bytes()) if suffix in readers else load_paper(path)


def blocks(suffix: str, kind: str) -> list[Block]:
    return [block for _, block in paper(suffix).blocks() if block.kind == kind]


def words(text: str) -> str:
    """The letters and digits, without the dollars, commands and braces of formulas."""
    return squeeze(re.sub(r"\\Delta", "", text.replace(r"\rho", "ρ")))


def title(suffix: str) -> str:
    return paper(suffix).title


def abstract(suffix: str) -> str:
    return words(paper(suffix).abstract)


def headings(suffix: str) -> list[tuple[int, str | None, str, str]]:
    return [(s.level, s.number, s.heading, s.role) for s in paper(suffix).sections]


def equations(suffix: str) -> list[str | None]:
    return [block.label for block in blocks(suffix, "equation")]


def tables(suffix: str) -> dict[str | None, list[list[str]]]:
    """Each table's rows as the numbers in them, the columns' heads as well."""
    return {
        b.label: [row for cells in b.cells if (row := re.findall(r"\d+(?:\.\d+)?", " ".join(cells)))]
        for b in blocks(suffix, "table")
    }


def row_names(suffix: str) -> list[list[str]]:
    return [[words(row[0]) for row in block.cells if words(row[0])] for block in blocks(suffix, "table")]


def table_heads(suffix: str) -> list[tuple[str, ...]]:
    return [tuple(words(cell) for cell in block.cells[0]) for block in blocks(suffix, "table")]


def letter_case(suffix: str) -> list[str]:
    return [row[0] for row in blocks(suffix, "table")[0].cells]


def places(suffix: str) -> dict[str, str]:
    """Where each table and figure stands: the heading over its caption."""
    found = (
        (block.label or "", section.heading) for section, block in paper(suffix).blocks() if block.kind == "caption"
    )
    return {label: heading for label, heading in found if label}


def captions(suffix: str) -> list[tuple[str | None, str]]:
    return [(block.label, words(block.text)) for block in blocks(suffix, "caption")]


def references(suffix: str) -> list[tuple[str | None, int | None, str]]:
    return [(r.label, r.year, words(r.text)) for r in paper(suffix).references]


def entry_titles(suffix: str) -> list[str | None]:
    return [reference.title for reference in paper(suffix).references]


def items(suffix: str) -> list[str]:
    return [block.text[0] for block in blocks(suffix, "list")]


def formula_text(suffix: str) -> list[str]:
    return [re.sub(r"[\s,.]", "", block.text) for block in blocks(suffix, "equation")]


def front(suffix: str) -> str:
    return words(paper(suffix).sections[0].text)


def text_of_sections(suffix: str) -> dict[str, str]:
    """Prose without formulas: what a reviewer reads, section by section, where no formula or float can differ."""
    plain = ("Discussion", "Limitations", "Conclusion")
    return {s.heading: words(s.text)[:300] for s in paper(suffix).content if s.heading in plain}


def paragraphs(suffix: str) -> int:
    return len(blocks(suffix, "paragraph"))


def findings(suffix: str) -> list[str]:
    return [finding.kind for finding in paper(suffix).findings]


# Every feature not named here is the same in all four formats; a feature named here differs as said.
ALL = frozenset(FORMATS)
TOLERATED: dict[Callable[[str], object], tuple[frozenset[str], str]] = {
    table_heads: (ALL, "the PDF has a head over several columns in one cell; the others have it over its first column"),
    letter_case: (frozenset({"docx", "html"}), "small capitals are the letters of the source; the PDF prints capitals"),
    places: (ALL, "floats stand where the source has them; in the PDF where the page prints them"),
    items: (ALL, "the PDF's lists are paragraphs; the others keep lists, in Markdown with its own marks"),
    formula_text: (ALL, "the PDF has the page's signs in order where its LaTeX fell apart; the others have structure"),
    paragraphs: (ALL, "the PDF's paragraphs that follow each other are joined"),
    findings: (ALL, "the PDF loses labels inside a figure; the others have no text inside figures"),
}
FEATURES = [
    captions,
    title,
    abstract,
    front,
    headings,
    text_of_sections,
    equations,
    tables,
    row_names,
    references,
    entry_titles,
]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("feature", [*FEATURES, *TOLERATED], ids=lambda feature: feature.__name__)
def test_agrees_with_the_pdf_but_for_the_tolerated(suffix: str, feature: Callable[[str], object]) -> None:
    differing, reason = TOLERATED.get(feature, (frozenset(), ""))
    if suffix in differing:
        assert feature(suffix) != feature("pdf"), f"no longer so: {reason}"
    else:
        assert feature(suffix) == feature("pdf")


def test_the_three_other_formats_agree_among_each_other() -> None:
    for feature in (tables, row_names, equations, headings, places, references):
        assert feature("docx") == feature("html"), feature.__name__
    assert len(paper("docx").content) == len(paper("md").content)


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_is_hidden_and_nothing_was_guessed(suffix: str) -> None:
    assert not [finding for finding in paper(suffix).findings if finding.kind != "not_printed"]
    assert not paper(suffix).repairs
