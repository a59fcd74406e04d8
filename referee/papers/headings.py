"""What a heading's words say: its printed number, its level and the role of its section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.papers.pieces import Piece
from referee.schemas.paper import SectionRole

_DOTTED = re.compile(r"^(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,4}|\d{1,2})[.:)]?\s+(?P<title>\S.*)$")
_LETTER = re.compile(r"^(?P<number>[A-Z])(?P<stop>[.:)]?)\s+(?P<title>\S.*)$")
_ROMAN = re.compile(r"^(?P<number>[IVX]{1,5})\.\s+(?P<title>\S.*)$")
_APPENDIX = re.compile(r"^appendix\s+(?P<number>[A-Z])(?:[.:)\s]|$)", re.IGNORECASE)

_ROMAN_DIGITS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)

_ROLE_NAMES: dict[str, SectionRole] = {
    "abstract": "abstract",
    "summary": "abstract",
    "acknowledgment": "acknowledgements",
    "acknowledgments": "acknowledgements",
    "acknowledgement": "acknowledgements",
    "acknowledgements": "acknowledgements",
    "acknowledgments and disclosure of funding": "acknowledgements",
    "references": "references",
    "bibliography": "references",
    "literature cited": "references",
    "works cited": "references",
    "appendix": "appendix",
    "appendices": "appendix",
    "supplementary material": "appendix",
    "supplementary materials": "appendix",
    "supplemental material": "appendix",
    "supplement": "appendix",
}
_CONTENT_NAMES = frozenset(
    """introduction|related work|related works|background|preliminaries|motivation|problem setting|method|methods
    |methodology|approach|our approach|model|data|datasets|experiments|experimental setup|experimental results|results
    |evaluation|analysis|discussion|results and discussion|limitations|ethics statement|ethical considerations
    |broader impact|broader impacts|impact statement|reproducibility statement|conclusion|conclusions|future work
    |conclusion and future work|conclusions and future work|materials and methods|data availability|code availability
    |author contributions|competing interests|conflict of interest|conflicts of interest|funding""".replace(
        "\n    ", ""
    ).split("|")
)


@dataclass(frozen=True)
class HeadingName:
    """A heading taken apart: ``number`` as printed, the words after it, and the level the number gives."""

    number: str | None
    title: str
    level: int | None


def plain_name(heading: str) -> str:
    """A heading in lower case with single blanks and without closing punctuation, for comparing names."""
    return " ".join(heading.casefold().split()).strip(" .:—–-*_#")


def is_known_name(heading: str) -> bool:
    """Whether the words are a section name that papers use by custom, such as 'Related Work'."""
    name = plain_name(heading)
    return name in _CONTENT_NAMES or role_by_name(heading) is not None


def role_by_name(heading: str) -> SectionRole | None:
    """The role a heading's own words give, or None for ordinary content."""
    name = plain_name(heading)
    if name in _ROLE_NAMES:
        return _ROLE_NAMES[name]
    if name.endswith("checklist"):
        return "checklist"
    if name.startswith(("appendix ", "supplementary ", "supplemental ")):
        return "appendix"
    return None


def name_headings(headings: Sequence[str]) -> list[HeadingName]:
    """Take the headings of one paper apart, in reading order.

    A bare letter ('A Background') counts as a number only where the sequence proves it: after the references, or
    when its neighbours in the alphabet are there too; otherwise 'A Study of Reviews' would lose its article. Roman
    numerals count where both I and II occur, and then capital letters are the level below.
    """
    romans = {m["number"] for text in headings if (m := _ROMAN.match(text))}
    roman_paper = {"I", "II"} <= romans
    letters = {m["number"] for text in headings if (m := _LETTER.match(text)) or (m := _DOTTED.match(text))}
    names: list[HeadingName] = []
    after_references = False
    for text in headings:
        names.append(_name_one(text.strip(), roman_paper, letters, after_references))
        after_references = after_references or role_by_name(names[-1].title) == "references"
    return names


def number_headings(pieces: Sequence[Piece], *, mixed: bool = False) -> list[Piece]:
    """The pieces with the numbers that stand in their headings' words, and levels from 1.

    A number gives its level: converted pages often have the wrong one. A heading of level 0 is one that the source only
    implies, and stands at the top. Where headings come with numbers already, those in words count only if ``mixed``.
    """
    pieces = list(pieces)
    places = [index for index, piece in enumerate(pieces) if piece.kind == "heading"]
    lowest = min((pieces[index].level for index in places if pieces[index].level), default=1)
    counted = any(pieces[index].number for index in places)
    for index, name in zip(places, name_headings([pieces[i].text for i in places]), strict=True):
        piece = replace(pieces[index], level=max(1, pieces[index].level - lowest + 1))
        if not counted or (mixed and piece.number is None):
            piece = replace(piece, text=name.title, number=name.number, level=name.level or piece.level)
        pieces[index] = piece
    return pieces


def _name_one(text: str, roman_paper: bool, starts: set[str], after_references: bool) -> HeadingName:
    if roman_paper and (match := _ROMAN.match(text)):
        return HeadingName(match["number"], match["title"], 1)
    if match := _APPENDIX.match(text):
        return HeadingName(match["number"].upper(), text, 1)
    if match := _DOTTED.match(text):
        return HeadingName(match["number"], match["title"], match["number"].count(".") + 1)
    if (match := _LETTER.match(text)) and _letter_counts(match, starts, roman_paper, after_references):
        return HeadingName(match["number"], match["title"], 2 if roman_paper else 1)
    return HeadingName(None, text, None)


def _letter_counts(match: re.Match[str], starts: set[str], roman_paper: bool, after_references: bool) -> bool:
    letter = match["number"]
    neighbours = {chr(ord(letter) - 1), chr(ord(letter) + 1), f"{letter}.1"}
    return after_references or bool(neighbours & starts) or (roman_paper and match["stop"] == ".")


def number_key(number: str) -> tuple[int, ...]:
    """A printed number as a tuple that sorts: '3.1' is (3, 1), 'B.2' is (1002, 2): appendices after sections."""
    head, *rest = number.split(".")
    first = int(head) if head.isdigit() else 1000 + ord(head[0]) - ord("A") + 1
    return (first, *(int(part) for part in rest))


def numeral(count: int, form: str) -> str:
    """A count as Word names its forms: 'decimal', 'decimalZero', 'lowerRoman', 'upperLetter'; others as decimal."""
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        text = ""
        for worth, letters in _ROMAN_DIGITS:
            text, count = text + letters * (count // worth), count % worth
        return text if form == "lowerRoman" else text.upper()
    if form in ("lowerLetter", "upperLetter") and 0 < count <= 26 * 20:
        text = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return text if form == "lowerLetter" else text.upper()
    return f"{count:02d}" if form == "decimalZero" else str(count)


def follows(before: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Whether ``number`` is a legal next number after ``before``: 3.1 after 3; 3.2, 4 after 3.1; A after any.

    ``()`` stands for 'no number yet', after which 1 and A are legal.
    """
    if not before:
        return number in ((1,), (0,), (1001,))
    if number == (*before, 1):
        return True
    if number == (1001,):
        return before[0] < 1000
    return any(number == (*before[:depth], before[depth] + 1) for depth in range(len(before)))
