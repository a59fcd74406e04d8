"""Numbers that Word counts by itself: of headings ('3.1'), list items ('(ii)') and entries ('[7]')."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from referee.papers.docx.names import W
from referee.papers.docx.styles import Styles, value

_ROMAN: tuple[tuple[int, str], ...] = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
)
_ROMAN += ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_DEEPEST = 8
_MOST = 100_000


@dataclass(frozen=True)
class Mark:
    """What is printed before a numbered paragraph; ``depth`` counts from 0."""

    text: str
    depth: int


class Numbering:
    """Counts the numbered paragraphs of one document in reading order."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        self._abstract: dict[str, Any] = {}
        self._numbers: dict[str, Any] = {}
        self._counts: dict[tuple[str, int], int] = {}
        self._started: set[tuple[str, int]] = set()
        if root is not None:
            self._abstract = {e.get(f"{W}abstractNumId"): e for e in root.findall(f"{W}abstractNum")}
            self._numbers = {e.get(f"{W}numId"): e for e in root.findall(f"{W}num")}

    def mark(self, paragraph: Any) -> Mark | None:
        """Count this paragraph and return what Word prints before it; null where it is not numbered."""
        found = self._place(paragraph)
        if found is None:
            return None
        number_id, depth = found
        number = self._numbers.get(number_id)
        abstract_id = value(None if number is None else number.find(f"{W}abstractNumId")) or ""
        levels = {self._depth(e): e for e in self._levels(abstract_id)}
        level = levels.get(depth)
        if level is None:
            return Mark("•", depth)
        form = value(level.find(f"{W}numFmt")) or "decimal"
        if form in ("bullet", "none"):
            shown = form == "bullet" and bool((value(level.find(f"{W}lvlText")) or "").strip())
            return Mark("•" if shown else "", depth)
        self._count(number, number_id, abstract_id, levels, depth)
        pattern = value(level.find(f"{W}lvlText")) or f"%{depth + 1}."
        legal = level.find(f"{W}isLgl") is not None

        def printed(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            count = self._counts.get((abstract_id, at), self._start(levels.get(at)))
            form = "decimal" if legal else value(levels[at].find(f"{W}numFmt")) if at in levels else "decimal"
            return spell(count, form or "decimal")

        return Mark(re.sub(r"%([1-9])", printed, pattern).strip(), depth)

    def _levels(self, abstract_id: str) -> list[Any]:
        abstract = self._abstract.get(abstract_id)
        return [] if abstract is None else abstract.findall(f"{W}lvl")

    def _place(self, paragraph: Any) -> tuple[str, int] | None:
        """The list and the depth a paragraph belongs to: its own, or its style's."""
        properties = self._styles.paragraph_property(paragraph, "numPr")
        if properties is None:
            return None
        number_id = value(properties.find(f"{W}numId"))
        depth = value(properties.find(f"{W}ilvl"))
        if number_id is None:
            inherited = self._inherited(paragraph)
            number_id = None if inherited is None else value(inherited.find(f"{W}numId"))
        if number_id in (None, "0"):
            return None
        if depth is None:
            depth = self._depth_by_style(paragraph, str(number_id))
        return str(number_id), min(int(depth), _DEEPEST) if depth.isdigit() else 0

    def _inherited(self, paragraph: Any) -> Any | None:
        style_id = value(paragraph.find(f"{W}pPr/{W}pStyle"))
        places = (style.find(f"{W}pPr/{W}numPr") for style in self._styles.chain(style_id))
        return next((place for place in places if place is not None and place.find(f"{W}numId") is not None), None)

    def _depth_by_style(self, paragraph: Any, number_id: str) -> str:
        """A heading style belongs to the level that names it."""
        number = self._numbers.get(number_id)
        abstract_id = value(None if number is None else number.find(f"{W}abstractNumId")) or ""
        style_id = value(paragraph.find(f"{W}pPr/{W}pStyle"))
        for level in self._levels(abstract_id):
            if style_id and value(level.find(f"{W}pStyle")) == style_id:
                return level.get(f"{W}ilvl") or "0"
        return "0"

    def _count(self, number: Any | None, number_id: str, abstract_id: str, levels: dict[int, Any], depth: int) -> None:
        override = None if number is None else number.find(f"{W}lvlOverride[@{W}ilvl='{depth}']/{W}startOverride")
        if override is not None and (number_id, depth) not in self._started:
            self._counts.pop((abstract_id, depth), None)
            printed = value(override) or "1"
            first = int(printed) if printed.isdigit() else 1
        else:
            first = self._start(levels.get(depth))
        self._started.add((number_id, depth))
        before = self._counts.get((abstract_id, depth))
        self._counts[abstract_id, depth] = first if before is None else before + 1
        for deeper in range(depth + 1, _DEEPEST + 1):
            self._counts.pop((abstract_id, deeper), None)

    @staticmethod
    def _depth(level: Any) -> int:
        printed = level.get(f"{W}ilvl") or "0"
        return int(printed) if printed.isdigit() else 0

    @staticmethod
    def _start(level: Any | None) -> int:
        printed = value(None if level is None else level.find(f"{W}start")) or "1"
        return min(int(printed), _MOST) if printed.isdigit() else 1


def spell(count: int, form: str) -> str:
    """A count as Word prints it: 'decimal', 'lowerRoman', 'upperLetter', ...; others as decimal."""
    if form in ("lowerRoman", "upperRoman") and 0 < count < 4000:
        text = ""
        for worth, letters in _ROMAN:
            while count >= worth:
                text, count = text + letters, count - worth
        return text if form == "lowerRoman" else text.upper()
    if form in ("lowerLetter", "upperLetter") and 0 < count <= 26 * 20:
        text = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return text if form == "lowerLetter" else text.upper()
    return f"{count:02d}" if form == "decimalZero" else str(count)
