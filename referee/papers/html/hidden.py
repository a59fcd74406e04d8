"""Text that a reader cannot see is taken out of the tree before anything is read, and kept as findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from referee.papers.hidden.visibility import HiddenWords, Look, declarations, parse_rules, switched_off
from referee.papers.html.text import only_shown, unseen_words
from referee.papers.html.tree import class_names, drop
from referee.schemas.paper import Certainty

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_ATOMIC = frozenset({"math", "svg", "img"})
# Style sheets show these only when pointed at; their text is printed in the paper.
_SHOWN_ON_HOVER = re.compile(r"^ltx_note")


class HiddenText:
    """Takes hidden text out of a tree; ``words`` then has what was taken."""

    def __init__(self, sheets: Sequence[str]) -> None:
        self._rules = parse_rules(sheets)
        self.words = HiddenWords("page", between=" ")

    def take_out(self, root: HtmlElement) -> None:
        """Remove hidden elements and hidden text below ``root``; its ancestors' looks are handed down to it."""
        look = Look()
        for ancestor in reversed(list(root.iterancestors())):
            look = _look(ancestor, self._values(ancestor), look)
        self._visit(root, look)

    def _visit(self, element: HtmlElement, above: Look) -> None:
        values = self._values(element)
        reason, certainty = _removed(element, values)
        if reason:
            self.words.add(_spoken(element), reason, certainty)
            drop(element)
            return
        look = _look(element, values, above)
        reason = look.reason()
        if reason and element.tag in _ATOMIC:
            self.words.add(_spoken(element), reason, "high")
            drop(element)
            return
        if element.tag == "math" and (words := unseen_words(element)):
            self.words.add(words, "words of a formula's source that it does not show", "medium")
            only_shown(element)
        if reason and element.text and element.text.strip():
            self.words.add(element.text, reason, "high")
            element.text = None
        elif not reason and (element.text or "").strip():
            self.words.end()
        for child in list(element):
            tail = child.tail or ""
            if reason and tail.strip():
                child.tail = " "
            self._visit(child, look)
            if reason:
                self.words.add(tail, reason)
            elif tail.strip():
                self.words.end()

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
        values.update(declarations(element.get("style") or ""))
        return values


def _look(element: HtmlElement, values: dict[str, str], above: Look) -> Look:
    return replace(above, colour=None, background=None) if element.tag == "svg" else above.inside(values)


def _removed(element: HtmlElement, values: dict[str, str]) -> tuple[str, Certainty]:
    """Why an element is not shown with all that it holds, whatever its children say."""
    if element.get("hidden") is not None and "display" not in values:
        return "the hidden attribute", "high"
    if (found := switched_off(values))[0]:
        return found
    if (element.get("aria-hidden") or "").lower() == "true" and element.tag not in _ATOMIC:
        return "marked aria-hidden", "low"
    return "", "high"


def _spoken(element: HtmlElement) -> str:
    """All text an element holds, formulas by their TeX."""
    if element.tag == "math" and element.get("alttext"):
        return str(element.get("alttext"))
    return " ".join(str(part) for part in element.itertext())
