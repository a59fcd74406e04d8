"""Tables: rows the converter cut in two, grids it read as sentences, and the label each caption gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from referee.papers.pdf.draft import Draft, overlap_x, union
from referee.papers.pdf.pages import Line, Word
from referee.papers.pieces import Piece, cells_text, squeeze
from referee.schemas.paper import Box

_SAME_LINE = 4.0
_GUTTER = 7.0
_CAPTION_REACH = 60.0


def repair_tables(draft: Draft) -> None:
    """Merge cut rows, rebuild grids that have a caption but no table, then label tables by their captions."""
    for index, piece in enumerate(draft.pieces):
        if piece.kind == "table" and piece.box is not None:
            merged = _merge_rows(draft, piece, piece.box)
            draft.pieces[index] = _reread_cells(draft, merged, piece.box)
    _spanning_heads(draft)
    _label_tables(draft)
    for caption in [p for p in draft.pieces if p.kind == "caption" and (p.label or "").startswith("Table")]:
        if not any(p.kind == "table" and p.label == caption.label for p in draft.pieces):
            _rebuild(draft, caption)


def _merge_rows(draft: Draft, table: Piece, box: Box) -> Piece:
    """Two neighbouring rows become one where the page prints all their cells at one height."""
    bands = _bands(draft.page(table.page).lines_in(box, slack=4.0))
    rows: list[tuple[str, ...]] = []
    merged = 0
    for row in table.cells:
        if rows and _complement(rows[-1], row) and _on_one_band(rows[-1], row, bands):
            rows[-1] = tuple(one or other for one, other in zip(rows[-1], row, strict=True))
            merged += 1
        else:
            rows.append(row)
    if not merged:
        return table
    draft.record(
        "cut_table_rows",
        table.page,
        f"{len(table.cells)} rows",
        f"{len(rows)} rows",
        f"the page prints the cells of {merged} pair(s) of rows at the same height",
    )
    return replace(table, cells=tuple(rows), text=cells_text(tuple(rows)))


def _reread_cells(draft: Draft, table: Piece, box: Box) -> Piece:
    """Rebuild a table from the page's words where its cells hold words that the page does not print there."""
    page = draft.page(table.page)
    letters = squeeze("".join(line.text for line in page.lines_in(box, slack=4.0)))
    said = [word for row in table.cells for cell in row for word in cell.split() if len(squeeze(word)) > 3]
    strange = [word for word in said if squeeze(word) not in letters]
    if not strange:
        return table
    cells = grid(draft.words_in(page, box))
    if not cells or len(cells[0]) != len(table.cells[0]):
        return table
    draft.record(
        "garbled_cells", table.page, ", ".join(strange), cells_text(cells), "the page does not print these words"
    )
    return replace(table, cells=cells, text=cells_text(cells))


def _bands(lines: Sequence[Line]) -> list[str]:
    """The letters and digits printed at each height of a region."""
    bands: list[tuple[float, list[Line]]] = []
    for line in sorted(lines, key=lambda item: (item.box.y0 + item.box.y1) / 2):
        middle = (line.box.y0 + line.box.y1) / 2
        if bands and middle - bands[-1][0] < _SAME_LINE:
            bands[-1][1].append(line)
        else:
            bands.append((middle, [line]))
    return ["".join(line.key for line in sorted(band, key=lambda item: item.box.x0)) for _, band in bands]


def _complement(one: Sequence[str], other: Sequence[str]) -> bool:
    if len(one) != len(other):
        return False
    return all(not (a and b) for a, b in zip(one, other, strict=True)) and any(one) and any(other)


def _on_one_band(one: Sequence[str], other: Sequence[str], bands: Sequence[str]) -> bool:
    keys = [squeeze(cell) for cell in (*one, *other) if squeeze(cell)]
    return any(all(key in band for key in keys) for band in bands)


def _spanning_heads(draft: Draft) -> None:
    """A small line directly above a table, within its width, is the head over several columns: its first row."""
    body = draft.body_size()
    kept: list[Piece] = []
    for piece in draft.pieces:
        last = kept[-1] if kept else None
        if piece.kind == "table" and last and _is_head(last, piece, body):
            row = ("", last.text, *("" for _ in piece.cells[0][2:]))
            cells = (row, *piece.cells)
            draft.record("table_head", piece.page, last.text, "first row", "a small line right above the table's rows")
            box = union(piece.box, last.box) if piece.box and last.box else piece.box
            kept[-1] = replace(piece, cells=cells, text=cells_text(cells), box=box)
        else:
            kept.append(piece)
    draft.pieces = kept


def _is_head(piece: Piece, table: Piece, body: float) -> bool:
    one, other = piece.box, table.box
    if piece.kind != "paragraph" or piece.page != table.page or one is None or other is None:
        return False
    inside = one.x0 >= other.x0 - 3 and one.x1 <= other.x1 + 3 and 0 <= other.y0 - one.y1 < 12
    return inside and 0 < piece.size < body - 0.3 and len(table.cells[0]) > 2


def _label_tables(draft: Draft) -> None:
    """Give each table the label of the nearest table caption above or below it; a caption serves one table."""
    captions = [p for p in draft.pieces if p.kind == "caption" and p.label and p.box]
    used: set[int] = set()
    for index, piece in enumerate(draft.pieces):
        if piece.kind != "table" or piece.box is None or piece.label:
            continue
        near = [
            (_distance(piece.box, caption.box), number, caption)
            for number, caption in enumerate(captions)
            if caption.page == piece.page and caption.box and number not in used and str(caption.label)[:1] == "T"
        ]
        near = [item for item in near if item[0] < _CAPTION_REACH]
        if near:
            _, number, caption = min(near, key=lambda item: item[:2])
            used.add(number)
            draft.pieces[index] = replace(piece, label=caption.label)


def _distance(one: Box, other: Box | None) -> float:
    """Free height between two boxes, infinite where they share no width."""
    if other is None or overlap_x(one, other) < 0.2:
        return float("inf")
    return max(0.0, other.y0 - one.y1, one.y0 - other.y1)


def _rebuild(draft: Draft, caption: Piece) -> None:
    """Make a table of the small paragraphs next to a table caption that has no table, if their words form a grid."""
    places = _grid_places(draft, caption)
    if not places:
        return
    box = draft.pieces[places[0]].box
    for place in places[1:]:
        other = draft.pieces[place].box
        box = union(box, other) if box and other else box
    assert box is not None
    cells = grid(draft.words_in(draft.page(caption.page), box))
    if len(cells) < 2 or len(cells[0]) < 2:
        return
    before = " ".join(draft.pieces[place].text for place in places)
    text = cells_text(cells)
    draft.record(
        "missed_table", caption.page, before, text, f"{caption.label} has a caption; its words stand in columns"
    )
    table = Piece(kind="table", text=text, page=caption.page, box=box, cells=cells, label=caption.label)
    draft.pieces[places[0] : places[-1] + 1] = [table]


def _grid_places(draft: Draft, caption: Piece) -> list[int]:
    """The run of paragraphs in a smaller size than the text that touches the caption, above it or else below."""
    at = draft.pieces.index(caption)
    body = draft.body_size()
    for step in (-1, 1):
        places: list[int] = []
        place = at + step
        while 0 <= place < len(draft.pieces):
            piece = draft.pieces[place]
            small = piece.kind == "paragraph" and piece.page == caption.page and 0 < piece.size < body - 0.5
            if not small or piece.box is None or overlap_x(piece.box, caption.box or piece.box) < 0.3:
                break
            places.append(place)
            place += step
        if places:
            return sorted(places)
    return []


def grid(words: Sequence[Word]) -> tuple[tuple[str, ...], ...]:
    """Words as rows and columns: rows by height, columns by upright gaps that no word crosses.

    Args:
        words: Words of one region.

    Returns:
        Cells by row, all rows equally long; a single column where no gap goes through all rows.
    """
    if not words:
        return ()
    starts = _columns(words)
    rows: list[tuple[float, list[Word]]] = []
    for word in sorted(words, key=lambda item: (item.y0 + item.y1) / 2):
        middle = (word.y0 + word.y1) / 2
        if rows and middle - rows[-1][0] < _SAME_LINE:
            rows[-1][1].append(word)
        else:
            rows.append((middle, [word]))
    return tuple(_cells(row, starts) for _, row in rows)


def _columns(words: Sequence[Word]) -> list[float]:
    """The left edges of columns."""
    starts: list[float] = []
    right = float("-inf")
    for word in sorted(words, key=lambda item: item.x0):
        if word.x0 - right > _GUTTER:
            starts.append(word.x0)
        right = max(right, word.x1)
    return starts


def _cells(row: Sequence[Word], starts: Sequence[float]) -> tuple[str, ...]:
    cells: list[list[str]] = [[] for _ in starts]
    for word in sorted(row, key=lambda item: item.x0):
        column = max(i for i, start in enumerate(starts) if start <= word.x0 + 0.01)
        cells[column].append(word.text)
    return tuple(" ".join(cell) for cell in cells)
