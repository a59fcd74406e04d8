"""An HTML page's main text: the extractor's, or the raw page where the extractor loses the guidelines."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from referee.errors import VenueError
from referee.schemas.foreign import Unreadable, xml_root
from referee.venues.page.decode import check_length
from referee.venues.page.page_types import Dropped, Extractor
from referee.venues.page.tree_text import plain, tree_text
from referee.venues.page.vocabulary import FOREIGN, reviewing_words

logger = logging.getLogger(__name__)

_USELESS = ("script", "style", "noscript", "svg", "template", "iframe", "object", "embed", "link", "meta", "canvas")
_MENU_TAGS = ("nav", "footer", "aside")
_MENU_ROLES = ("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar")
_MENU_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|sidebar|footer|breadcrumbs?|pagination|pager|toc|skip-links?|"
    r"share|social)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ADVERT_NAMES = re.compile(
    r"(?:^|[\s_-])(?:ads?|advert\w*|sponsors?|newsletter|subscribe|promo\w*|cookies?|consent|gdpr|popup)(?:$|[\s_-])",
    re.IGNORECASE,
)
_BOX = "REFEREETEXTBOX"
_LOST = 0.6
_FEWEST_RAW = 10
_SHORT_PAGE = 120
_LOGIN = re.compile(r"\b(?:log ?in|sign ?in|password|einloggen|anmelden|se connecter|iniciar sesión)\b", re.IGNORECASE)
_NEEDS_SCRIPT = re.compile(
    r"\b(?:enable|requires?|turn on|activate) java ?script\b|\bjava ?script (?:is )?(?:required|disabled)", re.I
)


@dataclass(frozen=True, slots=True)
class MainText:
    """What an HTML page gave: its title, text, the way it was read, what was left out, and remarks."""

    title: str
    text: str
    extractor: Extractor
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


def read_html(markup: str, *, source: str) -> MainText:
    """The main text of an HTML page.

    Raises:
        VenueError: The page holds no text, only a login, or only a request to turn scripts on.
    """
    tree = _parsed(markup, source)
    title = _title(tree)
    password = bool(tree.xpath("//input[@type='password']"))
    script_only = any(_NEEDS_SCRIPT.search(node.text_content()) for node in tree.iter("noscript"))
    _prepare(tree)
    check_length(tree.text_content(), source)
    extracted = _extracted(tree)
    dropped = _without_menus(tree)
    raw = tree_text(tree)
    _check_open(raw, source, password=password, script_only=script_only)
    chosen = _chosen(extracted, raw, dropped)
    return MainText(title or _first_heading(chosen.text), chosen.text, chosen.extractor, chosen.dropped, chosen.notes)


def text_of_markup(markup: str) -> str:
    """All text of rendered Markdown in the page's form; empty where it holds none."""
    if not markup.strip():
        return ""
    tree = _parsed(markup, "Markdown")
    _prepare(tree)
    return _boxes(tree_text(tree))


def _parsed(markup: str, source: str) -> Any:
    from lxml import etree, html

    clean = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", markup).replace("\0", " ")
    try:
        return html.document_fromstring(clean, parser=html.HTMLParser(remove_comments=True, remove_pis=True))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise VenueError(
            f"{source!r} holds no HTML that can be read: {error}", hint="Save the page again, as HTML or Markdown."
        ) from error


def _title(tree: Any) -> str:
    """The page's own heading: the one its window title starts with, else its content's first, else the window title."""
    window = next((text for text in map(plain, tree.xpath("//title")) if text), "")
    headings = [text for text in map(plain, tree.xpath("//h1")) if text]
    inside = [text for text in map(plain, tree.xpath("//main//h1 | //article//h1")) if text]
    named = [text for text in headings if window.casefold().startswith(text.casefold())]
    return next(iter([*named, *inside, *headings]), window)


def _prepare(tree: Any) -> None:
    """Drop what is never text, and write a form's own controls as items and text boxes."""
    for node in list(tree.iter(*_USELESS)):
        node.drop_tree()
    for node in list(tree.xpath("//head | //select[not(option)] | //*[@hidden] | //*[@aria-hidden='true'][not(*)]")):
        if node.getparent() is not None:
            node.drop_tree()
    for node in tree.iter("form", "fieldset"):
        node.tag = "div"
    for node in tree.iter("legend"):
        node.tag = "p"
    for node in list(tree.iter("select")):
        node.tag = "ul"
        for option in list(node.iter("option", "optgroup")):
            option.tag = "li"
    _mark_boxes(tree)
    _mark_radios(tree)


def _mark_boxes(tree: Any) -> None:
    """A text area, a text input or an empty code block is where a reviewer writes: a mark that outlives extraction."""
    for node in list(tree.xpath("//textarea | //pre | //input[@type='text']")):
        if node.tag == "pre" and node.text_content().strip():
            continue
        tail = node.tail
        for child in list(node):
            node.remove(child)
        node.tag, node.text, node.tail = "p", _BOX, tail
        node.attrib.clear()


def _mark_radios(tree: Any) -> None:
    """The label of each radio button or check box becomes an item; neighbours share a list."""
    labels = {node.get("for"): node for node in tree.iter("label") if node.get("for")}
    for node in list(tree.xpath("//input[@type='radio' or @type='checkbox']")):
        parent = node.getparent()
        label = parent if parent is not None and parent.tag == "label" else labels.get(node.get("id"))
        if label is None or label.tag != "label":
            continue
        label.tag = "li"
        holder = label.getparent()
        if holder is None or holder.tag in ("li", "ul", "ol"):
            continue
        before = label.getprevious()
        if before is not None and before.tag in ("input", "br") and not (before.tail or "").strip():
            before = before.getprevious()
        if before is None or before.get("data-choices") is None or (before.tail or "").strip():
            before = label.makeelement("ul", {"data-choices": "1"})
            label.addprevious(before)
        before.append(label)


def _extracted(tree: Any) -> str:
    """The main text by the extractor, or nothing where it finds none."""
    import trafilatura
    from lxml import html

    xml = trafilatura.extract(
        html.tostring(tree, encoding="unicode"), output_format="xml", include_tables=True, include_formatting=True,
        include_links=False, include_comments=False, favor_recall=True, deduplicate=False,
    )  # fmt: skip
    if not xml:
        return ""
    try:
        root = xml_root(xml.encode("utf-8", "replace"), "the extractor's reply", huge=True)
    except Unreadable:
        logger.info("the extractor's reply is no XML; the raw page is read")
        return ""
    main = root.find("main")
    return _boxes(tree_text(main)) if main is not None else ""


def _boxes(text: str) -> str:
    return re.sub(rf"^ *(?:- )?{_BOX} *$", "```\n```", text, flags=re.MULTILINE).replace(_BOX, "")


def _without_menus(tree: Any) -> tuple[Dropped, ...]:
    """Remove menus, footers and adverts, and say what they said; what holds much of the page stays."""
    dropped: list[Dropped] = []
    whole = max(1, len(tree.text_content()))
    for node in list(tree.iter()):
        reason = _furniture(node) if isinstance(node.tag, str) else ""
        if not reason or node.getparent() is None or next(node.iterancestors("body"), None) is None:
            continue
        words = plain(node)
        if len(words) > whole * 0.4 or (node.tag not in _MENU_TAGS and node.find(".//h1") is not None):
            continue
        if words:
            dropped.append(Dropped(words, reason))
        node.drop_tree()
    return tuple(dropped)


def _furniture(node: Any) -> str:
    """Why an element is no content, from its tag, role, class and id; empty where it may be."""
    if node.tag in ("html", "body", "main", "article"):
        return ""
    if node.tag == "footer":
        return "footer"
    if node.tag in _MENU_TAGS or node.get("role") in _MENU_ROLES or node.tag == "button":
        return "menu"
    names = f"{node.get('class') or ''} {node.get('id') or ''}"[:300]
    if _ADVERT_NAMES.search(names):
        return "advert"
    return "menu" if _MENU_NAMES.search(names) else ""


def _check_open(text: str, source: str, *, password: bool, script_only: bool) -> None:
    """Refuse a page whose few words ask for a login or for scripts."""
    words = len(text.split())
    if words <= _SHORT_PAGE and (password or (_LOGIN.search(text) and words <= _SHORT_PAGE // 2)):
        raise VenueError(
            f"{source!r} is a login page: it shows {words} words and asks who you are.",
            hint="Log in with a browser, save the guideline page as HTML, and give that file.",
        )
    if words <= _SHORT_PAGE // 2 and (script_only or _NEEDS_SCRIPT.search(text)):
        raise VenueError(
            f"{source!r} shows its text only with scripts turned on.",
            hint="Open it in a browser, save the page as HTML once it has loaded, and give that file.",
        )
    if not words:
        raise VenueError(
            f"{source!r} holds no text.", hint="Open it in a browser, save it as HTML, and give that file."
        )


def _chosen(extracted: str, raw: str, dropped: tuple[Dropped, ...]) -> MainText:
    """The extractor's text, unless the raw page has many more words of reviewing."""
    raw = _boxes(raw)
    kept, had = _reviewing(extracted), _reviewing(raw)
    if extracted.strip() and (had < _FEWEST_RAW or kept >= _LOST * had):
        return MainText("", extracted, "trafilatura", dropped + _outside(extracted, raw))
    cause = "found no main text" if not extracted.strip() else f"kept {kept} of {had} words of reviewing"
    return MainText("", raw, "raw", dropped, (f"The whole page was read, because the extractor {cause}.",))


def _outside(extracted: str, raw: str) -> tuple[Dropped, ...]:
    """The lines of the raw page that the extractor left out; a table of contents repeats headings and is not listed."""
    kept = {_key(line) for line in extracted.splitlines()}
    lines = (line.strip() for line in raw.splitlines())
    return tuple(Dropped(line, "outside the main text") for line in lines if _key(line) and _key(line) not in kept)


def _key(line: str) -> str:
    return re.sub(r"[\W_]+", "", line)


def _reviewing(text: str) -> int:
    return max(reviewing_words(text, code) for code in ("", *FOREIGN))


def _first_heading(text: str) -> str:
    return next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), "")
