"""One Word document to one ``Paper``: open, read, find headings by style or else by their look, assemble."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from docx.document import Document

from referee.errors import PaperParseError
from referee.papers.assembly import assemble, lead_front
from referee.papers.docx.archive import open_docx, part_root
from referee.papers.docx.body import Body, BodyReader, label_tables
from referee.papers.docx.styles import Numbering, Styles, W
from referee.papers.docx.text import HiddenRuns, Line, Place
from referee.papers.docx.theme import Theme
from referee.papers.docx.unprinted import unprinted_text
from referee.papers.headings import follows, is_known_name, name_headings, number_headings, number_key, role_by_name
from referee.papers.hidden.css import colour
from referee.papers.pieces import Piece
from referee.schemas.paper import Converter, Paper, Repair

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


_RUN_IN_FROM = 4


def load_docx(path: Path, data: bytes) -> Paper:
    """Read a paper from a Word document with python-docx.

    Headings come from styles; a document without any gets them by number, bold type or customary name, each said in
    ``repairs``. Deleted text, comments, headers, footers and properties are no text; like text that cannot be seen they
    are kept out and told in ``findings``.

    Args:
        path: The file; only its name is used.
        data: Its bytes.

    Raises:
        PaperParseError: It is encrypted, an old .doc, damaged, over a limit, of another kind, or holds no text.
    """
    document = open_docx(path.name, data)
    styles = Styles(part_root(document, path.name, "styles"))
    hidden = HiddenRuns(styles, Theme(part_root(document, path.name, "theme")))
    numbering = Numbering(part_root(document, path.name, "numbering"), styles)
    try:
        reader = BodyReader(styles, numbering, hidden, _notes(document, path.name))
        body = reader.read(document.element.body, _page_colour(document))
    except RecursionError as error:
        raise PaperParseError(
            f"{path.name!r} is nested too deeply to be read.", hint="Save the paper again, or as PDF."
        ) from error
    findings = hidden.words.findings()
    if not body.pieces:
        hides = " All text in it is hidden from its reader." if findings else ""
        raise PaperParseError(f"{path.name!r} holds no text.{hides}", hint="Give the paper's text, or its PDF.")
    pieces, repairs = _with_headings(body)
    front, pieces = lead_front(pieces) if body.title else ([], pieces)
    assembled = assemble(pieces, front_first=False, front=[*body.front, *front])
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=body.title,
        abstract=assembled.abstract,
        format="docx",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*assembled.findings, *findings, *unprinted_text(document, body.title).findings()),
        repairs=(*repairs, *assembled.repairs),
        converter=_converter(),
    )


def _converter() -> Converter:
    from importlib.metadata import version

    return Converter(name="python-docx", version=version("python-docx"))


def _notes(document: Document, name: str) -> dict[tuple[str, str], Any]:
    found = {}
    for kind in ("footnote", "endnote"):
        root = part_root(document, name, f"{kind}s")
        for note in () if root is None else root.iter(f"{W}{kind}"):
            if note.get(f"{W}type") in (None, "normal"):
                found[kind, note.get(f"{W}id") or ""] = note
    return found


def _page_colour(document: Document) -> Place:
    background = document.element.find(f"{W}background")
    found = None if background is None else colour(f"#{background.get(f'{W}color') or ''}")
    return Place() if found is None else Place(found)


def _with_headings(body: Body) -> tuple[list[Piece], list[Repair]]:
    pieces, repairs = (body.pieces, []) if body.styled_headings else headings_by_look(body)
    pieces, joined = _run_in(_title_from_heading(body, label_tables(pieces)))
    return number_headings(pieces, mixed=True), [*repairs, *joined]


def _title_from_heading(body: Body, pieces: list[Piece]) -> list[Piece]:
    """A first heading that alone is at level 1 is the title where no paragraph has the title's style."""
    headings = [piece for piece in pieces if piece.kind == "heading"]
    if body.title or len(headings) < 2 or pieces[0] is not headings[0]:
        return pieces
    if any(piece.level <= headings[0].level for piece in headings[1:]) or headings[0].number:
        return pieces
    body.title = headings[0].text
    return pieces[1:]


def _run_in(pieces: Sequence[Piece]) -> tuple[list[Piece], list[Repair]]:
    """Headings of level 4 and deeper that end like a sentence stand at the head of their paragraph."""
    joined: list[Piece] = []
    repairs: list[Repair] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        is_run_in = last is not None and last.kind == "heading" and last.level >= _RUN_IN_FROM
        if last is not None and is_run_in and last.text.endswith(".") and piece.kind == "paragraph":
            joined[-1] = replace(piece, text=f"{last.text} {piece.text}")
            proof = "level 4 or deeper, and it ends with a full stop"
            repairs.append(Repair(kind="run_in_heading", page=None, before="heading", after=last.text, proof=proof))
        else:
            joined.append(piece)
    return joined, repairs
