"""Captions that are sentences, footnotes that are text, and note marks torn out of a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.pdf.draft import Draft, overlap_x
from referee.papers.pdf.pages import Line, around, middle_in
from referee.papers.pdf.repairs.words import Vocabulary, join_lines
from referee.papers.pieces import Piece, squeeze
from referee.schemas.paper import BlockKind, Box

_SENTENCE = re.compile(r"^(?:Tables?|Figures?|Figs?\.?)\s*[\d,\s]*(?:and\s+)?\d+[a-z]?\s+[a-z]+")
_MARK = re.compile(r"^[\d\s†‡∗*§¶]{1,7}$")
_SUBCAPTION = re.compile(r"^\([a-z]\)\s+[A-Za-z]{3,}")
_SUBCAPTION_REACH, _LONGEST_SIGN = 40.0, 3
_FIGURE_TEXT, _INDENT = 0.75, 3


def repair_kinds(draft: Draft, vocabulary: Vocabulary) -> None:
    """Settle what a piece is from where it stands on the page."""
    _captions(draft)
    draft.pieces = [part for piece in draft.pieces for part in _end_caption(draft, piece, vocabulary)]
    _footnotes(draft)
    _recover_subcaptions(draft)
    _drop_marks(draft)
    _join_overlapping(draft)


def _captions(draft: Draft) -> None:
    """'Table 1 shows …' is a sentence; so is a second 'Table 4.' in the size of the text, not of the captions."""
    captions = [piece for piece in draft.pieces if piece.kind == "caption" and piece.label]
    counts = Counter(piece.label for piece in captions)
    sizes = Counter(piece.size for piece in captions if not _SENTENCE.match(piece.text))
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    body = draft.body_size()
    for index, piece in enumerate(draft.pieces):
        twice = counts[piece.label] > 1 and abs(piece.size - body) < 0.2 < abs(piece.size - usual)
        if piece.kind == "caption" and (twice or _SENTENCE.match(piece.text)):
            proof = f"{piece.label} has its caption elsewhere" if counts[piece.label] > 1 else "its sentence goes on"
            draft.record("sentence_as_caption", piece.page, piece.text, "paragraph", proof)
            draft.pieces[index] = replace(piece, kind="paragraph", label=None)


def _end_caption(draft: Draft, piece: Piece, vocabulary: Vocabulary) -> list[Piece]:
    """A caption in centred lines ends with the one that is short at both sides; flush lines under it are text."""
    box = piece.box if piece.kind == "caption" else None
    lines = draft.page(piece.page).lines_in(box) if box else []
    cut = next((i for i in range(1, len(lines) - 1) if box and _is_centred_end(lines[i - 1 :], box)), 0)
    if not cut or squeeze(piece.text) != "".join(line.key for line in lines):
        return [piece]
    (text, box), (rest, below) = (
        (join_lines(part, vocabulary), around(*(line.box for line in part))) for part in (lines[:cut], lines[cut:])
    )
    draft.record("caption_end", piece.page, piece.text, text, "its centred last line ends it")
    return [replace(piece, text=text, box=box), replace(piece, kind="paragraph", text=rest, box=below, label=None)]


def _is_centred_end(lines: Sequence[Line], box: Box) -> bool:
    (left, *others), right = [line.box.x0 - box.x0 for line in lines], box.x1 - lines[0].box.x1
    is_centred = min(left, right) > _INDENT * lines[0].size > max(others) and abs(left - right) < lines[0].size
    return is_centred and lines[0].text.endswith(".")


def _footnotes(draft: Draft) -> None:
    """A footnote has nothing but footnotes below it in its column."""
    for index, piece in enumerate(draft.pieces):
        if piece.kind != "footnote" or piece.box is None:
            continue
        below = [
            other
            for other in draft.pieces
            if other.page == piece.page
            and other.kind not in ("footnote", "reference")
            and other.box is not None
            and other.box.y0 >= piece.box.y1 - 2
            and overlap_x(other.box, piece.box) > 0.5
        ]
        if below:
            nearest = min(below, key=lambda other: other.box.y0 if other.box else 0.0)
            in_figure = nearest.kind == "caption" and piece.size < _FIGURE_TEXT * draft.body_size()
            kind: BlockKind = "figure" if in_figure else "paragraph"
            draft.record(
                "false_footnote", piece.page, piece.text, kind, f"a {nearest.kind} stands below it in its column"
            )
            draft.pieces[index] = replace(piece, kind=kind)


def _recover_subcaptions(draft: Draft) -> None:
    """Bring back '(a) …' lines under the parts of a figure, which the converter takes for the figure's own text."""
    for page in draft.pages:
        held = squeeze("".join(piece.text for piece in draft.pieces if piece.page == page.number))
        for line in page.body:
            below = (
                index
                for index, piece in enumerate(draft.pieces)
                if piece.kind == "caption" and piece.page == page.number and (piece.label or "").startswith("Figure")
                if piece.box and 0 <= piece.box.y0 - line.box.y1 < _SUBCAPTION_REACH
            )
            at = next(below, None) if _SUBCAPTION.match(line.text) and line.key not in held else None
            if at is not None:
                draft.record(
                    "missed_caption", page.number, "", line.text, f"printed right above {draft.pieces[at].label}"
                )
                draft.pieces.insert(at, Piece("caption", line.text, page=page.number, box=line.box, size=line.size))


def _drop_marks(draft: Draft) -> None:
    """Remove a raised or lowered sign that became a piece of its own, and close the paragraph it cut in two."""
    body = draft.body_size()
    kept: list[Piece] = []
    for index, piece in enumerate(draft.pieces):
        small = piece.kind in ("paragraph", "footnote") and 0 < piece.size < 0.85 * body
        if small and (_MARK.match(piece.text) or _is_in_line(draft, piece)):
            draft.record("note_mark", piece.page, piece.text, "", f"a mark of {piece.size:g} pt between lines of text")
            after = draft.pieces[index + 1] if index + 1 < len(draft.pieces) else None
            if kept and after and _continues(kept[-1], after, 0.6 * body):
                draft.pieces[index + 1] = _joined(kept.pop(), after)
        else:
            kept.append(piece)
    draft.pieces = kept


def _is_in_line(draft: Draft, piece: Piece) -> bool:
    """Whether a sign of few letters is printed within a line of larger type."""
    inside = (line for line in draft.page(piece.page).body if piece.box and middle_in(piece.box, line.box, 0))
    return len(piece.text) <= _LONGEST_SIGN and any(
        line.size > piece.size and squeeze(piece.text) in line.key and len(line.key) > _LONGEST_SIGN for line in inside
    )


def _join_overlapping(draft: Draft) -> None:
    """Join paragraphs whose boxes overlap: a raised mark at a line's end had split one line from the next."""
    joined = draft.pieces[:1]
    for piece in draft.pieces[1:]:
        last = joined[-1]
        if _continues(last, piece, -0.5) and last.box and piece.box:
            draft.record(
                "split_paragraph", piece.page, piece.text, last.text[-80:], "the boxes of the two halves overlap"
            )
            joined[-1] = _joined(last, piece)
        else:
            joined.append(piece)
    draft.pieces = joined


def _continues(one: Piece, other: Piece, gap: float) -> bool:
    """Whether ``other`` starts at most ``gap`` points under ``one``, in the same column and size."""
    alike = one.kind == other.kind == "paragraph" and one.page == other.page and abs(one.size - other.size) < 0.3
    if not (alike and one.box and other.box and abs(one.box.x0 - other.box.x0) < 15):
        return False
    return one.box.y0 < other.box.y0 and other.box.y0 - one.box.y1 <= gap


def _joined(one: Piece, other: Piece) -> Piece:
    return replace(one, text=f"{one.text} {other.text}", box=around(*filter(None, (one.box, other.box))))
