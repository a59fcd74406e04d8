"""Headings and a title by their look, where a document has no heading styles; each one is said as a repair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.papers.docx.body import Body
from referee.papers.docx.text import Line
from referee.papers.headings import follows, is_known_name, name_headings, number_key, role_by_name
from referee.papers.pieces import Piece
from referee.schemas.paper import Repair

_MOST_WORDS = 14
_MOST_TITLE_WORDS = 40
_NUMBER = re.compile(r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3})[.)]?\s+(?P<title>[A-Z]\S*.*)$")


def headings_by_look(body: Body) -> tuple[list[Piece], list[Repair]]:
    """Find the title and the headings of a document without heading styles.

    A title is the first paragraph where it is bold or larger than the rest. A heading is a short paragraph that is
    bold, has the next section number, or is a customary name.

    Returns:
        The pieces with headings among them, and a repair for each with what proves it.
    """
    pieces, repairs = list(body.pieces), []
    if not body.title and pieces and (proof := _title_proof(body)):
        body.title = " ".join(pieces[0].text.split())
        repairs.append(_repair("title_by_look", body.title, proof))
        pieces = pieces[1:]
        body.looks = {index - 1: line for index, line in body.looks.items() if index}
    before: tuple[int, ...] = ()
    for index, line in body.looks.items():
        text = " ".join(line.text.split())
        proof, number = _heading_proof(text, line, before)
        if not proof:
            continue
        before = number or before
        level = max(1, len(number))
        pieces[index] = Piece(kind="heading", text=text, level=level)
        repairs.append(_repair("heading_by_look", text, proof))
    return _entries(pieces), repairs


def _repair(kind: str, text: str, proof: str) -> Repair:
    return Repair(kind=kind, page=None, before="paragraph", after=text, proof=proof)


def _title_proof(body: Body) -> str:
    line = body.looks.get(0)
    if line is None or len(line.text.split()) > _MOST_TITLE_WORDS or is_known_name(line.text):
        return ""
    others = sorted(look.size for index, look in body.looks.items() if index and look.size)
    if line.size and others and line.size > others[len(others) // 2]:
        return f"the first paragraph, larger ({line.size:g} pt) than most text"
    return "the first paragraph, set in bold" if line.bold else ""


def _heading_proof(text: str, line: Line, before: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """What proves a heading, and its number as a tuple; nothing where nothing does."""
    if len(text.split()) > _MOST_WORDS or text.endswith((".", ",", ";", ":")) or "$" in text:
        return "", ()
    if match := _NUMBER.match(text):
        number = number_key(match["number"])
        if follows(before, number):
            return f"its number {match['number']} is the next one", number
    if is_known_name(re.sub(r"^[IVX\d.]+\s+", "", text)):
        return "a customary section name alone on its line", ()
    if line.bold and any(char.isalpha() for char in text):
        return "set in bold on a line of its own", ()
    return "", ()


def _entries(pieces: Sequence[Piece]) -> list[Piece]:
    """Paragraphs and list items under a references heading are entries."""
    names = iter(name_headings([piece.text for piece in pieces if piece.kind == "heading"]))
    parted: list[Piece] = []
    inside = False
    for piece in pieces:
        if piece.kind == "heading":
            inside = role_by_name(next(names).title) == "references"
        if inside and piece.kind in ("paragraph", "list"):
            parted.extend(replace(piece, kind="reference", text=row.strip()) for row in piece.text.split("\n"))
        else:
            parted.append(piece)
    return parted
