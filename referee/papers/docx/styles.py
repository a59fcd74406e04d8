"""What styles say: the kind of a paragraph, and the properties that a run inherits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from referee.papers.docx.names import W

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
        self._by_id: dict[str, Any] = {}
        self._default: Any | None = None
        self._fallback: Any | None = None
        if root is None:
            return
        for style in root.iter(f"{W}style"):
            self._by_id[style.get(f"{W}styleId") or ""] = style
            if style.get(f"{W}type") == "paragraph" and style.get(f"{W}default") in ("1", "true"):
                self._default = style
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")
        self._fallback = defaults

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
        level = self.paragraph_property(paragraph, "outlineLvl")
        printed = value(level) or ""
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
        own = run.find(f"{W}rPr/{W}{name}")
        if own is not None:
            return own
        for style in self.chain(value(run.find(f"{W}rPr/{W}rStyle"))):
            if (found := style.find(f"{W}rPr/{W}{name}")) is not None:
                return found
        style_id = None if paragraph is None else value(paragraph.find(f"{W}pPr/{W}pStyle"))
        for style in self.chain(style_id, or_default=True):
            if (found := style.find(f"{W}rPr/{W}{name}")) is not None:
                return found
        return None if self._fallback is None else self._fallback.find(f"{W}{name}")

    def shades(self, style_id: str | None) -> bool:
        """Whether a table style colours cells, which a cell's own properties then do not show."""
        return any(next(style.iter(f"{W}shd"), None) is not None for style in self.chain(style_id))


def value(element: Any | None) -> str | None:
    """The ``w:val`` of an element, or null."""
    return None if element is None else element.get(f"{W}val")


def is_on(element: Any | None) -> bool:
    """Whether a switch such as ``w:vanish`` or ``w:b`` is there and not turned off."""
    return element is not None and (value(element) or "1") not in ("0", "false", "off", "none")
