"""Displayed equations: halves joined, scattered signs gathered, and numbers the page prints but no equation has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.pages import Line, Page, around
from referee.papers.pdf.repairs.words import Vocabulary, is_scrambled, join_lines
from referee.papers.pieces import Piece
from referee.schemas.paper import Box

_ONLY_FORMULA = re.compile(r"^\$(?P<latex>[^$]+?)\s*\((?P<number>[A-Z]?\.?\d{1,3}(?:\.\d+)?)\)\s*\$$")
_PRINTED_NUMBER = re.compile(r"\((?P<number>\d{1,3})\)$")
_LEADING_FORMULAS = re.compile(r"^(?:\$[^$]+\$\s*)+(?=\S)")
_WORD = re.compile(r"(?<!\\)\b[A-Za-z]{4,}")
_REACH, _INDENT = 10.0, 12.0


def repair_equations(draft: Draft, vocabulary: Vocabulary) -> None:
    """Make each display one equation with its printed number."""
    for index, piece in enumerate(draft.pieces):
        match = _ONLY_FORMULA.match(piece.text) if piece.kind == "paragraph" else None
        if match:
            label = f"({match['number']})"
            draft.record("missed_equation", piece.page, piece.text, "equation", f"the printed number {label}")
            draft.pieces[index] = replace(piece, kind="equation", text=match["latex"].strip(), label=label)
    _gather(draft)
    _unnumbered(draft)
    for page in draft.pages:
        for line in page.body:
            _recover_number(draft, page, line, vocabulary)


def _unnumbered(draft: Draft) -> None:
    """Displays without a number: set-in pieces that hold formulas and no word."""
    for index, piece in enumerate(draft.pieces):
        if piece.kind != "paragraph" or piece.box is None or "$" not in piece.text or _WORD.search(piece.text):
            continue
        page, box = draft.page(piece.page), piece.box
        left = min((line.box.x0 for line in page.body if overlap_x(line.box, box) > 0.9), default=box.x0)
        text = _page_text(page, box)
        if box.x0 - left < _INDENT or not text:
            continue
        draft.record("missed_equation", piece.page, piece.text, text, "set in from the column's edge, without a word")
        draft.pieces[index] = replace(piece, kind="equation", text=text)


def _gather(draft: Draft) -> None:
    """Take the signs beside an equation that became pieces of their own; the page's order then gives its text."""
    for equation in [piece for piece in draft.pieces if piece.kind == "equation" and piece.box]:
        if equation not in draft.pieces:
            continue
        if equation.text.endswith("=") and _complete(draft, equation):
            continue
        at = draft.pieces.index(equation)
        near = [*draft.pieces[max(0, at - 2) : at], *draft.pieces[at + 1 : at + 3]]
        parts = [piece for piece in near if _is_part(piece, equation)]
        if not parts and not is_scrambled(f"${equation.text}$"):
            continue
        box = around(*(piece.box for piece in (equation, *parts) if piece.box))
        text = _page_text(draft.page(equation.page), box)
        label = equation.label or next((part.label for part in parts if part.label), None)
        if not text:
            continue
        proof = f"the page prints these signs in one display with {len(parts)} piece(s) beside the equation"
        draft.record("scattered_equation", equation.page, equation.text, text, proof)
        draft.pieces[at] = replace(equation, text=text, box=box, label=label)
        draft.pieces = [piece for piece in draft.pieces if piece not in parts]


def _complete(draft: Draft, equation: Piece) -> bool:
    """Give an equation that ends with '=' the formulas at the start of a paragraph beside it; true when done."""
    for index, piece in enumerate(draft.pieces):
        match = _LEADING_FORMULAS.match(piece.text) if piece.kind == "paragraph" else None
        box, other = piece.box, equation.box
        if match is None or piece.page != equation.page or box is None or other is None:
            continue
        if not (box.y0 <= other.y1 and other.y1 <= box.y1 and overlap_x(box, other) > 0.8):
            continue
        area = Box(x0=box.x0, x1=box.x1, y0=min(box.y0, other.y0), y1=other.y1 + _REACH / 2)
        text, rest = _page_text(draft.page(piece.page), area), piece.text[match.end() :]
        if rest:
            draft.pieces[index] = replace(piece, text=rest)
        at = draft.pieces.index(equation)
        draft.pieces[at] = replace(equation, text=text or equation.text, box=around(other, area))
        proof = "it ended with '='; the page prints the rest at its height, where the next paragraph began"
        draft.record("scattered_equation", piece.page, equation.text, text, proof)
        return True
    return False


def _is_part(piece: Piece, equation: Piece) -> bool:
    """A piece of signs only, or an unnumbered equation, that lies in the height of the display."""
    one, other = piece.box, equation.box
    if piece.page != equation.page or one is None or other is None or overlap_x(one, other) < 0.3:
        return False
    if piece.kind == "equation":
        touches = one.y0 - other.y1 < 1.0 and other.y0 - one.y1 < 1.0
        return touches and (piece.label is None or equation.label is None)
    inside = one.y0 >= other.y0 - _REACH and one.y1 <= other.y1 + _REACH
    return piece.kind in ("paragraph", "footnote") and inside and not _WORD.search(piece.text)


def _page_text(page: Page, box: Box) -> str:
    """What the page prints in a box, in its own order, without the equation's number."""
    lines = [
        line
        for line in page.body
        if box.x0 - 3 <= line.box.x0 <= box.x1 + 3 and box.y0 - 3 <= (line.box.y0 + line.box.y1) / 2 <= box.y1 + 3
    ]
    text = " ".join(line.text for line in lines)
    return _PRINTED_NUMBER.sub("", text).strip()


def _recover_number(draft: Draft, page: Page, line: Line, vocabulary: Vocabulary) -> None:
    """Cut a display out of the paragraph that swallowed it, if a line ends with the next number at the margin."""
    match = _PRINTED_NUMBER.search(line.text)
    if match is None or any(piece.label == match[0] and piece.kind == "equation" for piece in draft.pieces):
        return
    at = next((i for i, p in enumerate(draft.pieces) if p.page == page.number and _holds(p, line.box)), None)
    before = f"({int(match['number']) - 1})"
    is_next = before == "(0)" or any(p.kind == "equation" and p.label == before for p in draft.pieces)
    column = (other.box.x1 for other in page.body if overlap_x(other.box, line.box) > 0.5 and other.size <= line.size)
    if at is None or not is_next or abs(max(column, default=line.box.x1) - line.box.x1) >= 3:
        return
    piece = draft.pieces[at]
    if piece.box is None or line not in (lines := page.lines_in(piece.box)):  # it may hold a line's middle alone
        return
    display = _display(lines, line, piece.box)
    printed, formula = join_lines(lines, vocabulary), " ".join(part.text for part in display)
    place = printed.find(formula)
    if place < 0:
        return
    equation = replace(
        piece,
        kind="equation",
        text=_PRINTED_NUMBER.sub("", formula).strip() or formula,
        box=around(*(part.box for part in display)),
        label=match[0],
    )
    first, last = (replace(piece, text=text.strip()) for text in (printed[:place], printed[place + len(formula) :]))
    draft.pieces[at : at + 1] = [part for part in (first, equation, last) if part.text]
    draft.record(
        "missed_equation", page.number, piece.text, equation.text, f"the number {match[0]} stands at the margin"
    )


def _holds(piece: Piece, box: Box) -> bool:
    middle = (box.y0 + box.y1) / 2
    return (
        piece.kind in ("paragraph", "list")
        and piece.box is not None
        and piece.box.y0 <= middle <= piece.box.y1
        and overlap_x(piece.box, box) > 0.5
    )


def _display(lines: Sequence[Line], last: Line, box: Box) -> list[Line]:
    """The lines that end with ``last`` and stand in from the column's left edge."""
    end = lines.index(last)
    for start in range(end, 0, -1):
        above = lines[start - 1]
        near = above.box.x0 > box.x0 + _INDENT and last.box.y0 - above.box.y0 < 2 * _REACH
        if not near or re.search(r"\w{3,}\s+\w{3,}\s+\w{3,}", above.text):
            return list(lines[start : end + 1])
    return list(lines[: end + 1])
