"""Tables: rows cut in two, grids read as sentences or not at all, labels by captions and by groups of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from referee.papers.bibliography import parse_entry
from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.pages import Word, around, middle_in
from referee.papers.pdf.repairs.words import Vocabulary, join_lines
from referee.papers.pieces import Piece, cells_text, squeeze
from referee.schemas.paper import Box

_Item = TypeVar("_Item")
_SAME_LINE, _GUTTER, _CAPTION_REACH = 4.0, 7.0, 60.0
_LEAST, _GRID_ROWS, _GRID_COLUMNS, _FULL_ROWS = 2, 5, 3, 0.6


def repair_tables(draft: Draft, vocabulary: Vocabulary) -> None:
    """Merge cut rows, rebuild grids that have a caption but no table, then label tables by their captions."""
    small = draft.body_size() - 0.5
    for index, piece in enumerate(draft.pieces):
        if piece.kind == "table" and piece.box is not None:
            merged = _merge_rows(draft, piece, piece.box)
            draft.pieces[index] = _reread_cells(draft, merged, piece.box)
        elif piece.kind == "paragraph" and piece.box and (piece.page or 1) > 1 and 0 < piece.size < small:
            draft.pieces[index] = _as_grid(draft, piece, piece.box)
    _spanning_heads(draft)
    _label_tables(draft)
    draft.pieces = [_as_text(draft, piece, vocabulary) for piece in draft.pieces]
    for caption in [p for p in draft.pieces if p.kind == "caption" and (p.label or "").startswith("Table")]:
        if caption.box and not any(p.kind == "table" and p.label == caption.label for p in draft.pieces):
            _rebuild(draft, caption, caption.box)


def _as_grid(draft: Draft, piece: Piece, box: Box) -> Piece:
    """Small text with words in every column of most rows is a table: a part of one that its caption is far from."""
    cells = grid(draft.words_in(draft.page(piece.page), box))
    if len(cells) < _GRID_ROWS or len(cells[0]) < _GRID_COLUMNS or sum(map(all, cells)) < _FULL_ROWS * len(cells):
        return piece
    text = cells_text(cells)
    draft.record("missed_table", piece.page, piece.text, text, "small text whose words stand in rows and columns")
    return replace(piece, kind="table", text=text, cells=cells)


def _as_text(draft: Draft, piece: Piece, vocabulary: Vocabulary) -> Piece:
    """A table of two columns without a caption is text where no gap goes through all its lines."""
    page, is_pairs = draft.page(piece.page), {len(row) for row in piece.cells} == {_LEAST} and not piece.label
    if not (is_pairs and piece.box and len(_columns(draft.words_in(page, piece.box))) == 1):
        return piece
    text = join_lines([line for line in page.lines_in(piece.box) if line.key], vocabulary)
    draft.record("false_table", piece.page, piece.text, text, "its lines go on where its columns would part")
    return replace(piece, kind="paragraph", text=text or piece.text, cells=())


def _merge_rows(draft: Draft, table: Piece, box: Box) -> Piece:
    """Two neighbouring rows become one where the page prints all their cells at one height."""
    lines = draft.page(table.page).lines_in(box, slack=4.0)
    heights = _by_height(lines, lambda line: (line.box.y0 + line.box.y1) / 2)
    bands = ["".join(line.key for line in sorted(band, key=lambda item: item.box.x0)) for band in heights]
    rows: list[tuple[str, ...]] = []
    for row in table.cells:
        keys = [squeeze(cell) for cell in (*(rows[-1] if rows else ()), *row) if squeeze(cell)]
        if rows and _complement(rows[-1], row) and any(all(key in band for key in keys) for band in bands):
            rows[-1] = tuple(one or other for one, other in zip(rows[-1], row, strict=True))
        else:
            rows.append(row)
    merged = len(table.cells) - len(rows)
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
    cells = grid(draft.words_in(page, box)) if strange else ()
    if not cells or len(cells[0]) != len(table.cells[0]):
        return table
    draft.record(
        "garbled_cells", table.page, ", ".join(strange), cells_text(cells), "the page does not print these words"
    )
    return replace(table, cells=cells, text=cells_text(cells))


def _by_height(items: Iterable[_Item], middle: Callable[[_Item], float]) -> list[list[_Item]]:
    """What stands at about one height, from the top."""
    rows: list[tuple[float, list[_Item]]] = []
    for item in sorted(items, key=middle):
        if rows and middle(item) - rows[-1][0] < _SAME_LINE:
            rows[-1][1].append(item)
        else:
            rows.append((middle(item), [item]))
    return [row for _, row in rows]


def _complement(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) and any(one) and any(other) and not any(map(all, zip(one, other, strict=True)))


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
            box = around(piece.box, last.box) if piece.box and last.box else piece.box
            kept[-1] = replace(piece, cells=cells, text=cells_text(cells), box=box)
        else:
            kept.append(piece)
    draft.pieces = kept


def _is_head(piece: Piece, table: Piece, body: float) -> bool:
    one, other = piece.box, table.box
    small = piece.kind == "paragraph" and piece.page == table.page and 0 < piece.size < body - 0.3
    if not small or one is None or other is None or len(table.cells[0]) <= 2:
        return False
    return one.x0 >= other.x0 - 3 and one.x1 <= other.x1 + 3 and 0 <= other.y0 - one.y1 < 12


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
        if near := [item for item in near if item[0] < _CAPTION_REACH]:
            _, number, caption = min(near, key=lambda item: item[:2])
            used.add(number)
            draft.pieces[index] = replace(piece, label=caption.label)


def _distance(one: Box, other: Box | None) -> float:
    """Free height between two boxes, infinite where they share no width."""
    if other is None or overlap_x(one, other) < 0.2:
        return float("inf")
    return max(0.0, other.y0 - one.y1, one.y0 - other.y1)


def grid(words: Sequence[Word]) -> tuple[tuple[str, ...], ...]:
    """Words as rows and columns: rows by height, columns by upright gaps that no word crosses.

    Args:
        words: Words of one region.

    Returns:
        Cells by row, all rows equally long; a single column where no gap goes through all rows.
    """
    starts = _columns(words)
    rows = _by_height(words, lambda word: (word.y0 + word.y1) / 2)
    return tuple(_cells(row, starts) for row in rows)


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


_ROW_GAP, _SLACK = 30.0, 2.0


def _rebuild(draft: Draft, caption: Piece, at: Box) -> None:
    """Make a table of what stands next to a table caption, small paragraphs and lines in no piece, if it is a grid."""
    page, size = draft.page(caption.page), draft.body_size() - 0.5
    here = [(piece, piece.box) for piece in draft.pieces if piece.page == caption.page and piece.box is not None]
    free = [line.box for line in page.body if not any(middle_in(line.box, box, _SLACK) for _, box in here)]
    free += [box for piece, box in here if piece.kind == "paragraph" and 0 < piece.size < size]
    for below in (False, True):
        run = _run(free, at, below=below)
        if not run:
            continue
        box = around(*run)
        cells = grid(draft.words_in(page, box))
        if len(cells) < _LEAST or len(cells[0]) < _LEAST:
            continue
        text, gone = cells_text(cells), [piece for piece, own in here if own in run]
        proof = f"{caption.label} has a caption; the words beside it stand in columns"
        draft.record("missed_table", caption.page, " ".join(piece.text for piece in gone), text, proof)
        draft.pieces = [piece for piece in draft.pieces if piece not in gone]
        _take_out(draft, caption, text.replace("|", " ").split())
        table = Piece(kind="table", text=text, page=caption.page, box=box, cells=cells, label=caption.label)
        draft.pieces.insert(draft.pieces.index(caption) + below, table)
        return


def _run(boxes: Sequence[Box], at: Box, *, below: bool) -> list[Box]:
    """The boxes that follow the caption on one side without a gap."""
    run: list[Box] = []
    edge = at.y1 if below else at.y0
    for box in sorted(boxes, key=lambda item: item.y0 if below else -item.y1):
        gap = box.y0 - edge if below else edge - box.y1
        beside = run and abs(box.y0 - run[-1].y0) < _SLACK
        if not beside and gap < -_SLACK:
            continue
        if gap > _ROW_GAP:
            break
        run.append(box)
        edge = box.y1 if below else box.y0
    return run


def _take_out(draft: Draft, caption: Piece, words: Sequence[str]) -> None:
    """Cut the table's words off the end of the entry that they were joined to, on this page or the one before."""
    wanted, many = Counter(words), len(words)
    for index, piece in enumerate(draft.pieces):
        said = piece.text.split()
        near = piece.kind == "reference" and (caption.page or 1) - 1 <= (piece.page or 1) <= (caption.page or 1)
        if near and len(said) > many and Counter(said[-many:]) == wanted:
            text = " ".join(said[:-many])
            draft.pieces[index] = replace(piece, text=text, entry=parse_entry(text))
            return


def spread_row_labels(draft: Draft) -> None:
    """Turn centred labels on rows of their own into a first column.

    A table says 'Baseline' once, at half the height of the group's rows, and the converter makes a row of it in the
    group's middle. Where each such row has as many rows above it as below it, and the groups fill the table, every
    row gets its label.
    """
    for index, piece in enumerate(draft.pieces):
        is_wide = piece.kind == "table" and piece.cells and len(piece.cells[0]) >= 3
        if not is_wide or not (groups := _groups(piece.cells)):
            continue
        rows = ((label, *row) for label, members in groups for row in members)
        cells = (_split_header(draft, piece), *rows)
        names = ", ".join(label for label, _ in groups)
        proof = "each label is centred: as many rows above it as below it, and the groups fill the table"
        draft.record("row_labels", piece.page, names, "first column", proof)
        draft.pieces[index] = replace(piece, cells=cells, text=cells_text(cells))


def _groups(cells: Sequence[tuple[str, ...]]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Labels with their rows; empty unless two or more centred labels account for all rows below the header."""
    rows = list(cells[1:])
    labels = [i for i, row in enumerate(rows) if row[0] and not any(row[1:])]
    if len(labels) < 2:
        return []
    groups: list[tuple[str, list[tuple[str, ...]]]] = []
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


def _split_header(draft: Draft, table: Piece) -> tuple[str, ...]:
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
