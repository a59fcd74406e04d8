"""What belongs to the text though it is printed among authors, acknowledgements or references: floats, lost appendices.

Most venues' styles let tables and figures drift onto the pages of the bibliography, and converters lose the heading of
an appendix. No reader is shown those sections, so that what drifted there would be shown to nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.bibliography import looks_like_entry, opens_like_entry, starts_entry
from referee.papers.headings import is_contents
from referee.papers.people import is_biography
from referee.papers.pieces import OpenSection, Piece, caption_label, is_caption
from referee.schemas.paper import Repair, SectionRole

UNHEADED = "Text after the references"

_READ: tuple[SectionRole, ...] = ("content", "appendix")
_ENDS: tuple[SectionRole, ...] = ("acknowledgements", "references")
# A table of authors, a logo or a checklist set as a table stays where it is: here only a label makes a float.
_LABELLED_ONLY: tuple[SectionRole, ...] = ("front", "abstract", "checklist")
_TEXTS = ("paragraph", "list", "reference")
_NOTE = re.compile(r"^(?:(?:Notes?|Sources?)\s*[.:]|[*†‡§¶∗]+\s*\S)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_PROSE_WORDS, _PROSE_SHARE = 25, 0.75
_ROW_TOKENS, _ROW_SHARE = 4, 0.4


@dataclass
class _Float:
    """Pieces ``start`` to ``end`` of a section: a caption with its table or figure, and the notes of a table."""

    start: int
    end: int
    pieces: list[Piece]
    label: str | None

    def takes(self, piece: Piece) -> bool:
        """Whether the piece next to it is of the same float; captions stand all above or all below their bodies."""
        if piece.label and self.label:
            return piece.label == self.label
        body_first = self.pieces[0].kind != "caption" and any(p.kind == "caption" for p in self.pieces)
        return not body_first or piece.kind == "caption"

    @property
    def is_table(self) -> bool:
        return (self.label or "").startswith("Table") or any(piece.kind == "table" for piece in self.pieces)


def return_floats(sections: Sequence[OpenSection]) -> list[Repair]:
    """Move floats out of sections that no reader is shown, in place.

    A float goes behind the paragraph that refers to it, in the nearest section before it or else the next one after
    it; one that no section refers to goes to the end of the last section before it. Page and box stay as they are.

    Returns:
        One repair a float. Where no section is read, nothing moves.
    """
    repairs: list[Repair] = []
    for index, section in enumerate(sections):
        unheaded = section.heading == UNHEADED
        if (not unheaded and section.role not in (*_ENDS, *_LABELLED_ONLY)) or is_contents(section.heading):
            continue
        others = [s for s in (*sections[:index][::-1], *sections[index + 1 :]) if s.role in _READ]
        for one in reversed(_floats(section.pieces, labelled_only=unheaded or section.role in _LABELLED_ONLY)):
            if unheaded and _naming(one.label, [section]):
                continue
            place = _naming(one.label, others) or (None if unheaded else _neighbour(sections, index))
            if place:
                del section.pieces[one.start : one.end]
                target, at, proof = place
                target.pieces[at:at] = one.pieces
                repairs.append(
                    Repair(
                        kind="moved_float",
                        page=one.pieces[0].page,
                        before=f"{one.label or one.pieces[0].kind} under {section.heading!r}"[:200],
                        after=f"in section {target.heading!r}"[:200],
                        proof=proof,
                    )
                )
    return repairs[::-1]


def part_unheaded(sections: Sequence[OpenSection]) -> tuple[list[OpenSection], list[Repair]]:
    """Give running text behind the last entry of a bibliography a section of its own, of role ``appendix``."""
    parted: list[OpenSection] = []
    repairs: list[Repair] = []
    for section in sections:
        parted.append(section)
        if section.role != "references":
            continue
        cut = _end_of_entries(section.pieces)
        if tail := section.pieces[cut:]:
            del section.pieces[cut:]
            text = [replace(p, kind="paragraph", entry=None) if p.kind == "reference" else p for p in tail]
            prose = [piece.text for piece in text if _is_prose(piece.text)]
            lives = prose and all(map(is_biography, prose))
            parted.append(
                OpenSection("About the authors", 1, None, "front", text)
                if lives
                else OpenSection(UNHEADED, 1, None, "appendix", text)
            )
            proof = "running text, and no entry of the bibliography follows it"
            repairs.append(
                Repair(kind="unheaded_text", page=tail[0].page, before="", after=parted[-1].heading, proof=proof)
            )
    return parted, repairs


def _floats(pieces: Sequence[Piece], *, labelled_only: bool) -> list[_Float]:
    found: list[_Float] = []
    for index, piece in enumerate(pieces):
        last = found[-1] if found and found[-1].end == index else None
        part = _as_float(piece)
        if last and (last.takes(part) if part else last.is_table and _belongs_to_table(piece)):
            last.end = index + 1
            last.pieces.append(part or _as_text(piece))
            last.label = last.label or (part.label if part else None)
        elif part and (part.label or not labelled_only):
            found.append(_Float(index, index + 1, [part], part.label))
    return found


def _as_float(piece: Piece) -> Piece | None:
    """The piece, as a caption where it was taken for text; none for text and for entries taken for a table."""
    if piece.kind in _TEXTS:
        is_float = is_caption(piece.text)
        return replace(piece, kind="caption", label=caption_label(piece.text), entry=None) if is_float else None
    if piece.kind == "figure" or (piece.kind == "code" and (piece.label or "").startswith("Algorithm")):
        return piece
    rows = piece.text.split("\n") if piece.kind == "table" else [piece.text]
    entries = all(map(looks_like_entry, rows)) or (piece.kind == "table" and starts_entry(rows[0]))
    return piece if piece.kind in ("caption", "table") and (piece.label or not entries) else None


def _belongs_to_table(piece: Piece) -> bool:
    """A note under a table, or rows that a format without tables keeps as text."""
    if piece.kind not in (*_TEXTS, "footnote", "code") or starts_entry(piece.text) or looks_like_entry(piece.text):
        return bool(re.match(r"(?:Notes?|Sources?)\s*[.:]", piece.text))
    tokens = piece.text.split()
    numbers = sum(any(char.isdigit() for char in token) for token in tokens)
    return bool(_NOTE.match(piece.text)) or (len(tokens) >= _ROW_TOKENS and numbers >= _ROW_SHARE * len(tokens))


def _as_text(piece: Piece) -> Piece:
    return replace(piece, kind="paragraph", entry=None) if piece.kind == "reference" else piece


_Place = tuple[OpenSection, int, str]


def _naming(label: str | None, sections: Sequence[OpenSection]) -> _Place | None:
    """Behind the first paragraph of the first of these sections that names the label."""
    from referee.evidence.rules.labels import labels_in  # with all rules: most papers have no float to return

    wanted = labels_in(label or "")
    for section in sections if wanted else ():
        for at, piece in enumerate(section.pieces):
            if piece.kind in (*_TEXTS, "footnote") and wanted & labels_in(piece.text):
                return section, at + 1, f"the section refers to {label}"
    return None


def _neighbour(sections: Sequence[OpenSection], index: int) -> _Place | None:
    """The end of the last section before it that is read, or the beginning of the first one after it."""
    before = next((section for section in sections[:index][::-1] if section.role in _READ), None)
    after = next((section for section in sections[index + 1 :] if section.role in _READ), None)
    first = (after, 0, "the first section after it") if after else None
    return (before, len(before.pieces), "the last section before it") if before else first


def _end_of_entries(pieces: Sequence[Piece]) -> int:
    """Where the running text begins that has more paragraphs than entries behind it; the end where there is none."""
    cut, most, sum_behind = len(pieces), 0, 0
    for index in range(len(pieces) - 1, -1, -1):
        piece = pieces[index]
        if piece.kind not in _TEXTS:
            continue
        prose = _is_prose(piece.text)
        sum_behind += 1 if prose else -1 if looks_like_entry(piece.text) else 0
        if prose and sum_behind > most:
            cut, most = index, sum_behind
    return cut


def _is_prose(text: str) -> bool:
    """Sentences rather than an entry: mostly words in lower case, and no label or author-year head before them."""
    if starts_entry(text) or opens_like_entry(text):
        return False
    words = _WORD.findall(text)
    return len(words) >= _PROSE_WORDS and sum(word.islower() for word in words) >= _PROSE_SHARE * len(words)
