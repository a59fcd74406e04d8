"""``sections`` where a model's window holds the paper: read -> gather -> group -> check -> compose.

Every call begins with the same bytes, the whole paper, and ends with its task. Readers raise generously; what they
raise is looked up, grouped and tested, and everything that stands is printed. A call that fails is named and leaves the
others alone; a budget that is used up ends the run, which can be resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send
from rapidfuzz import fuzz

from referee.agents.figure_reader import NOT_TESTED
from referee.agents.grouper import group_points
from referee.agents.paper_reader import BY_EYE, WHOLE, read_focus, read_whole
from referee.agents.verifier import Checked, Checks, check_corrections, check_statements
from referee.errors import RefereeError
from referee.evidence import apply_check, merge_groups, order_points, settle_literature, verify_point
from referee.evidence.points import is_live
from referee.evidence.rules.labels import labels_in
from referee.graphs.criteria import CriteriaShown, part_reader
from referee.graphs.failure import READING, UNUSABLE, Failure, first_to_end, record_failure
from referee.graphs.job import LookUp
from referee.graphs.sections.points import rule_points, unless_copied
from referee.graphs.sections.state import PointsState, by_id, gap_or_stop, go_on
from referee.graphs.sections.whole_compose import WholeContext, compose
from referee.prompts import load_prompt
from referee.schemas.point import PointCheck, ReviewPoint

# Two claims of two readers that are this much alike, in per cent, are one; the rest is for who reads them all.
_SAME_WORDS = 92
# Of this many tested points some, and not most, should be struck.
_TELLING_POINTS = 20
_MOST_LOOKED_UP = 12
_FIRST_KINDS = ("error", "contradiction", "statistics")
_UNSEEN = PointCheck(verdict="unchecked", by="no check", reason=NOT_TESTED)
_UNCHECKED = PointCheck(verdict="unchecked", by="no check", reason="no check reached it")


class ReadTask(TypedDict):
    """One part for one reader; empty for the whole paper."""

    part_id: str


async def read(state: ReadTask, runtime: Runtime[WholeContext]) -> PointsState:
    """Read one part line by line, or the paper as a whole."""
    context = runtime.context
    part = next((part for part in context.parts if part.id == state["part_id"]), None)
    try:
        if part is None:
            reading = await read_whole(context.run, context.steps, context.thumbnails)
        else:
            reading = await read_focus(context.run, part, context.steps)
    except RefereeError as error:
        what = part.name if part else "the whole paper"
        return {"failures": [record_failure(f"{READING}{what}", error)]}
    asked = reading.asked
    shown = CriteriaShown(
        reader=part_reader(part.id, (s.heading for s in part.sections)) if part else "the reader of the whole paper",
        call_id=reading.call_id,
        criteria=asked.criteria,
        notes=dict.fromkeys(asked.shortened, f"shortened to {asked.steps} of its steps"),
    )
    return {"raised": list(reading.points), "shown": [shown], "notes": list(reading.notes)}


async def gather(state: PointsState, runtime: Runtime[WholeContext]) -> PointsState:
    """Look every quotation up, add what rules find, and join what readers said in the same words."""
    context = runtime.context
    if stop := first_to_end(state["failures"], any_stands=_any_answered(state["failures"], len(context.parts) + 1)):
        return {"failure": stop}
    by_rule = (
        [p.model_copy(update={"check": None}) for p in rule_points(context.paper)] if context.takes("rules") else []
    )
    instructions = _instructions(context)
    raised = [*by_id(state["raised"]), *context.figure_points]
    listed = await _looked_up(raised, context.look_up)
    verified = [
        unless_copied(settle_literature(verify_point(p, context.run.index), listed.get(p.id, "")), instructions)
        for p in [*raised, *by_rule]
    ]
    unlisted = sum(bool(point.unverified_work) for point in raised) - len(listed)
    left = [f"{unlisted} named work(s) were not looked up, {len(listed)} were"] if unlisted > 0 else []
    return {
        "raised": [*by_rule, *context.figure_points],
        "points": merge_groups(verified, _same_words(verified)),
        "notes": left if context.look_up is not None else [],
    }


async def group(state: PointsState, runtime: Runtime[WholeContext]) -> PointsState:
    """Ask once which points are the same, by ids; code joins them."""
    context, points = runtime.context, state["points"]
    live = [point for point in points if is_live(point)]
    if len({point.call_id for point in live}) < 2:
        return {}
    try:
        groups = await group_points(context.run, live)
    except RefereeError as error:
        return gap_or_stop("the grouping of points", error)
    return {"points": merge_groups(points, groups)}


async def check(state: PointsState, runtime: Runtime[WholeContext]) -> PointsState:
    """Test points in batches and corrections in one call, blind to who raised them and why.

    What rests on a picture is not tested: who tests sees the text alone.
    """
    context, points = runtime.context, state["points"]
    live = [point for point in points if is_live(point)]
    seen = _resting_on_pictures(points)
    of_text = [point for point in live if point.id not in seen]
    small = [p for p in of_text if p.correction is not None or p.source == "rule"]
    others = sorted((p for p in of_text if p not in small and p.polarity != "strength"), key=_check_rank)
    checks: tuple[Checks, ...] = ()
    gap: PointsState = {}
    if context.takes("check"):
        try:
            checks = await asyncio.gather(
                check_statements(context.run, others), check_corrections(context.run, order_points(small))
            )
        except RefereeError as error:
            gap = gap_or_stop("the check", error)
            if "failure" in gap:
                return gap
    known = {key: one for done in checks for key, one in done.by_id.items()}
    for point in (*small, *others):
        known.setdefault(point.id, Checked(_UNCHECKED, point.severity))
    known |= {p.id: Checked(_UNSEEN, p.severity) for p in live if p.id in seen and p.polarity != "strength"}
    checked = [
        apply_check(point, known[point.id].check, known[point.id].severity) if point.id in known else point
        for point in points
    ]
    notes = [note for done in checks for note in done.notes]
    return {**gap, "points": checked, "notes": [*notes, *_doubts(set(known) - seen, checked)]}


def build_whole_graph() -> StateGraph[PointsState, WholeContext, PointsState, PointsState]:
    """The uncompiled machine."""
    graph = StateGraph(PointsState, context_schema=WholeContext)
    graph.add_node("read", read, input_schema=ReadTask)
    graph.add_node("gather", gather)
    graph.add_node("group", group)
    graph.add_node("check", check)
    graph.add_node("compose", compose)
    graph.add_conditional_edges(START, _send_parts, ["read"])
    graph.add_edge("read", "gather")
    for node, following in (("gather", "group"), ("group", "check"), ("check", "compose")):
        graph.add_conditional_edges(node, go_on, {"go on": following, "stop": END})
    graph.add_edge("compose", END)
    return graph


async def _looked_up(points: Sequence[ReviewPoint], look_up: LookUp | None) -> dict[str, str]:
    """What became of works that readers name from memory, where they can be looked up; by the id of the point."""
    if look_up is None:
        return {}
    naming = [point for point in points if point.unverified_work][:_MOST_LOOKED_UP]
    return {point.id: await look_up(point.unverified_work) for point in naming}


def _any_answered(failures: Sequence[Failure], readings: int) -> bool:
    """Whether the model can be worked with: some reading stands, or all were answered, if never by the schema.

    A model that ignores the schema ends in a review that holds what rules found and says of everything else why it is
    empty; one that cannot be reached ends the run, which can be resumed.
    """
    return len(failures) < readings or all(failure.kind in UNUSABLE for failure in failures)


def _send_parts(state: PointsState, runtime: Runtime[WholeContext]) -> list[Send]:
    """One reader a part and one for the whole paper, all at once."""
    return [Send("read", ReadTask(part_id=part_id)) for part_id in (WHOLE, *(p.id for p in runtime.context.parts))]


def _same_words(points: Sequence[ReviewPoint]) -> Iterator[tuple[str, ...]]:
    """Pairs of claims that two readers made in almost the same words."""
    live = [point for point in points if is_live(point)]
    for number, point in enumerate(live):
        for other in live[number + 1 :]:
            if (
                labels_in(point.claim) == labels_in(other.claim)
                and fuzz.token_sort_ratio(point.claim, other.claim) >= _SAME_WORDS
            ):
                yield point.id, other.id


def _check_rank(point: ReviewPoint) -> tuple[bool, int, str]:
    """Errors and contradictions first, then by what the reader says would change."""
    return point.kind not in _FIRST_KINDS, ("fatal", "major", "minor", "note").index(point.severity), point.id


def _instructions(context: WholeContext) -> str:
    """What readers are told, so that what only repeats it can be recognised."""
    names = ("review/paper", "review/focus", "review/whole")
    prompts = [load_prompt(name) for name in names]
    return "\n".join(f"{prompt.system}\n{prompt.user}" for prompt in prompts)


def _resting_on_pictures(points: Sequence[ReviewPoint]) -> frozenset[str]:
    """Points whose own claim was read off a figure: whoever tests the text alone cannot test it."""
    return frozenset(point.id for point in points if point.source == "figure" or BY_EYE in point.claim)


def _doubts(tested: set[str], points: Sequence[ReviewPoint]) -> Iterator[str]:
    """A check that strikes most of many points is itself in doubt."""
    struck = sum(point.id in tested and point.outcome == "struck" for point in points)
    if len(tested) >= _TELLING_POINTS and struck > len(tested) / 2:
        yield f"warning: the check struck {struck} of {len(tested)} points; look at its verdicts before relying on them"
