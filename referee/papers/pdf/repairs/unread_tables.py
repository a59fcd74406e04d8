"""Tables without a piece of their own: where floats stand among references, their words end up behind an entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.bibliography import parse_entry
from referee.papers.pdf.draft import Draft, union
from referee.papers.pdf.pages import Line
from referee.papers.pdf.repairs.tables import grid
from referee.papers.pieces import Piece, cells_text
from referee.schemas.paper import Box

_ROW_GAP = 30.0
_SLACK = 2.0
_LEAST = 2


def rebuild_unread_tables(draft: Draft) -> None:
    """Make a table of the lines next to a table caption that lie in no piece of their page, if they form a grid."""
    for caption in [p for p in draft.pieces if p.kind == "caption" and (p.label or "").startswith("Table")]:
        if caption.box is not None and not any(p.kind == "table" and p.label == caption.label for p in draft.pieces):
            _rebuild(draft, caption, caption.box)


def _rebuild(draft: Draft, caption: Piece, at: Box) -> None:
    page = draft.page(caption.page)
    boxes = [piece.box for piece in draft.pieces if piece.page == caption.page and piece.box is not None]
    unread = [line for line in page.body if not any(_holds(box, line.box) for box in boxes)]
    lines = _run(unread, at, below=True) or _run(unread, at, below=False)
    if not lines:
        return
    box = lines[0].box
    for line in lines[1:]:
        box = union(box, line.box)
    cells = grid(draft.words_in(page, box))
    if len(cells) < _LEAST or len(cells[0]) < _LEAST:
        return
    text = cells_text(cells)
    proof = f"{caption.label} has a caption; no piece holds the words in columns beside it"
    draft.record("missed_table", caption.page, "", text, proof)
    _take_out(draft, caption, text.replace("|", " ").split())
    table = Piece(kind="table", text=text, page=caption.page, box=box, cells=cells, label=caption.label)
    draft.pieces.insert(draft.pieces.index(caption) + 1, table)


def _run(lines: Sequence[Line], at: Box, *, below: bool) -> list[Line]:
    """The lines that follow the caption on one side without a gap."""
    run: list[Line] = []
    edge = at.y1 if below else at.y0
    for line in sorted(lines, key=lambda item: item.box.y0 if below else -item.box.y1):
        gap = line.box.y0 - edge if below else edge - line.box.y1
        beside = run and abs(line.box.y0 - run[-1].box.y0) < _SLACK
        if not beside and gap < -_SLACK:
            continue
        if gap > _ROW_GAP:
            break
        run.append(line)
        edge = line.box.y1 if below else line.box.y0
    return run


def _holds(outer: Box, inner: Box) -> bool:
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return outer.x0 - _SLACK <= x <= outer.x1 + _SLACK and outer.y0 - _SLACK <= y <= outer.y1 + _SLACK


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
