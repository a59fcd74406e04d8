"""Candidates for criteria on a page, in pieces of bounded length and in windows that fit a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from referee.evidence.sentences import split_sentences
from referee.venues.page.blocks import Block, chosen_type, read_blocks
from referee.venues.page.options import option_groups
from referee.venues.page.page_types import Candidate, CandidateKind, Dropped, GuidelinePage, Window
from referee.venues.page.vocabulary import (
    asks,
    is_imperative,
    noise_reason,
    reviewing_words,
    section_noise,
    speaks_of_reviewing,
)

LONGEST = 420
_WIDE_END = re.compile(r"(?<=[。！？])\s*")
_OTHER_END = re.compile(r"(?<=[.!?])\s+(?=[«„“\"(]?[^\W\d_a-z])")
_CLAUSE_END = re.compile(r"(?<=[;:])\s+|(?<=,)\s+|\s+(?=\()|\s+")


def sentences_of(text: str, language: str = "") -> list[str]:
    """The sentences of a paragraph; all but white space between them is kept."""
    if language in ("zh", "ja"):
        return [piece.strip() for piece in _WIDE_END.split(text) if piece.strip()]
    if language in ("", "en"):
        return split_sentences(text)
    return [piece.strip() for piece in _OTHER_END.split(text) if piece.strip()]


def bounded(text: str, language: str = "") -> list[str]:
    """The text in pieces of at most 420 characters, cut between sentences, and inside one only where it is longer."""
    if len(text) <= LONGEST:
        return [text]
    pieces: list[str] = []
    for sentence in sentences_of(text, language):
        for part in _parts(sentence):
            if pieces and len(pieces[-1]) + 1 + len(part) <= LONGEST and part is sentence:
                pieces[-1] = f"{pieces[-1]} {part}"
            else:
                pieces.append(part)
    return pieces


def _parts(sentence: str) -> list[str]:
    """A sentence that is too long, cut at the last clause border before the limit."""
    parts: list[str] = []
    while len(sentence) > LONGEST:
        borders = [match.start() for match in _CLAUSE_END.finditer(sentence, LONGEST // 2, LONGEST)]
        clauses = [place for place in borders if sentence[place - 1] in ";:,)"]
        cut = (clauses or borders or [LONGEST])[-1]
        parts.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*parts, sentence] if parts else [sentence]


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


def windows(candidates: Sequence[Candidate], room_tokens: int, count: Callable[[str], int]) -> tuple[Window, ...]:
    """Cut the candidates into windows, in order; no candidate is in two of them, headings may be.

    Args:
        candidates: What ``candidates`` gave.
        room_tokens: The most tokens that a window's text may have. A candidate that is longer with its headings makes
            a window of its own, which is then over the room.
        count: Tokens of a text. It is called once for each line, so joins are counted as one token more.

    Returns:
        Windows ``w01``, ``w02``, ...; none for no candidates.

    Raises:
        ValueError: ``room_tokens`` is below one.
    """
    if room_tokens < 1:
        raise ValueError(f"room_tokens must be at least 1, not {room_tokens}")
    groups: list[list[Candidate]] = []
    used = 0
    for candidate in candidates:
        previous = groups[-1][-1].heading if groups else ()
        same = bool(groups) and candidate.heading == previous
        more = sum(count(line) + 1 for line in _lines(candidate, headed=not same))
        if groups and used + more <= room_tokens:
            groups[-1].append(candidate)
            used += more
        else:
            groups.append([candidate])
            used = sum(count(line) + 1 for line in _lines(candidate, headed=True))
    return tuple(Window(f"w{at:02d}", tuple(group), _text(group)) for at, group in enumerate(groups, start=1))


def _text(group: Sequence[Candidate]) -> str:
    lines: list[str] = []
    previous: tuple[str, ...] | None = None
    for candidate in group:
        lines += _lines(candidate, headed=candidate.heading != previous)
        previous = candidate.heading
    return "\n".join(lines)


def _lines(candidate: Candidate, *, headed: bool) -> list[str]:
    heading = [f"# {' > '.join(candidate.heading)}"] if headed and candidate.heading else []
    return [*heading, f"{candidate.id} {candidate.words}"]
