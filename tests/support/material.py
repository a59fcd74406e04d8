"""Delimited material in a prompt, and verbatim quotations cut from it."""

from __future__ import annotations

import random
import re

_ELEMENT = re.compile(r"<([A-Za-z_][\w-]*)(?:\s[^<>]*)?>(.*?)</\1\s*>", re.DOTALL)
_TAG_OR_ID = re.compile(r"</?[A-Za-z_][^<>]*>|\[[A-Za-z]{0,2}\d+(?:[.:-]\d+)*\]|\n")
_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

MIN_WORDS, MAX_WORDS = 8, 25


def spans(text: str, tag: str | None = None) -> list[str]:
    """The texts between ``<tag ...>`` and ``</tag>``, stripped, in order; without a tag, of all outermost elements."""
    if tag is None:
        return [match.group(2).strip() for match in _ELEMENT.finditer(text)]
    name = re.escape(tag)
    element = re.compile(rf"<{name}(?:\s[^<>]*)?>(.*?)</{name}\s*>", re.DOTALL)
    return [match.group(1).strip() for match in element.finditer(text)]


def longest_span(text: str) -> str:
    """The longest delimited text, or the whole text where nothing is delimited."""
    return max(spans(text), key=len, default="") or text


def sentences(text: str) -> list[str]:
    """Rough sentences of the longest delimited text; each is a verbatim part of it, without tags and sentence ids."""
    parts = (part for piece in pieces(longest_span(text)) for part in _SENTENCE_END.split(piece))
    return [part.strip() for part in parts if part.strip()]


def pieces(material: str) -> list[str]:
    """Runs of text without a tag, a bracketed id or a line break: any slice of one is verbatim."""
    return [piece.strip() for piece in _TAG_OR_ID.split(material) if piece.strip()]


def quotation(text: str, rng: random.Random, *, min_length: int = 0, max_length: int | None = None) -> str:
    """A verbatim span of 8 to 25 words from the longest delimited text.

    Args:
        text: The user message. Without delimiters it is itself the material.
        rng: Chooses the place.
        min_length: In characters; a longer span is cut where the material has one.
        max_length: In characters; the span ends at the last word that fits, or inside its first word.

    Returns:
        An exact substring of ``text``; shorter than 8 words only where the material is; empty for empty material.
    """
    material = longest_span(text)
    usable = [p for p in pieces(material) if len(p) >= min_length] or [material.strip()]
    long_enough = [p for p in usable if len(_WORD.findall(p)) >= MIN_WORDS]
    piece = rng.choice(long_enough) if long_enough else max(usable, key=len)
    return _cut(piece, rng, min_length, max_length)


def _cut(piece: str, rng: random.Random, min_length: int, max_length: int | None) -> str:
    words = list(_WORD.finditer(piece))
    if not words:
        return ""
    count = min(len(words), rng.randint(MIN_WORDS, MAX_WORDS))
    first = rng.randint(0, len(words) - count)
    while first > 0 and len(piece) - words[first].start() < min_length:
        first -= 1
    begin = words[first].start()
    ends = [word.end() for word in words[first:]]
    end = next((e for e in ends[count - 1 :] if e - begin >= min_length), ends[-1])
    if max_length is None or end - begin <= max_length:
        return piece[begin:end]
    fitting = [e for e in ends if min_length <= e - begin <= max_length]
    return piece[begin : fitting[-1] if fitting else begin + max_length]
