"""The text of a review that measures are of: markup and formulas taken out, sentences, tokens."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Literal

from referee.data.prose import cleaned
from referee.schemas.case import ReviewCase

Profile = Literal["praib", "words"]
MATTR_WINDOW = 100

_PATTERNS: dict[Profile, re.Pattern[str]] = {
    "praib": re.compile(r"\w+(?:[-'’]\w+)*|\S"),
    "words": re.compile(r"\w+(?:[-'’]\w+)*"),
}


def tokens(text: str, profile: Profile = "praib") -> list[str]:
    """The tokens of a text, in lower case and in order.

    ``words`` takes runs of word characters, joined by single hyphens or apostrophes; ``praib`` also each other symbol
    that is no blank. PRAIB does not name its tokeniser; its printed ratios fit one that counts punctuation.
    """
    return _PATTERNS[profile].findall(text.lower())


def is_word(item: str) -> bool:
    """Whether a token of profile ``praib`` is one of profile ``words``."""
    return len(item) > 1 or item.isalnum() or item == "_"


def ttr(items: Sequence[Hashable]) -> float | None:
    """Types over tokens, in (0, 1]; null without tokens. It falls with length: compare texts of one length only."""
    return len(set(items)) / len(items) if items else None


def mattr(items: Sequence[Hashable], window: int = MATTR_WINDOW) -> float | None:
    """Mean type-token ratio of all windows of ``window`` tokens; of a shorter text its plain ratio.

    A pair of neighbouring occurrences of a type takes one type from each window that holds both, so that one pass
    over the tokens suffices. Null without tokens.

    Source: Covington and McFall, "Cutting the Gordian Knot: The Moving-Average Type-Token Ratio", 2010.
    """
    count = len(items)
    if count <= window:
        return ttr(items)
    last_start, repeated = count - window, 0
    seen: dict[Hashable, int] = {}
    for position, item in enumerate(items):
        before = seen.get(item)
        if before is not None and position - before < window:
            first = position - window + 1
            # Written out: the calls of min and max took half of the time.
            repeated += (before if before < last_start else last_start) - (first if first > 0 else 0) + 1
        seen[item] = position
    windows = last_start + 1
    return (window * windows - repeated) / (window * windows)


_FENCE = re.compile(r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)", re.DOTALL)
FORMULA = re.compile(r"\$\$[^$]+\$\$|\$[^$\n]+\$(?!\d)|\\\((?:(?!\\[()]).)+\\\)|\\\[(?:(?!\\[\[\]]).)+\\\]", re.DOTALL)
"""A formula in LaTeX's marks; a closing dollar before a digit is money."""
_LINK = re.compile(r"!?\[(?P<label>[^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"'\n]*[\"'])?\)")
_ADDRESS = re.compile(r"(?:://|www\.|WWW\.)(?P<rest>[^\s<>\"“”]*[^\s<>\"“”.,;:!?)\]}'’*_`])")
_SCHEME = re.compile(r"(?:https?|ftp)\Z", re.IGNORECASE)
_EMPHASIS = re.compile(r"_(?<!\w_)_*(?=[^\W_])|_(?<=[^\W_]_)_*(?!\w)")
"""Underscores at one side of a word; ``a_b`` and a line of them stay."""
_LONGEST_SCHEME = 5
_LETTER = re.compile(r"\w")
_BLOCK = re.compile(r"\n[ \t>]*(?:(?:[-*+•‣▪◦–]|\(?[0-9]{1,3}[.)])(?=[ \t])|(?P<heading>#{1,6})(?=[ \t]))[ \t]*")
_LINE_END = re.compile(r"\n")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_ENDS = re.compile(r"[.!?][\"'”’)\]*_]*\Z")


def review_text(case: ReviewCase, fields: Sequence[str] | None = None) -> str:
    """The free text of a review, its fields joined by blank lines, without headers: the view ``raw``.

    Args:
        case: The review. Its ``text`` already holds the free-text boxes in the form's order.
        fields: Only these fields, in this order, by their names; a field that is absent or no text adds nothing.

    Source: PRAIB, which keeps the free-text boxes and drops what stands outside of them.
    """
    if fields is None:
        return case.text
    return "\n\n".join(piece for name in fields if (piece := _piece(case.fields.get(name))))


def clean(text: str) -> str:
    r"""The view ``clean``: prose without markup, in which the end of a list item or heading ends a sentence.

    Fenced code becomes ``CODE``, an address ``URL``, a formula in dollars, ``\(...\)`` or ``\[...\]`` ``MATH``; a
    link keeps its label. Marks of emphasis, headings and lists go. An item goes on over lines that are neither blank
    nor begin another item or heading; if its end has no ``.``, ``!`` or ``?``, it gets a full stop.
    """
    return _without_blocks(_without_spans(text)).replace("*", "").replace("`", "")


def _without_blocks(text: str) -> str:
    """Each item and heading without its mark, and with a full stop where it ends without one."""
    framed = f"\n{text}"
    marks = list(_BLOCK.finditer(framed))
    if not marks:
        return text
    pieces: list[str] = []
    at = 0
    spans = [mark.span() for mark in marks]
    ends = [*(start for start, _ in spans[1:]), len(framed)]
    for mark, (start, begin), end in zip(marks, spans, ends, strict=True):
        item = framed[begin:end]
        if "\n" in item and (stop := (_LINE_END if mark["heading"] else _BLANK_LINE).search(item)):
            item = item[: stop.start()]
        if at < start:
            pieces.append(framed[at:start])
        pieces += ("\n", _ended(item))
        at = begin + len(item)
    pieces.append(framed[at:])
    return "".join(pieces)[1:]


def _piece(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(f"- {cleaned(item)}" for item in value if isinstance(item, str) and item.strip())
    return cleaned(value) if isinstance(value, str) else ""


def _without_spans(text: str) -> str:
    """The text with code, formulas, links and addresses replaced, and without underscores of emphasis."""
    if ("`" in text and "```" in text) or ("~" in text and "~~~" in text):
        text = _FENCE.sub("CODE", text)
    if may_hold_formula(text):
        text = FORMULA.sub("MATH", text)
    if "[" in text and "](" in text:
        text = _LINK.sub(r"\g<label>", text)
    if "://" in text or "www." in text or "WWW." in text:
        text = _without_addresses(text)
    return _EMPHASIS.sub("", text) if "_" in text else text


def may_hold_formula(text: str) -> bool:
    """Whether a text holds marks that could enclose a formula; asked first, since looking for formulas is slow."""
    if "$" in text and text.count("$") > 1:
        return True
    return "\\" in text and ("\\(" in text or "\\[" in text)


def _without_addresses(text: str) -> str:
    pieces: list[str] = []
    at = 0
    for found in _ADDRESS.finditer(text):
        start = found.start()
        if found.group()[0] == ":":
            scheme = _SCHEME.search(text, max(at, start - _LONGEST_SCHEME), start)
            if scheme is None:
                continue
            start = scheme.start()
        elif start and _LETTER.match(text, start - 1):
            continue
        pieces += (text[at:start], "URL")
        at = found.end()
    return "".join([*pieces, text[at:]])


def _ended(item: str) -> str:
    item = item.rstrip()
    return item if not item or item[-1] in ".!?" or _ENDS.search(item) else f"{item}."
