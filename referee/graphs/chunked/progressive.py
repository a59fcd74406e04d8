"""Strategy ``progressive``: read (one passage after the other) -> gather -> consolidate -> settle -> compose.

Each call gets a passage and the running summary of the ones before, and returns points and the summary written anew:
a chain of as many calls as there are passages, by design. Consolidation names pairs of ids and rewrites nothing.
Quotations, rules, merging, searches for absences, places and scores are the same code as in ``sections``; there is no
blind check.
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from referee.agents.chunks import chunk_sections
from referee.agents.passage_reviewer import PassageBrief, pair_points, review_passage
from referee.errors import RefereeError
from referee.evidence.points import is_live
from referee.graphs.chunked.nodes import gathered, merged_as_raised, settle
from referee.graphs.criteria import part_reader, whole_form_shown
from referee.graphs.sections.compose import compose
from referee.graphs.sections.state import (
    PartsContext,
    PointsState,
    by_id,
    gap_or_stop,
    go_on,
    no_points,
)


class PassageState(PointsState, total=False):
    """``at`` counts the passages that were read, ``summary`` is the running summary after the last of them."""

    at: int
    summary: str


def passage_state() -> PassageState:
    """An empty state, before the first passage."""
    return PassageState(**no_points(), at=0, summary="")


async def read(state: PassageState, runtime: Runtime[PartsContext]) -> PassageState:
    """Read the next passage; one that fails leaves the summary as it was."""
    context, at = runtime.context, state["at"]
    passage, so_far = context.parts[at], context.parts[: at + 1]
    brief = PassageBrief(
        venue_name=context.form.name,
        how_read=context.how_read,
        card=context.card,
        passage=passage,
        at=f"passage {at + 1} of {len(context.parts)}",
        summary=state["summary"],
        sections=chunk_sections(so_far),
        criteria=context.criteria,
    )
    try:
        reply = await review_passage(
            brief,
            door=context.door,
            window=context.window("writer"),
            lean=context.lean,
        )
    except RefereeError as error:
        gap = gap_or_stop(f"the reading of {passage.id} ({passage.heading})", error)
        return {"at": at + 1, "summary": state["summary"], **gap}
    shown = whole_form_shown(context.form, part_reader(passage.id, [passage.heading]), reply.call_id)
    update = PassageState(at=at + 1, raised=list(reply.points), shown=[], notes=list(reply.notes))
    if not context.lean:
        update["shown"] = [shown]
    if not reply.summary:
        return {**update, "notes": [*reply.notes, f"{passage.id}: no summary was written; the one before stays"]}
    return {**update, "summary": reply.summary}


async def gather(state: PassageState, runtime: Runtime[PartsContext]) -> PointsState:
    """Verify what was raised, add what rules find, merge what says the same."""
    return await gathered(state, runtime.context, branches=len(runtime.context.parts))


async def consolidate(state: PassageState, runtime: Runtime[PartsContext]) -> PointsState:
    """Ask once which points say the same, and let code merge them. Not on the lean plan, nor for fewer than two."""
    context, points = runtime.context, by_id(state["points"])
    live = [point for point in points if is_live(point)]
    if context.lean or len(live) < 2:
        return {}
    try:
        pairs = await pair_points(
            live,
            chunk_sections(context.parts),
            context.form.name,
            door=context.door,
            window=context.window("cross"),
        )
    except RefereeError as error:
        return gap_or_stop("the consolidation", error)
    merged = await merged_as_raised(points, context, pairs.duplicates)
    return {"points": merged, "notes": list(pairs.notes)}


def build_progressive_graph() -> StateGraph[PassageState, PartsContext, PassageState, PassageState]:
    """The uncompiled machine."""
    graph = StateGraph(PassageState, context_schema=PartsContext)
    graph.add_node("read", read)
    graph.add_node("gather", gather)
    graph.add_node("consolidate", consolidate)
    graph.add_node("settle", settle, input_schema=PointsState)
    graph.add_node("compose", compose, input_schema=PointsState)
    for node in (START, "read"):
        graph.add_conditional_edges(node, _next, {"read": "read", "gather": "gather", "stop": END})
    for node, following in (("gather", "consolidate"), ("consolidate", "settle")):
        graph.add_conditional_edges(node, go_on, {"go on": following, "stop": END})
    graph.add_edge("settle", "compose")
    graph.add_edge("compose", END)
    return graph


def _next(state: PassageState, runtime: Runtime[PartsContext]) -> str:
    """The next passage, or the end of the reading; ``at`` grows with every call, so it does end."""
    if state["failure"]:
        return "stop"
    return "read" if state["at"] < len(runtime.context.parts) else "gather"
