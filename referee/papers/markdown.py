"""A paper written out as Markdown that our own reader takes, with the place of every block and cell in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from referee.schemas.paper import Block, Paper, Section

_STARTS_BLOCK = re.compile(r"(?m)^(?=\s{0,6}(?:#{1,6}(?:\s|$)|```|~~~|\$\$|(?:[-*+•]|\d{1,3}[.)])\s|=+\s*$|-{2,}\s*$))")
_WRITTEN = frozenset({"abstract", "content", "appendix", "checklist", "acknowledgements", "references"})
_FENCE = re.compile(r"`{3,}")


@dataclass
class Written:
    """A paper as Markdown.

    ``paper`` is the paper whose block texts stand in ``text`` word for word: white space inside
    paragraphs is one blank.
    ``blocks`` holds where each block's text begins, by its id; ``cells`` where each cell begins, by block, row and
    column (offsets in characters); a table has no place of its own. ``ends`` is where a block's lines end.
    """

    paper: Paper
    text: str = ""
    blocks: dict[str, int] = field(default_factory=dict)
    cells: dict[tuple[str, int, int], int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)

    def add_heading(self, text: str, level: int) -> None:
        """Write a heading behind what is there."""
        self.text += f"{'#' * min(level, 6)} {' '.join(text.split())}\n\n"

    def add_block(self, block: Block) -> None:
        """Write a block behind what is there, and note its places."""
        if block.kind == "table" and block.cells:
            self._add_table(block)
        else:
            fence = "`" * max(3, 1 + max((len(found) for found in _FENCE.findall(block.text)), default=2))
            around = {"equation": "$$", "code": fence}.get(block.kind, "")
            self.text += around and f"{around}\n"
            self.blocks[block.id] = len(self.text)
            self.text += block.text + (around and f"\n{around}")
        self.ends[block.id] = len(self.text)
        self.text += "\n\n"

    def _add_table(self, block: Block) -> None:
        for i, row in enumerate(block.cells):
            self.text += "|"
            for j, cell in enumerate(row):
                self.text += " "
                self.cells[block.id, i, j] = len(self.text)
                self.text += f"{cell} |"
            if i == 0:
                self.text += "\n|" + " --- |" * len(row)
            if i + 1 < len(block.cells):
                self.text += "\n"


def write_markdown(paper: Paper) -> Written:
    """Write a paper as Markdown; authors and addresses are left out, since no reviewer is shown them.

    The same paper gives the same bytes. A table is written cell by cell where its cells are known, and behind its
    caption: that is where a reader of Markdown takes its label from.

    Args:
        paper: From whatever format.

    Returns:
        The text, ending with one line break, and what stands where in it.
    """
    sections = tuple(_plain_section(section) for section in paper.sections if section.role in _WRITTEN)
    written = Written(paper.model_copy(update={"sections": sections}))
    if paper.title.strip():
        written.add_heading(paper.title, 1)
    for section in sections:
        written.add_heading(section.heading, section.level + 1)
        for block in section.blocks:
            written.add_block(block)
    written.text = written.text.rstrip("\n") + "\n"
    return written


def _plain_section(section: Section) -> Section:
    blocks = [plain for block in section.blocks if (plain := _plain_block(block)) is not None]
    for i in range(len(blocks) - 1):
        table, caption = blocks[i], blocks[i + 1]
        is_own = caption.kind == "caption" and caption.label == table.label
        if table.kind == "table" and table.label and is_own:
            blocks[i], blocks[i + 1] = caption, table
    return section.model_copy(update={"blocks": tuple(blocks)})


def _plain_block(block: Block) -> Block | None:
    if block.kind == "table" and block.cells:
        cells = tuple(tuple(" ".join(cell.split()).replace("|", "/") for cell in row) for row in block.cells)
        return block.model_copy(update={"cells": cells})
    if block.kind in ("code", "list"):
        text = "\n".join(line.rstrip() for line in block.text.splitlines() if line.strip())
    elif block.kind == "equation":
        text = "\n".join(line.strip() for line in block.text.replace("$$", "").splitlines() if line.strip())
    else:
        text = _STARTS_BLOCK.sub("\\\\", " ".join(block.text.split()))
    return block.model_copy(update={"text": text}) if text.strip() else None
