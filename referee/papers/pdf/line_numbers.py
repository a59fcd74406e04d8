"""Line numbers of a review copy: columns of rising numbers in a margin, taken out before anything else looks at a page.

They are known by the words of the pages alone. Bare numbers under each other that rise by one step, with no other word
between them, are a run. A paper is line-numbered when a run begins on its first two pages and goes on, or starts again,
over at least three pages (or half of a shorter paper), and when most of its lines of prose stand beside such a run.
Columns of tables, numbered references, axes and code do not begin there, do not go on, or have no prose beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice

from pypdfium2 import PdfDocument, PdfPage

from referee.papers.pdf.hidden.objects import chars_of, frame_of, inked, owner_at, read_objects
from referee.papers.pdf.hidden.removal import PageCut, cut_out
from referee.papers.pieces import Piece
from referee.schemas.paper import Repair

_FEWEST, _FEWEST_PAGES, _FEWEST_IN_ALL = 5, 3, 12
_FIRST_PAGES, _LATEST_START = 2, 60
_LARGEST_STEP, _LARGEST_GAP, _GAP_OF_PAGE = 10, 12, 120
_ALIGNED_PT, _SAME_LINE_PT, _GLUED_PT, _BLANK_PT, _FREE_PT = 3.0, 3.0, 8.0, 12.0, 6.0
_PROSE_WORDS, _PROSE_SHARE = 5, 0.5


@dataclass
class _Word:
    """A word as it is displayed, in points from the top left corner, with its characters' places in the page's text."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    chars: list[int] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    @property
    def number(self) -> int | None:
        return int(self.text) if self.text.isascii() and self.text.isdigit() and len(self.text) < 6 else None

    def edge(self, right: bool) -> float:
        return self.x1 if right else self.x0


_Run = list[_Word]


@dataclass(frozen=True)
class Left:
    """A line number that could not be taken out of the file: its page from 1, its signs, and the word beside it."""

    page: int
    number: str
    chars: frozenset[int]
    word: str
    first: bool


@dataclass(frozen=True)
class Changed:
    """A file's bytes after a step, and what the step did; no repairs where nothing was to be done."""

    data: bytes
    repairs: tuple[Repair, ...] = ()
    left: tuple[Left, ...] = ()


def take_out_line_numbers(document: PdfDocument, data: bytes) -> Changed:
    """Find a paper's line numbers and take them out of a copy; pages that would lose other letters stay as they are.

    Args:
        document: The file, opened; it is changed in memory where numbers are found.
        data: Its bytes.
    """
    count = len(document)
    words = [_words(document[index]) for index in range(min(count, _FIRST_PAGES))]
    if not any(_runs(one, _FEWEST) for one in words):
        return Changed(data)
    words += [_words(document[index]) for index in range(_FIRST_PAGES, count)]
    found = find_line_numbers(words)
    if not any(found):
        return Changed(data)
    clean, damaged = cut_out(document, _cuts(document, found))
    if damaged:
        with closing(PdfDocument(data)) as again:
            kept = [[] if index in damaged else own for index, own in enumerate(found)]
            clean, _ = cut_out(again, _cuts(again, kept))
    numbers = [word.text for own in found for word in own]
    what = f"{len(numbers):,} line numbers on {sum(map(bool, found))} page(s), {numbers[0]} to {numbers[-1]}"
    proof = "bare numbers that rise in the margin beside the lines, from page to page"
    left = tuple(_left(index + 1, number, words[index]) for index in sorted(damaged) for number in found[index])
    return Changed(clean, (Repair(kind="line_numbers", page=None, before=what, after="", proof=proof),), left)


def _left(page: int, number: _Word, words: Sequence[_Word]) -> Left:
    beside = [word for word in words if word is not number and abs(word.middle - number.middle) < _SAME_LINE_PT]
    word = min(beside, key=lambda word: max(word.x0 - number.x1, number.x0 - word.x1), default=None)
    text, first = (word.text, word.x0 > number.x0) if word else ("", True)
    return Left(page, number.text, frozenset(number.chars), text, first)


def without_numbers(pieces: Sequence[Piece], left: Sequence[Left]) -> list[Piece]:
    """The pieces without line numbers that the converter read: before or behind the word beside them, or alone."""
    pieces = list(pieces)
    for one in left:
        word = re.escape(one.word)
        beside = rf"(?<!\S){one.number}\s?(?={word})" if one.first else rf"(?<={word})\s?{one.number}(?!\S)"
        alone = rf"^{one.number}(?=[\d\s]*$)|(?<=\s){one.number}$"
        here = [(index, piece.text) for index, piece in enumerate(pieces) if piece.page == one.page]
        found = (
            (index, match) for pattern in (beside, alone) for index, text in here if (match := re.search(pattern, text))
        )
        for index, match in list(islice(found, 1)):
            text = f"{match.string[: match.start()]}{match.string[match.end() :]}".strip()
            pieces[index : index + 1] = [replace(pieces[index], text=text)] if text else []
    return pieces


def _cuts(document: PdfDocument, found: Sequence[Sequence[_Word]]) -> dict[int, PageCut]:
    cuts = {index: PageCut(document[index]) for index, own in enumerate(found) if own}
    for index, cut in cuts.items():
        gone = {char for word in found[index] for char in word.chars}
        with closing(cut.page.get_textpage()) as text_page:
            touched = {owner_at(text_page, char) for char in gone}
            chars = chars_of(text_page, [one for one in read_objects(cut.page).texts if one.address in touched])
        cut.take([char for char in chars if char.index in gone], chars)
    return cuts


def _words(page: PdfPage) -> list[_Word]:
    """The words of a page in content order; a gap parts them as well as a blank."""
    frame = frame_of(page, page.get_bbox())
    words: list[_Word] = []
    before = -2
    with closing(page.get_textpage()) as text_page:
        for index, sign, bounds in inked(text_page):
            x0, y0, x1, y1 = frame.place(bounds)
            last = words[-1] if index == before + 1 else None
            if last and abs(y0 + y1 - last.y0 - last.y1) / 2 < last.y1 - last.y0 + 2 and abs(x0 - last.x1) < _GLUED_PT:
                last.text += sign
                last.chars.append(index)
                last.x0, last.y0 = min(last.x0, x0), min(last.y0, y0)
                last.x1, last.y1 = max(last.x1, x1), max(last.y1, y1)
            else:
                words.append(_Word(sign, x0, y0, x1, y1, [index]))
            before = index
    return words


def find_line_numbers(pages: Sequence[Sequence[_Word]]) -> list[list[_Word]]:
    """For each page the words that are line numbers; empty lists where the paper has none."""
    found: list[list[_Word]] = []
    strip: dict[tuple[int, int], _Word] = {}  # one number for each place of the edges, however many pages there are
    last: int | None = None
    skipped = 0
    for number, words in enumerate(pages):
        runs = _runs(words, _FEWEST)
        if last is None and number < _FIRST_PAGES and runs and (start := min(map(_first, runs))) <= _LATEST_START:
            last = start - 1
        kept: list[_Word] = []
        short = _runs(words, 1) if last is not None and (any(found) or runs) else []
        while last is not None:
            taken = {id(word) for word in kept}
            before = [*strip.values()]
            known = [*before, *kept]
            fit = [
                run
                for run in (*runs, *(run for run in short if _is_aligned(run, kept or before)))
                if not any(id(word) in taken for word in run)
                # Numbers start anew on a page or in a section: in the same strip, as the paper's first run does.
                and (
                    _goes_on(run, last, skipped)
                    or (known and _first(run) == known[0].number and _is_aligned(run, known))
                )
            ]
            if not fit:
                break
            run = min(fit, key=lambda run: (not _goes_on(run, last or 0, skipped), _first(run), -len(run)))
            kept += run
            last = _last(run)
        for word in kept:
            strip.setdefault((round(word.x0), round(word.x1)), word)
        skipped = 0 if kept else skipped + 1
        found.append(kept)
    return found if _is_numbered(pages, found) else [[] for _ in pages]


def _first(run: _Run) -> int:
    return run[0].number or 0


def _last(run: _Run) -> int:
    return run[-1].number or 0


def _goes_on(run: _Run, last: int, skipped: int) -> bool:
    """Whether a run begins where the last one ended; pages of figures alone may stand between."""
    return 0 < _first(run) - last <= _LARGEST_GAP + _GAP_OF_PAGE * skipped * (len(run) >= _FEWEST)


def _is_aligned(run: _Run, strip: Sequence[_Word]) -> bool:
    return any(abs(run[0].edge(right) - word.edge(right)) <= _ALIGNED_PT for word in strip for right in (True, False))


def _runs(words: Sequence[_Word], least: int) -> list[_Run]:
    """Rising runs of bare numbers, aligned at an edge and alone in their strip; no word is in two, the longest win."""
    runs: list[_Run] = []
    for right in (True, False):
        rest = sorted((word for word in words if word.number is not None), key=lambda word: word.edge(right))
        while rest:
            limit = rest[0].edge(right) + _ALIGNED_PT
            column = sorted((word for word in rest if word.edge(right) <= limit), key=lambda word: word.y0)
            rest = rest[len(column) :]
            runs += [run for run in _rising(column) if len(run) >= least and _is_alone(run, words)]
    found: list[_Run] = []
    taken: set[int] = set()
    for run in sorted(runs, key=len, reverse=True):
        if taken.isdisjoint(map(id, run)):
            taken.update(map(id, run))
            found.append(run)
    return found


def _rising(column: Sequence[_Word]) -> list[_Run]:
    runs: list[_Run] = []
    step = 0
    for word in column:
        rise = (word.number or 0) - _last(runs[-1]) if runs else 0
        if runs and 0 < rise <= _LARGEST_STEP and step in (0, rise):
            runs[-1].append(word)
            step = rise
        else:
            runs.append([word])
            step = 0
    return runs


def _is_alone(run: _Run, words: Sequence[_Word]) -> bool:
    """Whether no other word stands in a run's strip, nor close beside it on one of its sides, as words of a line do."""
    left, right = min(word.x0 for word in run), max(word.x1 for word in run)
    own = {id(word) for word in run}
    others = [word for word in words if run[0].y0 < word.y0 < run[-1].y0 and id(word) not in own]
    return any(
        not any(word.x0 < right + beyond and word.x1 > left - before for word in others)
        for before, beyond in ((_FREE_PT, 0.0), (0.0, _FREE_PT))
    )


def _is_numbered(pages: Sequence[Sequence[_Word]], found: Sequence[Sequence[_Word]]) -> bool:
    """Whether there are runs enough, and most of the prose stands beside them."""
    numbered = sum(len(own) >= _FEWEST for own in found)
    short = bool(found and found[0]) and numbered >= len(pages) / 2 and sum(map(len, found)) >= _FEWEST_IN_ALL
    if numbered < _FEWEST_PAGES and not short:
        return False
    beside = prose = 0
    for words, own in zip(pages, found, strict=True):
        lines = _prose(words)
        prose += len(lines)
        if own:
            top, bottom = min(word.y0 for word in own) - _SAME_LINE_PT, max(word.y1 for word in own) + _SAME_LINE_PT
            beside += sum(top <= line <= bottom for line in lines)
    return beside > _PROSE_SHARE * prose


def _prose(words: Sequence[_Word]) -> list[float]:
    """The heights of lines of at least five words without a gap among them; cells of a table are none."""
    heights: list[float] = []
    count, before = 0, None
    for word in words:
        goes_on = before and abs(word.middle - before.middle) < _SAME_LINE_PT and -2 < word.x0 - before.x1 < _BLANK_PT
        count = (count if goes_on else 0) + any(char.isalpha() for char in word.text)
        if count == _PROSE_WORDS:
            heights.append(word.middle)
        before = word
    return heights
