"""Headings that are none: running heads, captions, list items and text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.headings import is_known_name, opens_paper, role_by_name
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.repairs.headings import DIGITS, FEWEST_NUMBERED, NUMBERED, style_of
from referee.papers.pieces import Piece, caption_label, is_caption, squeeze
from referee.schemas.paper import BlockKind

_FEWEST_DISTINCT, _LEVELS = 3, 2
_NAME = re.compile(r"[^\W\d_]{2}")


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


def demote_captions(draft: Draft) -> None:
    """Turn a heading back into a caption where it is one by its words."""
    for index, piece in enumerate(draft.pieces):
        if piece.kind == "heading" and is_caption(piece.text):
            _demote(draft, index, "a label and its mark, as captions begin", "caption")


def _demote(draft: Draft, index: int, proof: str, kind: BlockKind = "paragraph") -> None:
    piece = draft.pieces[index]
    draft.record("false_heading", piece.page, piece.text, "", proof)
    label = caption_label(piece.text) if kind == "caption" else piece.label
    kind = "list" if kind == "paragraph" and DIGITS.match(piece.text) else kind
    draft.pieces[index] = replace(piece, kind=kind, label=label)


def demote_other_styles(draft: Draft) -> None:
    """Where sections have numbers, a heading without number and role looks like a numbered one of level 1 or 2.

    Others are heads of tables, labels in figures, and names of paragraphs on a line of their own.
    """
    headings = [(index, piece) for index, piece in enumerate(draft.pieces) if piece.kind == "heading"]
    numbered = [piece for _, piece in headings if NUMBERED.match(piece.text)]
    others = [(i, p) for i, p in headings if p not in numbered and not (role_by_name(p.text) or opens_paper(p.text))]
    _demote_text(draft, headings)
    if len(numbered) < max(FEWEST_NUMBERED, len(others)):
        return
    high = [piece for piece in numbered if piece.text.split()[0].strip(".").count(".") < _LEVELS]
    styles = {style_of(line)[:2] for piece in high if (line := draft.line_of(piece))}
    for index, piece in others:
        line = draft.line_of(piece)
        is_heading = draft.pieces[index] is piece
        if is_heading and (line is None or style_of(line)[:2] not in styles):
            _demote(draft, index, "no number, and no numbered heading looks like it")


def _demote_text(draft: Draft, headings: Sequence[tuple[int, Piece]]) -> None:
    """A heading that is no name, or looks like running text where most headings do not, is none."""
    font, most = draft.body_font(), draft.body_size() + 0.5
    lines = {index: line for index, piece in headings if (line := draft.line_of(piece))}
    plain = [index for index, line in lines.items() if line.font == font and line.size < most and not style_of(line)[2]]
    for index, piece in headings:
        text_like = index in plain and len(lines) - len(plain) > max(_FEWEST_DISTINCT, len(plain))
        no_name = not _NAME.search(piece.text) or piece.text.startswith("$") or piece.text.endswith(",")
        if (text_like or no_name) and not is_known_name(piece.text):
            proof = "it looks like the text, and other headings do not" if text_like else "no name of a section"
            _demote(draft, index, proof)
