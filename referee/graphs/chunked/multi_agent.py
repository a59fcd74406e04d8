"""Strategy ``multi-agent``: talk (three teams in parallel) -> gather -> refine -> settle -> compose.

Three experts without the paper ask workers that hold a chunk of it each, in a fixed number of turns, and write points
from what was answered. Each point is then kept, made specific or dropped by a call of its own. On the lean plan the
workers answer all experts at once, and one call refines by ids. Quotations, rules, merging, searches for absences,
places and scores are the same code as in ``sections``; there is no blind check.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents import team as teams
from referee.agents.lean_worker import answer_with_points
from referee.agents.refiner import RefineBrief, Refinement, refine_point, sift_points
from referee.agents.team import EXPERTS, Team, TeamBrief, hold_talk
from referee.errors import RefereeError, RunStopped
from referee.evidence.points import capped, is_live, noted, removed
from referee.graphs.chunked.nodes import gathered, merged_as_raised, settle
from referee.graphs.criteria import whole_form_shown
from referee.graphs.failure import record_failure
from referee.graphs.sections.compose import compose
from referee.graphs.sections.points import verified
from referee.graphs.sections.state import PartsContext, PointsState, by_id, gap_or_stop, go_on
from referee.schemas.point import ReviewPoint


class TalkTask(TypedDict):
    """An expert's name, or on the lean plan a chunk's id."""

    name: str


async def talk(state: TalkTask, runtime: Runtime[PartsContext]) -> PointsState:
    """Let one expert and its team talk, and take its points."""
    context, expert = runtime.context, state["name"]
    brief = TeamBrief(
        expert, context.form.name, context.how_read, context.card, context.parts, criteria=context.criteria
    )
    team = Team(context.door, context.window("supervisor"), context.window("writer"))
    try:
        reply = await hold_talk(brief, team, rounds=teams.ROUNDS)
    except RefereeError as error:
        return {"failures": [record_failure(f"the team for {expert}", error)]}
    gaps = [f"{what} failed: {error.message}" for what, error in reply.gaps]
    shown = [whole_form_shown(context.form, f"the expert for {expert}", reply.call_id)]
    return {"raised": list(reply.points), "shown": shown, "notes": [*reply.notes, *gaps]}


async def answer(state: TalkTask, runtime: Runtime[PartsContext]) -> PointsState:
    """On the lean plan: one worker's points for all three experts."""
    context, chunk = runtime.context, runtime.context.part(state["name"])
    try:
        points, notes = await answer_with_points(
            chunk,
            context.card,
            context.form.name,
            context.how_read,
            door=context.door,
            window=context.window("writer"),
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"the worker of {chunk.heading!r}", error)]}
    return {"raised": list(points), "notes": list(notes)}


async def gather(state: PointsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Verify what was raised, add what rules find, merge what says the same."""
    return await gathered(state, runtime.context, branches=len(_branches(runtime.context)))


async def refine(state: PointsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Keep each comment, replace it by a more definite one, or drop it; what rules found is left alone."""
    context, points = runtime.context, by_id(state["points"])
    waiting = [point for point in points if is_live(point) and point.source != "rule"]
    if not waiting:
        return {}
    return await (_sifted if context.lean else _refined)(points, waiting, context)


def build_multi_agent_graph() -> StateGraph[PointsState, PartsContext, PointsState, PointsState]:
    """The uncompiled machine."""
    graph = StateGraph(PointsState, context_schema=PartsContext)
    graph.add_node("talk", talk, input_schema=TalkTask)
    graph.add_node("answer", answer, input_schema=TalkTask)
    graph.add_node("gather", gather)
    graph.add_node("refine", refine)
    graph.add_node("settle", settle)
    graph.add_node("compose", compose)
    graph.add_conditional_edges(START, _send_out, ["talk", "answer", "gather"])
    graph.add_edge("talk", "gather")
    graph.add_edge("answer", "gather")
    for node, following in (("gather", "refine"), ("refine", "settle")):
        graph.add_conditional_edges(node, go_on, {"go on": following, "stop": END})
    graph.add_edge("settle", "compose")
    graph.add_edge("compose", END)
    return graph


def _branches(context: PartsContext) -> tuple[str, ...]:
    """Who works at the same time: the experts' teams, or on the lean plan the workers."""
    chunks = tuple(chunk.id for chunk in context.parts)
    return chunks if context.lean or not chunks else EXPERTS


def _send_out(state: PointsState, runtime: Runtime[PartsContext]) -> list[Send] | str:
    node = "answer" if runtime.context.lean else "talk"
    return [Send(node, TalkTask(name=name)) for name in _branches(runtime.context)] or "gather"


async def _refined(points: Sequence[ReviewPoint], waiting: Sequence[ReviewPoint], context: PartsContext) -> PointsState:
    """One call a comment, all at once; a call that fails leaves its comment as it is."""
    brief = RefineBrief(context.form.name, context.how_read, context.card, context.parts, context.criteria)
    window = context.window("checker")
    outcomes = await asyncio.gather(
        *(refine_point(p, brief, door=context.door, window=window) for p in waiting),
        return_exceptions=True,
    )
    changed = {point.id: [point] for point in points}
    raised: list[ReviewPoint] = []
    notes: list[str] = []
    for point, outcome in zip(waiting, outcomes, strict=True):
        if isinstance(outcome, Refinement):
            changed[point.id] = replaced(point, outcome, verified(outcome.points, context))
            raised += outcome.points
            notes += outcome.notes
        elif isinstance(outcome, RunStopped):
            return gap_or_stop("the refinement", outcome)
        elif isinstance(outcome, RefereeError):
            notes.append(f"{point.id} was not refined: {outcome.message}")
        else:
            raise outcome
    flat = [point for several in changed.values() for point in several]
    return {"raised": raised, "points": await merged_as_raised(flat, context), "notes": notes}


async def _sifted(points: Sequence[ReviewPoint], waiting: Sequence[ReviewPoint], context: PartsContext) -> PointsState:
    """One call for all comments."""
    try:
        sifted = await sift_points(
            waiting,
            context.card,
            context.form.name,
            door=context.door,
            window=context.window("supervisor"),
        )
    except RefereeError as error:
        return gap_or_stop("the refinement", error)
    against = {name: f"dropped by the refinement, {reason}" for name, reason in sifted.against.items()}
    left = [removed(p, "dropped", against[p.id]) if p.id in against else p for p in points]
    return {"points": left, "notes": list(sifted.notes)}


def replaced(point: ReviewPoint, refinement: Refinement, written: Sequence[ReviewPoint]) -> list[ReviewPoint]:
    """The comment and what was written in its place, each with what became of it.

    Args:
        point: The comment, with its quotations looked up.
        refinement: What is to become of it.
        written: The points of the refinement (one at most), with their quotations looked up.

    Returns:
        The comment first. It is dropped where the verdict says so; merged into the new wording where that is the same
        kind of statement and as well quoted; else it stands as it was, and a new wording is dropped with the reason.
    """
    if refinement.verdict == "drop":
        unused = [_unused(new, "the comment it was to replace was dropped") for new in written]
        return [removed(point, "dropped", f"dropped by the refinement: {refinement.reason}"), *unused]
    if refinement.verdict == "keep" or not written:
        return [point, *(_unused(new, f"written although {point.id} was to be kept") for new in written)]
    new = written[0]
    if why := _unfit(point, new):
        return [point, _unused(new, f"{point.id} stands as it was: {why}")]
    said = noted(new, f"refines {point.id}: {refinement.reason}")
    taken = {
        "evidence": tuple(dict.fromkeys((*new.evidence, *point.evidence))),
        "criterion": tuple(dict.fromkeys((*new.criterion, *point.criterion))),
        "merged_from": tuple(sorted({point.id, *point.merged_from})),
    }
    kept = capped(said.model_copy(update=taken), point.severity, f"no graver than {point.id}, which it refines")
    gone = {"outcome": "merged_into", "merged_into": new.id, "field": None}
    return [noted(point.model_copy(update=gone), f"refined into {new.id}"), kept]


def _unfit(point: ReviewPoint, new: ReviewPoint) -> str:
    """Why a new wording cannot take a comment's place; empty where it can."""
    if not is_live(new):
        return f"the new wording was dropped ({new.reason})"
    if new.polarity != point.polarity:
        return f"the new wording is a {new.polarity}, the comment a {point.polarity}"
    if point.verified_quotes and not new.verified_quotes:
        return "the new wording quotes nothing that is in the paper"
    return ""


def _unused(new: ReviewPoint, reason: str) -> ReviewPoint:
    return removed(new, "dropped", reason)
