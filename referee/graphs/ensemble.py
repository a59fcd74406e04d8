"""Strategy ``ensemble``: write (members in parallel) -> merge -> reflect (rounds) -> compose.

Each member reviews the whole paper apart from the others, and its quotations are looked up before anybody relies on
them. The merged review rests on members' evidence that was found, and on what a reflection adds and code finds. A
member that fails is named and leaves the others alone; so is the area chair, whose place the first review then takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.meta_reviewer import merge_reviews
from referee.agents.reflection import Reflected, reflect_on_review
from referee.agents.single_reviewer import ROLE, FormValues, SingleReply, examples_of, write_single_review
from referee.errors import RefereeError
from referee.graphs.ensemble_state import Draft, EnsembleContext, EnsembleState, EnsembleUpdate, MemberTask
from referee.graphs.failure import STOPS, first_to_end, record_failure
from referee.graphs.single import Checked, check_reply, echo_notes, fill_form
from referee.schemas.review import Cut


async def write(state: MemberTask, runtime: Runtime[EnsembleContext]) -> EnsembleUpdate:
    """One member's review of the whole paper, with its quotations looked up."""
    context, number = runtime.context, state["number"]
    model = context.model(ROLE)
    try:
        reply = await write_single_review(
            context.paper,
            context.form,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
            prompt_versions=context.prompt_versions,
            variation=context.members[number - 1],
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"reviewer {number}", error)]}
    member = {
        "number": number,
        "draft": _member_draft(reply, number, context).dump(),
        "cuts": [cut.model_dump() for cut in reply.cuts],
        "notes": list(reply.notes),
    }
    return {"members": [member]}


async def merge(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleUpdate:
    """Let the area chair merge the reviews that stand; one alone needs no merging."""
    context, members = runtime.context, _in_order(state)
    if stop := first_to_end(state["failures"], any_stands=bool(members)):
        return {"failure": stop}
    drafts = {member["number"]: Draft.load(member["draft"]) for member in members}
    notes = list(_said(members))
    notes += sorted(f"{failure['node']} failed: {failure['message']}" for failure in state["failures"])
    notes += _stated(drafts, context)
    first = next(iter(drafts.values()))
    if len(drafts) == 1:
        return {"draft": first.dump(), "notes": notes}
    model = context.model("composer")
    try:
        merged = await merge_reviews(
            [draft.as_member(number) for number, draft in drafts.items()],
            context.form,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            prompt_versions=context.prompt_versions,
        )
    except RefereeError as error:
        failure = record_failure("the area chair", error)
        if failure["kind"] == STOPS:
            return {"failure": failure}
        alone = f"the area chair failed, so that this is the review of reviewer {next(iter(drafts))}: {error.message}"
        return {"draft": first.dump(), "notes": [*notes, alone]}
    found = [evidence for draft in drafts.values() for evidence in draft.checked.evidence]
    checked = check_reply(context.form, (), merged.texts, context.index)
    lost = tuple(item for draft in drafts.values() for item in draft.checked.dropped)
    kept = tuple(evidence for evidence in found if evidence.id in merged.kept)
    draft = Draft(
        replace(checked, evidence=kept, dropped=(*lost, *checked.dropped)), merged.scores, dict(merged.choices)
    )
    took = f"the area chair took up {len(kept)} of the reviewers' {len(found)} verified quotations"
    return {"draft": draft.dump(), "notes": [*notes, took, *merged.notes]}


async def reflect(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleUpdate:
    """One round over the review: mended, or left as it is, which ends the rounds."""
    context, draft, number = runtime.context, _draft(state), state["rounds"] + 1
    model, round_name = context.model(ROLE), f"round {number} of {context.reflections}"
    try:
        reflected = await reflect_on_review(
            context.paper,
            context.form,
            FormValues(draft.checked.texts, draft.scores, draft.choices),
            draft.checked.evidence,
            round_name=round_name,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
            prompt_versions=context.prompt_versions,
        )
    except RefereeError as error:
        failure = record_failure(f"reflection, {round_name}", error)
        if failure["kind"] == STOPS:
            return {"failure": failure}
        left = f"reflection, {round_name}, failed and left the review as it was: {error.message}"
        return {"rounds": number, "settled": True, "notes": [left]}
    if reflected.values is None:
        done = f"reflection, {round_name}: nothing left to change"
        return {"rounds": number, "settled": True, "notes": [done, *reflected.notes]}
    revised = _revised(draft, reflected, reflected.values, number, context)
    return {"rounds": number, "draft": revised.dump(), "notes": list(reflected.notes)}


async def compose(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleUpdate:
    """Put texts, backed scores and their reasons into the form."""
    context, draft = runtime.context, _draft(state)
    review = fill_form(
        context.form,
        context.paper,
        draft.checked,
        scores=draft.scores,
        choices=draft.choices,
        review_id=context.review_id,
        source=context.model(ROLE).spec.id,
    )
    return {"review": review.model_dump(mode="json"), "notes": list(echo_notes(draft.checked.echoes))}


def build_ensemble_graph() -> StateGraph[EnsembleState, EnsembleContext, EnsembleState, EnsembleState]:
    """The uncompiled machine; the caller chooses the checkpointer."""
    graph = StateGraph(EnsembleState, context_schema=EnsembleContext)
    graph.add_node("write", write, input_schema=MemberTask)
    graph.add_node("merge", merge)
    graph.add_node("reflect", reflect)
    graph.add_node("compose", compose)
    graph.add_conditional_edges(START, _send_members, ["write"])
    graph.add_edge("write", "merge")
    graph.add_conditional_edges("merge", _after, ["reflect", "compose", END])
    graph.add_conditional_edges("reflect", _after, ["reflect", "compose", END])
    graph.add_edge("compose", END)
    return graph


def cuts_of(state: EnsembleState) -> tuple[Cut, ...]:
    """What of the paper the reviewers did not see; it is the same for all who stand."""
    members = _in_order(state)
    return tuple(Cut.model_validate(cut) for cut in members[0]["cuts"]) if members else ()


def _send_members(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> list[Send]:
    """One writer a member, all at once."""
    return [Send("write", MemberTask(number=n)) for n, _ in enumerate(runtime.context.members, start=1)]


def _after(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> str:
    if state["failure"]:
        return END
    return "compose" if state["settled"] or state["rounds"] >= runtime.context.reflections else "reflect"


def _member_draft(reply: SingleReply, number: int, context: EnsembleContext) -> Draft:
    """The reply with its quotations looked up; its ids become the member's own, as R2-E1."""
    examples = examples_of(context.members[number - 1], context.prompt_versions)
    checked = check_reply(context.form, reply.evidence, reply.texts, context.index, examples=examples)
    return _renamed(Draft(checked, reply.scores, dict(reply.choices)), f"R{number}-")


def _renamed(draft: Draft, prefix: str) -> Draft:
    """All ids of evidence, dropped quotations and citations behind a prefix."""
    checked = draft.checked
    own = replace(
        checked,
        evidence=tuple(e.model_copy(update={"id": f"{prefix}{e.id}"}) for e in checked.evidence),
        dropped=tuple(d.model_copy(update={"id": f"{prefix}{d.id}"}) for d in checked.dropped),
    )
    known = {evidence.id for evidence in own.evidence}
    scores = {
        name: {**score, "evidence": [f"{prefix}{i}" for i in score["evidence"] if f"{prefix}{i}" in known]}
        for name, score in draft.scores.items()
    }
    return Draft(own, scores, draft.choices)


def _revised(draft: Draft, reflected: Reflected, values: FormValues, number: int, context: EnsembleContext) -> Draft:
    """The revised values with all evidence there was, and the round's new claims as F1-N1 where they were found."""
    checked = check_reply(context.form, reflected.evidence, values.texts, context.index)
    prefix = f"F{number}-"
    added = [e.model_copy(update={"id": f"{prefix}{e.id}"}) for e in checked.evidence]
    lost = [d.model_copy(update={"id": f"{prefix}{d.id}"}) for d in checked.dropped]
    old = {evidence.id for evidence in draft.checked.evidence}
    scores = {
        name: {**score, "evidence": [i if i in old else f"{prefix}{i}" for i in score["evidence"]]}
        for name, score in values.scores.items()
    }
    kept = Checked(
        checked.texts,
        checked.echoes,
        (*draft.checked.evidence, *added),
        (*draft.checked.dropped, *lost),
    )
    return Draft(kept, scores, dict(values.choices))


def _said(members: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The members' notes; what all of them say, as of a model's context, is said once."""
    shared = set.intersection(*(set(member["notes"]) for member in members))
    yield from sorted(shared)
    for member in members:
        yield from (f"reviewer {member['number']}: {note}" for note in member["notes"] if note not in shared)


def _stated(drafts: Mapping[int, Draft], context: EnsembleContext) -> Iterator[str]:
    """What each reviewer stated as its overall rating, for the record: the review's own is no average of them."""
    overall = context.form.overall
    if overall is not None and len(drafts) > 1:
        said = ", ".join(f"{draft.scores[overall]['value']:g}" for draft in drafts.values())
        yield f"overall ratings the reviewers stated: {said}; they are not averaged"


def _in_order(state: EnsembleState) -> list[dict[str, Any]]:
    return sorted(state["members"], key=lambda member: int(member["number"]))


def _draft(state: EnsembleState) -> Draft:
    assert state["draft"] is not None, "a node after `merge` ran without a review"
    return Draft.load(state["draft"])
