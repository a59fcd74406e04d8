"""Plain-text papers: blocks between blank lines; headings by number, capitals, customary names or underlines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.headings import follows, is_known_name, name_headings, number_key
from referee.papers.markdown import split_entries
from referee.papers.pieces import Piece

_UNDERLINE = re.compile(r"^\s*(?P<mark>={3,}|-{3,}|~{3,})\s*$")
_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z](?=[.:]))[.:]?\s+[A-Z][^.!?]*$"
)
_CAPTION = re.compile(r"^(?P<kind>Table|Figure)\s+(?P<number>\d+[a-z]?)\s*[:.]\s", re.IGNORECASE)
_LIST_ITEM = re.compile(r"^\s{0,6}(?:[-*•]|\d{1,3}[.)])\s+\S")
_MAX_HEADING = 90


def read_plaintext(source: str) -> tuple[str, list[Piece]]:
    """Read plain text into a title and pieces.

    The title is the first block when it is one short line that is no customary heading. A line alone between blank
    lines is a heading when it is numbered and the number fits the sequence, is a customary section name, or is in
    capitals; an underlined line is one anywhere.
    """
    chunks = _chunks(source)
    title = ""
    if chunks and len(chunks[0]) == 1 and _could_be_title(chunks[0][0]):
        title = chunks.pop(0)[0].strip()
    pieces = [piece for chunk in chunks for piece in _pieces(chunk)]
    return title, split_entries(_settle(pieces))


def _chunks(source: str) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    for line in source.splitlines():
        if line.strip():
            chunks[-1].append(line.rstrip())
        elif chunks[-1]:
            chunks.append([])
    return [chunk for chunk in chunks if chunk]


def _could_be_title(line: str) -> bool:
    text = line.strip()
    return len(text) <= 250 and not is_known_name(text) and not _NUMBERED.match(text) and not text.endswith(".")


def _pieces(chunk: Sequence[str]) -> list[Piece]:
    """The pieces of one block: underlined headings inside it, and what stands between them."""
    pieces: list[Piece] = []
    start, at = 0, 1
    while at < len(chunk):
        if match := _UNDERLINE.match(chunk[at]):
            pieces += _between(chunk[start : at - 1])
            level = 1 if match["mark"][0] == "=" else 2
            pieces.append(Piece(kind="heading", text=chunk[at - 1].strip(), level=level))
            start = at = at + 1
        at += 1
    return pieces + _between(chunk[start:])


def _between(chunk: Sequence[str]) -> list[Piece]:
    """Lines without an underline: customary names at either end are headings, as is a lone line that looks like one."""
    if not chunk:
        return []
    start, end = 0, len(chunk)
    while end - start > 1 and _is_name(chunk[start]):
        start += 1
    while end - start > 1 and _is_name(chunk[end - 1]):
        end -= 1
    return [*_names(chunk[:start]), _text(chunk[start:end]), *_names(chunk[end:])]


def _is_name(line: str) -> bool:
    return is_known_name(line) and line.strip()[0].isupper()


def _names(lines: Sequence[str]) -> list[Piece]:
    return [Piece(kind="heading", text=line.strip()) for line in lines]


def _text(chunk: Sequence[str]) -> Piece:
    text = "\n".join(line.strip() for line in chunk)
    if len(chunk) == 1 and _looks_like_heading(text):
        return Piece(kind="heading", text=text)
    if match := _CAPTION.match(text):
        return Piece(kind="caption", text=text, label=f"{match['kind'].capitalize()} {match['number']}")
    return Piece(kind="list" if _LIST_ITEM.match(chunk[0]) else "paragraph", text=text)


def _looks_like_heading(text: str) -> bool:
    if len(text) > _MAX_HEADING or not any(char.isalpha() for char in text):
        return False
    letters = [char for char in text if char.isalpha()]
    capitals = len(letters) >= 4 and all(char.isupper() for char in letters) and len(text.split()) <= 10
    return is_known_name(text) or capitals or bool(_NUMBERED.match(text))


def _settle(pieces: list[Piece]) -> list[Piece]:
    """Numbers and levels; a numbered line whose number does not fit the sequence is text, not a heading."""
    last: tuple[int, ...] = ()
    for index, piece in enumerate(pieces):
        match = _NUMBERED.match(piece.text) if piece.kind == "heading" else None
        if match is None:
            continue
        key = number_key(match["number"])
        if follows(last, key) or (last and key > last and key[0] - last[0] <= 1):
            last = key
        elif not piece.text.isupper():
            pieces[index] = replace(piece, kind="paragraph")
    places = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    for index, name in zip(places, name_headings([pieces[i].text for i in places]), strict=True):
        piece = pieces[index]
        pieces[index] = replace(piece, text=name.title, number=name.number, level=name.level or piece.level)
    return pieces
