"""Title and author lines; the author lines only ever become front matter."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from referee.papers.headings import plain_name, role_by_name
from referee.papers.latex.balance import balanced
from referee.papers.latex.inline import Reading, text_of, tidy
from referee.papers.latex.scan import Braces, first_command
from referee.papers.latex.specs import parse, without_lengths
from referee.papers.pieces import Piece

_AUTHOR_COMMANDS = (
    "author", "affil", "affiliation", "address", "institute", "email", "icmlauthor", "icmlaffiliation", "ead", "thanks",
    "icmlcorrespondingauthor", "institution", "date", "keywords", "icmlkeywords", "orcid", "cortext", "fntext",
)  # fmt: skip
_AUTHORS = re.compile(rf"\\(?:{'|'.join(_AUTHOR_COMMANDS)})(?![a-zA-Z@])\*?")
_PARTED = re.compile(r"\\\\(?:\s*\[[^\]]*\])?|\\(?:and|And|AND|qquad|quad|newline|par)(?![a-zA-Z])|\n\s*\n")
_PDF_TITLE = re.compile(r"pdftitle\s*=\s*\{")
_ABSTRACT_LINE = re.compile(r"^abstract[.:]?$", re.IGNORECASE)
_WORDS_A_LINE = 30
_TITLE_SIZE = 12.0


def title_of(source: str, reading: Reading) -> str:
    r"""The title that ``\title``, ``\icmltitle`` or ``pdftitle`` gives; empty without any of them."""
    braces = Braces(source)
    for name in ("title", "icmltitle"):
        given = first_command(braces, name)
        if given and (text := _plain(given, reading)):
            return text
    return ""


def pdf_title(source: str, reading: Reading) -> str:
    """The title in the document's properties."""
    match = _PDF_TITLE.search(source)
    group = Braces(source).group(match.end() - 1) if match else None
    return _plain(group[0], reading) if group else ""


def author_pieces(source: str, reading: Reading) -> list[Piece]:
    """Author and affiliation lines wherever their commands stand, each short enough to stay front matter."""
    braces = Braces(source)
    pieces: list[Piece] = []
    for match in _AUTHORS.finditer(source):
        at = match.end()
        while (optional := braces.bracket(at)) is not None and optional[1] > at:
            at = optional[1]
        given = ""
        while (group := braces.group(at)) is not None and (not given or match[0].startswith("\\icml")):
            given, at = f"{given}\\\\{group[0]}" if given else group[0], group[1]
        for line in _PARTED.split(given):
            words = _plain(line, reading).split()
            for start in range(0, len(words), _WORDS_A_LINE):
                pieces.append(Piece(kind="paragraph", text=" ".join(words[start : start + _WORDS_A_LINE])))
    reading.footnotes.clear()
    return pieces[:400]


def _plain(source: str, reading: Reading) -> str:
    quiet = Reading(reading.counters, reading.aside)
    nodes: list[Any] = parse(balanced(without_lengths(source)).text)
    return tidy(re.sub("[\ue000-\ue002][^\ue002]*\ue002?", "", text_of(nodes, quiet, plain_math=True)))


def with_front(pieces: list[Piece], authors: list[Piece], title: str) -> tuple[str, list[Piece]]:
    """The title and the body's pieces with the author lines first.

    Where no command gave a title, it is the largest text before the first heading. A line 'Abstract' there becomes
    the abstract's heading, and what stands before it author lines.
    """
    first = next((i for i, piece in enumerate(pieces) if piece.kind == "heading"), len(pieces))
    lead, rest = pieces[:first], pieces[first:]
    abstract = next((i for i, piece in enumerate(lead) if _ABSTRACT_LINE.match(piece.text)), None)
    before = lead[:abstract] if abstract is not None else lead
    largest = max((piece.size for piece in before if piece.kind == "paragraph"), default=0.0)
    if not title and largest >= _TITLE_SIZE:
        taken = [piece for piece in before if piece.size == largest and piece.kind == "paragraph"]
        title = tidy(" ".join(piece.text for piece in taken))
        before = [piece for piece in before if piece not in taken]
    elif title:
        before = [piece for piece in before if plain_name(piece.text) != plain_name(title)]
    if abstract is None:
        return title, [*authors, *before, *rest] if rest or before else []
    front = [part for piece in before for part in _short(piece)]
    heading = Piece(kind="heading", text="Abstract", level=1)
    return title, [*authors, *front, heading, *lead[abstract + 1 :], *rest]


def _short(piece: Piece) -> list[Piece]:
    words = piece.text.split()
    parts = [words[i : i + _WORDS_A_LINE] for i in range(0, len(words), _WORDS_A_LINE)]
    return [replace(piece, text=" ".join(part), kind="paragraph", cells=()) for part in parts]


def has_heading(pieces: list[Piece]) -> bool:
    """Whether any heading beside the references is there, so that author lines can stand apart from the text."""
    return any(piece.kind == "heading" and role_by_name(piece.text) != "references" for piece in pieces)
