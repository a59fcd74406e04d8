"""The text of inline markup: formulas as TeX, notes taken out of the line, blanks as a browser shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lxml.html import HtmlElement

from referee.papers.html.tree import class_names, has_class, is_note
from referee.papers.pieces import joined_tex, script_text, squeeze, tex_group

_TEX_NOTE = re.compile(r"^(?:application/x-(?:la)?tex|latex|tex)$", re.IGNORECASE)
_STYLE = re.compile(r"^(?:\\(?:displaystyle|textstyle)\s*)+")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_ACCENTS = {
    "^": "\\hat", "ˆ": "\\hat", "~": "\\tilde", "˜": "\\tilde", "¯": "\\bar", "‾": "\\bar", "→": "\\vec",
    "˙": "\\dot", "¨": "\\ddot", "ˇ": "\\check", "_": "\\underline", "⏞": "\\overbrace", "⏟": "\\underbrace",
}  # fmt: skip
# Fractions, roots and scripts by their number of parts: the parts, then all but the first of them as groups.
_FORMS = {
    ("mfrac", 2): r"\frac{{{0}}}{{{1}}}",
    ("mroot", 2): r"\sqrt[{1}]{{{0}}}",
    **dict.fromkeys((("msub", 2), ("munder", 2)), "{0}_{2}"),
    **dict.fromkeys((("msup", 2), ("mover", 2)), "{0}^{2}"),
    **dict.fromkeys((("msubsup", 3), ("munderover", 3)), "{0}_{3}^{4}"),
}
_HOLDERS = ("katex", "katex-display", "MathJax", "MathJax_Display", "mwe-math-element")
_NAMES = re.compile(r"\\(?:begin|end|color|definecolor|label|hspace)\s*(?:\[[^\]]*\])?\{[^}]*\}|\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{4,}")
_MOST_UNSEEN = 3


def tex_of(math: HtmlElement) -> str:
    """The TeX of one ``math`` element: its annotation, its alternative text, or its MathML written out."""
    notes = (note.text or "" for note in math.iter("annotation") if _TEX_NOTE.match(note.get("encoding") or ""))
    given = next((text for text in (*notes, math.get("alttext") or "") if text.strip()), "")
    return _STYLE.sub("", " ".join(re.sub(r"%[ \t]*\n", "", given or _row(math)).split()))


def unseen_words(math: HtmlElement) -> str:
    """The TeX of a formula whose TeX has three or more words that the formula does not show; else nothing."""
    tex = tex_of(math)
    words = _WORD.findall(_NAMES.sub(" ", tex))
    shown = squeeze(_row(math))
    return tex if sum(squeeze(word) not in shown for word in words) >= _MOST_UNSEEN else ""


def only_shown(math: HtmlElement) -> None:
    """Take a formula's own TeX away, so that it is read from what it shows."""
    math.attrib.pop("alttext", None)
    for note in list(math.iter("annotation")):
        note.drop_tree()


def keep_formulas_only(root: HtmlElement) -> None:
    """Reduce what KaTeX and MathJax wrote around a formula to its ``math`` element, so that it is read once."""
    for holder in [e for e in root.iter() if e.tag == "mjx-container" or (e.tag != "math" and has_class(e, *_HOLDERS))]:
        found = next(holder.iter("math"), None)
        parent = holder.getparent()
        if found is None or parent is None:
            continue
        if "display" in (holder.get("display") or "") or (holder.get("class") or "").lower().find("display") >= 0:
            found.set("display", "block")
        found.tail = holder.tail
        parent.replace(holder, found)


def _row(element: HtmlElement) -> str:
    return joined_tex(_tex(child) for child in element) or _own(element)


def _own(element: HtmlElement) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).translate(_INVISIBLE).split())


def _tex(element: HtmlElement) -> str:
    """One MathML element as TeX; what is not known is written as the row of its children."""
    tag = str(element.tag).rsplit(":", 1)[-1]
    form = _FORMS.get((tag, len(element)), "")
    parts = [_tex(part) for part in element] if form else []
    if tag in ("mover", "munder") and parts and (accent := _ACCENTS.get(_own(element[1]))):
        return f"{accent}{{{parts[0]}}}"
    return form.format(*parts, *map(tex_group, parts[1:])) if form else _WRITERS.get(tag, _row)(element)


def _identifier(element: HtmlElement) -> str:
    text = _own(element)
    return f"\\mathrm{{{text}}}" if len(text) > 1 and text.isalpha() else text


def _fenced(element: HtmlElement) -> str:
    inside = (element.get("separators") or ",")[:1].join(map(_tex, element))
    return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"


_WRITERS: dict[str, Callable[[HtmlElement], str]] = {
    **dict.fromkeys(("annotation", "annotation-xml", "mspace", "mphantom", "none"), lambda _: ""),
    **dict.fromkeys(("mn", "mo", "ms"), _own),
    "semantics": lambda e: _tex(e[0]) if len(e) else _own(e),
    "mi": _identifier,
    "mtext": lambda e: f"\\text{{{_own(e)}}}" if _own(e) else "",
    "mtable": lambda e: " \\\\ ".join(" & ".join(map(_row, row)) for row in e),
    "msqrt": lambda e: f"\\sqrt{{{_row(e)}}}",
    "mfenced": _fenced,
}


_NOTE_LINK = re.compile(r"^#(?:fn|footnote|note|ftnt|_ftn)[\w.:-]*$", re.IGNORECASE)
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
        inner = Line(notes=self.notes)
        inner._add_children(element)
        self.add(script_text(inner.text(), "^" if element.tag == "sup" else "_"))

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


def _note_call(element: HtmlElement) -> str:
    """The mark of a link to a footnote ('1'), or nothing."""
    link = element if element.tag == "a" else next(iter(element.findall("a")), None) if element.tag == "sup" else None
    if link is None or (element.tag == "a" and link.get("href") is None):
        return ""
    called = link.get("role") == "doc-noteref" or has_class(link, "footnote-ref", "footnote-reference")
    raised = any(near is not None and near.tag == "sup" for near in (link.getparent(), *link))
    if not called and not (raised and _NOTE_LINK.match(link.get("href") or "")):
        return ""
    return "".join(str(part) for part in link.itertext()).strip(" []\n\t")


def text_of(element: HtmlElement, notes: list[tuple[str, HtmlElement]] | None = None) -> str:
    """The inline text of an element in one line; notes called in it go to ``notes``."""
    line = Line(notes=[] if notes is None else notes)
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
