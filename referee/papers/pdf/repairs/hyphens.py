"""Words broken at a line's end: the paper's own vocabulary says whether the hyphen belongs to the word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from referee.papers.pdf.draft import Draft
from referee.papers.pdf.pages import Line, Page

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+)-?$")
_HEAD = re.compile(r"^([^\W\d_]+)")
_SAMPLES = 4


class Vocabulary:
    """The words a paper prints unbroken."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._words: Counter[str] = Counter()
        for page in pages:
            for line in page.lines:
                self._words.update(word.casefold() for word in _WORD.findall(_unbroken(line)))
        self._parts = {part for word in self._words for part in word.split("-")} | set(self._words)
        self._firsts = {word.split("-")[0] for word in self._words if "-" in word}

    def join(self, head: str, tail: str) -> str:
        """The word that ``head-`` at a line's end and ``tail`` in the next line make.

        Printed elsewhere in one or both of the two forms: the more frequent one. Otherwise with a hyphen when the
        parts look like two words: both stand alone elsewhere, or the first is an adverb or takes a hyphen elsewhere,
        or a capital starts the second ('human-AI'). Else without.
        """
        low_head, low_tail = head.casefold(), tail.casefold()
        whole, parted = self._words[low_head + low_tail], self._words[f"{low_head}-{low_tail}"]
        if whole or parted:
            return head + tail if whole > parted else f"{head}-{tail}"
        known = low_head in self._parts
        two_words = known and low_tail in self._parts and len(head) >= 4 and len(tail) >= 3
        adverb = known and low_head.endswith("ly") and len(head) > 4
        capital = head[-1].islower() and tail[0].isupper()
        compound = low_head in self._firsts and len(head) > 2 and len(tail) > 2
        return f"{head}-{tail}" if two_words or adverb or capital or compound else head + tail


def _unbroken(line: Line) -> str:
    """The line without the half word at its end."""
    return line.text.rsplit(None, 1)[0] if line.hyphen and " " in line.text else "" if line.hyphen else line.text


def join_lines(lines: Sequence[Line], vocabulary: Vocabulary) -> str:
    """Lines as one text, words broken at line ends made whole."""
    text = ""
    for before, line in pairwise([None, *lines]):
        assert line is not None
        if before is None:
            text = line.text
        elif before.hyphen and (head := _TAIL.search(text)) and (tail := _HEAD.match(line.text)):
            text = text[: head.start()] + vocabulary.join(head[1], tail[1]) + line.text[tail.end() :]
        elif before.hyphen:
            text = f"{text}-{line.text}"
        else:
            text = f"{text} {line.text}"
    return text


def repair_hyphens(draft: Draft, vocabulary: Vocabulary) -> None:
    """Mend the words that the page breaks at a line's end and the converter left broken ('limi- tations')."""
    for page in draft.pages:
        broken = {
            (head[1], tail[1]): vocabulary.join(head[1], tail[1])
            for line, after in pairwise(page.body)
            if line.hyphen and (head := _TAIL.search(line.text)) and (tail := _HEAD.match(after.text))
        }
        mended = _mend_page(draft, page.number, broken)
        if mended:
            draft.record(
                "line_end_hyphen",
                page.number,
                ", ".join(before for before, _ in mended[:_SAMPLES]),
                ", ".join(after for _, after in mended[:_SAMPLES]),
                f"{len(mended)} word(s) are broken at a line's end on this page",
            )


def _mend_page(draft: Draft, number: int, broken: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    if not broken:
        return []
    pattern = re.compile(r"(?<![^\W\d_])([^\W\d_]+)(-\s*)([^\W\d_]+)")
    mended: list[tuple[str, str]] = []

    def mend(match: re.Match[str]) -> str:
        whole = broken.get((match[1], match[3]))
        if whole is None or whole == match[0]:
            return match[0]
        mended.append((match[0], whole))
        return whole

    for index, piece in enumerate(draft.pieces):
        if piece.page == number and piece.kind not in ("equation", "code", "table"):
            draft.pieces[index] = replace(piece, text=pattern.sub(mend, piece.text))
    return mended
