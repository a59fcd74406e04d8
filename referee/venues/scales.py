"""Whether the values of a scale stand on the page, beside their labels or inside a range that the page prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from referee.evidence.normalise import normalise
from referee.schemas.venue import Aspect, FieldKind
from referee.venues.page import GuidelinePage, trace
from referee.venues.page.page_types import Dropped, OptionDraft

_MARKERS = re.compile(r"^(?:#{1,6} | *[-*•] +)", re.MULTILINE)
_NUMBER = re.compile(r"-?\d{1,3}(?:\.\d{1,2})?")
_POINTS = re.compile(r"\b(\d{1,2})[- ]points?\b", re.IGNORECASE)
_FEWEST = 2
_NOT_THERE = "a value of a scale that cannot be found on the page"


@dataclass(frozen=True)
class Box:
    """A box as the model read it; ``words`` are on the page, ``options`` are values with labels, not yet looked up."""

    words: str
    title: str
    kind: Literal["text", "score", "choice"]
    measures: Aspect
    scale: str
    options: tuple[tuple[str, str], ...]
    length: str = ""
    late: bool = False


@dataclass(frozen=True)
class ReadScale:
    """The values that stand on the page; fewer than two are none."""

    kind: FieldKind
    options: tuple[OptionDraft, ...]
    put_aside: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Region:
    """Where a box stands in the page's comparable text: from its words to those of the next box."""

    start: int
    end: int


def page_places(words: Sequence[str], page: GuidelinePage) -> list[Region]:
    """The region of each box, by its words, in the order given; the whole page for words that are not found."""
    text = _comparable(page.text)
    starts: list[int] = []
    last = 0
    for each in words:
        wanted = normalise(each).text
        at = text.find(wanted, last)
        at = text.find(wanted) if at < 0 else at
        starts.append(at)
        last = at + 1 if at >= 0 else last
    bounds = sorted({at for at in starts if at >= 0})
    return [
        Region(at, next((b for b in bounds if b > at), len(text))) if at >= 0 else Region(0, len(text)) for at in starts
    ]


def checked_scale(box: Box, region: Region, page: GuidelinePage) -> ReadScale:
    """The box's values that the page bears out: first where the box stands, then, with a note, elsewhere."""
    if box.kind == "text" or not box.options:
        return ReadScale("text", ())
    text = _comparable(page.text)
    near = list(_found(box, text[region.start : region.end], page))
    far = list(_found(box, text, page)) if len(near) < len(box.options) else near
    found = near if len(near) >= len(far) else far
    missed = [value for value, _ in box.options if value not in {option.words for option in found}]
    aside = tuple(Dropped(f"{box.title}: {value}", _NOT_THERE) for value in missed)
    if len(found) < _FEWEST:
        return ReadScale("text", (), aside, (f"{box.title}: its scale cannot be found on the page",))
    notes = () if found is near else (f"{box.title}: its scale stands elsewhere on the page than the box",)
    kind: FieldKind = "choice" if any(isinstance(option.value, str) for option in found) else "score"
    return ReadScale(kind, tuple(found), aside, notes)


def _found(box: Box, text: str, page: GuidelinePage) -> Iterator[OptionDraft]:
    """The options that stand in the text; ``words`` keeps the value as the model wrote it."""
    labelled = {value: label for value, label in box.options if label and _beside(value, label, text)}
    printed = _printed(box, page)
    sure = printed | {float(value) for value in labelled if _NUMBER.fullmatch(value)}
    half = bool(re.search(r"\bhal(?:f|ves)\b|\.5\b", box.scale)) or any(number % 1 for number in sure)
    taken: set[int | float | str] = set()
    for value, label in box.options:
        read = _value(value)
        if read in taken:
            continue
        inside = value in labelled or (
            _alone(value, text) if isinstance(read, str) else _within(float(read), sure, half) or _own_line(value, text)
        )
        if inside:
            taken.add(read)
            kept = label if value in labelled else ""
            yield OptionDraft(read, kept, value)


def _beside(value: str, label: str, text: str) -> bool:
    """Whether the label stands somewhere with the value right before or after it."""
    wanted, number = normalise(label).text, re.escape(normalise(value).text)
    if not wanted:
        return False
    before = re.compile(rf"(?<![\w.]){number}(?:\s*(?:points?|stars?))?[\s=:.,;()\[\]|*–—-]{{0,6}}(?:or|is|for)?\s*$")
    after = re.compile(rf"^[\s=:(\[|*–—-]{{1,5}}{number}(?![\w]|\.\d)")
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if before.search(text[max(0, at - 24) : at]) or after.match(text[end : end + 12]):
            return True
        at = text.find(wanted, at + 1)
    return False


def _printed(box: Box, page: GuidelinePage) -> set[float]:
    """The numbers in the page's words on the range; "5 point" begins at 1."""
    words = (trace(box.scale, page) if len(box.scale.strip()) >= 3 else None) or ""
    # A dash between two numbers is no sign: "1-5" holds 1 and 5.
    numbers = {float(number) for number in re.findall(r"\d{1,3}(?:\.\d{1,2})?", words)}
    return numbers | ({1.0} if _POINTS.search(words) else set())


def _within(value: float, sure: set[float], half: bool) -> bool:
    if value in sure:
        return True
    steps = value * 2 if half else value
    return len(sure) >= _FEWEST and min(sure) < value < max(sure) and steps == int(steps)


def _own_line(value: str, text: str) -> bool:
    """Whether a value without a label has a line of its own; in comparable text a line ends in a blank."""
    return bool(re.search(rf"(?<![\w.]){re.escape(value)} (?=-?\d)", text))


def _alone(value: str, text: str) -> bool:
    wanted = re.escape(normalise(value).text)
    return bool(wanted and re.search(rf"(?<!\w){wanted}(?!\w)", text))


def _value(text: str) -> int | float | str:
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if float(text) % 1 else int(float(text))


@lru_cache(maxsize=4)
def _comparable(text: str) -> str:
    return normalise(_MARKERS.sub("", text)).text
