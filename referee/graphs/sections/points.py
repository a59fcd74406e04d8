"""Points between the steps of a review: from rules, verified, merged, searched for, shown to the check and placed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from rapidfuzz import fuzz

from referee.agents.asking import Excerpt
from referee.agents.checker import PASSAGE_TOKENS
from referee.evidence import (
    TermIndex,
    apply_check,
    merge_points,
    place_points,
    repeats_example,
    run_rules,
    settle_absence,
    settle_literature,
    verify_point,
    without_copied,
    worked_examples,
)
from referee.evidence.passages import label_of
from referee.evidence.points import is_live, noted, removed
from referee.graphs.sections.state import PartsContext
from referee.llm.embeddings import Embedder
from referee.schemas.paper import Paper
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint
from referee.venues.page.vocabulary import guess_language, language_name

_TELLING = ("results", "discussion", "conclusion", "experiments")


def rule_points(paper: Paper) -> list[ReviewPoint]:
    """What arithmetic and counting show, as points of source ``rule``; their quotations are the paper's own."""
    labels = {block.id: label_of(block) for _, block in paper.blocks()}
    return [
        ReviewPoint(
            id=f"r-{number}",
            claim=hit.claim,
            polarity="weakness",
            kind=hit.kind,
            severity=hit.severity,
            raised_severity=hit.severity,
            evidence=tuple(
                PointEvidence(
                    section_id=e.section_id,
                    section=e.section,
                    label=labels.get(e.block_id, ""),
                    quote=e.quote,
                    role=e.role,
                    status="exact",
                    page=e.page,
                    box=e.box,
                )
                for e in hit.evidence
            ),
            checkable="arithmetic",
            confidence="high",
            source="rule",
            prompt=hit.rule,
            check=PointCheck(verdict="stands", by=f"rule {hit.rule}", reason=", ".join(hit.numbers)),
        )
        for number, hit in enumerate(run_rules(paper), start=1)
    ]


def verified(points: Iterable[ReviewPoint], context: PartsContext) -> list[ReviewPoint]:
    """Points with their quotations looked up; copied instructions are dropped, what needs literature is asked."""
    examples = worked_examples(context.instructions)
    looked_up = (settle_literature(_looked_up(point, context)) for point in points)
    return [unless_copied(point, context.instructions, examples) for point in looked_up]


def _looked_up(point: ReviewPoint, context: PartsContext) -> ReviewPoint:
    """The point after its quotations were looked up; one that is believed counts as found."""
    believed = point if context.takes("quotation-check") else _believed(point)
    return verify_point(believed, context.index)


def _believed(point: ReviewPoint) -> ReviewPoint:
    if all(evidence.status != "not_found" for evidence in point.evidence):
        return point
    believed = (
        evidence.model_copy(update={"status": "exact", "similarity": 1.0})
        if evidence.status == "not_found"
        else evidence
        for evidence in point.evidence
    )
    return noted(point.model_copy(update={"evidence": tuple(believed)}), "its quotations were not looked up")


def unless_copied(point: ReviewPoint, instructions: str, examples: Sequence[str] = ()) -> ReviewPoint:
    """The point, dropped where its claim only repeats what its author was told."""
    if point.source == "rule":
        return point
    if repeats_example(point.claim, examples):
        return removed(point, "dropped", "its claim only repeats an example of the reviewer's instructions")
    own, copied = without_copied(point.claim, instructions)
    if own or not copied:
        return point
    return removed(point, "dropped", "its claim only repeats the reviewer's instructions")


async def claim_similarity(points: Sequence[ReviewPoint], embedder: Embedder | None) -> Callable[[str, str], float]:
    """How alike two claims are, in [0, 1]: by embeddings, or by their words where there is no embedder."""
    claims = list(dict.fromkeys(point.claim for point in points))
    if embedder is None or not claims:
        return lambda a, b: fuzz.token_sort_ratio(a, b) / 100
    vectors = dict(zip(claims, await embedder.embed(claims), strict=True))
    return lambda a, b: max(0.0, float(vectors[a] @ vectors[b]))


async def merged(
    points: Sequence[ReviewPoint], context: PartsContext, duplicates: Sequence[tuple[str, str]] = ()
) -> list[ReviewPoint]:
    """Points that say the same made one, by code; or just as a model named them, where the run does without."""
    if context.takes("merge"):
        return merge_points(points, similar=await claim_similarity(points, context.embedder), duplicates=duplicates)
    known = {point.id: point for point in points}
    group = {point.id: {point.id} for point in points}
    for first, second in duplicates:
        a, b = known[first], known[second]
        if is_live(a) and is_live(b) and a.polarity == b.polarity and group[first] is not group[second]:
            joined = group[first] | group[second]
            group.update(dict.fromkeys(joined, joined))
    for ids in {id(ids): ids for ids in group.values()}.values():
        members = [known[name] for name in sorted(ids)]
        chain = [(one.id, other.id) for one, other in pairwise(members)]
        known.update((p.id, p) for p in merge_points(members, similar=lambda a, b: 1.0, duplicates=chain))
    return sorted(known.values(), key=lambda point: point.id)


def remarks(points: Iterable[ReviewPoint], context: PartsContext) -> dict[str, str]:
    """What the check does not see: how grave a point's author calls it, and why. Empty where the check is blind."""
    if context.takes("blind-check"):
        return {}
    claims = {claim.id: " ".join(claim.text.split()) for claim in context.card.claims}
    return {point.id: _remark(point, claims.get(point.threatens or "", "")) for point in points}


def _remark(point: ReviewPoint, threatened: str) -> str:
    said = [f"Its author calls it a {point.kind} and {point.severity}, with {point.confidence} confidence"]
    said += [f"because then this claim falls: {threatened}"] if threatened else []
    said += [f"to mend it: {' '.join(point.fix.what.split())}"] if point.fix.what else []
    return "; ".join(said)


def placed(points: Iterable[ReviewPoint], checks: Mapping[str, PointCheck], context: PartsContext) -> list[ReviewPoint]:
    """The consequences of the checks drawn, and every point put into its field or its list."""
    checked = (apply_check(point, checks[point.id]) if point.id in checks else point for point in points)
    return place_points(checked, context.form)


def conflict_lines(points: Iterable[ReviewPoint]) -> Iterator[str]:
    """What rules found, one line each, for the reader across sections."""
    return (f"[{point.id}] {point.claim}" for point in points if point.source == "rule")


def telling_texts(context: PartsContext) -> Iterator[Excerpt]:
    """Results and discussion, the most telling first."""
    for kind in _TELLING:
        for part in context.parts:
            if part.type == kind:
                text = "\n\n".join(block.text for block in part.blocks)
                yield Excerpt(part.section_ids[0], part.heading, text, part.blocks[0].page if part.blocks else None)


PASSAGES = 6
# Of the places where the words of a claimed absence stand, and of the passages nearest to a claim, so many are shown.
HITS, CLAIMED = 4, 3
PASSAGE_WORDS = 60


async def passages(context: PartsContext, query: str, without: Iterable[str]) -> list[Excerpt]:
    """The passages nearest to a query, from other sections than the given ones; none on the lean plan."""
    if context.retriever is None or not query.strip():
        return []
    found = await context.retriever.search(query, top_k=PASSAGES, exclude_sections=frozenset(without))
    return [Excerpt(p.section_id, p.heading, p.text, p.page) for p in found]


def searched(
    points: Sequence[ReviewPoint], context: PartsContext
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
    points: Sequence[ReviewPoint], hits: Mapping[str, Sequence[Excerpt]], context: PartsContext
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
