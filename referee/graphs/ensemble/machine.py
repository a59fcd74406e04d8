"""Strategy ``ensemble``: write (members in parallel) -> merge -> reflect (rounds) -> compose.

Each member reviews the whole paper apart from the others, and its quotations are looked up before anybody relies on
them. The merged review rests on members' evidence that was found, and on what a reflection adds and code finds. A
member that fails is named and leaves the others alone; so is the area chair, whose place the first review then takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.form_reply import lengths_for
from referee.agents.meta_reviewer import MemberReview, merge_reviews
from referee.agents.reflection import reflect_on_review
from referee.agents.single_reviewer import ROLE, SingleReply, Variation, examples_of, write_single_review
from referee.errors import RefereeError
from referee.evidence import QuotationIndex
from referee.graphs.criteria import whole_form_shown
from referee.graphs.failure import STOPS, Failure, failed_lines, first_to_end, record_failure
from referee.graphs.single.machine import Checked, check_reply, echo_notes, fill_form, found_by_rules
from referee.llm.door import Door
from referee.llm.models import Model
from referee.schemas.base import Frozen
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut, cut_line
from referee.schemas.review import Cut, Review
from referee.schemas.venue import VenueForm


@dataclass(frozen=True)
class EnsembleContext:
    """The services and the fixed data of one run. ``members`` are the reviewers' prompts, in their order."""

    paper: Paper
    form: VenueForm
    door: Door
    review_id: str
    members: tuple[Variation, ...]
    reflections: int
    index: QuotationIndex

    def model(self, role: str) -> Model:
        """The model of a role."""
        return self.door.models[role]


class Member(Frozen):
    """A reviewer's review with its number, counted from 1, its call, what of the paper it was not shown, and notes."""

    number: int
    review: Checked
    cuts: tuple[Cut, ...]
    notes: tuple[str, ...]
    call_id: str = ""
    cut: PaperCut | None = None


class EnsembleState(TypedDict, total=False):
    """``draft`` is the review after the latest step.

    ``members``, ``failures`` and ``notes`` grow, the first two from parallel branches; they are sorted before use.
    ``rounds`` counts the reflections asked for, and ``settled`` says that no other will be.
    """

    members: Annotated[list[Member], add]
    failures: Annotated[list[Failure], add]
    notes: Annotated[list[str], add]
    draft: Checked | None
    rounds: int
    settled: bool
    review: Review | None
    failure: Failure | None


class MemberTask(TypedDict):
    """One reviewer, counted from 1."""

    number: int


def initial_state() -> EnsembleState:
    """An empty state."""
    return EnsembleState(
        members=[], failures=[], notes=[], draft=None, rounds=0, settled=False, review=None, failure=None
    )


async def write(state: MemberTask, runtime: Runtime[EnsembleContext]) -> EnsembleState:
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
            variation=context.members[number - 1],
        )
    except RefereeError as error:
        return {"failures": [record_failure(f"reviewer {number}", error)]}
    checked = _checked(reply, number, context)
    member = Member(
        number=number, review=checked, cuts=reply.cuts, notes=reply.notes, call_id=reply.call_id, cut=reply.cut
    )
    return {"members": [member]}


async def merge(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleState:
    """Let the area chair merge the reviews that stand; one alone needs no merging."""
    context, members = runtime.context, _in_order(state)
    if stop := first_to_end(state["failures"], any_stands=bool(members)):
        return {"failure": stop}
    drafts = {member.number: member.review for member in members}
    notes = list(_members_notes(members))
    notes += failed_lines(state["failures"])
    notes += _stated(drafts, context)
    first = next(iter(drafts.values()))
    if len(drafts) == 1:
        return {"draft": first, "notes": notes}
    model = context.model("composer")
    try:
        merged = await merge_reviews(
            [
                MemberReview(number=n, texts=d.texts, scores=d.scores, choices=d.choices, evidence=d.evidence)
                for n, d in drafts.items()
            ],
            context.form,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
        )
    except RefereeError as error:
        failure = record_failure("the area chair", error)
        if failure.kind in STOPS:
            return {"failure": failure}
        alone = f"the area chair failed, so that this is the review of reviewer {next(iter(drafts))}: {error.message}"
        return {"draft": first, "notes": [*notes, alone]}
    found = [evidence for draft in drafts.values() for evidence in draft.evidence]
    checked = check_reply(context.form, (), merged, context.index)
    lost = tuple(item for draft in drafts.values() for item in draft.dropped)
    kept = tuple(evidence for evidence in found if evidence.id in merged.kept)
    draft = checked.model_copy(update={"evidence": kept, "dropped": (*lost, *checked.dropped)})
    took = f"the area chair took up {len(kept)} of the reviewers' {len(found)} verified quotations"
    return {"draft": draft, "notes": [*notes, took, *merged.notes]}


async def reflect(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleState:
    """One round over the review: mended, or left as it is, which ends the rounds."""
    context, draft, number = runtime.context, _draft(state), state["rounds"] + 1
    model, round_name = context.model(ROLE), f"round {number} of {context.reflections}"
    try:
        reflected = await reflect_on_review(
            context.paper,
            context.form,
            draft,
            draft.evidence,
            round_name=round_name,
            door=context.door,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
        )
    except RefereeError as error:
        failure = record_failure(f"reflection, {round_name}", error)
        if failure.kind in STOPS:
            return {"failure": failure}
        left = f"reflection, {round_name}, failed and left the review as it was: {error.message}"
        return {"rounds": number, "settled": True, "notes": [left]}
    seen = [f"reflection, {round_name}: {cut_line(reflected.cut).rstrip('.')}"] if reflected.cut else []
    if reflected.values is None:
        done = f"reflection, {round_name}: nothing left to change"
        return {"rounds": number, "settled": True, "notes": [*seen, done, *reflected.notes]}
    checked = check_reply(context.form, reflected.evidence, reflected.values, context.index)
    # New claims become F1-N1, where they were found.
    revised = _renamed(checked, f"F{number}-", draft)
    return {"rounds": number, "draft": revised, "notes": [*seen, *reflected.notes]}


async def compose(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> EnsembleState:
    """Put texts, backed scores and their reasons into the form."""
    context, draft = runtime.context, _draft(state)
    brief = lengths_for(context.form, context.model(ROLE).context_tokens).brief
    review = fill_form(
        context.form,
        context.paper,
        draft,
        review_id=context.review_id,
        source=context.model(ROLE).spec.id,
        points=found_by_rules(context.paper, context.model(ROLE)),
        shown=[
            whole_form_shown(context.form, f"reviewer {member.number}", member.call_id, brief=brief)
            for member in _in_order(state)
        ],
        whole=cut_of(state) is None,
    )
    return {"review": review, "notes": list(echo_notes(draft))}


def build_ensemble_graph() -> StateGraph[EnsembleState, EnsembleContext, EnsembleState, EnsembleState]:
    """The uncompiled machine."""
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


def cut_of(state: EnsembleState) -> PaperCut | None:
    """How much of the paper the reviewers read; None for all of it."""
    members = _in_order(state)
    return members[0].cut if members else None


def cuts_of(state: EnsembleState) -> tuple[Cut, ...]:
    """What of the paper the reviewers did not see; it is the same for all who stand."""
    members = _in_order(state)
    return members[0].cuts if members else ()


def _send_members(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> list[Send]:
    """One writer a member, all at once."""
    return [Send("write", MemberTask(number=n)) for n, _ in enumerate(runtime.context.members, start=1)]


def _after(state: EnsembleState, runtime: Runtime[EnsembleContext]) -> str:
    if state["failure"]:
        return END
    return "compose" if state["settled"] or state["rounds"] >= runtime.context.reflections else "reflect"


def _checked(reply: SingleReply, number: int, context: EnsembleContext) -> Checked:
    """The reply with its quotations looked up; its ids become the member's own, as R2-E1."""
    examples = examples_of(context.members[number - 1])
    return _renamed(check_reply(context.form, reply.evidence, reply, context.index, examples=examples), f"R{number}-")


def _renamed(checked: Checked, prefix: str, old: Checked | None = None) -> Checked:
    """All ids of evidence and lost quotations behind a prefix; scores cite these, and those of the ``old`` review."""
    before = old or Checked()
    evidence = (e.model_copy(update={"id": f"{prefix}{e.id}"}) for e in checked.evidence)
    dropped = (d.model_copy(update={"id": f"{prefix}{d.id}"}) for d in checked.dropped)
    own = {"evidence": (*before.evidence, *evidence), "dropped": (*before.dropped, *dropped)}
    renamed = checked.model_copy(update=own)
    known = {evidence.id for evidence in renamed.evidence}
    scores = {
        name: score.model_copy(
            update={"supports": tuple(i for n in score.supports for i in (n, f"{prefix}{n}") if i in known)}
        )
        for name, score in checked.scores.items()
    }
    return renamed.model_copy(update={"scores": scores})


def _members_notes(members: Sequence[Member]) -> Iterator[str]:
    """The members' notes; what all of them say, as of a model's context, is said once."""
    shared = set.intersection(*(set(member.notes) for member in members))
    yield from sorted(shared)
    for member in members:
        yield from (f"reviewer {member.number}: {note}" for note in member.notes if note not in shared)


def _stated(drafts: Mapping[int, Checked], context: EnsembleContext) -> Iterator[str]:
    """What each reviewer stated as its overall rating, for the record: the review's own is no average of them."""
    overall = context.form.overall
    if overall is not None and len(drafts) > 1:
        said = ", ".join(f"{draft.scores[overall].value:g}" for draft in drafts.values())
        yield f"overall ratings the reviewers stated: {said}; they are not averaged"


def _in_order(state: EnsembleState) -> list[Member]:
    return sorted(state["members"], key=lambda member: member.number)


def _draft(state: EnsembleState) -> Checked:
    assert state["draft"] is not None, "a node after `merge` ran without a review"
    return state["draft"]
