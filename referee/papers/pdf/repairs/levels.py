"""Numbers and levels of headings: the depth of the printed number, whatever size the converter saw."""

from __future__ import annotations

from dataclasses import replace

from referee.papers.headings import is_known_name, name_headings
from referee.papers.pdf.draft import Draft


def settle_levels(draft: Draft) -> None:
    """Part headings into number and words and give them the level their number has.

    Unnumbered headings with a customary name are level 1 in a numbered paper; others keep the converter's level.
    """
    places = [index for index, piece in enumerate(draft.pieces) if piece.kind == "heading"]
    names = name_headings([draft.pieces[index].text for index in places])
    numbered = any(name.number for name in names)
    for index, name in zip(places, names, strict=True):
        piece = draft.pieces[index]
        level = name.level or (1 if numbered and is_known_name(name.title) else piece.level)
        if level != piece.level:
            proof = f"its number is {name.number}" if name.number else "a customary top-level name"
            draft.record("heading_level", piece.page, f"{piece.text} (level {piece.level})", f"level {level}", proof)
        draft.pieces[index] = replace(piece, text=name.title, number=name.number, level=level)
