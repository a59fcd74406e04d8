"""Text that a reader cannot see is taken out of the tree before anything is read, and kept as findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from referee.papers.hidden import css
from referee.papers.html.text import only_shown, unseen_words
from referee.papers.html.tree import class_names, drop
from referee.schemas.paper import Certainty, Finding

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SMALLEST = 2.0
_LEAST_CONTRAST = 1.2
_OFF_SCREEN = -300.0
_MOST = 50
_WORD = re.compile(r"[^\W\d_]{3,}")
_ATOMIC = frozenset({"math", "svg", "img"})
# Style sheets show these only when pointed at; their text is printed in the paper.
_SHOWN_ON_HOVER = re.compile(r"^ltx_note")


@dataclass(frozen=True)
class _Look:
    """What an element hands down to its children."""

    colour: css.Colour | None = (0, 0, 0, 1)
    background: css.Colour | None = (255, 255, 255, 1)
    size: float = 12.0
    invisible: bool = False

    def reason(self) -> str:
        """Why text that looks so cannot be seen, or nothing."""
        if self.invisible:
            return "visibility is hidden"
        if self.size < _SMALLEST:
            return f"font size {self.size:.1f} pt"
        if self.colour is not None and self.colour[3] < 0.1:
            return "transparent colour"
        if self.colour and self.background and css.contrast(self.colour, self.background) < _LEAST_CONTRAST:
            return "colour of its background"
        return ""


class HiddenText:
    """Takes hidden text out of ``root``; ``findings`` then says what was taken."""

    def __init__(self, sheets: Sequence[str]) -> None:
        self._rules = css.parse_rules(sheets)
        self._seen: list[tuple[str, str, Certainty]] = []
        self._open = False

    def take_out(self, root: HtmlElement) -> None:
        """Remove hidden elements and hidden text below ``root``; its ancestors' looks are handed down to it."""
        look = _Look()
        for ancestor in reversed(list(root.iterancestors())):
            look = self._look(ancestor, self._values(ancestor), look)
        self._visit(root, look)

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each piece of hidden text with a word in it, at most 50; a last one counts the rest."""
        told = [(text, reason, certainty) for text, reason, certainty in self._seen if _WORD.search(text)]
        findings = [
            Finding(
                kind="hidden_text",
                message=f"The page holds text that a reader cannot see ({reason}); it is kept out of the sections.",
                certainty=certainty,
                text=text,
            )
            for text, reason, certainty in told[:_MOST]
        ]
        if len(told) > _MOST:
            message = f"The page holds {len(told) - _MOST} more pieces of text that a reader cannot see."
            rest = "\n".join(text for text, _, _ in told[_MOST:])
            findings.append(Finding(kind="hidden_text", message=message, certainty="high", text=rest))
        return tuple(findings)

    def _visit(self, element: HtmlElement, above: _Look) -> None:
        values = self._values(element)
        reason, certainty = _removed(element, values)
        if reason:
            self._tell(_spoken(element), reason, certainty)
            drop(element)
            return
        look = self._look(element, values, above)
        reason = look.reason()
        if reason and element.tag in _ATOMIC:
            self._tell(_spoken(element), reason, "high")
            drop(element)
            return
        if element.tag == "math" and (words := unseen_words(element)):
            self._tell(words, "words of a formula's source that it does not show", "medium")
            only_shown(element)
        if reason and element.text and element.text.strip():
            self._tell(element.text, reason, "high")
            element.text = None
        elif not reason:
            self._pass(element.text)
        for child in list(element):
            tail = child.tail or ""
            if reason and tail.strip():
                child.tail = " "
            self._visit(child, look)
            if reason:
                self._tell(tail, reason, "high")
            else:
                self._pass(tail)

    def _tell(self, text: str, reason: str, certainty: Certainty) -> None:
        """Keep hidden text; neighbours that are hidden for one reason become one piece."""
        text = " ".join(text.split())
        if not text:
            return
        if self._open and self._seen and self._seen[-1][1:] == (reason, certainty):
            text = f"{self._seen.pop()[0]} {text}"
        self._seen.append((text, reason, certainty))
        self._open = True

    def _pass(self, text: str | None) -> None:
        """Text that is seen: what is hidden after it is another piece."""
        if text and text.strip():
            self._open = False

    def _values(self, element: HtmlElement) -> dict[str, str]:
        """An element's declarations: attributes, then simple rules, then its own style."""
        values: dict[str, str] = {}
        if element.tag == "font" and element.get("color"):
            values["color"] = element.get("color")
        if element.get("bgcolor"):
            values["background-color"] = element.get("bgcolor")
        classes = class_names(element)
        identity = element.get("id") or ""
        for rule in self._rules:
            if rule.fits(str(element.tag), classes, identity):
                values.update(rule.values)
        if any(_SHOWN_ON_HOVER.match(name) for name in classes):
            values.clear()
        values.update(css.declarations(element.get("style") or ""))
        return values

    def _look(self, element: HtmlElement, values: dict[str, str], above: _Look) -> _Look:
        if element.tag == "svg":
            return replace(above, colour=None, background=None)
        look = above
        if size := values.get("font-size"):
            found = css.points(size, above.size)
            look = replace(look, size=above.size if found is None else found)
        if shown := values.get("visibility"):
            look = replace(look, invisible=shown in ("hidden", "collapse"))
        ink = values.get("-webkit-text-fill-color") or values.get("color")
        if ink and ink not in ("inherit", "currentcolor"):
            look = replace(look, colour=css.colour(ink))
        return replace(look, background=_background(values, look.background))


def _background(values: dict[str, str], above: css.Colour | None) -> css.Colour | None:
    """The colour behind the text; null where it is a picture, a gradient or not understood."""
    if values.get("background-image", "none") != "none":
        return None
    value = values.get("background-color") or values.get("background")
    if not value or value in ("inherit", "none", "initial"):
        return above
    found = css.colour(value)
    return above if found is not None and found[3] < 0.1 else found


def _removed(element: HtmlElement, values: dict[str, str]) -> tuple[str, Certainty]:
    """Why an element is not shown with all that it holds, whatever its children say."""
    if values.get("display") == "none":
        return "display is none", "high"
    if element.get("hidden") is not None and "display" not in values:
        return "the hidden attribute", "high"
    if _number(values.get("opacity")) < 0.05:
        return "opacity zero", "high"
    if _off_screen(values):
        return "placed outside the page", "high"
    if _clipped(values):
        return "clipped to nothing", "medium"
    if (element.get("aria-hidden") or "").lower() == "true" and element.tag not in _ATOMIC:
        return "marked aria-hidden", "low"
    return "", "high"


def _number(value: str | None) -> float:
    try:
        return float(value.rstrip("%")) if value else 1.0
    except ValueError:
        return 1.0


def _off_screen(values: dict[str, str]) -> bool:
    placed = values.get("position") in ("absolute", "fixed")
    names = ("text-indent", "margin-left", *(("left", "top", "right", "bottom") if placed else ()))
    lengths = [css.points(values[name], 12.0) for name in names if name in values]
    moved = re.search(r"translate[xy]?\(\s*-\d{4,}", values.get("transform", ""))
    return any(length is not None and length <= _OFF_SCREEN for length in lengths) or bool(moved)


def _clipped(values: dict[str, str]) -> bool:
    clip = values.get("clip", "").replace("px", "").replace(",", " ").split()
    if clip in (["rect(0", "0", "0", "0)"], ["rect(1", "1", "1", "1)"]):
        return True
    if re.search(r"inset\(\s*(?:50|100)%", values.get("clip-path", "")) or "scale(0)" in values.get("transform", ""):
        return True
    if "hidden" not in (values.get("overflow"), values.get("overflow-x"), values.get("overflow-y")):
        return False
    sizes = [css.points(values[n], 12.0) for n in ("width", "height", "max-width", "max-height") if n in values]
    return any(size is not None and size <= 1 for size in sizes)


def _spoken(element: HtmlElement) -> str:
    """All text an element holds, formulas by their TeX."""
    if element.tag == "math" and element.get("alttext"):
        return str(element.get("alttext"))
    return " ".join(str(part) for part in element.itertext())
