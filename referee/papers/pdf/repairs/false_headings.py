"""Headings that are none: running heads, list items, and heads of tables."""

from __future__ import annotations

import re
from dataclasses import replace

from referee.papers.headings import is_known_name, number_key, plain_name
from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.repairs.headings import style_of
from referee.papers.pieces import Piece, squeeze

_NUMBER = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){0,3})[.:)]?\s+\S")


def drop_running_heads(draft: Draft) -> None:
    """Remove pieces that are, word for word, a line which repeats over the pages or a page number."""
    kept = []
    for piece in draft.pieces:
        if piece.kind in ("heading", "paragraph", "footnote") and _is_furniture(draft, piece):
            draft.record(
                "running_head", piece.page, piece.text, "", "the same line stands at this height on other pages"
            )
        else:
            kept.append(piece)
    draft.pieces = kept


def _is_furniture(draft: Draft, piece: Piece) -> bool:
    page, key = draft.page(piece.page), squeeze(piece.text)
    if not key or any(line.key == key for line in page.body):
        return False
    return any(
        line.furniture and line.key == key and (piece.box is None or abs(line.box.y0 - piece.box.y0) < 12)
        for line in page.lines
    )


def demote_false_headings(draft: Draft) -> None:
    """Turn headings back into text where numbering, a table or the font size contradicts them."""
    _demote_list_items(draft)
    _demote_front(draft)
    numbered = any(piece.kind == "heading" and _NUMBER.match(piece.text) for piece in draft.pieces)
    for index, piece in enumerate(draft.pieces):
        if piece.kind != "heading" or not numbered or _NUMBER.match(piece.text) or is_known_name(piece.text):
            continue
        if proof := _table_head(draft, index) or _too_small(draft, piece):
            draft.record("false_heading", piece.page, piece.text, "", proof)
            draft.pieces[index] = replace(piece, kind="paragraph")


def _demote_front(draft: Draft) -> None:
    """Author names in a large font stand before the abstract or section 1 on page 1: they open no section."""
    opening = next((i for i, p in enumerate(draft.pieces) if p.kind == "heading" and _opens_paper(p.text)), 0)
    for index, piece in enumerate(draft.pieces[:opening]):
        if piece.kind == "heading" and piece.page == 1 and not _NUMBER.match(piece.text):
            proof = f"it stands on page 1 before '{draft.pieces[opening].text}'"
            draft.record("false_heading", 1, piece.text, "", proof)
            draft.pieces[index] = replace(piece, kind="paragraph")


def _opens_paper(heading: str) -> bool:
    match = _NUMBER.match(heading)
    return match[1] == "1" if match else plain_name(heading) in ("abstract", "introduction")


def _demote_list_items(draft: Draft) -> None:
    """A number that goes backwards, in a style that no heading in sequence has, is a list's."""
    last: tuple[int, ...] = ()
    good_styles, doubtful = set(), []
    for index, piece in enumerate(draft.pieces):
        match = _NUMBER.match(piece.text) if piece.kind == "heading" else None
        if match is None:
            continue
        line, key = draft.line_of(piece), number_key(match[1])
        if last and key <= last:
            doubtful.append((index, match[1], line, last))
        else:
            last = key
            if line:
                good_styles.add(style_of(line))
    for index, number, line, before in doubtful:
        if line is None or style_of(line) in good_styles:
            continue
        piece = draft.pieces[index]
        printed = ".".join(map(str, before))
        draft.record(
            "false_heading",
            piece.page,
            piece.text,
            "",
            f"number {number} after section {printed}, in a style that no section heading has: a list item",
        )
        draft.pieces[index] = replace(piece, kind="list")


def _table_head(draft: Draft, index: int) -> str:
    """The proof that a heading is a table's head: it lies in the table's box, or between it and its caption."""
    piece = draft.pieces[index]
    for table in draft.pieces:
        if table.kind != "table" or table.page != piece.page or table.box is None or piece.box is None:
            continue
        middle = (piece.box.y0 + piece.box.y1) / 2
        if table.box.y0 <= middle <= table.box.y1 and overlap_x(piece.box, table.box) > 0.5:
            return "it lies inside a table's box"
    before = draft.pieces[index - 1] if index else None
    after = draft.pieces[index + 1] if index + 1 < len(draft.pieces) else None
    if before and after and before.kind == "caption" and after.kind == "table" and before.page == piece.page:
        return f"it stands between the caption of {before.label} and its rows"
    return ""


def _too_small(draft: Draft, piece: Piece) -> str:
    line = draft.line_of(piece)
    body = draft.body_size()
    if line is None or line.size >= body - 0.5:
        return ""
    return f"unnumbered and printed at {line.size:g} pt, smaller than the text's {body:g} pt"
