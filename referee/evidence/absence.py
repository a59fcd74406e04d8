"""Whether the paper says nothing about something: a search of everything it prints.

That a paper lacks something is a hypothesis until its words were looked for everywhere: abstract, sections, appendix,
captions, footnotes, table cells, equations, limitations; titles in the bibliography separately, since a cited work is
not something the paper did. Words are compared by stems (``stems``), several words of a term within a window of words.
No hit is the only lexical support that a claim of absence can have, and only where nothing of the text was lost.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.evidence.numerals import plain
from referee.evidence.stems import STOPWORDS, WORD, stem
from referee.schemas.paper import Block, Paper, Section

Where = Literal["title", "abstract", "text", "appendix", "caption", "footnote", "table", "equation", "heading"]

WINDOW = 8
"""Words within which all words of a term must stand, beyond the term's own length."""

GENERIC = frozenset(
    map(stem, ("study", "analysis", "experiment", "section", "discussion", "result", "detail", "report"))
)
"""Words that add little to a term: they need not stand beside its other words (``ablation study``)."""

_SIDE = 12
_MAX_HITS_A_TERM = 20
_LOSSES = frozenset({"lost_text", "missing_page"})
_BROKEN = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,40})[-\u00ad]\s*([^\W\d_]{2,40})")
_KINDS: dict[str, Where] = {
    "caption": "caption",
    "footnote": "footnote",
    "table": "table",
    "figure": "caption",
    "equation": "equation",
    "heading": "heading",
}


@dataclass(frozen=True, slots=True)
class AbsenceHit:
    """A place where a term stands; ``quote`` is the paper's text around it, at most some 25 words."""

    term: str
    quote: str
    where: Where
    section_id: str
    section: str
    block_id: str
    page: int | None


@dataclass(frozen=True, slots=True)
class AbsenceResult:
    """What a search for terms found, and what it read.

    ``terms`` were searched; ``unsearchable`` ones hold no word that carries meaning. ``hits`` are in reading order, at
    most twenty a term; ``references`` are the ids of entries of the bibliography with a term in them. ``words_read``
    counts the words that were searched, ``losses`` says what of the file is known to be missing.
    """

    terms: tuple[str, ...]
    unsearchable: tuple[str, ...]
    hits: tuple[AbsenceHit, ...]
    references: tuple[str, ...]
    words_read: int
    losses: tuple[str, ...]

    @property
    def supports_absence(self) -> bool:
        """No term stands anywhere outside the bibliography, and no text is known to be lost."""
        return bool(self.terms) and not self.hits and not self.losses and self.words_read > 0


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a section with the block it stands in; ``order`` counts the section's words."""

    order: int
    start: int
    end: int
    block: Block


@dataclass(frozen=True, slots=True)
class _Stream:
    """The words of one section, by stem."""

    section: Section
    words: tuple[_Word, ...]
    places: dict[str, list[int]]


class TermIndex:
    """A paper laid out for absence searches. Build it once for several searches.

    Args:
        paper: The paper; authors' names and bibliography are not part of its text.
    """

    def __init__(self, paper: Paper) -> None:
        self._streams = [_stream(section) for section in _searched(paper)]
        self._references = [(r.id, frozenset(_all_stems(r.title or r.text))) for r in paper.references]
        self._losses = tuple(f.message for f in paper.findings if f.kind in _LOSSES and f.certainty != "low")
        self._words = sum(len(stream.words) for stream in self._streams)

    def search(self, terms: Sequence[str]) -> AbsenceResult:
        """Look for terms everywhere.

        Args:
            terms: Words or short phrases; the words of a phrase may stand in any order within a window of its length
                plus ``WINDOW`` words.

        Returns:
            Every hit, bibliography apart. Nothing is raised for any string.
        """
        searched: dict[str, tuple[str, ...]] = {}
        unsearchable: list[str] = []
        for term in dict.fromkeys(terms):
            wanted = tuple(dict.fromkeys(_term_stems(term)))
            if wanted:
                searched[term] = wanted
            else:
                unsearchable.append(term)
        hits = [
            hit for stream in self._streams for term, wanted in searched.items() for hit in _hits(stream, term, wanted)
        ]
        return AbsenceResult(
            terms=tuple(searched),
            unsearchable=tuple(unsearchable),
            hits=tuple(_at_most(hits)),
            references=tuple(
                key for wanted in searched.values() for key, found in self._references if found.issuperset(wanted)
            ),
            words_read=self._words,
            losses=self._losses,
        )


def _searched(paper: Paper) -> Iterator[Section]:
    """The paper's sections, with title and abstract where no section holds them."""
    yield Section(id="title", heading="Title", level=1, blocks=_only(paper.title, "title"))
    if paper.abstract and not any(section.role == "abstract" for section in paper.sections):
        yield Section(
            id="abstract", heading="Abstract", level=1, role="abstract", blocks=_only(paper.abstract, "abstract")
        )
    yield from (section for section in paper.sections if section.role not in ("front", "references"))


def _only(text: str, block_id: str) -> tuple[Block, ...]:
    return (Block(id=block_id, kind="paragraph", text=text),) if text.strip() else ()


def _stream(section: Section) -> _Stream:
    heading = (
        (Block(id=f"{section.id}-heading", kind="heading", text=section.heading),) if section.heading.strip() else ()
    )
    words: list[_Word] = []
    places: dict[str, list[int]] = defaultdict(list)
    for block in (*(() if section.id in ("title", "abstract") else heading), *section.blocks):
        shown = plain(block.text)
        joined = {found.start(1): found.group(1) + found.group(2) for found in _BROKEN.finditer(shown)}
        for found in WORD.finditer(shown):
            order = len(words)
            words.append(_Word(order, found.start(), found.end(), block))
            places[stem(found.group())].append(order)
            if found.start() in joined:
                places[stem(joined[found.start()])].append(order)
    return _Stream(section, tuple(words), dict(places))


def _term_stems(term: str) -> Iterator[str]:
    """Stems of a term; a hyphenated word is one word, since the text is searched for both spellings."""
    whole = _BROKEN.sub(r"\1\2", plain(term))
    found = [stem(word) for word in WORD.findall(whole) if word.casefold() not in STOPWORDS]
    yield from [word for word in found if word not in GENERIC] or found


def _all_stems(text: str) -> Iterator[str]:
    shown = plain(text)
    yield from map(stem, WORD.findall(shown))
    yield from (stem(found[1] + found[2]) for found in _BROKEN.finditer(shown))


def _hits(stream: _Stream, term: str, wanted: tuple[str, ...]) -> Iterator[AbsenceHit]:
    """Places of the term's rarest word that have all its other words near."""
    lists = [stream.places.get(word, []) or _closed_up(stream, word) for word in wanted]
    if not all(lists):
        return
    rarest = min(lists, key=len)
    reach = len(wanted) + WINDOW
    last = -1
    for order in rarest:
        near = [_nearest(places, order) for places in lists]
        if max(near) - min(near) > reach or (last >= 0 and min(near) <= last):
            continue
        last = max(near)
        yield _hit(stream, term, min(near), last)


def _closed_up(stream: _Stream, word: str) -> list[int]:
    """Where a word that was asked for as one is printed as two (``data set``)."""
    if len(word) < 6:
        return []
    firsts = [head for head in stream.places if 3 <= len(head) < len(word) and word.startswith(head)]
    return sorted(
        order
        for head in firsts
        for order in stream.places[head]
        if order + 1 < len(stream.words) and word == head + stem(_printed(stream.words[order + 1]))
    )


def _printed(word: _Word) -> str:
    return word.block.text[word.start : word.end]


def _nearest(places: list[int], order: int) -> int:
    at = bisect_left(places, order)
    return min(places[max(0, at - 1) : at + 1], key=lambda place: abs(place - order))


def _hit(stream: _Stream, term: str, first: int, last: int) -> AbsenceHit:
    block = stream.words[first].block
    if stream.words[last].block is not block:
        last = first
    inside = [w for w in stream.words[max(0, first - _SIDE) : last + _SIDE + 1] if w.block is block]
    quote = " ".join(block.text[inside[0].start : inside[-1].end].split())
    return AbsenceHit(
        term=term,
        quote=quote,
        where=_where(stream.section, block),
        section_id=stream.section.id,
        section=stream.section.heading,
        block_id=block.id,
        page=block.page,
    )


def _where(section: Section, block: Block) -> Where:
    if section.id == "title":
        return "title"
    if block.kind in _KINDS:
        return _KINDS[block.kind]
    if section.role == "abstract":
        return "abstract"
    return "appendix" if section.role == "appendix" else "text"


def _at_most(hits: list[AbsenceHit]) -> Iterator[AbsenceHit]:
    counts: dict[str, int] = defaultdict(int)
    for hit in hits:
        counts[hit.term] += 1
        if counts[hit.term] <= _MAX_HITS_A_TERM:
            yield hit
