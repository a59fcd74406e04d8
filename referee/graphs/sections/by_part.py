"""``sections`` part by part: assign -> read (parts in parallel) -> gather -> cross -> check -> compose.

Each part of the paper is read whole by one call. What the calls raise is verified, merged, checked and placed by code;
nothing that was raised is lost. On the lean plan there is no cross pass and no check: claims that only a check could
carry become questions. A call that fails is named and leaves the others alone; a budget that is used up ends the run,
which can be resumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.checker import NOBODY, check_points
from referee.agents.cross_reviewer import CrossBrief, review_across
from referee.agents.mapper import map_prompts
from referee.agents.parts import render_part
from referee.agents.section_reviewer import BARE_PROMPT, QUOTA_PROMPT, SectionBrief, review_section
from referee.errors import RefereeError
from referee.evidence import ask_unchecked_absence, check_order
from referee.graphs.criteria import NO_ROOM, OF_THE_REVIEW, CriteriaShown, part_reader, whole_form_shown
from referee.graphs.failure import record_failure
from referee.graphs.sections.compose import compose
from referee.graphs.sections.points import (
    conflict_lines,
    language_notes,
    merged,
    passages,
    placed,
    remarks,
    rule_points,
    searched,
    shown_to_the_check,
    telling_texts,
    verified,
)
from referee.graphs.sections.state import (
    PartsContext,
    PartsState,
    PointsState,
    by_id,
    gap_or_stop,
    go_on,
    stopping,
)
from referee.schemas.point import PointCheck, ReviewPoint

_QUERY_CHARS = 2000
_LEFT_OUT = PointCheck(verdict="unchecked", by=NOBODY, reason="the check was left out")
# Of this many checked points some, and not most, should be struck.
_TELLING_POINTS = 20


class ReadTask(TypedDict):
    """One part for one reviewer."""

    part_id: str
    steps: dict[str, str]


async def assign(state: PartsState, runtime: Runtime[PartsContext]) -> PartsState:
    """Say with which guidelines' steps each part is read."""
    context = runtime.context
    if not context.parts:
        return {"notes": ["the paper has no section to read"]}
    try:
        mapping = await map_prompts(context.prompts, context.parts, door=context.door)
    except RefereeError as error:
        return {"failure": record_failure("assign", error)}
    steps = {p.id: {prompt.guideline_id: prompt.render() for prompt in mapping.for_part(p.id)} for p in context.parts}
    unread = dict.fromkeys(mapping.review, OF_THE_REVIEW)
    return {
        "assigned": steps,
        "unread": unread,
        "mapped": mapping.call_id is not None,
        "notes": list(mapping.notes),
    }


async def read(state: ReadTask, runtime: Runtime[PartsContext]) -> PointsState:
    """Read one part whole and raise points about it."""
    context = runtime.context
    part, model = context.part(state["part_id"]), context.model("writer")
    text, sentences = render_part(part, numbered=context.lean)
    headings = {section.id: section.heading for section in context.paper.sections}
    try:
        query = f"{part.heading}\n{text[:_QUERY_CHARS]}" if context.takes("retrieval") else ""
        found = await passages(context, query, part.section_ids)
        reply = await review_section(
            SectionBrief(
                venue_name=context.form.name,
                how_read=context.how_read,
                part=part.id,
                section_id=part.section_ids[0],
                heading=part.heading,
                text=text,
                card=context.readers_card,
                passages=tuple(found),
                steps=state["steps"],
                criteria=context.criteria,
                sections={name: headings[name] for name in part.section_ids if name in headings},
                sentences=sentences,
                quota=context.quota,
            ),
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            lean=context.lean,
            prompt_id=readers_prompt(context),
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"the reading of {part.heading!r}", error)]}
    left_out = [name for name in state["steps"] if name not in reply.criteria]
    shown = CriteriaShown(
        reader=part_reader(part.id, [part.heading]),
        call_id=reply.call_id,
        criteria=reply.criteria,
        notes=dict.fromkeys(reply.shortened, "its steps were shortened") | dict.fromkeys(left_out, NO_ROOM),
    )
    return {"raised": list(reply.points), "shown": [shown], "notes": list(reply.notes)}


def readers_prompt(context: PartsContext) -> str:
    """The id of the readers' prompt where a run for research has one of its own, else nothing."""
    if context.quota:
        return QUOTA_PROMPT
    return "" if context.takes("example") else BARE_PROMPT


async def gather(state: PartsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Verify what was raised, add what rules find, merge what says the same."""
    context = runtime.context
    if stop := stopping(state["failures"], len(context.parts)):
        return {"failure": stop}
    by_rule = rule_points(context.paper) if context.takes("rules") else []
    points = verified([*by_id(state["raised"]), *by_rule], context)
    return {
        "raised": by_rule,
        "points": await merged(points, context),
        "notes": language_notes(context.paper),
    }


async def cross(state: PartsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Look across sections once: new contradictions, and pairs that say the same. Not on the lean plan."""
    context, points = runtime.context, by_id(state["points"])
    model = context.model("cross")
    headings = {s.id: s.heading for s in context.paper.sections if s.role in ("abstract", "content", "appendix")}
    if context.lean or len(headings) < 2 or not context.takes("cross"):
        return {}
    brief = CrossBrief(
        venue_name=context.form.name,
        how_read=context.how_read,
        card=context.readers_card,
        points=tuple(point for point in points if point.outcome == "listed"),
        conflicts=tuple(conflict_lines(points)),
        texts=tuple(telling_texts(context)),
        criteria=context.criteria,
        sections=headings,
    )
    try:
        reply = await review_across(
            brief,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
        )
    except RefereeError as error:
        return gap_or_stop("the pass across sections", error)
    both = await merged([*points, *verified(reply.points, context)], context, reply.duplicates)
    shown = [whole_form_shown(context.form, "the pass across sections", reply.call_id)]
    return {"raised": list(reply.points), "shown": shown, "notes": list(reply.notes), "points": both}


async def check(state: PartsState, runtime: Runtime[PartsContext]) -> PointsState:
    """Let searches settle what they can, then test the rest in a fresh context, blind to its authors."""
    context = runtime.context
    points, hits = searched(by_id(state["points"]), context)
    if context.lean:
        return {"points": placed(map(ask_unchecked_absence, points), {}, context)}
    model, waiting = context.model("checker"), check_order(points)
    if not context.takes("check"):
        return {"points": placed(points, {point.id: _LEFT_OUT for point in waiting}, context)}
    try:
        checks = await check_points(
            waiting,
            await shown_to_the_check(waiting, hits, context),
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            how_read=context.how_read,
            max_calls=len(context.parts) + 2,
            remarks=remarks(waiting, context),
        )
    except RefereeError as error:
        return {**gap_or_stop("the check", error), "points": placed(points, {}, context)}
    checked = placed(points, checks, context)
    return {"points": checked, "notes": list(_doubts({point.id for point in waiting}, checked))}


def build_parts_graph() -> StateGraph[PartsState, PartsContext, PartsState, PartsState]:
    """The uncompiled machine."""
    graph = StateGraph(PartsState, context_schema=PartsContext)
    graph.add_node("assign", assign)
    graph.add_node("read", read, input_schema=ReadTask)
    graph.add_node("gather", gather)
    graph.add_node("cross", cross)
    graph.add_node("check", check)
    graph.add_node("compose", compose)
    graph.add_edge(START, "assign")
    graph.add_conditional_edges("assign", _send_parts, ["read", "gather", END])
    graph.add_edge("read", "gather")
    for node, following in (("gather", "cross"), ("cross", "check"), ("check", "compose")):
        graph.add_conditional_edges(node, go_on, {"go on": following, "stop": END})
    graph.add_edge("compose", END)
    return graph


def _send_parts(state: PartsState) -> list[Send] | str:
    """One reader a part, all at once."""
    if state["failure"]:
        return END
    tasks = [ReadTask(part_id=part, steps=steps) for part, steps in state["assigned"].items()]
    return [Send("read", task) for task in tasks] or "gather"


def _doubts(asked: Collection[str], points: Sequence[ReviewPoint]) -> Iterator[str]:
    """A check that strikes none of many points that it saw, or most of them, is itself in doubt."""
    tested = [point for point in points if point.id in asked and point.check and point.check.verdict != "unchecked"]
    struck = sum(point.outcome == "struck" for point in tested)
    if len(tested) >= _TELLING_POINTS and not 0 < struck <= len(tested) / 2:
        yield f"warning: the check struck {struck} of {len(tested)} points; look at its verdicts before relying on them"
