"""Points between the steps of the machine ``review``: from rules, verified, compared, searched for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rapidfuzz import fuzz

from referee.agents.asks import Excerpt
from referee.evidence import (
    apply_check,
    merge_points,
    place_points,
    repeats_example,
    run_rules,
    settle_literature,
    verify_point,
    without_echo,
    worked_examples,
)
from referee.evidence.point_changes import is_live, noted, removed
from referee.graphs.review_state import ReviewContext
from referee.llm.embeddings import Embedder
from referee.schemas.paper import Paper
from referee.schemas.point import PointCheck, PointEvidence, ReviewPoint

_TELLING = ("results", "discussion", "conclusion", "experiments")


def by_id(points: Iterable[ReviewPoint]) -> list[ReviewPoint]:
    """Points from the state, by id: branches arrive in no order of ours."""
    return sorted(points, key=lambda point: point.id)


def rule_points(paper: Paper) -> list[ReviewPoint]:
    """What arithmetic and counting show, as points of source ``rule``; their quotations are the paper's own."""
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


def verified(points: Iterable[ReviewPoint], context: ReviewContext) -> list[ReviewPoint]:
    """Points with their quotations looked up; copied instructions are dropped, what needs literature is asked."""
    examples = worked_examples(context.instructions)
    looked_up = (settle_literature(_looked_up(point, context)) for point in points)
    return [unless_copied(point, context.instructions, examples) for point in looked_up]


def _looked_up(point: ReviewPoint, context: ReviewContext) -> ReviewPoint:
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
    own, copied = without_echo(point.claim, instructions)
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
    points: Sequence[ReviewPoint], context: ReviewContext, duplicates: Sequence[tuple[str, str]] = ()
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


def remarks(points: Iterable[ReviewPoint], context: ReviewContext) -> dict[str, str]:
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


def placed(
    points: Iterable[ReviewPoint], checks: Mapping[str, PointCheck], context: ReviewContext
) -> list[ReviewPoint]:
    """The consequences of the checks drawn, and every point put into its field or its list."""
    checked = (apply_check(point, checks[point.id]) if point.id in checks else point for point in points)
    return place_points(checked, context.form)


def conflict_lines(points: Iterable[ReviewPoint]) -> Iterator[str]:
    """What rules found, one line each, for the reader across sections."""
    return (f"[{point.id}] {point.claim}" for point in points if point.source == "rule")


def telling_texts(context: ReviewContext) -> Iterator[Excerpt]:
    """Results and discussion, the most telling first."""
    for kind in _TELLING:
        for part in context.parts:
            if part.type == kind:
                text = "\n\n".join(block.text for block in part.blocks)
                yield Excerpt(part.section_ids[0], part.heading, text, part.blocks[0].page if part.blocks else None)
