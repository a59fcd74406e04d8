"""Strategy ``audited``: write -> verify -> audit, by two readers at once -> settle -> read -> compose.

The draft and its verification are those of ``single``. Everything after it begins with the draft's own call. What
fails after the draft leaves a gap that is named, and the review of the draft.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.auditor import LENSES, ROLE, Audit, audit_review, read_finally
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
    """What ``single`` keeps, what the auditors said by their letters, and what went wrong beside the review."""

    reply: SingleReply | None
    checked: Checked | None
    points: list[ReviewPoint]
    audits: Annotated[list[tuple[str, Audit]], add]
    gaps: Annotated[list[Failure], add]
    notes: Annotated[list[str], add]
    review: Review | None
    failure: Failure | None


class AuditTask(TypedDict):
    """One auditor, by its letter, and the points of the draft."""

    lens: str
    points: list[ReviewPoint]


def initial_state() -> AuditedState:
    """An empty state."""
    return AuditedState(reply=None, checked=None, points=[], audits=[], gaps=[], notes=[], review=None, failure=None)


async def audit(state: AuditTask, runtime: Runtime[SingleContext]) -> AuditedState:
    """Have one reader test the draft."""
    context, lens = runtime.context, state["lens"]
    draft = [point for point in state["points"] if is_live(point)]
    try:
        made = await audit_review(_question(context), draft, lens, context.paper, context.form.name, door=context.door)
    except RefereeError as error:
        return _gap(f"the audit of {_NAMES[lens]}", error)
    return {"audits": [(lens, made)], "notes": list(made.notes)}


async def settle(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Draw the consequences of the audits, and look up what they add."""
    context = runtime.context
    audits = sorted(state["audits"], key=lambda one: one[0])
    index = QuotationIndex(context.paper)
    points, notes = state["points"], tuple[str, ...]()
    if audits:
        changes = [change for _, made in audits for change in made.changes]
        points, notes = settle_audit(points, changes, index, context.door.models[ROLE].spec.id)
    raised = [point for _, made in audits for point in made.additions]
    added, lost = verified_points(raised, context.paper, index, instructions_of(context.form, context.variation))
    checked = state["checked"]
    assert checked is not None, "`settle` ran before `verify`"
    return {
        "points": ranked([*points, *added], *(made.first for _, made in audits)),
        "checked": checked.model_copy(update={"dropped": (*checked.dropped, *lost)}),
        "notes": list(notes),
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
        return _gap("the last reading", error)
    by = context.door.models[ROLE].spec.id
    settled, notes = settle_audit(state["points"], made.changes, QuotationIndex(context.paper), by)
    return {"points": settled, "notes": [*made.notes, *notes]}


async def compose(state: AuditedState, runtime: Runtime[SingleContext]) -> AuditedState:
    """Put what stands into the form."""
    return {"review": _filled(state, runtime.context)}


def build_audited_graph() -> StateGraph[AuditedState, SingleContext, AuditedState, AuditedState]:
    """The uncompiled machine."""
    graph = StateGraph(AuditedState, context_schema=SingleContext)
    for name, node in (("write", write), ("verify", verify), ("settle", settle), ("read", read), ("compose", compose)):
        graph.add_node(name, node)
    graph.add_node("audit", audit)
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", lambda state: END if state["failure"] else "verify", ["verify", END])
    graph.add_conditional_edges("verify", _auditors, ["audit", "compose"])
    graph.add_edge("audit", "settle")
    graph.add_conditional_edges("settle", _unless_failed("read"), ["read", END])
    graph.add_conditional_edges("read", _unless_failed("compose"), ["compose", END])
    graph.add_edge("compose", END)
    return graph


_NAMES = {"D": "the details", "C": "the claims"}


def _auditors(state: AuditedState) -> list[Send] | str:
    """Both auditors; none where the draft is no list, as a model with a short context writes it."""
    if not any(is_live(point) and point.source == "whole" for point in state["points"]):
        return "compose"
    return [Send("audit", AuditTask(lens=lens, points=state["points"])) for lens in LENSES]


def _unless_failed(following: str) -> Callable[[AuditedState], str]:
    return lambda state: END if state["failure"] else following


def _gap(what: str, error: RefereeError) -> AuditedState:
    failure = record_failure(what, error)
    if failure.kind in STOPS:
        return {"failure": failure}
    return {"gaps": [failure]}


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
    shown += [
        whole_form_shown(context.form, f"the auditor of {_NAMES[lens]}", made.call_id, brief=brief)
        for lens, made in state["audits"]
    ]
    return fill_form(
        context.form,
        context.paper,
        checked,
        review_id=context.review_id,
        source=context.door.models[WRITER].spec.id,
        shown=shown,
        points=state["points"],
        whole=not reply.cuts,
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
