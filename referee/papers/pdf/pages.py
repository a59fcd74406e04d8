"""What each page itself prints, read with pypdfium2: lines with place, size and font, and words with boxes.

This is the second witness: repairs and the search for lost text rest on it, never on the converter's own word.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfTextPage

from referee.papers.headings import numeral
from referee.papers.pieces import squeeze
from referee.schemas.paper import Box

_LINE_ENDS = (10, 13)
_SOFT_HYPHENS = (2, 0xFFFE)
_MARGIN = 0.09
_FEWEST_SIGNS, _WRITTEN_SHARE = 40, 0.5
_OWN_SCALE_PT = 2.0
_TWO_LINES, _LOWER = 1.7, 0.6
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:page\s*)?\d{1,5}(?:\s*(?:of|/)\s*\d+)?[-–—\s]*", re.IGNORECASE)
_ROMANS = {numeral(number, "lowerRoman"): number for number in range(1, 100)}
_FEWEST_NUMBERED, _RUNNING_WORDS = 3, 12


def around(*boxes: Box) -> Box:
    """The smallest box around one or more others."""
    return Box(
        x0=min(box.x0 for box in boxes),
        y0=min(box.y0 for box in boxes),
        x1=max(box.x1 for box in boxes),
        y1=max(box.y1 for box in boxes),
    )


def middle_in(inner: Box, outer: Box, slack: float) -> bool:
    """Whether the middle of a box lies in another one, or at most ``slack`` points beside it."""
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return outer.x0 - slack <= x <= outer.x1 + slack and outer.y0 - slack <= y <= outer.y1 + slack


@dataclass(frozen=True)
class Word:
    """A word with its place on the page, in points from the top left corner.

    ``hyphen`` says that it goes on in the next line, where the hyphen is left away in the file; ``font`` and ``size``
    are those of its first character.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float = 0.0
    font: str = ""
    hyphen: bool = False


@dataclass(frozen=True)
class Line:
    """One printed line, in the page's content order.

    ``hyphen`` says that its last word goes on in the next line. ``size`` is the largest font size in points; ``font``
    and ``last_font`` are the fonts of its first and last character. ``furniture`` marks running heads and page numbers,
    ``own_scale`` signs of a font that draws larger than its size says (Type 3).
    """

    text: str
    box: Box
    size: float
    font: str
    last_font: str
    chars: tuple[int, int]
    hyphen: bool = False
    furniture: bool = False
    own_scale: bool = False

    @cached_property
    def key(self) -> str:
        """Its letters and digits, for comparing."""
        return squeeze(self.text)


@dataclass(frozen=True)
class Page:
    """A page's printed lines; ``number`` counts from 1.

    ``unreadable`` says that most of its signs are no letters: its fonts do not tell which letters they draw.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    has_images: bool = False
    unreadable: bool = False

    @cached_property
    def body(self) -> tuple[Line, ...]:
        """The lines that are not running heads or page numbers."""
        return tuple(line for line in self.lines if not line.furniture)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Blank-separated words in content order; a word broken at a line's end is joined without its hyphen."""
        text = "".join(line.text + ("" if line.hyphen else "\n") for line in self.body)
        return tuple(text.split())

    def lines_in(self, box: Box, slack: float = 1.5) -> list[Line]:
        """The lines whose middle lies in ``box``, in content order."""
        return [line for line in self.body if middle_in(line.box, box, slack)]


class PageReader:
    """Reads pages of an open document; keeps text pages so that word boxes can be asked for later."""

    def __init__(self, document: PdfDocument, unread: Collection[tuple[int, int]] = ()) -> None:
        """``unread`` are pages, from 1, with the characters that are passed over there like blanks."""
        self._document = document
        self._unread = unread
        self._signs: dict[int, _Signs] = {}

    def read(self) -> tuple[Page, ...]:
        """All pages, with running heads and page numbers marked."""
        return _mark_furniture([self._read_page(index) for index in range(len(self._document))])

    def words_in(self, page: Page, box: Box) -> list[Word]:
        """The words of a region with their boxes, in content order."""
        return [word for line in page.lines_in(box) for word in _words(self._signs[page.number], line)]

    def _read_page(self, index: int) -> Page:
        page = self._document[index]
        signs = self._signs[index + 1] = _Signs(page.get_textpage(), page.get_height())
        for char in (char for number, char in self._unread if number == index + 1):
            signs.codes[char] = 32
        lines = _lines(signs)
        images = not lines and any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))
        return Page(index + 1, page.get_width(), signs.height, tuple(lines), images, _is_unreadable(signs, lines))


class _Signs:
    """A page's characters: their UTF-16 codes, read once, and where and how each is set."""

    def __init__(self, text_page: PdfTextPage, height: float) -> None:
        self.text_page, self.raw, self.height = text_page, text_page.raw, height
        self.codes = [pdfium.FPDFText_GetUnicode(self.raw, index) for index in range(text_page.count_chars())]
        self._sides = [ctypes.c_double() for _ in range(4)]

    def box(self, index: int) -> tuple[float, float, float, float]:
        pdfium.FPDFText_GetCharBox(self.raw, index, *self._sides)
        left, right, bottom, top = self._sides
        return left.value, self.height - top.value, right.value, self.height - bottom.value

    def size(self, index: int) -> float:
        """The size in points: the text matrix may enlarge the font, as some exporters write size 1 and scale it."""
        matrix, size = pdfium.FS_MATRIX(), float(pdfium.FPDFText_GetFontSize(self.raw, index))
        is_set = pdfium.FPDFText_GetMatrix(self.raw, index, matrix)
        return size * (math.hypot(matrix.c, matrix.d) or 1.0) if is_set else size

    def font(self, index: int) -> str:
        name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(self.raw, index, name, 128, flags)
        return name.value.decode("utf-8", errors="replace").split("+")[-1]


def _is_unreadable(signs: _Signs, lines: Sequence[Line]) -> bool:
    """Whether most signs of a page are none of writing: unassigned, private, or the mark for an unknown one."""
    count = len(signs.codes) - signs.codes.count(32)
    written = sum(
        char.isprintable() and char != "\ufffd" and not char.isspace() for line in lines for char in line.text
    )
    return count >= _FEWEST_SIGNS and written < _WRITTEN_SHARE * count


def _lines(signs: _Signs) -> list[Line]:
    lines: list[Line] = []
    start, codes = 0, signs.codes
    for index, code in enumerate([*codes, 10]):
        soft = code in _SOFT_HYPHENS and index > start and chr(codes[index - 1]).isalnum()
        if code not in _LINE_ENDS and not soft:
            continue
        if printable(codes[start:index]).strip():
            line = _measured(signs, start, index, soft)
            is_tall = line.box.y1 - line.box.y0 > _TWO_LINES * line.size and not line.own_scale
            breaks = _missing_breaks(signs, line) if is_tall else []
            spans = pairwise([start, *breaks, index])
            lines += [_measured(signs, a, b, soft and b == index) for a, b in spans] if breaks else [line]
        start = index + 1
    return lines


def _missing_breaks(signs: _Signs, line: Line) -> list[int]:
    """Where a line begins though the file has no break: the character stands a line lower, left of the one before."""
    inked = [(i, signs.box(i)) for i in range(*line.chars) if not chr(signs.codes[i]).isspace()]
    return [
        index
        for (_, last), (index, box) in pairwise(inked)
        if box[3] - last[3] > _LOWER * line.size and box[2] < last[0] - line.size
    ]


def printable(codes: Sequence[int]) -> str:
    """UTF-16 code units as text, ligatures opened, control and unassigned characters dropped."""
    if all(31 < code < 127 for code in codes):
        return "".join(map(chr, codes))
    text = b"".join(code.to_bytes(2, "little") if code < 0x10000 else chr(code).encode("utf-16-le") for code in codes)
    decoded = "".join(_opened(char) for char in text.decode("utf-16-le", errors="ignore"))
    return unicodedata.normalize("NFC", decoded)


def _opened(char: str) -> str:
    if char < "\x7f":
        return char if char >= " " or char == "\t" else ""
    if "\ufb00" <= char <= "\ufb06" or "\U0001d400" <= char <= "\U0001d7ff":
        return unicodedata.normalize("NFKC", char)
    return "" if unicodedata.category(char)[0] == "C" else char


def _measured(signs: _Signs, start: int, end: int, hyphen: bool) -> Line:
    inked = [i for i in range(start, end) if not chr(signs.codes[i]).isspace()]
    # Every fourth character is enough for a line's size and height, and keeps a page near ten milliseconds.
    sample = sorted({*inked[::4], inked[0], inked[-1]})
    boxes, sizes = list(map(signs.box, sample)), list(map(signs.size, sample))
    high = max(box[3] - box[1] for box in boxes)
    return Line(
        text=printable(signs.codes[start:end]).strip(),
        box=Box(
            x0=min(b[0] for b in boxes),
            y0=min(b[1] for b in boxes),
            x1=max(b[2] for b in boxes),
            y1=max(b[3] for b in boxes),
        ),
        size=round(max(*sizes, high if max(sizes) < _OWN_SCALE_PT else 0.0), 1),
        font=signs.font(inked[0]),
        last_font=signs.font(inked[-1]),
        chars=(start, end),
        hyphen=hyphen,
        own_scale=min(sizes) < _OWN_SCALE_PT < high,
    )


def _words(signs: _Signs, line: Line) -> list[Word]:
    words: list[Word] = []
    first, end = line.chars
    for index in range(first, end + 1):
        if index < end and not chr(signs.codes[index]).isspace():
            continue
        if first < index and (text := printable(signs.codes[first:index])):
            lefts, tops, rights, bottoms = zip(*map(signs.box, range(first, index)), strict=True)
            at, size = (min(lefts), min(tops), max(rights), max(bottoms)), round(signs.size(first), 1)
            words.append(Word(text, *at, size, signs.font(first), hyphen=line.hyphen and index == end))
        first = index + 1
    return words


def _mark_furniture(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Lines that repeat at the same height over pages, and page numbers in a margin, alone or with a running head."""
    seen: Counter[tuple[str, int]] = Counter()
    numbered: Counter[tuple[bool, bool, int]] = Counter()
    for page in pages:
        seen.update({place for line in page.lines for place in _places(line)[:1]})
        numbered.update({number for line in page.lines for number in _page_numbers(line, page)})
    needed = 2 if len(pages) <= 3 else 3

    def is_furniture(line: Line, page: Page) -> bool:
        in_margin = _in_margin(line, page)
        # Most pages have it: footnotes are numbered too, and may come one a page.
        counts = any(
            numbered[number] >= max(_FEWEST_NUMBERED, 0 if number[1] else len(pages) / 2)
            for number in _page_numbers(line, page)
        )
        is_number = (counts or (in_margin and _PAGE_NUMBER.fullmatch(line.text))) and _outermost(line, page)
        nameable = in_margin or sum(char.isalpha() for char in line.key) >= 4
        repeats = nameable and bool(line.key) and sum(seen[place] for place in _places(line)) >= needed
        return is_number or repeats

    return tuple(
        replace(page, lines=tuple(replace(line, furniture=is_furniture(line, page)) for line in page.lines))
        for page in pages
    )


def _in_margin(line: Line, page: Page) -> bool:
    return line.box.y0 < _MARGIN * page.height or line.box.y1 > (1 - _MARGIN) * page.height


def _page_numbers(line: Line, page: Page) -> set[tuple[bool, bool, int]]:
    """The numbers at the ends of a short line in a margin: whether at the top, whether Roman, less the page's own."""
    words = line.text.split()
    if len(words) > _RUNNING_WORDS or not _in_margin(line, page):
        return set()
    at_top, ends = line.box.y0 < page.height / 2, (words[0].lower(), words[-1].lower())
    found = {(at_top, True, _ROMANS[end] - page.number) for end in ends if end in _ROMANS}
    return found | {(at_top, False, int(end) - page.number) for end in ends if end.isdecimal() and len(end) < 5}


def _outermost(line: Line, page: Page) -> bool:
    """Whether no other line stands beyond it in its own margin: a footnote's mark is no page number."""
    others = [other.box for other in page.lines if other.size < 4 * line.size]
    at_top = line.box.y0 < page.height / 2
    return all(box.y0 >= line.box.y0 - 2 if at_top else box.y1 <= line.box.y1 + 2 for box in others)


def _places(line: Line) -> list[tuple[str, int]]:
    """The line's words without digits at its own height band, and the two bands beside it."""
    words, band = re.sub(r"\d+", "#", line.key), round(line.box.y0 / 6)
    return [(words, band), (words, band - 1), (words, band + 1)]
