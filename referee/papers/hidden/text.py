"""Markdown and plain text without what a reader of the rendered text would not see."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from referee.papers.hidden.addresses import addresses_a_model, beginning
from referee.papers.hidden.characters import find_invisible, without_invisible
from referee.papers.hidden.css import Rule, declared, parse_rules, settled
from referee.papers.hidden.markup import Span, link_spans, tex_spans, unprinted
from referee.papers.hidden.visibility import HIDES_BY, Look, switched_off
from referee.schemas.paper import Certainty, Finding, FindingKind

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_COMMENT = re.compile(r"<!--(?P<text>.*?)(?:-->|\Z)", re.DOTALL)
_SHEET = re.compile(r"<style\b[^<>]*>(?P<sheet>.*?)</style>", re.DOTALL | re.IGNORECASE)
_UNSHOWN_TAGS = ("script", "style", "template", "noscript", "title", "dialog", "datalist", "rp", "noframes", "canvas")
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>.*)$")
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_TAG = re.compile(r"<(?P<close>/?)\s*(?P<tag>[a-z][a-z0-9]*)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
_LEAST_WORDS = 3
_SIGNS = "What prints nothing was"
_EMPTY_TAGS = ("input", "img", "br", "meta")

# Arabic and Hebrew are written with marks of direction, which belong to the text as joiners do.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff]")
_MARKS = re.compile("[\u200e\u200f]")


def scan_text(text: str, *, markdown: bool = True) -> tuple[str, tuple[Finding, ...]]:
    """Take out what a reader of Markdown or plain text would not see, and list it.

    Comments, HTML that is switched off, white, tiny or outside, white LaTeX text, definitions and titles of links,
    alternative texts, tag characters, runs of signs without ink and direction overrides. Code is left alone: it prints
    what it holds. Line numbers count from 1. Lines keep their number: line breaks inside removed text stay.

    Args:
        text: The decoded source.
        markdown: Whether links and images are links and images; plain text prints them as they stand.

    Returns:
        The text without it, and a finding for each piece, in order: ``not_printed`` for what is ordinary in links and
        images, ``hidden_text`` for the rest.
    """
    findings: list[Finding] = []
    kept: list[str] = []
    at = 0
    for span in sorted(_spans(text, markdown), key=lambda span: (span.start, -span.end)):
        if span.start < at:  # of overlapping pieces only the first and widest
            continue
        count = len(span.text.split())
        what = f"text that a reader of the rendered page cannot see ({count} words): {span.reason}. It was"
        findings.append(_finding(text, span.start, what, span.text, span.certainty, span.kind))
        kept += [text[at : span.start], span.keep + "\n" * text.count("\n", span.start, span.end)]
        at = span.end
    kept.append(text[at:])
    cleaned = _MARKS.sub("", "".join(kept)) if _RIGHT_TO_LEFT.search(text) else "".join(kept)
    shown = without_invisible(cleaned)
    signs = find_invisible(cleaned)
    findings += [_finding(cleaned, one.start, f"{one.what}. {_SIGNS}", one.text, one.certainty) for one in signs]
    if not signs and (lost := len(cleaned) - len(shown)):
        first = next(at for at, (a, b) in enumerate(zip(cleaned, shown + "\0", strict=False)) if a != b)
        what = f"{lost} single sign(s) that print nothing. {_SIGNS}"
        findings.append(_finding(cleaned, first, what, "", "low"))
    return shown, tuple(findings)


def _spans(text: str, markdown: bool) -> Iterator[Span]:
    code = _Places(_code(text))
    for match in _COMMENT.finditer(text):
        if match.start() not in code:
            words = re.sub(r"\s+", " ", match["text"]).strip()
            yield Span(*match.span(), words, "a comment", "high" if addresses_a_model(words) else "low")
    rules = parse_rules((match["sheet"] for match in _SHEET.finditer(text)), HIDES_BY)
    yield from _elements(text, [match for match in _TAG.finditer(text) if match.start() not in code], rules)
    yield from (span for span in tex_spans(text) if span.start not in code)
    if markdown:
        yield from (span for span in link_spans(text) if span.start not in code)
        for start, end in code.ranges:
            fence = _FENCE.match(text[start:end].partition("\n")[0])
            if fence and len(fence["rest"].split()) >= _LEAST_WORDS:
                yield unprinted(start + fence.start("rest"), start + fence.end(), fence["rest"], "a code block's name")


class _Places:
    """Ranges that do not overlap, in order; ``in`` asks whether an offset lies in one."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self.ranges = list(ranges)
        self._starts = [start for start, _ in self.ranges]

    def __contains__(self, at: int) -> bool:
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and at < self.ranges[place][1]


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Fenced blocks that are closed, and code within lines; in one pass, because a paper may be made of backticks."""
    at, fence, opened = 0, "", 0
    waiting: list[tuple[int, int]] = []
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line.rstrip("\r\n"))
        if fence and mark and mark["fence"] == fence and not mark["rest"].strip(" \t"):
            yield opened, at + len(line)
            fence, waiting = "", []
        else:
            if mark and not fence:
                fence, opened = mark["fence"], at
            inline = [(at + m.start(), at + m.end()) for m in _INLINE_CODE.finditer(line)]
            if fence:
                waiting += inline
            else:
                yield from inline
        at += len(line)
    yield from waiting


def _elements(text: str, tags: Sequence[re.Match[str]], rules: Sequence[Rule]) -> Iterator[Span]:
    """Elements that are not shown, the outermost of nested ones."""
    ends, done = _ends(tags), 0
    for match in tags:
        if match["close"] or match.start() < done or not (reason := _why_unseen(match, rules)):
            continue
        span = _element(text, match, ends.get(match.start()), reason)
        done = span.end
        yield span


def _ends(tags: Iterable[re.Match[str]]) -> dict[int, int]:
    """Where the element of an opening tag ends, by where the tag begins; nothing for one that is never closed."""
    open_at: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for match in tags:
        waiting = open_at.setdefault(match["tag"].lower(), [])
        if not match["close"]:
            waiting.append(match.start())
        elif waiting:
            ends[waiting.pop()] = match.end()
    return ends


def _why_unseen(match: re.Match[str], rules: Sequence[Rule]) -> str:
    if match["tag"].lower() in _UNSHOWN_TAGS:
        return "an element that browsers do not show"
    if not match["attributes"].strip(" /"):
        return ""
    element = _element_of(match)
    named = [name for name in ("hidden", "popover") if element.get(name) is not None]
    if named or (element.get("type") or "").lower() == "hidden":
        return f"the {named[0] if named else 'hidden'} attribute"
    # A style sheet that is not here may place it and cut what flows over.
    raw = {"position": "absolute", "overflow": "hidden"}
    if element.tag == "font" and element.get("color"):
        raw["color"] = element.get("color") or ""
    for rule in rules:
        if element in element.xpath(rule.path):
            raw.update({name: value for name, value, _ in rule.values})
    raw.update({name: value for name, value, _ in declared(element.get("style") or "")})
    look = Look().with_variables(raw)
    values = settled(raw, look.variables)
    return switched_off(values, outside_pt=-75.0)[0] or look.inside(values).reason()


def _element_of(match: re.Match[str]) -> HtmlElement:
    """The opening tag alone, as an element without others around it."""
    from lxml.html import fragment_fromstring  # most papers have no marks of HTML

    element = fragment_fromstring(f"<span {match['attributes'].strip(' /')}></span>")
    element.tag = match["tag"].lower()
    return element


def _element(text: str, opening: re.Match[str], closed: int | None, reason: str) -> Span:
    """From the opening tag to its closing tag; to the paragraph's end where none closes it."""
    if opening["attributes"].rstrip().endswith("/") or opening["tag"].lower() in _EMPTY_TAGS:
        end = opening.end()
    elif closed is not None:
        end = closed
    else:
        blank = text.find("\n\n", opening.end())
        end = blank if blank >= 0 else len(text)
    words = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^<>]*>", " ", text[opening.end() : end]))).strip()
    value = re.search(r"\b(?:value|alt|content|title)\s*=\s*[\"']([^\"']*)", opening["attributes"])
    words = words or (value[1] if value else "")
    certainty: Certainty = "high" if len(words.split()) >= 3 else "low"
    return Span(opening.start(), end, words, reason, certainty)


def _finding(
    text: str, start: int, what: str, hidden: str, certainty: Certainty, kind: FindingKind = "hidden_text"
) -> Finding:
    line = text.count("\n", 0, start) + 1
    return Finding(
        kind=kind,
        message=f"Line {line} holds {what} taken out before the paper was read.",
        certainty=certainty,
        text=beginning(hidden),
    )
