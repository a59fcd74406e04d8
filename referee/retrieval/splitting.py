"""Cutting and packing text under a size limit, without losing or doubling a character that is no blank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

Count = Callable[[str], int]
Span = tuple[int, int]

_ABBREVIATIONS = ("al", "cf", "e.g", "Eq", "Eqs", "Fig", "Figs", "i.e", "Sec", "Tab", "vs")
_NO_END = "".join(rf"(?<!\b{re.escape(name)}\.)" for name in _ABBREVIATIONS)
_LINE_END = re.compile(r"\s*\n\s*")
_SENTENCE_END = re.compile(rf"(?:(?<=[.!?]){_NO_END}|(?<=[.!?][\"”’)\]]))\s+(?=\W{{0,2}}[A-Z0-9])|(?<=[。！？])\s*")
_BLANK = re.compile(r"\s+")


def split_spans(text: str, limit: int, count: Count) -> list[Span]:
    """Cut a text into parts of at most ``limit``, of about equal size.

    Borders are line ends (a table's rows) where those suffice, then ends of sentences, then blanks; a single word
    over the limit is cut between its characters.

    Args:
        text: Any text.
        limit: Largest size of a part, in the unit of ``count``; at least what one character counts.
        count: Size of a text.

    Returns:
        Ranges of the text, in order, without blanks at their ends; together they hold every other character once.
        Empty for a blank text.
    """
    whole = _trimmed(text, (0, len(text)))
    if whole is None:
        return []
    size = count(text[slice(*whole)])
    if size <= limit:
        return [whole]
    atoms = [whole]
    for border in (_LINE_END, _SENTENCE_END, _BLANK):
        atoms = [part for atom in atoms for part in _cut(text, atom, border, limit, count)]
    atoms = [part for atom in atoms for part in _halves(text, atom, limit, count)]
    sizes = [count(text[slice(*atom)]) for atom in atoms]
    target = -(-size // -(-size // limit))

    def fits(start: int, end: int) -> bool:
        return count(text[atoms[start][0] : atoms[end - 1][1]]) <= limit

    return [(atoms[start][0], atoms[end - 1][1]) for start, end in pack(sizes, limit, target, fits)]


def pack(sizes: Sequence[int], limit: int, target: int, fits: Callable[[int, int], bool]) -> list[Span]:
    """Ranges of neighbouring items, each filled until it has ``target`` and never above ``limit``.

    Sizes are added up to find where a range may end; what really stands together is measured by ``fits`` before the
    range is closed, because the pieces of a joined text need not be the sum of its parts'.

    Args:
        sizes: Size of each item.
        limit: Largest size of a range; an item above it stands alone.
        target: Size at which a range is full.
        fits: Whether the items from start to end (exclusive) are within the limit when joined.
    """
    ranges = []
    start = 0
    while start < len(sizes):
        end, total = start + 1, sizes[start]
        while end < len(sizes) and total < target and total + sizes[end] <= limit:
            total += sizes[end]
            end += 1
        while end > start + 1 and not fits(start, end):
            end -= 1
        ranges.append((start, end))
        start = end
    return ranges


def _cut(text: str, span: Span, border: re.Pattern[str], limit: int, count: Count) -> Iterator[Span]:
    """The span itself when it is small enough, else its parts between borders."""
    if count(text[slice(*span)]) <= limit:
        yield span
        return
    start, end = span
    for match in border.finditer(text, start, end):
        if start < match.start():
            yield start, match.start()
        start = match.end()
    if start < end:
        yield start, end


def _halves(text: str, span: Span, limit: int, count: Count) -> Iterator[Span]:
    start, end = span
    if end - start == 1 or count(text[start:end]) <= limit:
        yield span
        return
    middle = (start + end) // 2
    yield from _halves(text, (start, middle), limit, count)
    yield from _halves(text, (middle, end), limit, count)


def _trimmed(text: str, span: Span) -> Span | None:
    inner = text[slice(*span)]
    start = span[0] + len(inner) - len(inner.lstrip())
    end = span[0] + len(inner.rstrip())
    return (start, end) if start < end else None
