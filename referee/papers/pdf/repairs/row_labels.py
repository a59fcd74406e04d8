"""Labels that span several rows of a table: given to each row of their group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from referee.papers.pdf.draft import Draft
from referee.papers.pieces import Piece, cells_text, squeeze

_GUTTER = 7.0

Row = tuple[str, ...]


def spread_row_labels(draft: Draft) -> None:
    """Turn centred labels on rows of their own into a first column.

    A table says 'Baseline' once, at half the height of the group's rows, and the converter makes a row of it in the
    group's middle. Where each such row has as many rows above it as below it, and the groups fill the table, every
    row gets its label.
    """
    for index, piece in enumerate(draft.pieces):
        if piece.kind != "table" or not piece.cells or len(piece.cells[0]) < 3:
            continue
        groups = _groups(piece.cells)
        if not groups:
            continue
        header = _split_header(draft, piece)
        rows = [header, *((label, *row) for label, members in groups for row in members)]
        cells = tuple(rows)
        names = ", ".join(label for label, _ in groups)
        proof = "each label is centred: as many rows above it as below it, and the groups fill the table"
        draft.record("row_labels", piece.page, names, "first column", proof)
        draft.pieces[index] = replace(piece, cells=cells, text=cells_text(cells))


def _groups(cells: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Labels with their rows; empty unless two or more centred labels account for all rows below the header."""
    rows = list(cells[1:])
    labels = [i for i, row in enumerate(rows) if row[0] and not any(row[1:])]
    if len(labels) < 2:
        return []
    groups: list[tuple[str, list[Row]]] = []
    start = 0
    for at in labels:
        above = at - start
        end = at + above
        members = rows[start:at] + rows[at + 1 : end + 1]
        if above == 0 or end >= len(rows) or not all(row[0] and any(row[1:]) for row in members):
            return []
        groups.append((rows[at][0], members))
        start = end + 1
    return groups if start == len(rows) else []


def _split_header(draft: Draft, table: Piece) -> Row:
    """The header with its first cell parted where the page leaves a gap between two words; else an empty first cell."""
    first, *others = table.cells[0]
    words = draft.words_in(draft.page(table.page), table.box) if table.box else []
    parts = first.split()
    for place in range(1, len(parts)):
        left = next((word for word in words if word.text == parts[place - 1]), None)
        right = next((word for word in words if word.text == parts[place]), None)
        if left and right and abs(left.y0 - right.y0) < 4 and right.x0 - left.x1 > _GUTTER and squeeze(parts[place]):
            return (" ".join(parts[:place]), " ".join(parts[place:]), *others)
    return ("", first, *others)
