"""Strategy ``audited``: write -> verify -> audit -> settle -> read -> compose.

The draft and its verification are those of ``single``. Everything after it begins with the draft's own call. What
fails after the draft leaves a gap that is named, and the review of the draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from referee.agents.auditor import ROLE, Audit, audit_review, read_finally
from referee.agents.form_reply import lengths_for
from referee.agents.single_reviewer import ROLE as WRITER
from referee.agents.single_reviewer import SingleQuestion, SingleReply, single_question
from referee.errors import RefereeError
from referee.evidence import QuotationIndex
from referee.evidence.audits import ranked, settle_audit
from referee.evidence.listing import in_list, listed
from referee.evidence.points import is_live
from referee.graphs.criteria import whole_form_shown
from referee.graphs.failure import STOPS, Failure, record_failure
from referee.graphs.single.machine import (
    Checked,
    SingleContext,
    fill_form,
    instructions_of,
    verified_points,
    verify,
    write,
)
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review


class AuditedState(TypedDict, total=False):
    """What ``single`` keeps, what the auditor said, and what went wrong beside the review."""

    reply: SingleReply | None
    checked: Checked | None
    points: list[ReviewPoint]
    audit: Audit | None
    gaps: list[Failure]
    notes: list[str]
    review: Review | None
    failure: Failure | None


def initial_state() -> AuditedState:
    """An empty state."""
    return AuditedState(reply=None, checked=None, points=[], audit=None, gaps=[], notes=[], review=None, failure=None)


async def audit(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Have the draft tested."""
    context = runtime.context
    draft = [point for point in state["points"] if is_live(point)]
    try:
        made = await audit_review(_question(context), draft, context.paper, context.form.name, door=context.door)
    except RefereeError as error:
        return _gap(state, "the audit", error)
    return {"audit": made, "notes": list(made.notes)}


async def settle(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Draw the consequences of the audit, and look up what it adds."""
    context, made, checked = runtime.context, state["audit"], state["checked"]
    if made is None:
        return {}
    assert checked is not None, "`settle` ran before `verify`"
    index = QuotationIndex(context.paper)
    points, notes = settle_audit(state["points"], made.changes, index, context.door.models[ROLE].spec.id)
    instructions = instructions_of(context.form, context.variation)
    added, lost = verified_points(made.additions, context.paper, index, instructions)
    return {
        "points": ranked([*points, *added], made.first),
        "checked": checked.model_copy(update={"dropped": (*checked.dropped, *lost)}),
        "notes": [*state["notes"], *notes],
    }


async def read(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Have the finished review read once more; it may only lose by that."""
    context = runtime.context
    review = listed(_filled(state, context), context.form)
    points = in_list(review)
    if not points:
        return {}
    scores = [
        f"{record.field}: {record.value} ({record.reason})" for record in review.scores if record.value is not None
    ]
    try:
        made = await read_finally(_question(context), points, scores, context.form.name, door=context.door)
    except RefereeError as error:
        return _gap(state, "the last reading", error)
    by = context.door.models[ROLE].spec.id
    settled, notes = settle_audit(state["points"], made.changes, QuotationIndex(context.paper), by)
    return {"points": settled, "notes": [*state["notes"], *made.notes, *notes]}


async def compose(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Put what stands into the form."""
    return {"review": _filled(state, runtime.context)}


def build_audited_graph() -> StateGraph[AuditedState, SingleContext, AuditedState, AuditedState]:
    """The uncompiled machine."""
    graph = StateGraph(AuditedState, context_schema=SingleContext)
    for node in (write, verify, audit, settle, read, compose):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", lambda state: END if state["failure"] else "verify", ["verify", END])
    graph.add_conditional_edges("verify", _after_draft, ["audit", "compose"])
    graph.add_conditional_edges("audit", _unless_failed("settle"), ["settle", END])
    graph.add_edge("settle", "read")
    graph.add_conditional_edges("read", _unless_failed("compose"), ["compose", END])
    graph.add_edge("compose", END)
    return graph


def _after_draft(state: AuditedState) -> str:
    """The audit; none where the draft is no list, as a model with a short context writes it."""
    return "audit" if any(is_live(p) and p.source == "whole" for p in state["points"]) else "compose"


def _unless_failed(following: str) -> Callable[[AuditedState], str]:
    return lambda state: END if state["failure"] else following


def _gap(state: AuditedState, what: str, error: RefereeError) -> AuditedState:
    failure = record_failure(what, error)
    if failure.kind in STOPS:
        return {"failure": failure}
    return {"gaps": [*state["gaps"], failure]}


def _question(context: SingleContext) -> SingleQuestion:
    model = context.door.models[WRITER]
    return single_question(
        context.paper,
        context.form,
        context_tokens=model.context_tokens,
        count=model.count,
        reading_tokens=model.reading_tokens,
        variation=context.variation,
    )


def _filled(state: AuditedState, context: SingleContext) -> Review:
    reply, checked = state["reply"], state["checked"]
    assert reply is not None, "a node after `write` ran without its reply"
    assert checked is not None, "a node after `verify` ran without what it kept"
    brief = lengths_for(context.form, context.door.models[WRITER].context_tokens).brief
    shown = [whole_form_shown(context.form, "the reviewer", reply.call_id, brief=brief)]
    if (made := state["audit"]) is not None:
        shown.append(whole_form_shown(context.form, "the auditor", made.call_id, brief=brief))
    return fill_form(
        context.form,
        context.paper,
        checked,
        review_id=context.review_id,
        source=context.door.models[WRITER].spec.id,
        shown=shown,
        points=state["points"],
        whole=not reply.cuts,
        literature=context.literature,
    )


def notes_of(state: AuditedState) -> Iterator[str]:
    """What was worked around, what was not believed, and what failed after the draft."""
    assert state["reply"] is not None
    yield from state["reply"].notes
    yield from state["notes"]
    yield from failures_told(state["gaps"])


def failures_told(gaps: Sequence[Failure]) -> Iterator[str]:
    """A warning for each step that gave nothing."""
    yield from (f"warning: {gap.node} failed, and the review stands without it: {gap.message}" for gap in gaps)
