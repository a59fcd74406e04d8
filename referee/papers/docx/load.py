"""One Word document to one ``Paper``: open, read, find headings by style or else by their look, assemble."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docx.document import Document

from referee.errors import PaperParseError
from referee.papers.assembly import assemble
from referee.papers.docx.archive import open_docx, part_root
from referee.papers.docx.body import Body, BodyReader, label_tables
from referee.papers.docx.styles import Numbering, Styles, W
from referee.papers.docx.text import HiddenRuns, Line, Place
from referee.papers.docx.theme import Theme
from referee.papers.docx.unprinted import unprinted_text
from referee.papers.headings import (
    follows,
    is_known_name,
    number_headings,
    number_key,
    plain_name,
    title_of_headings,
)
from referee.papers.hidden.css import colour
from referee.papers.pieces import Piece
from referee.papers.text import split_entries
from referee.schemas.paper import Converter, Paper, Repair

_MOST_WORDS, _MOST_TITLE_WORDS = 14, 40
_NUMBER = re.compile(r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3})[.)]?\s+(?P<title>[A-Z]\S*.*)$")


def headings_by_look(body: Body) -> tuple[list[Piece], list[Repair]]:
    """Find the headings of a document without heading styles: none before its abstract, where one has that name.

    A heading is a short paragraph that is bold, has the next section number, or is a customary name.

    Returns:
        The pieces with headings among them, and a repair for each with what proves it.
    """
    pieces, repairs = list(body.pieces), []
    abstract = next((at for at, piece in enumerate(pieces) if piece.kind == "heading"), 0)
    before: tuple[int, ...] = ()
    for index, line in body.looks.items():
        text = " ".join(line.text.split())
        proof, number = _heading_proof(text, line, before)
        if not proof or index < abstract:
            continue
        before = number or before
        level = max(1, len(number))
        pieces[index] = Piece(kind="heading", text=text, level=level)
        repairs.append(_repair("heading_by_look", text, proof))
    return pieces, repairs


def _repair(kind: str, text: str, proof: str) -> Repair:
    return Repair(kind=kind, page=None, before="paragraph", after=text, proof=proof)


_ARTICLE_KIND = re.compile(r"(?:original|research|review|short|full|\s)*(?:article|paper|review|communication)?", re.I)


def title_by_look(body: Body) -> list[Repair]:
    """Take the title out of a document without a style for it: a line before all headings, and what proves it.

    It is printed again over the introduction, or it is the first line and larger than the rest, bold or centred.
    """
    first = next((at for at, piece in enumerate(body.pieces) if piece.kind == "heading"), len(body.pieces))
    names = [plain_name(piece.text) for piece in body.pieces]
    top = next((at for at, line in body.looks.items() if not _ARTICLE_KIND.fullmatch(line.text.strip())), 0)
    for at, line in body.looks.items():
        is_again = names.count(plain_name(line.text)) == 2 and not line.text.rstrip().endswith((".", "!", "?", ":"))
        proof = "printed again over the text" if is_again else _title_proof(line, body) if at == top else ""
        is_short = len(line.text.split()) <= _MOST_TITLE_WORDS and "@" not in line.text
        if proof and at < first and is_short and not is_known_name(line.text):
            body.title = " ".join(line.text.split())
            del body.pieces[at]
            body.looks = {index - (index > at): look for index, look in body.looks.items() if index != at}
            return [_repair("title_by_look", body.title, proof)]
    return []


def _title_proof(line: Line, body: Body) -> str:
    others = sorted(look.size for index, look in body.looks.items() if index and look.size)
    if line.size and others and line.size > others[len(others) // 2]:
        return f"the first paragraph, larger ({line.size:g} pt) than most text"
    return "the first paragraph, set in bold" if line.bold else "the first paragraph, centred" if line.centred else ""


def _heading_proof(text: str, line: Line, before: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """What proves a heading, and its number as a tuple; nothing where nothing does."""
    if len(text.split()) > _MOST_WORDS or text.endswith((".", ",", ";", ":")) or "$" in text:
        return "", ()
    if match := _NUMBER.match(text):
        number = number_key(match["number"])
        if follows(before, number):
            return f"its number {match['number']} is the next one", number
    bold = "set in bold on a line of its own" if line.bold and any(map(str.isalpha, text)) else ""
    known = is_known_name(re.sub(r"^[IVX\d.]+\s+", "", text))
    return "a customary section name alone on its line" if known else bold, ()


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
        background = document.element.find(f"{W}background")
        page = None if background is None else colour(f"#{background.get(f'{W}color') or ''}")
        body = reader.read(document.element.body, Place() if page is None else Place(page))
    except RecursionError as error:
        raise PaperParseError(
            f"{path.name!r} is nested too deeply to be read.", hint="Save the paper again, or as PDF."
        ) from error
    findings = hidden.words.findings()
    if not body.pieces:
        hides = " All text in it is hidden from its reader." if findings else ""
        raise PaperParseError(f"{path.name!r} holds no text.{hides}", hint="Give the paper's text, or its PDF.")
    pieces, repairs = _with_headings(body)
    assembled = assemble(pieces, front_first=bool(body.title), front=body.front)
    return Paper(
        paper_id=hashlib.sha256(data).hexdigest(),
        title=body.title,
        abstract=assembled.abstract,
        format="docx",
        sections=assembled.sections,
        references=assembled.references,
        findings=(*assembled.findings, *findings, *unprinted_text(document, body.title).findings()),
        repairs=(*repairs, *assembled.repairs),
        converter=Converter(name="python-docx", version=version("python-docx")),
    )


def _notes(document: Document, name: str) -> dict[tuple[str, str], Any]:
    found = {}
    for kind in ("footnote", "endnote"):
        root = part_root(document, name, f"{kind}s")
        for note in () if root is None else root.iter(f"{W}{kind}"):
            if note.get(f"{W}type") in (None, "normal"):
                found[kind, note.get(f"{W}id") or ""] = note
    return found


def _with_headings(body: Body) -> tuple[list[Piece], list[Repair]]:
    if body.styled_headings > 1:
        body.title, body.pieces = title_of_headings(body.title, body.pieces)
    repairs = [] if body.title else title_by_look(body)
    pieces, found = (body.pieces, []) if body.styled_headings else headings_by_look(body)
    again = plain_name(body.title) or None  # manuscripts of psychology have it over their introduction once more
    pieces = [
        replace(piece, kind="heading") if piece.kind == "paragraph" and plain_name(piece.text) == again else piece
        for piece in label_tables(pieces)
    ]
    return split_entries(number_headings(pieces, mixed=True)), [*repairs, *found]
