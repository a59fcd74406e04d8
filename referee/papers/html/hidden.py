"""Text that a reader cannot see is taken out of the tree before anything is read, and kept as findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from referee.papers.hidden.css import declared, parse_rules, settled
from referee.papers.hidden.visibility import HIDES_BY, HiddenWords, Look, switched_off
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

    def __init__(self, page: HtmlElement, sheets: Sequence[str]) -> None:
        """The rules of the sheets are looked up in the whole page, before any of it is taken away."""
        self._ruled: dict[HtmlElement, list[tuple[str, str, bool]]] = {}
        for rule in parse_rules(sheets, HIDES_BY):
            for element in page.xpath(rule.path):
                self._ruled.setdefault(element, []).extend(rule.values)
        self.words = HiddenWords("page", between=" ")

    def take_out(self, root: HtmlElement) -> None:
        """Remove hidden elements and hidden text below ``root``; its ancestors' looks are handed down to it."""
        look = Look()
        for ancestor in reversed(list(root.iterancestors())):
            values = self._values(ancestor)
            look = _look(ancestor, settled(values, look.variables), look.with_variables(values))
        self._visit(root, look)

    def _visit(self, element: HtmlElement, above: Look) -> None:
        raw = self._values(element)
        above = above.with_variables(raw)
        values = settled(raw, above.variables)
        # Why it is not shown with all that it holds, whatever its children say.
        named = next((name for name in ("hidden", "popover") if element.get(name) is not None), "")
        by_name: tuple[str, Certainty] = (f"the {named} attribute", "high")
        reason, certainty = by_name if named and "display" not in values else switched_off(values)
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
        """An element's declarations: attributes, then rules, then its own style, then what is important."""
        values: dict[str, str] = {}
        if element.tag == "font" and element.get("color"):
            values["color"] = element.get("color")
        if element.get("bgcolor"):
            values["background-color"] = element.get("bgcolor")
        ruled = self._ruled.get(element, [])
        if any(_SHOWN_ON_HOVER.match(name) for name in class_names(element)):
            ruled = []
        own = declared(element.get("style") or "")
        for important in (False, True):
            values.update({name: value for part in (ruled, own) for name, value, weighs in part if weighs == important})
        return values


def _look(element: HtmlElement, values: dict[str, str], above: Look) -> Look:
    return replace(above, colour=None, background=None) if element.tag == "svg" else above.inside(values)


def _spoken(element: HtmlElement) -> str:
    """All text an element holds, formulas by their TeX."""
    if element.tag == "math" and element.get("alttext"):
        return str(element.get("alttext"))
    return " ".join(str(part) for part in element.itertext())
