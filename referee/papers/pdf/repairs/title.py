"""Titles that lost a line: the largest lines at the top of page 1 say what the title is."""

from __future__ import annotations

from collections.abc import Sequence

from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line
from referee.papers.pdf.repairs.hyphens import Vocabulary, join_lines
from referee.papers.pieces import Piece, squeeze

_TOP_SHARE = 0.5
_SAME_SIZE = 0.6


def repair_title(draft: Draft, vocabulary: Vocabulary) -> None:
    """Replace a title that is a part of the page's largest text by the whole, and absorb the pieces it lies in.

    A title that is no part of the largest lines is kept, unless the converter itself made a heading of them.
    """
    lines = _largest_lines(draft)
    printed = join_lines(lines, vocabulary)
    said, key = squeeze(draft.title), squeeze(printed)
    if not key:
        return
    if said != key and (said in key or _was_demoted(draft, key, said, lines[0].size)):
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


def _was_demoted(draft: Draft, key: str, said: str, size: float) -> bool:
    """Whether the converter made a heading of the largest lines and a title of a smaller line, such as the date."""
    headings = {squeeze(piece.text) for piece in draft.pieces if piece.page == 1 and piece.kind == "heading"}
    sizes = [line.size for line in draft.pages[0].body if line.key and line.key in said]
    return key in headings and bool(sizes) and max(sizes) < size - 2


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
