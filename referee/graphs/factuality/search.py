"""What the one paper gives to examine a point: passages to answer from, named places, and hits against absence.

A judge sees the abstract and the places that a point names whatever the search finds. Without them a point such as
"Equation 4 contradicts Section 2" stays undecided whenever the search, which goes by meaning, brings other passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from referee.agents.questions import ShownPassage
from referee.errors import RetrievalError
from referee.evidence import AbsenceHit, AbsenceResult, NotFound
from referee.evidence.rules.labels import equation_numbers, labels_in
from referee.evidence.stems import stems
from referee.graphs.factuality.records import (
    AbsenceRecord,
    FactualityContext,
    FoundRecord,
    HitRecord,
    PassageRecord,
    QuotationRecord,
)
from referee.llm.tokens import count_tokens
from referee.retrieval import Child, Chunks, Parent, Passage
from referee.schemas.paper import Block, Paper, Section

# Of the places where the words of a claimed absence stand, so many are shown.
HITS = 5
_SIGN = re.compile(r"§+\s*")
_BY_WORD = {"introduction": "introduc", "introductory": "introduc", "conclusion": "conclu", "conclusions": "conclu"}
_WORDS = re.compile(rf"\b(?:{'|'.join(_BY_WORD)}|appendix|appendices)\b", re.IGNORECASE)


def names_a_place(text: str) -> bool:
    """Whether a sentence names a section, equation, table, figure or appendix."""
    return bool(_labels(text) or _WORDS.search(text))


def named_chunks(text: str, paper: Paper, chunks: Chunks, room: int) -> list[ShownPassage]:
    """The abstract and the places that a point names, as far as they fit.

    The abstract comes first, then equations, tables and figures, then sections with what stands under them. Of a
    section that does not fit as a whole, the passages that share most words with the point are shown.

    Args:
        text: The point and the review's own words.
        paper: The paper.
        chunks: How it is cut.
        room: Most tokens of all of them together.
    """
    blocks = set(_named_blocks(text, paper))
    abstract = [section.id for section in paper.sections if section.role == "abstract"] or ["abstract"]
    choices = [
        *_of_sections(abstract, text, chunks),
        *(_passage(one) for one in chunks.children if blocks & set(one.block_ids)),
        *_of_sections(list(_named_sections(text, paper)), text, chunks),
    ]
    shown: dict[str, ShownPassage] = {}
    for choice in choices:
        size = count_tokens(choice.text)
        if size <= room and choice.id not in shown and choice.id.rpartition(".")[0] not in shown:
            shown[choice.id] = choice
            room -= size
    return list(shown.values())


def passages_about(text: str, paper: Paper, chunks: Chunks, room: int) -> list[ShownPassage]:
    """The abstract and what a text names in the paper, then the passages that share most words with it, in order.

    For a judge that has no search by meaning; arguments as of ``named_chunks``, which takes at most half of the room.
    """
    shown = {one.id: one for one in named_chunks(text, paper, chunks, room // 2)}
    room -= sum(count_tokens(one.text) for one in shown.values())
    about = set(stems(text))
    for child in sorted(chunks.children, key=lambda child: -len(about & set(stems(child.text)))):
        size = count_tokens(child.text)
        if size <= room and not {child.id, child.id.rpartition(".")[0]} & shown.keys():
            shown[child.id] = _passage(child)
            room -= size
    order = [*(one.id for one in chunks.parents), *(one.id for one in chunks.children)]
    return sorted(shown.values(), key=lambda one: (_parent_place(one.id, order), order.index(one.id)))


def _parent_place(passage: str, order: Sequence[str]) -> int:
    parent = passage.rpartition(".")[0]
    return order.index(parent if parent in order else passage)


async def find_passages(
    sub_questions: Sequence[str], point: str, context: FactualityContext
) -> tuple[list[FoundRecord], dict[str, PassageRecord]]:
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
            passages=tuple(HitRecord(id=one.id, similarity=round(one.similarity, 4)) for one in _own(row, context)),
            shown=tuple(_shown(row, named, context)),
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
    quotations = tuple(_quotations(_spread(result.hits), context))
    return AbsenceRecord(
        terms=result.terms,
        unsearchable=result.unsearchable,
        hits=len(result.hits),
        references=len(result.references),
        words_read=result.words_read,
        losses=tuple(result.losses),
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


def _shown(
    passages: Sequence[Passage], named: Sequence[ShownPassage], context: FactualityContext
) -> list[ShownPassage]:
    """What is named, then the sections around the passages, nearest first, as far as they fit.

    A passage stands alone where its section does not fit. A passage within a section that
    is shown is not shown again.
    """
    room, shown, whole = context.bounds.passage_tokens, list(named), {one.id for one in named}
    for passage in passages:
        if {passage.parent_id, passage.id} & whole:
            continue
        parent = context.retriever.parent(passage)
        for choice in [*([_passage(parent)] if context.bounds.parents else []), _passage(passage)]:
            size = count_tokens(choice.text)
            if size <= room:
                shown.append(choice)
                room -= size
                whole |= {choice.id}
                break
    # A section may have been taken in after a passage of it that came first and alone.
    return [one for one in shown if not any(one.id.startswith(f"{other.id}.") for other in shown)]


def _record(passage: Passage) -> PassageRecord:
    return PassageRecord(
        paper_id=passage.paper_id,
        parent_id=passage.parent_id,
        section_id=passage.section_id,
        section=passage.heading,
        page=passage.page,
        text=passage.text,
    )


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
        yield QuotationRecord(**dict(match), id=f"h{number}", source="search", passage=hit.block_id)
        if number == HITS:
            return


def _told(result: AbsenceResult, quotations: Sequence[QuotationRecord]) -> str:
    """The search in words, for the judges."""
    if not result.terms:
        return "The words given for the search carry no meaning; nothing was searched."
    searched = f"All {result.words_read:,} words of the paper were searched for: {', '.join(result.terms)}."
    if result.hits:
        places = dict.fromkeys(f"{hit.where} of {hit.section or 'the paper'}" for hit in result.hits)
        ids = ", ".join(quotation.id for quotation in quotations)
        shown = f" The quotations {ids} are such places." if ids else ""
        found = f"They stand at {len(result.hits)} place(s): {'; '.join(list(places)[:HITS])}.{shown}"
    else:
        found = "They stand nowhere in it."
    cited = f" {len(result.references)} title(s) in the bibliography hold them." if result.references else ""
    lost = " Part of the paper's text is lost, so finding nothing proves nothing." if result.losses else ""
    return f"{searched} {found}{cited}{lost}"


def _labels(text: str) -> set[tuple[str, str]]:
    return labels_in(_SIGN.sub("Section ", text))


def _named_sections(text: str, paper: Paper) -> Iterator[str]:
    """The ids of named sections, each with those below it."""
    numbers = {number for kind, number in _labels(text) if kind in ("Section", "Appendix")}
    words = {_BY_WORD.get(found.group().casefold(), "appendix") for found in _WORDS.finditer(text)}
    level = 0
    for section in paper.sections:
        if section.role not in ("content", "appendix"):
            continue
        if _is_named(section, numbers, words, text):
            level = min(level, section.level) or section.level
        elif level and section.level <= level:
            level = 0
        if level:
            yield section.id


def _is_named(section: Section, numbers: set[str], words: set[str], text: str) -> bool:
    heading = section.heading.strip().casefold()
    lettered = re.match(r"appendix\s+([a-z])\b", heading)
    own = {(section.number or "").rstrip("."), lettered[1].upper() if lettered else ""} - {""}
    if own & numbers or any(heading.startswith(word) for word in words - {"appendix"}):
        return True
    if "appendix" in words and not numbers and section.role == "appendix":
        return True
    return bool(heading) and re.search(rf"\b{re.escape(heading)} section\b", text, re.IGNORECASE) is not None


def _named_blocks(text: str, paper: Paper) -> Iterator[str]:
    """The ids of the blocks that bear a named label; around an equation those that say what its signs mean."""
    wanted = _labels(text)
    for section in paper.sections if wanted else ():
        for place, block in enumerate(section.blocks):
            if wanted & set(_borne(block)):
                around = 1 if block.kind == "equation" else 0
                yield from (one.id for one in section.blocks[max(0, place - around) : place + around + 1])


def _borne(block: Block) -> Iterator[tuple[str, str]]:
    if block.kind == "equation":
        yield from (("Equation", number) for number in equation_numbers(block))
    yield from labels_in(block.label or "")


def _of_sections(ids: Sequence[str], text: str, chunks: Chunks) -> Iterator[ShownPassage]:
    """Sections whole, then their passages by the words they share with the point."""
    about = set(stems(text))
    yield from (_passage(one) for one in chunks.parents if one.section_id in ids)
    children = [child for child in chunks.children if child.section_id in ids]
    children.sort(key=lambda child: -len(about & set(stems(child.text))))
    yield from map(_passage, children)


def _passage(one: Child | Parent | Passage) -> ShownPassage:
    return ShownPassage(one.id, one.heading, one.text)
