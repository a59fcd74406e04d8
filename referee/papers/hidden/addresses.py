"""Sentences of a paper that speak to a reviewing model. They stay in the text: they are data like all the rest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from referee.evidence.sentences import split_sentences
from referee.papers.hidden.address_patterns import ADDRESS, DEMAND, LOOSE_DEMAND, OVERRIDE, TOPIC, TRIGGER
from referee.schemas.paper import Block, Box, Certainty, Finding, Paper, Section

_TOPIC_MENTIONS = 3
_PROMPT_HEADING = re.compile(r"\bprompts?\b|\btemplates?\b|\binstructions?\b|\bguidelines?\b", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|`[^`\n]+`|``.*?''|\u2018[^\u2019\n]{12,}\u2019|«[^»\n]*»")
_QUOTING_KINDS = ("code", "table", "figure", "caption")
_MAX_TEXT = 600


@dataclass(frozen=True)
class _Place:
    text: str
    where: str
    page: int | None = None
    box: Box | None = None
    quoting: bool = False


def find_addresses(paper: Paper) -> tuple[Finding, ...]:
    """Sentences that tell a model how to review the paper, in reading order.

    High where an order to set instructions aside, or an address to a machine reviewer, comes with a demand about the
    verdict; medium for one of them alone; low inside quotation marks, code, tables and printed prompts, and in a paper
    that is about such sentences. Works on every format; an empty paper gives ().
    """
    topical = sum(len(TOPIC.findall(block.text)) for _, block in paper.blocks()) >= _TOPIC_MENTIONS
    return tuple(finding for place in _places(paper) for finding in _findings(place, topical))


def addresses_a_model(text: str) -> bool:
    """Whether a text orders a model to set instructions aside, speaks to a machine reviewer, or demands a verdict."""
    return _speaks(_plain(text)) > 0


def _places(paper: Paper) -> Iterator[_Place]:
    yield _Place(paper.title, "the title", page=1 if paper.page_count else None)
    for section in paper.sections:
        yield _Place(section.heading, "a heading", page=section.pages[0] if section.pages else None)
        yield from (_place(section, block) for block in section.blocks)
    for reference in paper.references:
        yield _Place(reference.text, f"reference {reference.label or reference.id}", page=reference.page)


def _place(section: Section, block: Block) -> _Place:
    quoting = block.kind in _QUOTING_KINDS or (
        section.role in ("appendix", "content") and bool(_PROMPT_HEADING.search(section.heading))
    )
    where = f"section {section.number} {section.heading!r}" if section.number else f"section {section.heading!r}"
    return _Place(block.text, where, block.page, block.box, quoting)


def _findings(place: _Place, topical: bool) -> Iterator[Finding]:
    if not TRIGGER.search(place.text):
        return
    plain = _plain(place.text)
    kinds = _speaks(plain)
    if not kinds:
        return
    hits = [s for s in split_sentences(plain) or [plain] if addresses_a_model(s)] or [plain]
    text = " ".join(dict.fromkeys(hits))
    quoted = place.quoting or topical or _only_in_quotes(plain)
    certainty: Certainty = "low" if quoted else ("high" if kinds > 1 else "medium")
    on_page = f" on page {place.page}" if place.page else ""
    yield Finding(
        kind="addresses_reviewer",
        message=(
            f"A sentence in {place.where}{on_page} speaks to a reviewing model"
            f"{' (it seems to be quoted)' if quoted else ''}. It stays in the text and is treated as data."
        ),
        certainty=certainty,
        page=place.page,
        box=place.box,
        text=text[:_MAX_TEXT],
    )


def _speaks(plain: str) -> int:
    """How many kinds of such wording a text has: an order to set instructions aside, an address, a demand."""
    if not TRIGGER.search(plain):
        return 0
    orders = bool(OVERRIDE.search(plain)) + bool(ADDRESS.search(plain))
    return orders + bool((LOOSE_DEMAND if orders else DEMAND).search(plain))


def _only_in_quotes(text: str) -> bool:
    unquoted = _QUOTED.sub(" ", text)
    return not addresses_a_model(unquoted)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).replace("\u2019", "'").strip()
