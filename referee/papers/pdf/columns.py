"""The words of a page as printed rows in columns, in reading order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import median

from referee.papers.pdf.pages import Word, around
from referee.papers.pieces import ACCENTS, squeeze
from referee.schemas.paper import Box

_WINDOW_ROWS, _FEWEST_ROWS = 8, 4
_GUTTER_PT, _CROSSING_PT = 7, 2.0
_COLUMN_SHARE = 0.15
_SAME_GUTTER_PT = 10
_BAND_ROWS = 2.2
_ROW_OVERLAP, _LOW_SHARE = 0.45, 0.3
# Letters whose ink reaches over the blank behind them.
_OVERHANGING = "fFPTVWYr"
_NO_BLANK, _SPLIT, _SPLIT_SHARE = 0.06, 0.25, 0.6
_WATERMARK = 2.5
_BELOW = re.compile(r"[gjpqyQ,;()\[\]{}/|_]")
_BOLD = re.compile(r"bold|black|heavy|semib|medi(?:um)?\b|[-,]b(?:i|d)?$|^CM(?:B|SSB|CSC)|^SFBX", re.IGNORECASE)
ITALIC = re.compile(r"ital|obl|slant|[-,.](?:it|bi|i)$|^(?:CMTI|CMBXTI|CMSL|SFTI|ECTI|LMRomanSlant)", re.IGNORECASE)


@dataclass(frozen=True)
class Row:
    """Words on one line of one column; ``column`` counts the columns of a page from 0 in reading order."""

    page: int
    column: int
    words: tuple[Word, ...]

    @cached_property
    def box(self) -> Box:
        """Around its words."""
        return around(*(Box(x0=w.x0, y0=w.y0, x1=w.x1, y1=w.y1) for w in self.words))

    @cached_property
    def size(self) -> float:
        """The font size of most of its letters."""
        return common_size(self.words)

    @cached_property
    def base(self) -> float:
        """Where its letters stand: the lower edge of words without a letter that reaches below."""
        level = [w.y1 for w in self.words if not _BELOW.search(w.text) and not ITALIC.search(w.font)]
        return median(level or [self.box.y1 - self.size / 5])

    @cached_property
    def bold(self) -> bool:
        """Whether all its words are."""
        fonts = [w.font for w in self.words if squeeze(w.text)]
        return bool(fonts) and all(map(_BOLD.search, fonts))

    @cached_property
    def tokens(self) -> tuple[Word, ...]:
        """Its words, joined where the file has a blank and the page shows next to none."""
        gaps = [other.x0 - one.x1 for one, other in pairwise(self.words)]
        usual = median(gaps) if gaps else 0.0
        joined = [self.words[0]]
        for gap, word in zip(gaps, self.words[1:], strict=True):
            last = joined[-1]
            within = last.text[-1].isalpha() and word.text[0].isalpha() and last.text[-1] not in _OVERHANGING
            if ITALIC.search(word.font) or gap > min(
                _SPLIT_SHARE * usual, (_SPLIT if within else _NO_BLANK) * word.size
            ):
                joined.append(word)
            else:
                joined[-1] = replace(last, text=last.text + word.text, x1=max(last.x1, word.x1), hyphen=word.hyphen)
        return tuple(joined)

    @cached_property
    def text(self) -> str:
        """Its words with blanks between them."""
        return " ".join(word.text for word in self.tokens)


def common_size(words: Iterable[Word]) -> float:
    """The font size of most letters; 0 for no word."""
    sizes: Counter[float] = Counter()
    for word in words:
        sizes[word.size] += len(word.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def rows_of(width: float, page: int, words: Sequence[Word], known: list[float]) -> list[Row]:
    """The rows of a page: band by band from top to bottom, in a band column by column.

    ``known`` are the gutters of pages before, for a page that shows less of its own; those of this page join them.
    A band of lines that go over a gutter parts the columns above it from those below. Text that stands upright in a
    margin, a watermark's large letters, and accents that stand apart from their letters are left out.
    """
    size = common_size(words)
    words = [w for w in words if w.text not in ACCENTS]
    words = [w for w in words if w.size < _WATERMARK * size and (len(w.text) < 3 or w.y1 - w.y0 < 1.5 * (w.x1 - w.x0))]
    set_words = [w for w in words if 0.75 * size < w.size < 1.3 * size] if size else []
    gutters = _gutters(set_words, width, size, known)
    known += gutters
    rows: list[Row] = []
    column = 0
    crossing = [w for w in set_words if any(w.x0 < g - _CROSSING_PT and w.x1 > g + _CROSSING_PT for g in gutters)]
    edges = [-1e9, *(edge for band in _bands(crossing, size) for edge in band), 1e9]
    for index, (top, bottom) in enumerate(pairwise(edges)):
        part = [w for w in words if top <= (w.y0 + w.y1) / 2 < bottom]
        cuts = [-1e9, *([] if index % 2 else gutters), 1e9]
        for left, right in pairwise(cuts):
            lines = _lines([w for w in part if left <= (w.x0 + w.x1) / 2 < right])
            rows += [Row(page, column, line) for line in lines]
            column += bool(lines)
    return rows


def _gutters(words: Sequence[Word], width: float, size: float, known: Sequence[float]) -> list[float]:
    """Where columns part: strips without words in two windows of a page, and known ones that no word crosses."""
    windows: dict[int, list[Word]] = {}
    for word in words:
        windows.setdefault(int(word.y1 / (_WINDOW_ROWS * size)), []).append(word)
    found: list[list[float]] = []
    for window in windows.values():
        for middle in _strips(window, width):
            near = next((group for group in found if abs(group[0] - middle) < _SAME_GUTTER_PT), None)
            found.append([middle]) if near is None else near.append(middle)
    gutters = [median(group) for group in found if len(group) >= min(2, len(windows) - 1)]
    for gutter in known:
        sides = {(w.x0 > gutter) - (w.x1 < gutter) for w in words}
        if sides == {-1, 1} and not any(abs(gutter - one) < _SAME_GUTTER_PT for one in gutters):
            gutters.append(gutter)
    return sorted(gutters)


def _strips(window: Sequence[Word], width: float) -> list[float]:
    """The middles of the empty strips of a window; a column of labels is part of the one on its right."""
    spans = sorted((w.x0, w.x1) for w in window)
    strips: list[float] = []
    if len({round(w.y1 / w.size) for w in window}) < _FEWEST_ROWS:
        return strips
    start, reach = spans[0]
    for x0, x1 in spans:
        if x0 - reach >= _GUTTER_PT and reach - start >= _COLUMN_SHARE * width:
            strips.append((reach + x0) / 2)
            start = x0
        reach = max(reach, x1)
    return strips if reach - start >= _COLUMN_SHARE * width else strips[:-1]


def _bands(crossing: Sequence[Word], size: float) -> list[tuple[float, float]]:
    """The heights at which words stand over a gutter, those of neighbouring lines joined."""
    bands: list[tuple[float, float]] = []
    for word in sorted(crossing, key=lambda w: w.y0):
        if bands and word.y0 - bands[-1][1] < _BAND_ROWS * size:
            bands[-1] = (bands[-1][0], max(bands[-1][1], word.y1))
        else:
            bands.append((word.y0 - 1, word.y1))
    return bands


def _lines(words: Sequence[Word]) -> list[tuple[Word, ...]]:
    """Words that overlap in height, from left to right; the lines from top to bottom."""
    lines: list[list[Word]] = []
    high = [w for w in words if w.y1 - w.y0 > _LOW_SHARE * w.size]
    low = [w for w in words if w.y1 - w.y0 <= _LOW_SHARE * w.size]
    for word in [*sorted(high, key=lambda w: w.y1), *low]:
        near = lines[-3:] if len(lines) > 3 and word.y1 - word.y0 > _LOW_SHARE * word.size else lines
        best = max(near, key=lambda line: _shared(line[0], word), default=None)
        if best and _shared(best[0], word) > _ROW_OVERLAP:
            best.append(word)
        else:
            lines.append([word])
    ordered = sorted(lines, key=lambda line: min(w.y0 for w in line) + max(w.y1 for w in line))
    return [tuple(sorted(line, key=lambda w: w.x0)) for line in ordered]


def _shared(one: Word, other: Word) -> float:
    """How much of the lower word's height two words have in common."""
    return (min(one.y1, other.y1) - max(one.y0, other.y0)) / max(min(one.y1 - one.y0, other.y1 - other.y0), 0.1)
