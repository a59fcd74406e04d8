"""Characters that print nothing: tag characters, zero-width signs, direction marks; and a paper without them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.papers.hidden.addresses import find_addresses
from referee.schemas.paper import Certainty, Finding, Paper, Section

_TAGS = "\U000e0000-\U000e007f"
_ZERO_WIDTH = "\u180e\u200b-\u200d\u2060-\u2064\ufeff"
# Letters and blanks without ink, each as wide as a letter: alone they are ordinary, in a row they spell something.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_DIRECTION = "\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ANY = re.compile(f"[{_TAGS}{_ZERO_WIDTH}{_DIRECTION}{_SELECTORS}{_FILLERS}]")
_RUN = re.compile(f"[{_TAGS}{_ZERO_WIDTH}{_DIRECTION}{_SELECTORS}{_FILLERS}]+")
_TAG_RUN = re.compile(f"[{_TAGS}]+")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{1,6}\U000e007f")
_OVERRIDE_RUN = re.compile("[\u202d\u202e]([^\u202c\n]*)\u202c?")
_LEAST_CODED = 8
_MANY = 24


@dataclass(frozen=True)
class Invisible:
    """Characters that print nothing; ``start`` is where they stand, ``text`` what they spell, where they spell it."""

    start: int
    what: str
    text: str
    certainty: Certainty


def find_invisible(text: str) -> list[Invisible]:
    """Tag characters, runs of zero-width signs long enough to spell something, and direction overrides.

    Single joiners, byte-order marks and selectors after an emoji belong to ordinary writing and are no finding.
    """
    if text.isascii() or not (first := _ANY.search(text)):
        return []
    flags = {at for match in _FLAG.finditer(text) for at in range(*match.span())}
    found: list[Invisible] = []
    for match in _RUN.finditer(text):
        if match.start() not in flags and (one := _described(match)):
            found.append(one)
    for match in _OVERRIDE_RUN.finditer(text):
        if any(sign.isalpha() for sign in match[1]):
            what = "a direction override: it is shown in another order than it is stored"
            found.append(Invisible(match.start(), what, match[1], "medium"))
    spread = _ANY.findall(_FLAG.sub("", text))
    if not found and len(spread) >= _MANY and sum(sign in "\u200b\u200c\u200d\u2060\ufeff" for sign in spread) > 0:
        what = f"{len(spread)} zero-width signs spread over the text"
        found.append(Invisible(first.start(), what, decode(text), "low"))
    return sorted(found, key=lambda one: one.start)


def without_invisible(text: str) -> str:
    """The text without signs that print nothing; joiners of scripts that need them and emoji selectors stay."""
    return text if text.isascii() else _LEFT_OUT.sub("", _FLAG_OR_SIGN.sub(lambda match: match["flag"] or "", text))


_NEEDS_JOINERS = "\u0600-\u109f\u1780-\u18af\U0001f000-\U0001faff\u2600-\u27bf\ufe0f"
_LEFT_OUT = re.compile(
    f"[\u200c\u200d](?![{_NEEDS_JOINERS}])|(?<![{_NEEDS_JOINERS}])[\u200c\u200d]|(?<=[{_SELECTORS}])[{_SELECTORS}]"
    "|[\ufe00-\ufe0d]|[\U000e0100-\U000e01ef]"
)
_FLAG_OR_SIGN = re.compile(
    f"(?P<flag>{_FLAG.pattern})|[{_FILLERS}]{{8,}}|[{_TAGS}\u180e\u200b\u2060-\u2064\ufeff{_DIRECTION}]"
)


def decode(signs: str) -> str:
    """What invisible signs spell: tag characters as ASCII, selectors as bytes, two kinds of signs as bits, or ''."""
    tags = "".join(chr(ord(s) - 0xE0000) for s in signs if 0xE0020 <= ord(s) <= 0xE007E)
    if tags:
        return tags
    selectors = bytes(value for s in signs if (value := _selector_byte(ord(s))) is not None)
    if len(selectors) >= _LEAST_CODED:
        return _readable(selectors)
    return _bits([s for s in signs if _ANY.match(s)])


def _described(match: re.Match[str]) -> Invisible | None:
    signs = match[0]
    if _TAG_RUN.search(signs):
        return Invisible(match.start(), "tag characters", decode(signs), "high")
    if len(signs) >= _LEAST_CODED:
        return Invisible(match.start(), f"{len(signs)} signs without ink in a row", decode(signs), "high")
    return None


def _selector_byte(code: int) -> int | None:
    if 0xFE00 <= code <= 0xFE0F:
        return code - 0xFE00
    return code - 0xE0100 + 16 if 0xE0100 <= code <= 0xE01EF else None


def _bits(signs: list[str]) -> str:
    """Two kinds of signs as eight-bit characters, in whichever assignment is readable."""
    kinds = sorted(set(signs))
    if len(kinds) == 3:
        signs = [s for s in signs if s != min(kinds, key=signs.count)]
        kinds = sorted(set(signs))
    if len(kinds) != 2 or len(signs) < _LEAST_CODED:
        return ""
    for one in kinds[::-1]:
        bits = "".join("1" if s == one else "0" for s in signs)
        data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
        if text := _readable(data):
            return text
    return ""


def _readable(data: bytes) -> str:
    text = data.decode("utf-8", errors="ignore")
    return text if text and sum(sign.isprintable() for sign in text) > 0.9 * len(data) else ""


def checked(paper: Paper) -> Paper:
    """The paper without signs that print nothing, with findings for them and for sentences that address a model."""
    found: list[Finding] = []
    title, abstract = _shown(paper.title, "the title", found), _shown(paper.abstract, "", found)
    sections = tuple(_section(section, found) for section in paper.sections)
    references = tuple(
        reference.model_copy(update={"text": _shown(reference.text, "the bibliography", found, reference.page)})
        for reference in paper.references
    )
    update = {"title": title, "abstract": abstract, "sections": sections, "references": references}
    cleaned = paper.model_copy(update=update)
    return cleaned.model_copy(update={"findings": (*paper.findings, *found, *find_addresses(cleaned))})


def _section(section: Section, found: list[Finding]) -> Section:
    texts = (text for block in section.blocks for text in (block.text, *(cell for row in block.cells for cell in row)))
    if section.heading.isascii() and all(map(str.isascii, texts)):
        return section
    where = f"section {section.heading!r}" if section.heading.isascii() else "a section"
    blocks = []
    for block in section.blocks:
        cells = tuple(tuple(map(without_invisible, row)) for row in block.cells)
        if (text := _shown(block.text, where, found, block.page)).strip():
            blocks.append(block.model_copy(update={"text": text, "cells": cells}))
    heading = _shown(section.heading, "a heading", found)
    return section.model_copy(update={"heading": heading, "blocks": tuple(blocks)})


def _shown(text: str, where: str, found: list[Finding], page: int | None = None) -> str:
    """The text as it is seen; what is not, is added to the findings under the name of the place, if it has one."""
    if text.isascii():
        return text
    for one in find_invisible(text) if where else ():
        spelled = f": {one.text!r}" if one.text else ""
        found.append(
            Finding(
                kind="hidden_text",
                message=f"Signs that a reader cannot see stand in {where} ({one.what}){spelled}; they were left out.",
                certainty=one.certainty,
                page=page,
                text=one.text,
            )
        )
    return without_invisible(text)
