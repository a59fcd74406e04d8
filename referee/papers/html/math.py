"""Formulas of a page as TeX: the TeX they were made from where it is kept, else MathML written out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from referee.papers.pieces import squeeze

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_TEX_NOTE = re.compile(r"^(?:application/x-(?:la)?tex|latex|tex)$", re.IGNORECASE)
_STYLE = re.compile(r"^(?:\\(?:displaystyle|textstyle)\s*)+")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_ACCENTS = {"^": "\\hat", "ˆ": "\\hat", "~": "\\tilde", "˜": "\\tilde", "¯": "\\bar", "‾": "\\bar", "→": "\\vec"}
_ACCENTS |= {"˙": "\\dot", "¨": "\\ddot", "ˇ": "\\check", "_": "\\underline", "⏞": "\\overbrace", "⏟": "\\underbrace"}
_HOLDERS = frozenset({"katex", "katex-display", "MathJax", "MathJax_Display", "mwe-math-element"})
_NAMES = re.compile(r"\\(?:begin|end|color|definecolor|label|hspace)\s*(?:\[[^\]]*\])?\{[^}]*\}|\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{4,}")
_MOST_UNSEEN = 3


def tex_of(math: HtmlElement) -> str:
    """The TeX of one ``math`` element: its annotation, its alternative text, or its MathML written out."""
    for note in math.iter("annotation"):
        if _TEX_NOTE.match(note.get("encoding") or "") and (note.text or "").strip():
            return _clean(note.text)
    if (math.get("alttext") or "").strip():
        return _clean(math.get("alttext"))
    return _clean(_row(math))


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
    for holder in [element for element in root.iter() if _is_holder(element)]:
        found = next(holder.iter("math"), None)
        parent = holder.getparent()
        if found is None or parent is None:
            continue
        if "display" in (holder.get("display") or "") or (holder.get("class") or "").lower().find("display") >= 0:
            found.set("display", "block")
        found.tail = holder.tail
        parent.replace(holder, found)


def _is_holder(element: HtmlElement) -> bool:
    if element.tag == "math":
        return False
    return element.tag == "mjx-container" or not _HOLDERS.isdisjoint((element.get("class") or "").split())


def _clean(tex: str) -> str:
    return _STYLE.sub("", " ".join(re.sub(r"%[ \t]*\n", "", tex).split()))


def _row(element: HtmlElement) -> str:
    parts = [_tex(child) for child in element]
    return _join([part for part in parts if part]) or _own(element)


def _join(parts: list[str]) -> str:
    """Parts one after the other; a command's name is kept apart from a letter after it."""
    text = ""
    for part in parts:
        glued = re.search(r"\\[a-zA-Z]+$", text) and part[0].isalpha()
        text += f" {part}" if glued else part
    return text


def _own(element: HtmlElement) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).translate(_INVISIBLE).split())


def _group(element: HtmlElement) -> str:
    text = _tex(element)
    return text if len(text) == 1 else f"{{{text}}}"


def _tex(element: HtmlElement) -> str:
    """One MathML element as TeX; what is not known is written as the row of its children."""
    tag, children = str(element.tag).rsplit(":", 1)[-1], list(element)
    if tag in ("annotation", "annotation-xml", "mspace", "mphantom", "none"):
        return ""
    if tag == "semantics" and children:
        return _tex(children[0])
    if tag in ("mi", "mn", "mo", "ms"):
        text = _own(element)
        return f"\\mathrm{{{text}}}" if tag == "mi" and len(text) > 1 and text.isalpha() else text
    if tag == "mtext":
        return f"\\text{{{_own(element)}}}" if _own(element) else ""
    if tag == "mtable":
        return " \\\\ ".join(" & ".join(_row(cell) for cell in row) for row in children)
    if tag == "msqrt":
        return f"\\sqrt{{{_row(element)}}}"
    if tag == "mfenced":
        inside = (element.get("separators") or ",")[:1].join(_tex(child) for child in children)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    script = _script(tag, children)
    return _row(element) if script is None else script


def _script(tag: str, parts: list[HtmlElement]) -> str | None:
    """Fractions, roots, scripts and accents; null where the element or its number of children is none of them."""
    if len(parts) == 2:
        first, second = parts
        if tag == "mfrac":
            return f"\\frac{{{_tex(first)}}}{{{_tex(second)}}}"
        if tag == "mroot":
            return f"\\sqrt[{_tex(second)}]{{{_tex(first)}}}"
        if tag in ("msub", "munder", "msup", "mover"):
            if tag in ("mover", "munder") and (accent := _ACCENTS.get(_own(second))):
                return f"{accent}{{{_tex(first)}}}"
            return f"{_tex(first)}{'_' if tag in ('msub', 'munder') else '^'}{_group(second)}"
    if len(parts) == 3 and tag in ("msubsup", "munderover"):
        return f"{_tex(parts[0])}_{_group(parts[1])}^{_group(parts[2])}"
    return None
