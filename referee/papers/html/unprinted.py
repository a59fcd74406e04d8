"""What a page holds and no browser prints: comments, meta, hidden inputs, templates, fallbacks, alternative texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from referee.papers.hidden.addresses import addresses_a_model
from referee.papers.hidden.unprinted import Unprinted
from referee.papers.html.tree import drop

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Browsers with scripts show none of these, or only when they cannot do what the element is for.
_ELEMENTS = frozenset(
    [
        "template",
        "noscript",
        "noframes",
        "dialog",
        "datalist",
        "object",
        "canvas",
        "video",
        "audio",
        "iframe",
        "rp",
        "annotation",
        "annotation-xml",
        "desc",
        "metadata",
        "defs",
    ]
)
_ATTRIBUTES = ("alt", "title", "aria-label", "aria-description", "placeholder", "summary", "srcdoc")
# Programs use these; only what speaks to a model is of interest.
_FOR_PROGRAMS = ("script", "style", "option", "textarea")
_FORMULAS = frozenset({"math", "semantics", "annotation", "annotation-xml"})


def take_out_unprinted(page: HtmlElement) -> Unprinted:
    """Collect such text, and drop the comments and what else would be read as text.

    Formulas keep their annotations, from which they are read; what those say and do not show is told elsewhere.
    """
    found = Unprinted()
    for comment in list(page.iter(etree.Comment, etree.ProcessingInstruction)):
        found.add("its comments", comment.text)
        drop(comment)
    for element in list(page.iter()):
        _attributes(element, found)
        tag = str(element.tag)
        if tag in _ELEMENTS or (tag == "title" and element.getparent().tag == "svg"):
            if not (element.tag in _FORMULAS and element.get("encoding")):
                found.add(f"elements {tag!r}", " ".join(map(str, element.itertext())))
            if tag in ("rp", "datalist", "noframes", "desc", "metadata", "defs"):
                drop(element)
        elif tag in _FOR_PROGRAMS and addresses_a_model(element.text or ""):
            found.add(f"elements {tag!r}", element.text)
    return found


def _attributes(element: HtmlElement, found: Unprinted) -> None:
    if element.tag == "meta" and (element.get("name") or element.get("property")):
        found.add("its meta elements", element.get("content"))
    elif element.tag == "input":
        found.add("input elements", element.get("value"))
    for name, value in element.attrib.items():
        if name in _ATTRIBUTES:
            found.add(f"attributes {name!r}", value)
        elif name.startswith("data-") and addresses_a_model(value):
            found.add("data attributes", value)
