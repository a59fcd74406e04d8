"""What styles say of paragraphs and runs, and the numbers that Word counts by itself ('3.1', '(ii)', '[7]')."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from referee.papers.headings import numeral
from referee.papers.pieces import whole

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def local(tag: object) -> str:
    """An element's name without its namespace; nothing for comments."""
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


_HEADING = re.compile(r"^heading (?P<level>[1-9])$", re.IGNORECASE)
_KINDS = {
    "title": "title", "subtitle": "front", "author": "front", "authors": "front", "affiliation": "front",
    "affiliations": "front", "date": "front", "abstract": "abstract", "abstract title": "abstract title",
    "caption": "caption", "table caption": "caption", "image caption": "caption", "figure caption": "caption",
    "bibliography": "reference", "references": "reference", "source code": "code", "html preformatted": "code",
    "toc heading": "contents", "table of figures": "contents", "table of authorities": "contents",
}  # fmt: skip
_CONTENTS = re.compile(r"^(?:toc \d|index \d|header|footer)$", re.IGNORECASE)
_LONGEST_CHAIN = 12


class Styles:
    """The styles of one document, by id."""

    def __init__(self, root: Any | None) -> None:
        styles = [] if root is None else list(root.iter(f"{W}style"))
        self._by_id: dict[str, Any] = {style.get(f"{W}styleId") or "": style for style in styles}
        paragraphs = (style for style in styles[::-1] if style.get(f"{W}type") == "paragraph")
        self._default = next((style for style in paragraphs if style.get(f"{W}default") in ("1", "true")), None)
        self._fallback = None if root is None else root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")

    def chain(self, style_id: str | None, *, or_default: bool = False) -> Iterator[Any]:
        """A style and what it is based on; a circle ends after twelve steps."""
        style = self._by_id.get(style_id or "")
        if style is None and or_default:
            style = self._default
        for _ in range(_LONGEST_CHAIN):
            if style is None:
                return
            yield style
            style = self._by_id.get(value(style.find(f"{W}basedOn")) or "")

    def kind(self, paragraph: Any) -> str:
        """'title', 'heading 2', 'caption', 'front', 'abstract', 'reference', 'code', 'contents', or '' for text."""
        style_id = value(paragraph.find(f"{W}pPr/{W}pStyle"))
        for style in self.chain(style_id, or_default=True):
            name = (value(style.find(f"{W}name")) or "").strip().lower()
            if match := _HEADING.match(name):
                return f"heading {match['level']}"
            if _CONTENTS.match(name):
                return "contents"
            if name in _KINDS:
                return _KINDS[name]
        printed = value(self.paragraph_property(paragraph, "outlineLvl")) or ""
        return f"heading {int(printed) + 1}" if printed.isdigit() and int(printed) < 9 else ""

    def paragraph_property(self, paragraph: Any, name: str) -> Any | None:
        """A property of a paragraph: its own, else its style's."""
        own = paragraph.find(f"{W}pPr/{W}{name}")
        if own is not None:
            return own
        style_id = value(paragraph.find(f"{W}pPr/{W}pStyle"))
        styles = self.chain(style_id, or_default=True)
        return next((f for s in styles if (f := s.find(f"{W}pPr/{W}{name}")) is not None), None)

    def run_property(self, run: Any, paragraph: Any | None, name: str) -> Any | None:
        """A property of a run: its own, its style's, its paragraph's style's, or the document's default."""
        style_id = None if paragraph is None else value(paragraph.find(f"{W}pPr/{W}pStyle"))
        own_styles = self.chain(value(run.find(f"{W}rPr/{W}rStyle")))
        holders = chain((run,), own_styles, self.chain(style_id, or_default=True))
        found = next((f for holder in holders if (f := holder.find(f"{W}rPr/{W}{name}")) is not None), None)
        return self._fallback.find(f"{W}{name}") if found is None and self._fallback is not None else found

    def shades(self, style_id: str | None) -> bool:
        """Whether a table style colours cells, which a cell's own properties then do not show."""
        return any(next(style.iter(f"{W}shd"), None) is not None for style in self.chain(style_id))


def value(element: Any | None) -> str | None:
    """The ``w:val`` of an element, in a formula its ``m:val``, or null."""
    return None if element is None else element.get(f"{W}val") or element.get(f"{M}val")


def is_on(element: Any | None) -> bool:
    """Whether a switch such as ``w:vanish`` or ``w:b`` is there and not turned off."""
    return element is not None and (value(element) or "1") not in ("0", "false", "off", "none")


_DEEPEST, _MOST = 8, 100_000


@dataclass(frozen=True)
class Mark:
    """What is printed before a numbered paragraph; ``depth`` counts from 0."""

    text: str
    depth: int


class Numbering:
    """Counts the numbered paragraphs of one document in reading order."""

    def __init__(self, root: Any | None, styles: Styles) -> None:
        self._styles = styles
        self._counts: dict[tuple[str, int], int] = {}
        self._started: set[tuple[str, int]] = set()
        abstract, numbers = ([] if root is None else root.findall(f"{W}{name}") for name in ("abstractNum", "num"))
        self._abstract: dict[str, Any] = {e.get(f"{W}abstractNumId"): e for e in abstract}
        self._numbers: dict[str, Any] = {e.get(f"{W}numId"): e for e in numbers}

    def mark(self, paragraph: Any) -> Mark | None:
        """Count this paragraph and return what Word prints before it; null where it is not numbered."""
        found = self._place(paragraph)
        if found is None:
            return None
        number_id, depth = found
        abstract_id, own = self._levels(number_id)
        levels = {whole(e.get(f"{W}ilvl"), 0): e for e in own}
        level = levels.get(depth)
        if level is None:
            return Mark("•", depth)
        form = value(level.find(f"{W}numFmt")) or "decimal"
        if form in ("bullet", "none"):
            shown = form == "bullet" and bool((value(level.find(f"{W}lvlText")) or "").strip())
            return Mark("•" if shown else "", depth)
        self._count(number_id, abstract_id, levels, depth)
        pattern = value(level.find(f"{W}lvlText")) or f"%{depth + 1}."
        legal = level.find(f"{W}isLgl") is not None

        def printed(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            count = self._counts.get((abstract_id, at), self._start(levels.get(at)))
            form = "decimal" if legal else value(levels[at].find(f"{W}numFmt")) if at in levels else "decimal"
            return numeral(count, form or "decimal")

        return Mark(re.sub(r"%([1-9])", printed, pattern).strip(), depth)

    def _levels(self, number_id: str) -> tuple[str, list[Any]]:
        """The kind of list that a number belongs to, and the levels of that kind."""
        number = self._numbers.get(number_id)
        abstract_id = value(None if number is None else number.find(f"{W}abstractNumId")) or ""
        abstract = self._abstract.get(abstract_id)
        return abstract_id, [] if abstract is None else abstract.findall(f"{W}lvl")

    def _place(self, paragraph: Any) -> tuple[str, int] | None:
        """The list and the depth a paragraph belongs to: its own, or its style's."""
        properties = self._styles.paragraph_property(paragraph, "numPr")
        if properties is None:
            return None
        number_id = value(properties.find(f"{W}numId"))
        depth = value(properties.find(f"{W}ilvl"))
        if number_id is None:
            styles = self._styles.chain(value(paragraph.find(f"{W}pPr/{W}pStyle")))
            numbers = (value(style.find(f"{W}pPr/{W}numPr/{W}numId")) for style in styles)
            number_id = next(filter(None, numbers), None)
        if number_id in (None, "0"):
            return None
        if depth is None:
            depth = self._depth_by_style(paragraph, str(number_id))
        return str(number_id), min(whole(depth, 0), _DEEPEST)

    def _depth_by_style(self, paragraph: Any, number_id: str) -> str:
        """A heading style belongs to the level that names it."""
        style_id = value(paragraph.find(f"{W}pPr/{W}pStyle"))
        levels = self._levels(number_id)[1] if style_id else []
        named = (level.get(f"{W}ilvl") for level in levels if value(level.find(f"{W}pStyle")) == style_id)
        return next(named, None) or "0"

    def _count(self, number_id: str, abstract_id: str, levels: dict[int, Any], depth: int) -> None:
        number = self._numbers.get(number_id)
        override = None if number is None else number.find(f"{W}lvlOverride[@{W}ilvl='{depth}']/{W}startOverride")
        if override is not None and (number_id, depth) not in self._started:
            self._counts.pop((abstract_id, depth), None)
            first = whole(value(override), 1)
        else:
            first = self._start(levels.get(depth))
        self._started.add((number_id, depth))
        before = self._counts.get((abstract_id, depth))
        self._counts[abstract_id, depth] = first if before is None else before + 1
        for deeper in range(depth + 1, _DEEPEST + 1):
            self._counts.pop((abstract_id, deeper), None)

    @staticmethod
    def _start(level: Any | None) -> int:
        return min(whole(value(None if level is None else level.find(f"{W}start")), 1), _MOST)
