"""What searches of the paper give the machine ``review``: passages for readers, and all that bears on a point."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from referee.agents.asks import Excerpt
from referee.agents.checker import PASSAGE_TOKENS
from referee.evidence import TermIndex, settle_absence
from referee.graphs.review_state import ReviewContext
from referee.schemas.paper import Paper
from referee.schemas.point import ReviewPoint
from referee.venues.page.vocabulary import guess_language, language_name

PASSAGES = 6
# Of the places where the words of a claimed absence stand, and of the passages nearest to a claim, so many are shown.
HITS, CLAIMED = 4, 3
PASSAGE_WORDS = 60


async def passages(context: ReviewContext, query: str, without: Iterable[str]) -> list[Excerpt]:
    """The passages nearest to a query, from other sections than the given ones; none on the lean plan."""
    if context.retriever is None or not query.strip():
        return []
    found = await context.retriever.search(query, top_k=PASSAGES, exclude_sections=frozenset(without))
    return [Excerpt(p.section_id, p.heading, p.text, p.page) for p in found]


def searched(
    points: Sequence[ReviewPoint], context: ReviewContext
) -> tuple[list[ReviewPoint], dict[str, list[Excerpt]]]:
    """Claims of absence after the search of the whole paper, and what it found for each."""
    if all(point.absence is None for point in points):
        return list(points), {}
    index, settled, hits = TermIndex(context.paper), list[ReviewPoint](), dict[str, list[Excerpt]]()
    for point in points:
        if point.absence is None:
            settled.append(point)
            continue
        found = index.search(point.absence.terms)
        hits[point.id] = [Excerpt(hit.section_id, hit.section, hit.quote, hit.page) for hit in found.hits]
        settled.append(settle_absence(point, found))
    return settled, hits


def language_notes(paper: Paper) -> list[str]:
    """What a review says of a paper that is not in English."""
    name = _other_language(paper)
    what = "rules compare English words, and a search for words shows nothing to be missing"
    return [f"the paper seems to be in {name}: {what}"] if name else []


async def shown_to_the_check(
    points: Sequence[ReviewPoint], hits: Mapping[str, Sequence[Excerpt]], context: ReviewContext
) -> dict[str, list[Excerpt]]:
    """What bears on each point: all of a short paper; else what its searches found, the nearest first.

    Searched for are the words of a claimed absence, what would refute the point, and what it claims.
    """
    whole = _whole(context.paper)
    if context.model("checker").count("\n".join(excerpt.text for excerpt in whole)) <= PASSAGE_TOKENS:
        return {point.id: whole for point in points}
    found = await asyncio.gather(
        *(passages(context, query, ()) for point in points for query in (point.refuted_by, point.claim))
    )
    pairs = zip(points, found[::2], found[1::2], strict=True)
    return {
        point.id: [*hits.get(point.id, ())[:HITS], *refuting, *claimed[:CLAIMED]] for point, refuting, claimed in pairs
    }


def _other_language(paper: Paper) -> str:
    """The name of the paper's language; empty for English, and where it cannot be told."""
    code = guess_language("\n".join(block.text for section in paper.content for block in section.blocks))
    return "" if code in ("", "en") else language_name(code)


def _whole(paper: Paper) -> list[Excerpt]:
    """A paper as passages: the blocks of a section together until they have some words."""
    together: list[Excerpt] = []
    for section in paper.content:
        open_words = 0
        for block in section.blocks:
            if open_words:
                last = together.pop()
                together.append(replace(last, text=f"{last.text}\n{block.text}"))
            else:
                together.append(Excerpt(section.id, section.heading, block.text, block.page))
            open_words += len(block.text.split())
            open_words = 0 if open_words >= PASSAGE_WORDS else open_words
    return together
