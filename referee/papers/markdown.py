"""A paper written out as Markdown that our own reader takes, with the place of every block and cell in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from referee.schemas.paper import Block, Paper, Section

_STARTS_BLOCK = re.compile(r"(?m)^(?=\s{0,6}(?:#{1,6}(?:\s|$)|```|~~~|\$\$|(?:[-*+•]|\d{1,3}[.)])\s|=+\s*$|-{2,}\s*$))")
_WRITTEN = frozenset({"abstract", "content", "appendix", "checklist", "acknowledgements", "references"})
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True)
class Written:
    """A paper as Markdown.

    ``paper`` is the paper whose block texts stand in ``text`` word for word: white space inside
    paragraphs is one blank.
    ``blocks`` holds where each block's text begins, by its id; ``cells`` where each cell begins, by block, row and
    column (offsets in characters); a table has no place of its own. ``ends`` is where a block's lines end.
    """

    paper: Paper
    text: str
    blocks: dict[str, int] = field(default_factory=dict)
    cells: dict[tuple[str, int, int], int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self.at = 0
        self.blocks: dict[str, int] = {}
        self.cells: dict[tuple[str, int, int], int] = {}
        self.ends: dict[str, int] = {}

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.at += len(text)

    def heading(self, text: str, level: int) -> None:
        self.put(f"{'#' * min(level, 6)} {' '.join(text.split())}\n\n")

    def block(self, block: Block) -> None:
        match block.kind:
            case "table" if block.cells:
                self._table(block)
            case "equation":
                self._around("$$\n", block, "\n$$")
            case "code":
                fence = "`" * max(3, 1 + max((len(found) for found in _FENCE.findall(block.text)), default=2))
                self._around(f"{fence}\n", block, f"\n{fence}")
            case _:
                self._around("", block, "")
        self.put("\n\n")

    def _around(self, before: str, block: Block, after: str) -> None:
        self.put(before)
        self.blocks[block.id] = self.at
        self.put(block.text + after)
        self.ends[block.id] = self.at

    def _table(self, block: Block) -> None:
        for i, row in enumerate(block.cells):
            self.put("|")
            for j, cell in enumerate(row):
                self.put(" ")
                self.cells[block.id, i, j] = self.at
                self.put(f"{cell} |")
            if i == 0:
                self.put("\n|" + " --- |" * len(row))
            if i + 1 < len(block.cells):
                self.put("\n")
        self.ends[block.id] = self.at


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
    own = paper.model_copy(update={"sections": tuple(section for section in sections if section is not None)})
    writer = _Writer()
    if paper.title.strip():
        writer.heading(paper.title, 1)
    for section in own.sections:
        writer.heading(section.heading, section.level + 1)
        for block in section.blocks:
            writer.block(block)
    text = "".join(writer.parts).rstrip("\n") + "\n"
    return Written(own, text, writer.blocks, writer.cells, writer.ends)


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
