"""The example paper in five formats: what docs/parsing.md says they agree on."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from referee.papers import load_paper
from referee.schemas.paper import Block, Paper

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = {
    "pdf": "paper.pdf",
    "latex": "paper/paper.tex",
    "docx": "paper.docx",
    "html": "paper.html",
    "markdown": "paper.md",
}
MATH = re.compile(r"\$[^$]*\$")
# In the PDF one list item is read twice, and the letters of formulas are words like others.
_ODD_WORDS = {"pdf": 10}
TRUE_CAPTION = re.compile(r"(?:Table|Figure) \d+: ")


@cache
def paper(format: str) -> Paper:
    loaded = load_paper(EXAMPLES / FILES[format])
    assert loaded.format == format
    return loaded


def letters(text: str) -> str:
    """Letters and digits only: marks for bold, small capitals, dashes and spaces differ between formats."""
    spelled = unicodedata.normalize("NFKD", text).replace("ρ", "rho").casefold()
    return "".join(char for char in spelled if char.isalnum())


def words(text: str) -> Counter[str]:
    """Words of four letters and more outside of formulas, with hyphens taken out."""
    return Counter(re.findall(r"[a-z]{4,}", re.sub(r"[-\u2010-\u2014*]", "", MATH.sub(" ", text)).casefold()))


def blocks(format: str, kind: str) -> list[Block]:
    return [block for _, block in paper(format).blocks() if block.kind == kind]


@pytest.fixture(params=FILES)
def format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_title_and_abstract(format: str) -> None:
    assert paper(format).title == paper("pdf").title
    assert letters(paper(format).abstract) == letters(paper("pdf").abstract)
    assert len(paper(format).abstract.split()) == 158


def test_sections(format: str) -> None:
    def outline(which: str) -> list[tuple[str | None, str, int, str]]:
        return [(s.number, s.heading, s.level, s.role) for s in paper(which).sections]

    assert outline(format) == outline("pdf")
    assert len(outline(format)) == 18


def test_authors_are_in_the_front_matter_only(format: str) -> None:
    assert "Anonymous Authors" in paper(format).sections[0].text
    assert not any("Anonymous Authors" in section.text for section in paper(format).content)


def test_equations(format: str) -> None:
    equations = blocks(format, "equation")
    assert [equation.label for equation in equations] == [f"({n})" for n in range(1, 7)]
    sections = [s.number for s, block in paper(format).blocks() if block.kind == "equation"]
    assert sections == ["3.1"] * 5 + ["3.2"]


def test_tables_and_their_numbers(format: str) -> None:
    def body(which: str) -> dict[str | None, list[list[str]]]:
        """Rows without the head, whose joined cells a PDF prints as one."""
        return {t.label: [[letters(cell) for cell in row] for row in t.cells[2:]] for t in blocks(which, "table")}

    assert body(format) == body("pdf")
    shapes = {t.label: (len(t.cells), len(t.cells[0])) for t in blocks(format, "table")}
    assert shapes == {"Table 1": (8, 9), "Table 2": (8, 8), "Table 3": (10, 6)}
    numbers = [len(re.findall(r"\d[\d.,]*", t.text)) for t in blocks(format, "table")]
    assert numbers == [56, 47, 50]


def test_captions(format: str) -> None:
    captions = {c.label: c.text for c in blocks(format, "caption") if TRUE_CAPTION.match(c.text)}
    expected = {c.label: c.text for c in blocks("pdf", "caption")}
    assert captions.keys() == expected.keys() == {f"{kind} {n}" for kind in ("Table", "Figure") for n in (1, 2, 3)}
    for label, text in captions.items():
        assert words(text) == words(expected[label])


def test_references(format: str) -> None:
    def entries(which: str) -> list[tuple[str | None, int | None, str]]:
        return [(r.label, r.year, letters(r.text)) for r in paper(which).references]

    assert entries(format) == entries("pdf")
    assert [label for label, _, _ in entries(format)] == [str(n) for n in range(1, 16)]


def test_words_of_every_section(format: str) -> None:
    """All words of the text are there, in the section they belong to; words inside formulas are not compared."""

    def is_text(block: Block) -> bool:
        """A caption without a colon is a sentence that the Markdown reader took for one."""
        sentence = block.kind == "caption" and not TRUE_CAPTION.match(block.text)
        return sentence or block.kind in ("paragraph", "list", "footnote")

    def prose(which: str) -> list[Counter[str]]:
        return [words(" ".join(b.text for b in s.blocks if is_text(b))) for s in paper(which).content]

    for section, found, expected in zip(paper(format).content, prose(format), prose("docx"), strict=True):
        missing, extra = (expected - found).total(), (found - expected).total()
        assert missing + extra <= _ODD_WORDS.get(format, 0), (section.heading, expected - found, found - expected)
