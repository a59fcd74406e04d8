"""The bibliography in the page's order: entries taken for footnotes, entries cut by a column or page."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from statistics import median

from referee.papers.bibliography import looks_like_entry, parse_entry, starts_entry
from referee.papers.headings import role_by_name
from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line
from referee.papers.pdf.repairs.words import Vocabulary
from referee.papers.pieces import Entry, Piece, squeeze

_SIZE_SLACK = 0.3
_HANGING = (5.0, 40.0)
_KEY_LETTERS = 14
_LABEL_LINE = re.compile(r"^(?:\[[^\]\s]{1,20}\]|\d{1,3}\.(?=\s+[A-Z]))")
_FOOTNOTE_MARK = re.compile(r"^(?:\d{1,2}(?=[^\W\d_])|[†‡∗*§¶])")


def repair_references(draft: Draft, vocabulary: Vocabulary) -> None:
    """Bring back entries that stand between entries, sort by page, column and height, join what was cut."""
    start = next(
        (i for i, p in enumerate(draft.pieces) if p.kind == "heading" and role_by_name(p.text) == "references"), None
    )
    if start is None:
        return
    end = next((i for i, p in enumerate(draft.pieces) if i > start and p.kind == "heading"), len(draft.pieces))
    section = draft.pieces[start + 1 : end]
    if not any(piece.kind == "reference" for piece in section):
        return
    heading = draft.pieces[start]
    entries, notes, others = _sort_out(draft, section, heading)
    entries = [part for piece in entries for part in _split(draft, piece)]
    entries = _join_cut(draft, sorted(entries, key=lambda piece: _place(draft, piece)), vocabulary)
    entries = [replace(piece, entry=_as_mended(piece)) for piece in entries]
    draft.pieces[start:end] = [heading, *entries, *others]
    _return_notes(draft, notes, start)


def _sort_out(draft: Draft, section: list[Piece], heading: Piece) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Entries, footnotes of the text before the bibliography, and the rest."""
    known = [piece for piece in section if piece.kind == "reference"]
    size = median(piece.size for piece in known)
    first, last = _place(draft, heading), max(_place(draft, piece) for piece in known)
    last_page = last[0]
    entries, notes, others = list(known), [], []
    for piece in section:
        if piece.kind == "reference":
            continue
        fits = abs(piece.size - size) <= _SIZE_SLACK and not _FOOTNOTE_MARK.match(piece.text)
        fits = fits and (looks_like_entry(piece.text) or _ends_column(draft, piece))
        between = first < _place(draft, piece) and (piece.page or 1) <= last_page
        if piece.kind in ("footnote", "paragraph", "list") and fits and between:
            draft.record(
                "missed_reference",
                piece.page,
                piece.kind,
                piece.text,
                f"in the entries' size ({size:g} pt), among them",
            )
            entries.append(replace(piece, kind="reference", entry=parse_entry(piece.text)))
        elif piece.kind == "footnote":
            notes.append(piece)
        else:
            others.append(piece)
    return entries, notes, others


def _split(draft: Draft, piece: Piece) -> list[Piece]:
    """Part entries that were read as one, where the page shows that several lines open an entry."""
    if piece.box is None:
        return [piece]
    lines = draft.page(piece.page).lines_in(piece.box)
    labelled = [line for line in lines if _LABEL_LINE.match(line.text)]
    opening = labelled if starts_entry(piece.text) else _hanging_starts(lines)
    cuts = _cuts(piece.text, opening)
    if cuts and cuts[0][0] > 0:
        cuts.insert(0, (0, lines[0]))
    if len(cuts) < 2:
        return [piece]
    how = "begin with a label" if starts_entry(piece.text) else "stand out from the hanging indent"
    proof = f"{len(cuts)} lines of the page {how}"
    draft.record("joined_references", piece.page, piece.text, f"{len(cuts)} entries", proof)
    parts = []
    for (start, line), (end, after) in pairwise([*cuts, (len(piece.text), lines[-1])]):
        text = piece.text[start:end].strip()
        bottom = after.box.y0 if end < len(piece.text) else piece.box.y1
        edges = {"x0": line.box.x0, "y0": line.box.y0, "y1": max(line.box.y1, bottom)}
        box = piece.box.model_copy(update=edges)
        parts.append(replace(piece, text=text, box=box, entry=parse_entry(text)))
    return parts


def _hanging_starts(lines: list[Line]) -> list[Line]:
    """The lines at the left edge, if the others stand in by one and the same amount."""
    left = min((line.box.x0 for line in lines), default=0.0)
    inner = [line.box.x0 - left for line in lines if line.box.x0 - left > _HANGING[0]]
    if not inner or max(inner) > _HANGING[1] or median(inner) - min(inner) > 2:
        return []
    return [line for line in lines if line.box.x0 - left <= 2]


def _cuts(text: str, opening: list[Line]) -> list[tuple[int, Line]]:
    """Where each opening line begins in the text, found by its first letters and digits, in order."""
    key, places = _letters(text)
    at = 0
    cuts: list[tuple[int, Line]] = []
    for line in opening:
        found = key.find(line.key[:_KEY_LETTERS], at)
        if found < 0:
            continue
        start = places[found]
        while start > 0 and not text[start - 1].isspace():
            start -= 1
        cuts.append((start, line))
        at = found + 1
    return cuts


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text and where each stands; none where composed letters make the places unsure."""
    key, places = squeeze(text), [index for index, char in enumerate(text) for _ in squeeze(char)]
    return (key, places) if len(key) == len(places) else ("", [])


def _ends_column(draft: Draft, piece: Piece) -> bool:
    """Whether no text stands below a piece in its column: an entry cut there need not show its year yet."""
    place = _place(draft, piece)
    others = (
        _place(draft, other)
        for other in draft.pieces
        if other.page == piece.page and other is not piece and other.kind != "footnote"
    )
    return not piece.text.endswith(".") and not any(p[:2] == place[:2] and p[2] > place[2] for p in others)


def _place(draft: Draft, piece: Piece) -> tuple[int, int, float]:
    """Page, column (0 left, 1 right) and height."""
    if piece.box is None:
        return piece.page or 1, 0, 0.0
    column = int(piece.box.x0 > 0.45 * draft.page(piece.page).width)
    return piece.page or 1, column, piece.box.y0


def _join_cut(draft: Draft, entries: list[Piece], vocabulary: Vocabulary) -> list[Piece]:
    """Join an entry's rest at the top of a column to the entry at the bottom of the one before."""
    labelled = sum(starts_entry(piece.text) for piece in entries) > 0.5 * len(entries)
    joined: list[Piece] = []
    for piece in entries:
        if joined and _is_rest(draft, piece, joined[-1], entries, labelled):
            whole = _sewn(joined[-1].text, piece.text, vocabulary)
            draft.record(
                "cut_reference",
                piece.page,
                piece.text,
                whole,
                "it stands at the top of a column, indented like an entry's later lines or without a label",
            )
            joined[-1] = replace(joined[-1], text=whole, entry=_merged(joined[-1], parse_entry(whole)))
        else:
            joined.append(piece)
    return joined


def _is_rest(draft: Draft, piece: Piece, before: Piece, entries: list[Piece], labelled: bool) -> bool:
    place, previous = _place(draft, piece), _place(draft, before)
    if place[:2] == previous[:2] or piece.box is None:
        return False
    column = [p.box.x0 for p in entries if p.box and p is not piece and _place(draft, p)[:2] == place[:2]]
    indented = bool(column) and piece.box.x0 > min(column) + 4
    unlabelled = labelled and not starts_entry(piece.text)
    return indented or unlabelled or (piece.text[:1].islower() and not before.text.rstrip().endswith("."))


def _sewn(one: str, other: str, vocabulary: Vocabulary) -> str:
    head = one.rstrip()
    if head.endswith("-") and other[:1].isalpha():
        stem, tail = head[:-1].rsplit(None, 1)[-1], other.split(None, 1)[0]
        return head[: len(head) - 1 - len(stem)] + vocabulary.join(stem, tail) + other[len(tail) :]
    return f"{head} {other}"


def _merged(first: Piece, whole: Entry) -> Entry:
    """The converter's fields of the first part, completed from the whole."""
    part = first.entry or Entry()
    return Entry(
        label=part.label or whole.label,
        authors=max(part.authors, whole.authors, key=len),
        title=part.title or whole.title,
        year=part.year or whole.year,
        doi=whole.doi,
    )


def _as_mended(piece: Piece) -> Entry:
    """The parsed fields as the mended text has them: they were read before words broken at line ends were joined."""
    entry = piece.entry or parse_entry(piece.text)
    title = _reprinted(piece.text, entry.title) if entry.title else None
    return replace(entry, title=title, authors=tuple(_reprinted(piece.text, name) for name in entry.authors))


def _reprinted(text: str, phrase: str) -> str:
    """The part of ``text`` with the letters of ``phrase``; ``phrase`` itself where there is none."""
    key, places = _letters(text)
    wanted = squeeze(phrase)
    found = key.find(wanted) if wanted else -1
    return text[places[found] : places[found + len(wanted) - 1] + 1] if found >= 0 else phrase


def _return_notes(draft: Draft, notes: list[Piece], references_at: int) -> None:
    """Put footnotes back after the last piece of their own page that stands before the bibliography."""
    for note in notes:
        places = [i for i, p in enumerate(draft.pieces[:references_at]) if (p.page or 1) <= (note.page or 1)]
        at = places[-1] + 1 if places else references_at
        draft.pieces.insert(at, note)
        references_at += 1
