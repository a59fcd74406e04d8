"""What every reader produces before sections exist: typed pieces of a paper, in reading order."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import filterfalse

from referee.schemas.paper import BlockKind, Box, SectionRole

ACCENTS = {
    "´": "\u0301", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˘": "\u0306", "˙": "\u0307",
    "˚": "\u030a", "¸": "\u0327", "¯": "\u0304", "˝": "\u030b",
}  # fmt: skip
_SPACING_ACCENTS = str.maketrans(dict.fromkeys(ACCENTS) | {"ı": "i"})


@dataclass(frozen=True)
class Entry:
    """What is known of one bibliography entry beside its printed text."""

    label: str | None = None
    authors: tuple[str, ...] = ()
    title: str | None = None
    year: int | None = None
    venue: str | None = None
    doi: str | None = None


@dataclass(frozen=True)
class Piece:
    """One piece of a paper as a reader found it.

    Attributes:
        kind: The block kind; a ``heading`` opens a section and becomes no block.
        text: As the block will carry it; never blank.
        page: From 1; null for formats without pages.
        box: In PDF points from the page's top left corner.
        size: Font size in points; 0 where unknown.
        level: Of a heading: 1 is the top.
        number: Of a heading: the printed number.
        entry: Of a reference: what was parsed from it.
    """

    kind: BlockKind
    text: str
    page: int | None = None
    box: Box | None = None
    size: float = 0.0
    cells: tuple[tuple[str, ...], ...] = ()
    label: str | None = None
    level: int = 1
    number: str | None = None
    entry: Entry | None = None


@dataclass
class OpenSection:
    """A section while its pieces are still being collected."""

    heading: str
    level: int
    number: str | None
    role: SectionRole
    pieces: list[Piece] = field(default_factory=list)

    @property
    def last_text(self) -> str:
        """The text of its last piece; empty for none."""
        return self.pieces[-1].text if self.pieces else ""


# From so many words on a paragraph before the first heading is running text and no author line.
LONG_WORDS = 40
_WORDS_A_LINE = 30
_PLAIN_SCRIPT = re.compile(r"[+\-−]?\w+|\*+|[†‡§¶]")
_COMMAND_AT_END = re.compile(r"\\[a-zA-Z]+$")
# What is printed before a number, in the languages of ``headings``, and the kind it names.
_KINDS = {
    **dict.fromkeys(["table", "tab", "tabla", "tabela", "tableau", "tabelle", "cuadro", "quadro", "表"], "Table"),
    **dict.fromkeys(["figure", "fig", "figura", "abbildung", "abb", "图", "圖", "図"], "Figure"),
    **dict.fromkeys(["algorithm", "algoritmo", "algorithme", "algorithmus", "算法"], "Algorithm"),
    "listing": "Listing",
    "scheme": "Scheme",
}
_LABEL = re.compile(rf"(?P<kind>{'|'.join(_KINDS)})\.?\s*(?P<number>[A-Z]?\.?\d+(?:\.\d+)*[a-z]?)\b", re.IGNORECASE)
_CAPTION_MARK = re.compile(r"[*_]*\s*(?:[:：.．|—–]|\u3000|(?<=\d) (?=[\u3040-\u9fff][^。]*$))\s*(?=\S)")


def caption_label(text: str) -> str | None:
    """'Table 2' for 'TABLE 2: ...', 'Figure 1' for 'Fig. 1. ...' or 'Abb. 1'; null where a caption has no label."""
    match = _LABEL.match(text.lstrip("$*_ "))
    return f"{_KINDS[match['kind'].lower()]} {match['number'].lstrip('.')}" if match else None


def is_caption(text: str) -> bool:
    """Whether a text begins with a label and a mark behind it: 'Table 2: ...', but not 'Table 2 shows'."""
    match = _LABEL.match(text := text.lstrip("$*_ "))
    return match is not None and bool(_CAPTION_MARK.match(text, match.end()))


def script_text(text: str, sign: str) -> str:
    """Raised ('^') or lowered ('_') text: '10' and raised '-3' are '10^-3'; ordinals and calls of notes stay."""
    if text.casefold() in ("", "st", "nd", "rd", "th") or text.startswith("[^"):
        return text
    return f"{sign}{text}" if _PLAIN_SCRIPT.fullmatch(text) else f"{sign}{{{text}}}"


def list_pieces(items: Iterable[tuple[str, Sequence[Piece]]]) -> list[Piece]:
    """Items, each a mark and what was read of it, as lists of lines; a table or formula in one stands between two."""
    found: list[Piece] = []
    lines: list[str] = []
    for mark, inside in items:
        lead = f"{mark} " if mark else ""
        for piece in inside:
            if piece.kind in ("paragraph", "list", "heading"):
                lines += [f"{'  ' if at else lead}{line}" for at, line in enumerate(piece.text.split("\n"))]
                lead = "  "
            else:
                found += [*_list_of(lines), piece]
                lines = []
    return [*found, *_list_of(lines)]


def _list_of(lines: Sequence[str]) -> list[Piece]:
    return [Piece(kind="list", text="\n".join(lines).strip())] if any(line.strip(" -") for line in lines) else []


def shortened(piece: Piece) -> list[Piece]:
    """A paragraph of front matter in lines of 30 words, each too short to be taken for running text."""
    words = piece.text.split()
    lines = (" ".join(words[at : at + _WORDS_A_LINE]) for at in range(0, len(words), _WORDS_A_LINE))
    return [replace(piece, text=line, kind="paragraph", cells=()) for line in lines]


def filled_up(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Rows made equally long by empty cells at their ends."""
    width = max(map(len, rows), default=0)
    return tuple((*row, *("" for _ in range(width - len(row)))) for row in rows)


def joined_tex(parts: Iterable[str]) -> str:
    """Parts of a formula one after the other; a command's name is kept apart from a letter after it."""
    text = ""
    for part in parts:
        text += f" {part}" if part[:1].isalpha() and _COMMAND_AT_END.search(text[-40:]) else part
    return text


def number(printed: str | None, default: float) -> float:
    """A printed number; the default where it is none."""
    try:
        return float(printed or "")
    except ValueError:
        return default


def whole(printed: str | None, default: int) -> int:
    """A printed number of at most five digits; the default where it is none."""
    return int(printed) if printed and printed.isascii() and printed.isdigit() and len(printed) < 6 else default


def tex_group(text: str) -> str:
    """A script or argument: in braces unless it is a single sign."""
    return text if len(text) == 1 else f"{{{text}}}"


def cells_text(rows: tuple[tuple[str, ...], ...]) -> str:
    """A table's cells row by row, cells joined by `` | ``; rows without any text are left out."""
    return "\n".join(" | ".join(cell.strip() for cell in row) for row in rows if any(cell.strip() for cell in row))


def plain(text: str) -> str:
    """Lower case without accents and ligatures: two readers of one page compose these differently."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_SPACING_ACCENTS))
    return "".join(filterfalse(unicodedata.combining, decomposed)).casefold()


@lru_cache(maxsize=1 << 15)  # repairs ask for the same lines, and for single letters, again and again
def squeeze(text: str) -> str:
    """The letters and digits of ``text``, plain, without anything between them."""
    return "".join(filter(str.isalnum, plain(text)))
