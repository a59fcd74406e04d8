"""A title that lost a line, and headings that are none: running heads, list items, names of authors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.headings import number_key, plain_name
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line
from referee.papers.pdf.repairs.headings import style_of
from referee.papers.pdf.repairs.words import Vocabulary, join_lines
from referee.papers.pieces import Piece, squeeze

_TOP_SHARE = 0.5
_SAME_SIZE = 0.6


def repair_title(draft: Draft, vocabulary: Vocabulary) -> None:
    """Replace a title that is a part of the page's largest text by the whole, and absorb the pieces it lies in.

    A title that is no part of the largest lines is kept.
    """
    lines = _largest_lines(draft)
    printed = join_lines(lines, vocabulary)
    said, key = squeeze(draft.title), squeeze(printed)
    if not key:
        return
    if said != key and said in key:
        draft.record(
            "title",
            1,
            draft.title,
            printed,
            f"the largest text at the top of page 1 ({lines[0].size:g} pt, {len(lines)} line(s))",
        )
        draft.title = printed
    if squeeze(draft.title) == key:
        draft.pieces = [piece for piece in draft.pieces if not _is_part_of_title(piece, key, lines)]


def _largest_lines(draft: Draft) -> list[Line]:
    """The topmost run of lines on page 1 in the page's largest font size."""
    page = draft.pages[0]
    top = [line for line in page.body if line.box.y1 < _TOP_SHARE * page.height and len(line.key) > 1]
    if not top:
        return []
    size = max(line.size for line in top)
    if size <= draft.body_size() + 0.5:
        return []
    return _run_of(top, size, draft.body_size())


def _run_of(lines: Sequence[Line], size: float, body: float) -> list[Line]:
    """The lines in this size; a line of small capitals, or the rest of a broken word, may be smaller."""
    run: list[Line] = []
    for line in lines:
        small = bool(run) and line.font == run[-1].font and line.text.isupper() and line.size > body + 1
        if abs(line.size - size) <= _SAME_SIZE or small or (run and run[-1].hyphen):
            run.append(line)
        elif run:
            break
    return run


def _is_part_of_title(piece: Piece, key: str, lines: Sequence[Line]) -> bool:
    if piece.page != 1 or piece.box is None or piece.kind not in ("paragraph", "heading"):
        return False
    bottom = max(line.box.y1 for line in lines)
    return piece.box.y0 <= bottom and squeeze(piece.text) in key and len(squeeze(piece.text)) > 1


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
    """Turn headings back into text where the numbering or the place before section 1 contradicts them."""
    _demote_list_items(draft)
    _demote_front(draft)


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
