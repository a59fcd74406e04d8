"""Small facts about elements, and what of a page is no part of its paper."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NEVER = frozenset(
    [
        "script",
        "style",
        "template",
        "noscript",
        "nav",
        "footer",
        "form",
        "button",
        "input",
        "select",
        "textarea",
        "iframe",
        "object",
        "embed",
        "canvas",
        "audio",
        "video",
        "dialog",
        "menu",
        "link",
        "meta",
        "base",
        "title",
        "head",
    ]
)
_NEVER_CLASSES = frozenset(
    [
        "ltx_page_navbar",
        "ltx_page_header",
        "ltx_page_footer",
        "ltx_page_logo",
        "ltx_TOC",
        "ltx_ERROR",
        "ltx_rule",
        "ltx_listing_data",
        "ltx_bib_cited",
        "ltx_dates",
        "headerlink",
        "anchorjs-link",
        "toc-backref",
        "navbar",
        "sidebar",
        "breadcrumb",
        "cookie-banner",
        "html-header-nav",
        "html-header-logo",
        "package-alerts",
    ]
)
_NEVER_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "dialog", "doc-toc", "doc-backlink"})
_NEVER_IDS = re.compile(
    r"^(?:toc|table-of-contents|nav|navigation|header|footer|cookie.*|watermark-tr|license-tr)$", re.I
)
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tr",
        "ul",
        "caption",
    ]
)
_BLOCK_CLASSES = frozenset({"ltx_tabular", "ltx_equation", "ltx_equationgroup", "ltx_listing", "ltx_para"})
_ROOTS = (
    ".//article[contains(concat(' ', normalize-space(@class), ' '), ' ltx_document ')]",
    ".//*[contains(concat(' ', normalize-space(@class), ' '), ' ltx_document ')]",
    ".//main",
    ".//*[@role='main']",
)


def class_names(element: HtmlElement) -> frozenset[str]:
    """The classes of an element."""
    return frozenset((element.get("class") or "").split())


def has_class(element: HtmlElement, *names: str) -> bool:
    """Whether the element has one of these classes."""
    return not class_names(element).isdisjoint(names)


def drop(element: HtmlElement) -> None:
    """Remove an element with all that it holds, but not the text after it."""
    if element.getparent() is not None:
        element.drop_tree()


def is_block(element: HtmlElement) -> bool:
    """Whether an element stands for itself, or is inline but holds something that does (notes do not count)."""
    if element.tag == "math" or is_note(element):
        return False
    return _stands(element) or any(
        _stands(inner) for inner in element.iterdescendants() if not _in_note(inner, element)
    )


def _stands(element: HtmlElement) -> bool:
    return element.tag in _BLOCKS or has_class(element, *_BLOCK_CLASSES)


def _in_note(element: HtmlElement, top: HtmlElement) -> bool:
    between = takewhile(lambda above: above is not top, element.iterancestors())
    return any(is_note(above) or above.tag == "math" for above in between)


def is_note(element: HtmlElement) -> bool:
    """Whether this is a footnote as LaTeXML writes it: mark and text at the place of the mark."""
    return has_class(element, "ltx_note")


def paper_root(page: HtmlElement) -> HtmlElement:
    """The element that holds the paper: LaTeXML's document, ``main``, the only ``article``, else the body."""
    articles = page.xpath(".//article")
    lone = articles if len(articles) == 1 else []
    return next(filter(None, (*map(page.xpath, _ROOTS), lone, page.xpath("./body"))), [page])[0]


def take_out_furniture(root: HtmlElement) -> None:
    """Remove navigation, scripts, forms, page headers and footers, and LaTeXML's error marks."""
    for element in list(root.iterdescendants()):
        if _is_furniture(element):
            drop(element)


def _is_furniture(element: HtmlElement) -> bool:
    # A page's own header is furniture; a header inside an article often holds the title.
    return (
        element.tag in _NEVER
        or has_class(element, *_NEVER_CLASSES)
        or (element.get("role") or "") in _NEVER_ROLES
        or _NEVER_IDS.match(element.get("id") or "") is not None
        or (element.tag == "header" and not element.xpath("ancestor::article|ancestor::main|.//h1"))
    )
