"""The captions of a paper that name its figures and tables, and which tables were read well enough to be relied on."""

from __future__ import annotations

from dataclasses import dataclass

from referee.papers.pieces import caption_label
from referee.schemas.figure import FigureKind
from referee.schemas.paper import Block, Paper


@dataclass(frozen=True)
class Caption:
    """A caption that names a figure or table, and the table that was read under the same label."""

    label: str
    kind: FigureKind
    block: Block
    table: Block | None = None


def captions_of(paper: Paper) -> list[Caption]:
    """Captions that name a figure or table, in order of reading, each label once."""
    tables = tables_by_label(paper)
    captions: dict[str, Block] = {}
    for _, block in paper.blocks():
        label = block.label or (caption_label(block.text) if block.kind == "figure" else None) or ""
        if block.kind in ("caption", "figure") and label.startswith(("Figure", "Table")):
            captions.setdefault(label, block)
    return [
        Caption(label, "table" if label.startswith("Table") else "figure", block, tables.get(label))
        for label, block in captions.items()
    ]


def doubted_tables(paper: Paper) -> frozenset[str]:
    """Labels of tables whose text cannot be relied on: nothing was read below the caption, or rows differ in length.

    Formats that say where a cell begins are not doubted.
    """
    if paper.format != "pdf":
        return frozenset()
    captioned = [one for one in captions_of(paper) if one.kind == "table"]
    return frozenset(one.label for one in captioned if one.table is None or not _is_even(one.table))


def _is_even(table: Block) -> bool:
    rows = [len(row) for row in table.cells] if table.cells else [row.count(" | ") for row in table.text.splitlines()]
    return len(rows) > 1 and len(set(rows)) == 1


def tables_by_label(paper: Paper) -> dict[str, Block]:
    """Each table that was read, the first of its label: its own, or that of the caption behind or before it."""
    found: dict[str, Block] = {}
    for section in paper.sections:
        for at, block in enumerate(section.blocks):
            if block.kind == "table":
                near = (block, *section.blocks[at + 1 : at + 2], *section.blocks[max(0, at - 1) : at])
                label = next((one.label for one in near if (one.label or "").startswith("Table")), None)
                found.setdefault(label or "", block)
    found.pop("", None)
    return found
