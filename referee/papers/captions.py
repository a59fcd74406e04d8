"""The captions of a paper that name its figures and tables, and which tables were read well enough to be relied on."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from referee.papers.pieces import caption_label
from referee.schemas.computation import TableRows
from referee.schemas.figure import FigureKind
from referee.schemas.paper import Block, Paper

_CONTINUED = re.compile(r"\bcont(?:inued|inues|\.|[’']?d\b)", re.IGNORECASE)
_OPENING = 60
UNCAPTIONED = "Figure without a caption"
"""What a figure is called that no caption names; its page follows."""


@dataclass(frozen=True)
class Caption:
    """A caption that names a figure or table, the table that was read under the same label, and where it goes on."""

    label: str
    kind: FigureKind
    block: Block
    table: Block | None = None
    continued: tuple[Block, ...] = ()


def captions_of(paper: Paper) -> list[Caption]:
    """Captions that name a figure or table, in order of reading, each label once."""
    tables = tables_by_label(paper)
    captions = defaultdict[str, list[Block]](list)
    for _, block in paper.blocks():
        label = block.label or (caption_label(block.text) if block.kind == "figure" else None) or ""
        if block.kind in ("caption", "figure") and label.startswith(("Figure", "Table")):
            captions[label].append(block)
    return [
        Caption(
            label, "table" if label.startswith("Table") else "figure", first, tables.get(label),
            tuple(one for one in others if _CONTINUED.search(one.text[:_OPENING])),
        )
        for label, (first, *others) in captions.items()
    ]  # fmt: skip


def doubted_tables(paper: Paper) -> frozenset[str]:
    """Labels of tables whose text cannot be relied on: nothing was read below the caption, or rows differ in length.

    Formats that say where a cell begins are not doubted.
    """
    if paper.format != "pdf":
        return frozenset()
    captioned = [one for one in captions_of(paper) if one.kind == "table"]
    return frozenset(one.label for one in captioned if not _is_even(one.table))


def table_rows(paper: Paper) -> dict[str, TableRows]:
    """The rows of each table that was read, as the text given to a reader has them, by its number (``2``, ``A1``)."""
    doubted = doubted_tables(paper)
    return {
        label.removeprefix("Table").strip(): TableRows(rows=_rows_of(table), doubtful=label in doubted)
        for label, table in tables_by_label(paper).items()
    }


def _is_even(table: Block | None) -> bool:
    cells = () if table is None else _rows_of(table)
    return len(cells) > 1 and len(set(map(len, cells))) == 1


def _rows_of(table: Block) -> tuple[tuple[str, ...], ...]:
    return table.cells or tuple(tuple(row.split(" | ")) for row in table.text.splitlines())


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
