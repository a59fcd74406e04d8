"""Candidates: headings, items, questions, imperatives and sentences of a page that may be criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from referee.venues.page.blocks import Block, read_blocks
from referee.venues.page.noise import noise_reason, section_noise
from referee.venues.page.options import option_groups
from referee.venues.page.page_types import Candidate, CandidateKind, Dropped, GuidelinePage
from referee.venues.page.paper_types import chosen_type
from referee.venues.page.sentences import bounded, sentences_of
from referee.venues.page.vocabulary import asks, is_imperative, reviewing_words, speaks_of_reviewing

_KEY = re.compile(r"[\W_]+")
_FEWEST_WORDS = 2
_FEWEST_WIDE_CHARS = 4
_LONGEST_HEAD_CELL = 5
_LONGEST_INTRODUCTION = 5


@dataclass(frozen=True, slots=True)
class Sifted:
    """All candidates of a page without ids, what was dropped as noise, and how many sentences only give context."""

    candidates: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    context: int


def candidates(page: GuidelinePage, paper_type: str | None = None) -> tuple[Candidate, ...]:
    """The page's candidates in page order, with ids ``g001``, ``g002``, ...

    Args:
        page: What ``read_page`` gave.
        paper_type: The type of papers whose guidelines are wanted; without it the first that the page names. Pieces
            that concern every type are always kept.

    Returns:
        Candidates without repeats, each at most 420 characters of the page's own words. A page in a language other
        than English gives every item and sentence, since its imperatives are not known here.

    Raises:
        VenueError: The page does not name the paper type asked for.
    """
    chosen = chosen_type(page.paper_types, paper_type, page.source)
    kept = [each for each in sift(page).candidates if each.paper_type in ("", chosen)]
    seen: set[str] = set()
    found: list[Candidate] = []
    for each in kept:
        key = _KEY.sub("", each.words.casefold())
        if key not in seen:
            seen.add(key)
            number = f"g{len(found) + 1:03d}"
            found.append(Candidate(number, each.kind, each.words, each.heading, each.paper_type))
    return tuple(found)


def sift(page: GuidelinePage) -> Sifted:
    """Every piece of the page sorted: candidate, noise with its reason, or context."""
    blocks = read_blocks(page.text)
    options = {at for group in option_groups(blocks) for at in range(group.start, group.end)}
    found: list[Candidate] = []
    dropped: list[Dropped] = []
    context = 0
    for at, block in enumerate(blocks):
        if block.kind == "code" or at in options:
            if block.text.strip():
                dropped.append(Dropped(block.text, "scale option" if at in options else "code"))
            continue
        if _is_table_head(blocks, at):
            context += 1
            continue
        for kind, words in _pieces(block, page):
            reason = "" if kind == "heading" else _reason(block, words)
            if reason:
                dropped.append(Dropped(words, reason))
            elif kind is None:
                context += block.kind != "heading"
            else:
                found.append(Candidate("", kind, words, block.path, block.paper_type))
    return Sifted(tuple(found), tuple(dropped), context)


def _is_table_head(blocks: list[Block], at: int) -> bool:
    """Whether a row only names the columns of the rows below it."""
    block = blocks[at]
    if block.kind != "row" or (at and blocks[at - 1].kind == "row") or at + 1 == len(blocks):
        return False
    cells = [cell.strip() for cell in block.text.split(" | ")]
    names = all(len(cell.split()) <= _LONGEST_HEAD_CELL and not _asks_itself(cell) for cell in cells)
    return names and blocks[at + 1].kind == "row"


def _asks_itself(cell: str) -> bool:
    """Whether a cell asks for something; one word ("Criterion", "Comment") is a name."""
    return len(cell.split()) > 1 and asks(cell)


def _reason(block: Block, words: str) -> str:
    if block.kind == "heading":
        return section_noise(words)
    return noise_reason(words, block.path)


def _pieces(block: Block, page: GuidelinePage) -> Iterator[tuple[CandidateKind | None, str]]:
    """The block's pieces, each with its kind, or without one where it asks nothing."""
    known = page.language in ("", "en")
    if block.kind == "heading":
        yield _heading_kind(block.text, page), block.text
    elif block.kind in ("bullet", "row"):
        for piece in bounded(block.text, page.language):
            yield _item_kind(block, piece), piece
    else:
        for sentence in sentences_of(block.text, page.language):
            for piece in bounded(sentence, page.language):
                yield _sentence_kind(piece, page.language) if known else _foreign_kind(piece), piece


def _heading_kind(text: str, page: GuidelinePage) -> CandidateKind | None:
    """A heading is a candidate where it asks or names something of reviewing; the page's title is none."""
    if text == page.title or section_noise(text):
        return None
    if text.endswith(("?", "？")):
        return "question"
    if page.language in ("", "en") and is_imperative(text) and len(text.split()) > _FEWEST_WORDS:
        return "imperative"
    return "heading" if reviewing_words(text, page.language) else None


def _item_kind(block: Block, text: str) -> CandidateKind | None:
    if len(text.split()) < _FEWEST_WORDS and len(text) < _FEWEST_WIDE_CHARS:
        return None
    if block.kind == "row" and sum(bool(cell.strip()) for cell in text.split("|")) < 2 and not asks(text):
        return None
    return "question" if text.endswith(("?", "？")) else "bullet"


def _sentence_kind(text: str, language: str) -> CandidateKind | None:
    if text.endswith(":") and len(text.split()) <= _LONGEST_INTRODUCTION:
        return None
    if text.rstrip("\"'”’)").endswith("?"):
        return "question"
    if is_imperative(text):
        return "imperative"
    return "sentence" if asks(text) or (speaks_of_reviewing(text, language) and reviewing_words(text) > 2) else None


def _foreign_kind(text: str) -> CandidateKind | None:
    if text.endswith(("?", "？")):
        return "question"
    return "sentence" if len(text.split()) > 3 or len(text) > 12 else None
