"""What searches of the one paper give the machine ``factuality``: passages to answer from, and hits against absence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from referee.errors import RetrievalError
from referee.evidence import AbsenceHit, AbsenceResult, NotFound
from referee.graphs.factuality_named import Shown, named_chunks
from referee.graphs.factuality_state import AbsenceRecord, FactualityContext, FoundRecord, HitRecord, QuotationRecord
from referee.llm.tokens import count_tokens
from referee.retrieval import Passage

# Of the places where the words of a claimed absence stand, so many are shown.
HITS = 5


async def find_passages(
    sub_questions: Sequence[str], point: str, context: FactualityContext
) -> tuple[list[FoundRecord], dict[str, dict[str, Any]]]:
    """Search for all sub-questions of a point at once; gives what was found for each, and every passage once by id.

    The abstract and what the point names in the paper is shown with each, before what was found.

    Raises:
        RetrievalError: The search failed, or gave a passage of another paper.
        ModelError: The embedder failed.
    """
    rows = await context.retriever.search_many(sub_questions, top_k=context.bounds.top_k)
    named = named_chunks(point, context.paper, context.retriever.chunks, context.bounds.named_tokens)
    found = [
        FoundRecord(
            place=place,
            sub_question=sub_question,
            passages=[HitRecord(id=one.id, similarity=round(one.similarity, 4)) for one in _own(row, context)],
            shown=_shown(row, named, context),
        )
        for place, (sub_question, row) in enumerate(zip(sub_questions, rows, strict=True))
    ]
    return found, {passage.id: _record(passage) for row in rows for passage in row}


def search_for_absent(terms: Sequence[str], context: FactualityContext) -> AbsenceRecord | None:
    """Look everywhere for what a point says is not there; null where it claims no absence.

    Hits whose words are too few to be told apart are counted and named, but cannot be cited.
    """
    if not terms:
        return None
    result = context.terms.search(terms)
    quotations = list(_quotations(_spread(result.hits), context))
    return AbsenceRecord(
        terms=list(result.terms),
        unsearchable=list(result.unsearchable),
        hits=len(result.hits),
        references=len(result.references),
        words_read=result.words_read,
        losses=list(result.losses),
        empty=result.supports_absence,
        told=_told(result, quotations),
        quotations=quotations,
    )


def _own(passages: Sequence[Passage], context: FactualityContext) -> Sequence[Passage]:
    """The passages, once it is certain that all are of the paper under check."""
    for passage in passages:
        if passage.paper_id != context.paper.paper_id:
            raise RetrievalError(
                f"a search in paper {context.paper.paper_id[:12]!r} gave a passage of {passage.paper_id[:12]!r}.",
                hint="Open one retriever for each paper, with that paper.",
                ids={"paper": context.paper.paper_id, "passage": passage.id},
            )
    return passages


def _shown(passages: Sequence[Passage], named: Sequence[Shown], context: FactualityContext) -> list[Shown]:
    """What is named, then the sections around the passages, nearest first, as far as they fit.

    A passage stands alone where its section does not fit. Each is (id, heading, text). A passage within a section that
    is shown is not shown again.
    """
    room, shown, whole = context.bounds.passage_tokens, list(named), {one[0] for one in named}
    for passage in passages:
        if {passage.parent_id, passage.id} & whole:
            continue
        parent = context.retriever.parent(passage)
        choices = [(parent.id, parent.heading, parent.text)] if context.bounds.parents else []
        for choice in [*choices, (passage.id, passage.heading, passage.text)]:
            size = count_tokens(choice[2])
            if size <= room:
                shown.append(choice)
                room -= size
                whole |= {choice[0]}
                break
    # A section may have been taken in after a passage of it that came first and alone.
    return [one for one in shown if not any(one[0].startswith(f"{other[0]}.") for other in shown)]


def _record(passage: Passage) -> dict[str, Any]:
    return {
        "paper_id": passage.paper_id,
        "parent_id": passage.parent_id,
        "section_id": passage.section_id,
        "section": passage.heading,
        "page": passage.page,
        "text": passage.text,
    }


def _spread(hits: Sequence[AbsenceHit]) -> list[AbsenceHit]:
    """Hits of every term in turn, each place once."""
    by_term: dict[str, list[AbsenceHit]] = {}
    for hit in hits:
        by_term.setdefault(hit.term, []).append(hit)
    in_turn = (hit for rank in zip_longest(*by_term.values()) for hit in rank if hit is not None)
    return list({hit.quote: hit for hit in in_turn}.values())


def _quotations(hits: Sequence[AbsenceHit], context: FactualityContext) -> Iterator[QuotationRecord]:
    number = 0
    for hit in hits:
        match = context.quotations.find(hit.quote, section_id=hit.section_id)
        if isinstance(match, NotFound):
            continue
        number += 1
        yield QuotationRecord(
            id=f"h{number}",
            source="search",
            passage=hit.block_id,
            quote=match.quote,
            section_id=match.section_id,
            section=match.section,
            page=match.page,
            status=match.status,
            similarity=match.similarity,
        )
        if number == HITS:
            return


def _told(result: AbsenceResult, quotations: Sequence[QuotationRecord]) -> str:
    """The search in words, for the judges."""
    if not result.terms:
        return "The words given for the search carry no meaning; nothing was searched."
    searched = f"All {result.words_read:,} words of the paper were searched for: {', '.join(result.terms)}."
    if result.hits:
        places = dict.fromkeys(f"{hit.where} of {hit.section or 'the paper'}" for hit in result.hits)
        ids = ", ".join(quotation["id"] for quotation in quotations)
        shown = f" The quotations {ids} are such places." if ids else ""
        found = f"They stand at {len(result.hits)} place(s): {'; '.join(list(places)[:HITS])}.{shown}"
    else:
        found = "They stand nowhere in it."
    cited = f" {len(result.references)} title(s) in the bibliography hold them." if result.references else ""
    lost = " Part of the paper's text is lost, so finding nothing proves nothing." if result.losses else ""
    return f"{searched} {found}{cited}{lost}"
