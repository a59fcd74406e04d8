"""A review cut into strengths and weaknesses without a model: by lists and headings, then by sentences.

A list item is one item; prose outside of lists is cut into its sentences. Items under 50 characters are dropped.

Source: PRAIB's validation parser, as section 8 of the specification tells it; the names and cue words are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from referee.evals.behaviour.atomic_cues import by_cues
from referee.evals.behaviour.atomic_names import POLAR, Announced, Polarity, announced, introduced
from referee.evidence import split_sentences

SHORTEST = 50
"""Characters; shorter items are dropped."""

_MARK = re.compile(
    r"[ \t>]*(?:\*\*|__)?(?P<mark>[-*+•‣▪◦–—]|\(?\d{1,3}[.)]|\([a-zA-Z]\)|[a-zA-Z]\)|[SWPCRsw][ -]?\d{1,2}[:.)])"
    r"(?:\*\*|__)?[ \t]+"
)
_RULE = re.compile(r"[-–—=_*~#\s]*")
_LEVEL = re.compile(r"[ \t]*(#{1,6})[ \t]")
_BOLD = re.compile(r"[ \t]*(?P<bold>\*\*|__)[^*]{1,80}(?P=bold)[ \t:.]*")
_AROUND = " \t>#*_`"
_LONGEST_NAME = 80
_LONGEST_PASSAGE = 2_000
_DENSEST = 16
"""Characters a stop takes at least, on average, in prose."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What the rules found in a text; ``short`` counts items that were dropped for their length."""

    strengths: tuple[str, ...]
    weaknesses: tuple[str, ...]
    short: int


class Unit(NamedTuple):
    """A list item or a paragraph, and what the heading above it announces; ``mark`` is empty for a paragraph."""

    text: str
    mark: str
    under: Announced | None


class _Heading(NamedTuple):
    announces: Announced | None
    rest: str = ""
    mark: str = ""


def units(text: str, default: Announced | None = None) -> Iterator[Unit]:
    """The list items and paragraphs of a text in order, without marks and headings.

    Args:
        text: The text of a box, or a whole review.
        default: What the box announces; holds up to the first heading that announces something.
    """
    under, mark = default, ""
    lines: list[str] = []
    for line in text.splitlines():
        blank = not line.strip() or _RULE.fullmatch(line) is not None
        heading = None if blank else _heading(line)
        found = None if blank or heading else _MARK.match(line)
        if (blank or heading or found) and lines:
            yield Unit(" ".join(lines), mark, under)
        if blank or heading or found:
            lines, mark = [], found["mark"] if found else ""
        if heading is not None:
            under = _now_under(heading.announces, default, under)
            mark = heading.mark if heading.rest else ""
            line = heading.rest
        elif found:
            line = line[found.end() :]
        lines += [" ".join(line.split())] if line.strip() and not blank else []
    if lines:
        yield Unit(" ".join(lines), mark, under)


def has_headings(text: str) -> bool:
    """Whether a heading in the text announces strengths or weaknesses."""
    return any(unit.under in ("strengths", "weaknesses") for unit in units(text))


def cut_by_boxes(boxes: Sequence[tuple[Announced, str]]) -> Cut:
    """Items of boxes; a part that announces both polarities is cut by cue words, one that announces another left out.

    Args:
        boxes: What a box announces and its text, in the form's order.
    """
    return _kept([own for default, text in boxes for unit in units(text, default) for own in _under(unit)])


def cut_by_headings(text: str) -> Cut:
    """Items under the headings of a text; where these announce one polarity alone, the other is found by cue words.

    Only text above and outside of headings is searched so.
    """
    whole = list(units(text))
    told = {unit.under for unit in whole}
    found: list[tuple[Polarity, str]] = []
    for unit in whole:
        if unit.under is not None:
            found += _under(unit)
        elif "mixed" not in told:
            found += [own for piece in _pieces(unit) for own in by_cues(piece) if own[0] not in told]
    return _kept(found)


def cut_by_cues(text: str) -> Cut:
    """Items of a text without such headings: by the marks ``+`` and ``-`` where it has both, else by cue words."""
    whole = list(units(text))
    marks = {unit.mark for unit in whole}
    signed: dict[str, Polarity] = {"+": "strengths", "-": "weaknesses"} if marks >= {"+", "-"} else {}
    found: list[tuple[Polarity, str]] = []
    for unit in whole:
        polarity = signed.get(unit.mark)
        for piece in _pieces(unit):
            found += [(polarity, piece)] if polarity else by_cues(piece)
    return _kept(found)


def _now_under(told: Announced | None, default: Announced | None, before: Announced | None) -> Announced | None:
    """What holds below a heading: in a box for one polarity only a heading that announces the other changes that."""
    if told is None or told in POLAR:
        return told or before
    return default if told == "aspect" or default in ("strengths", "weaknesses") else told


def _under(unit: Unit) -> list[tuple[Polarity, str]]:
    """The items of a unit, as its heading or box announces."""
    if unit.under == "strengths" or unit.under == "weaknesses":
        return [(unit.under, piece) for piece in _pieces(unit)]
    return [own for piece in _pieces(unit) for own in by_cues(piece)] if unit.under == "mixed" else []


def _heading(line: str) -> _Heading | None:
    """The line as a heading: by its name, with text behind a colon or none, or by its marks alone.

    "Clarity: the proofs are hard to read" and "- Typos: many in Section 3" are points, not headings.
    """
    mark = _MARK.match(line)
    plain = (line[mark.end() :] if mark else line).strip(_AROUND)
    name, colon, rest = plain[: _LONGEST_NAME + 1].partition(":")
    known = announced(name)
    if known is not None:
        rest = plain[len(name) + 1 :].strip(_AROUND) if colon else ""
        point = (known == "aspect" and (mark or rest)) or (known == "other" and mark and rest)
        return None if point else _Heading(known, rest, mark["mark"] if mark else "")
    if len(plain) > _LONGEST_NAME:
        return None
    if colon and not rest.strip(_AROUND):
        led = introduced(name)
        return _Heading(led) if led else None
    marked = _LEVEL.match(line) or (mark is None and _BOLD.fullmatch(line))
    return _Heading(None) if marked else None


def _pieces(unit: Unit) -> list[str]:
    """A list item as it is, a paragraph as its sentences."""
    if unit.mark:
        return [unit.text]
    return [sentence for part in _bounded(unit.text) for sentence in _sentences(part)]


def _sentences(part: str) -> list[str]:
    """The sentences of a passage; one with a stop every few characters is no prose and stays whole."""
    return [part] if part.count(". ") * _DENSEST > len(part) else split_sentences(part)


def _bounded(text: str) -> Iterator[str]:
    """Passages of a bounded length, which end with a sentence where they can.

    Cutting sentences takes time that grows faster than the passage.
    """
    at = 0
    while len(text) - at > _LONGEST_PASSAGE:
        limit = at + _LONGEST_PASSAGE
        end = text.rfind(". ", at, limit) + 1 or text.rfind(" ", at + 1, limit)
        end = end if end > at else limit
        yield text[at:end].strip()
        at = end
    yield text[at:].strip()


def _kept(found: Sequence[tuple[Polarity, str]]) -> Cut:
    """Items of sufficient length, each once; one found under both polarities is a weakness."""
    stripped = [(polarity, text.strip(" \t*_`")) for polarity, text in found]
    long = [(polarity, text) for polarity, text in stripped if len(text) >= SHORTEST]
    bad = dict.fromkeys(text for polarity, text in long if polarity == "weaknesses")
    good = dict.fromkeys(text for polarity, text in long if polarity == "strengths" and text not in bad)
    return Cut(tuple(good), tuple(bad), len(found) - len(long))
