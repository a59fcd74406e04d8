"""The text of inline markup: formulas as ``$...$``, notes taken out of the line, blanks as a browser shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from referee.papers.html.math import tex_of
from referee.papers.html.tree import class_names, has_class, is_note

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NOTE_LINK = re.compile(r"^#(?:fn|footnote|note|ftnt|_ftn)[\w.:-]*$", re.IGNORECASE)
_ORDINAL = frozenset({"st", "nd", "rd", "th"})
_NOTE_MARKS = ("ltx_note_mark", "ltx_tag_note", "ltx_note_type")


@dataclass
class Line:
    """Collects the text of one line and the notes that were called in it."""

    parts: list[str] = field(default_factory=list)
    notes: list[tuple[str, HtmlElement]] = field(default_factory=list)

    def add(self, text: str | None) -> None:
        """Add plain text as it stands in the source."""
        if text:
            self.parts.append(text)

    def add_element(self, element: HtmlElement) -> None:
        """Add an inline element without the text after it."""
        if element.tag == "math":
            if tex := tex_of(element):
                self.parts.append(f"${tex}$")
        elif element.tag == "br":
            self.parts.append("\n")
        elif is_note(element):
            self._add_note(element)
        elif element.tag == "img":
            return
        elif mark := _note_call(element):
            self.parts.append(f"[^{mark}]")
        elif element.tag in ("sup", "sub"):
            self._add_script(element)
        elif element.tag == "svg":
            for inner in element.iter("foreignobject"):
                self._add_children(inner)
        else:
            self._add_children(element)

    def _add_children(self, element: HtmlElement) -> None:
        self.add(element.text)
        for child in element:
            self.add_element(child)
            self.add(child.tail)

    def _add_script(self, element: HtmlElement) -> None:
        """'10<sup>-3</sup>' is '10^-3', not '10-3'; ordinals stay as they are."""
        inner = Line(notes=self.notes)
        inner._add_children(element)
        text = inner.text()
        if not text or text.casefold() in _ORDINAL or text.startswith("[^"):
            self.add(text)
            return
        sign = "^" if element.tag == "sup" else "_"
        self.parts.append(f"{sign}{text}" if re.fullmatch(r"[+\-−]?\w+|\*+|[†‡§¶]", text) else f"{sign}{{{text}}}")

    def _add_note(self, element: HtmlElement) -> None:
        """Footnotes leave their mark; notes that are none (in margins, by the author's editor) are text of the line."""
        mark = next((found for found in element.iter() if has_class(found, "ltx_note_mark", "ltx_tag_note")), None)
        number = "".join(str(part) for part in mark.itertext()).strip() if mark is not None else ""
        classes = class_names(element)
        if "ltx_role_footnotetext" not in classes:
            self.parts.append(f"[^{number}]" if number else "")
        if "ltx_role_footnotemark" in classes:
            return
        content = next((found for found in element.iter() if has_class(found, "ltx_note_content")), None)
        if content is not None:
            self.notes.append((number, content))

    def text(self) -> str:
        """What was collected, blanks squeezed; no blank before closing punctuation that followed a dropped note."""
        return " ".join("".join(self.parts).split())

    def lines(self) -> str:
        """What was collected, with its line breaks."""
        rows = (" ".join(row.split()) for row in "".join(self.parts).split("\n"))
        return "\n".join(row for row in rows if row)


def _note_call(element: HtmlElement) -> str:
    """The mark of a link to a footnote ('1'), or nothing."""
    link = element if element.tag == "a" else next(iter(element.findall("a")), None) if element.tag == "sup" else None
    if link is None or (element.tag == "a" and link.get("href") is None):
        return ""
    called = link.get("role") == "doc-noteref" or has_class(link, "footnote-ref", "footnote-reference")
    if not called and not (_NOTE_LINK.match(link.get("href") or "") and _in_sup(link)):
        return ""
    return "".join(str(part) for part in link.itertext()).strip(" []\n\t")


def _in_sup(link: HtmlElement) -> bool:
    return any(near is not None and near.tag == "sup" for near in (link.getparent(), *list(link)))


def text_of(element: HtmlElement) -> str:
    """The inline text of an element in one line; notes called in it are lost but for their marks."""
    line = Line()
    line.add_element(element)
    return line.text()


def note_text(content: HtmlElement) -> str:
    """A LaTeXML footnote's text without its marks."""
    line = Line()
    line.add(content.text)
    for child in content:
        if not has_class(child, *_NOTE_MARKS):
            line.add_element(child)
        line.add(child.tail)
    return line.text()
