"""A submission as the rest of the package sees it, whatever file it came from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

BlockKind = Literal[
    "paragraph", "heading", "equation", "table", "figure", "caption", "footnote", "list", "code", "reference"
]
SectionRole = Literal["front", "abstract", "content", "acknowledgements", "references", "appendix", "checklist"]
FindingKind = Literal[
    "hidden_text",
    "not_printed",
    "addresses_reviewer",
    "lost_text",
    "missing_page",
    "ocr_layer",
    "no_headings",
    "unknown_headings",
]
Certainty = Literal["low", "medium", "high"]


class Box(Frozen):
    """A rectangle on a page, in PDF points with the origin at the page's top left corner."""

    x0: float
    y0: float
    x1: float
    y1: float


class Block(Frozen):
    """One typed piece of a page: a paragraph, an equation, a table, a caption, ...

    ``text`` is never empty: for a table it is its cells row by row (cells joined by `` | ``), for an equation its
    LaTeX or its plain text. ``page`` counts from 1 and is null for formats without pages.
    """

    id: str
    kind: BlockKind
    text: str = Field(min_length=1)
    page: int | None = None
    box: Box | None = None
    cells: tuple[tuple[str, ...], ...] = ()
    label: str | None = Field(default=None, description="'Table 2', 'Figure 1', '(3)': what the text calls it")


class Section(Frozen):
    """A heading and what stands under it, up to the next heading of any level.

    ``level`` is 1 for top-level headings. ``number`` is the printed number ('3.1', 'A') or null.
    """

    id: str
    heading: str
    level: int = Field(ge=1)
    number: str | None = None
    role: SectionRole = "content"
    blocks: tuple[Block, ...] = ()

    @cached_property
    def text(self) -> str:
        """The section's blocks as text, separated by blank lines; the heading is not part of it."""
        return "\n\n".join(block.text for block in self.blocks)

    @cached_property
    def pages(self) -> tuple[int, ...]:
        """The pages the section touches, ascending, from 1; empty for formats without pages."""
        return tuple(sorted({block.page for block in self.blocks if block.page is not None}))


class Reference(Frozen):
    """One entry of the bibliography; ``text`` is the entry as printed, the rest what could be parsed from it."""

    id: str
    text: str
    label: str | None = None
    authors: tuple[str, ...] = ()
    title: str | None = None
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    page: int | None = None


class Finding(Frozen):
    """Something a reader of the review must know about the file: hidden or lost text, a missing page.

    The wording accuses nobody: ``message`` says what was seen and where, not who meant what.
    """

    kind: FindingKind
    message: str
    certainty: Certainty
    page: int | None = None
    box: Box | None = None
    text: str = ""


class Repair(Frozen):
    """A change made to what the converter said, with what proves it (numbering, or the page's own text)."""

    kind: str
    page: int | None
    before: str
    after: str
    proof: str


class Converter(Frozen):
    """The program that read the file. There is no silent fallback from one to another."""

    name: str
    version: str


class Paper(Frozen):
    """A submission: sections in reading order, bibliography, and what is known to be missing.

    ``paper_id`` is the sha-256 of the file's bytes in hexadecimal, never its name. ``page_count`` is null for formats
    without pages. ``sections`` starts with the front matter (authors; never shown to a model) and the abstract, where
    the file has them.
    """

    schema_version: Literal[1] = 1
    paper_id: str = Field(pattern=r"^[0-9a-f]{64}$")
    title: str
    abstract: str = ""
    format: Literal["pdf", "markdown", "text", "latex", "docx", "html"]
    sections: tuple[Section, ...]
    references: tuple[Reference, ...] = ()
    findings: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    converter: Converter
    page_count: int | None = None

    @cached_property
    def content(self) -> tuple[Section, ...]:
        """The sections a reviewer reads: abstract, content and appendix, in order."""
        return tuple(s for s in self.sections if s.role in ("abstract", "content", "appendix"))

    def blocks(self) -> Iterator[tuple[Section, Block]]:
        """Every block with its section, in reading order."""
        for section in self.sections:
            for block in section.blocks:
                yield section, block
