"""The machine ``refinement``: per guideline, all at once, begin -> (criticise -> revise) x rounds -> finish.

Each guideline is a machine of its own, so that a killed run goes on in the middle of one. A revision that loses a point
of its guideline, or of which nobody can tell, is not taken. A reply that nobody can use ends its round and leaves the
steps as they were; a provider that cannot be reached, or a budget that is used up, ends the run, which can be resumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from referee.agents.guideline_guard import guard_points
from referee.agents.prompt_writer import ROLE as WRITER
from referee.agents.prompt_writer import WrittenSteps, revise_steps, write_steps
from referee.agents.supervisor import ROLE as SUPERVISOR
from referee.agents.supervisor import criticise_steps, new_findings
from referee.errors import ContextTooLong, ModelRefused, RefereeError, ReplyInvalid
from referee.graphs.failure import STOPS, Failure, record_failure
from referee.llm.door import Door
from referee.schemas.venue import Guideline, VenueForm
from referee.venues.prompts import SectionPrompt, guideline_points
from referee.venues.refined import (
    Coverage,
    Criticism,
    Ended,
    Origin,
    PromptVersion,
    RefinedGuideline,
    Refusal,
    RoundFailure,
    Stage,
    digest_of,
    steps_digest,
)
from referee.venues.steps_file import one_line


@dataclass(frozen=True)
class RefinementContext:
    """The services and the fixed data of one refinement.

    ``stored`` are the venue's prompts by guideline, of which those in ``shipped`` are ours and the others built by code
    from the guideline's text. ``lean`` are the roles that are asked in the short form. ``edited`` are steps that a
    person gave after a round, by guideline; those after round 0 are what it begins with.
    """

    form: VenueForm
    door: Door
    guidelines: tuple[Guideline, ...]
    stored: Mapping[str, SectionPrompt]
    shipped: frozenset[str]
    rounds: int
    until_stable: bool
    lean: frozenset[str]
    edited: Mapping[int, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def guideline(self, guideline_id: str) -> Guideline:
        """The guideline of that id."""
        return next(guideline for guideline in self.guidelines if guideline.id == guideline_id)


class RefinementState(TypedDict, total=False):
    """``waiting`` are the ids to refine; ``refined`` and ``stops`` grow from parallel guidelines, in no order."""

    waiting: list[str]
    refined: Annotated[list[RefinedGuideline], add]
    stops: Annotated[list[Failure], add]
    failure: Failure | None


class GuidelineState(TypedDict, total=False):
    """One guideline on its way. ``round`` counts the rounds begun; lists grow by what each node adds.

    ``ended`` is null while it goes on. ``refined`` and ``stops`` are what it hands on.
    """

    guideline_id: str
    round: int
    versions: Annotated[list[PromptVersion], add]
    criticisms: Annotated[list[Criticism], add]
    refusals: Annotated[list[Refusal], add]
    coverages: Annotated[list[Coverage], add]
    failures: Annotated[list[RoundFailure], add]
    ended: Ended | None
    refined: list[RefinedGuideline]
    stops: list[Failure]


class GuidelineResult(TypedDict):
    """What one guideline hands on."""

    refined: list[RefinedGuideline]
    stops: list[Failure]


def initial_state(guideline_ids: Iterable[str]) -> RefinementState:
    """A state in which all guidelines still wait."""
    return RefinementState(waiting=list(guideline_ids), refined=[], stops=[], failure=None)


def begun(guideline_id: str) -> GuidelineState:
    """The state of a guideline before anything was asked about it."""
    return GuidelineState(
        guideline_id=guideline_id,
        round=0,
        versions=[],
        criticisms=[],
        refusals=[],
        coverages=[],
        failures=[],
        ended=None,
        refined=[],
        stops=[],
    )


_WORD = re.compile(r"\w+")
# What the model did, and not the way to it: the run goes on without this reply.
_OF_THE_REPLY = (ReplyInvalid, ModelRefused, ContextTooLong)


async def begin(state: GuidelineState, runtime: Runtime[RefinementContext]) -> GuidelineState:
    """Version 0: the steps that ship, else written by the model, else built by code from the guideline's text."""
    context = runtime.context
    guideline = context.guideline(state["guideline_id"])
    stored = context.stored[guideline.id].steps
    if given := context.edited.get(0, {}).get(guideline.id):
        return {"versions": [_version(given, 0, "edited")]}
    if guideline.id in context.shipped:
        return {"versions": [_version(stored, 0, "stored")]}
    try:
        written = await write_steps(
            guideline,
            venue_name=context.form.name,
            door=context.door,
            lean=WRITER in context.lean,
        )
    except _OF_THE_REPLY as error:
        return {"versions": [_version(stored, 0, "built")], **_ended_round(0, "write", error)}
    except RefereeError as error:
        return {"stops": [record_failure(f"the writing of steps for {guideline.id!r}", error)]}
    return {"versions": [_version(written.steps, 0, "written", written)]}


async def criticise(state: GuidelineState, runtime: Runtime[RefinementContext]) -> GuidelineState:
    """One more round: what is wrong with the steps, and whether anything of it is new."""
    context, number = runtime.context, state["round"] + 1
    guideline = context.guideline(state["guideline_id"])
    earlier = [finding for c in state["criticisms"] for found in c.findings.values() for finding in found]
    last = number >= context.rounds
    edited = _edits(state, context, number - 1)
    try:
        criticised = await criticise_steps(
            [*state["versions"], *edited][-1].steps,
            guideline,
            venue_name=context.form.name,
            door=context.door,
            earlier=list(dict.fromkeys(earlier)),
            lean=SUPERVISOR in context.lean,
            sample=number,
        )
    except _OF_THE_REPLY as error:
        return {"round": number, "versions": edited, **_ended_round(number, "criticise", error, last=last)}
    except RefereeError as error:
        return {"stops": [record_failure(f"the criticism of the steps for {guideline.id!r}", error)]}
    new = new_findings(criticised.all, earlier)
    criticism = Criticism(
        round=number,
        findings=criticised.findings,
        new=new,
        echoes=criticised.echoes,
        digest=digest_of({name: list(found) for name, found in criticised.findings.items()}),
        model=criticised.model,
        call_id=criticised.call_id,
    )
    stable = context.until_stable and not new
    ended: Ended | None = "stable" if stable else "rounds" if last and not criticised.all else None
    return {"round": number, "versions": edited, "criticisms": [criticism], "ended": ended}


async def revise(state: GuidelineState, runtime: Runtime[RefinementContext]) -> GuidelineState:
    """Change the steps by the round's findings; a change that loses a point of the guideline is refused."""
    context, number = runtime.context, state["round"]
    guideline, before = context.guideline(state["guideline_id"]), state["versions"][-1].steps
    last = number >= context.rounds
    try:
        revised = await revise_steps(
            before,
            state["criticisms"][-1].findings,
            guideline,
            venue_name=context.form.name,
            door=context.door,
            lost=_just_lost(state),
            lean=WRITER in context.lean,
            sample=number,
        )
    except _OF_THE_REPLY as error:
        return _ended_round(number, "revise", error, last=last)
    except RefereeError as error:
        return {"stops": [record_failure(f"the revision of the steps for {guideline.id!r}", error)]}
    if _said(before) == _said(revised.steps):
        return {"ended": "rounds" if last else None}
    return await _guarded(state, context, revised)


async def _guarded(state: GuidelineState, context: RefinementContext, revised: WrittenSteps) -> GuidelineState:
    """The revision as the next version, or refused for the points it loses."""
    guideline, number = context.guideline(state["guideline_id"]), state["round"]
    last = number >= context.rounds
    try:
        guarded = await guard_points(
            state["versions"][-1].steps,
            revised.steps,
            guideline,
            known=state["coverages"],
            venue_name=context.form.name,
            door=context.door,
            lean=SUPERVISOR in context.lean,
        )
    except _OF_THE_REPLY as error:
        return _ended_round(number, "check", error, last=last)
    except RefereeError as error:
        return {"stops": [record_failure(f"the check of the steps for {guideline.id!r}", error)]}
    update: GuidelineState = {"ended": "rounds" if last else None, "coverages": list(guarded.coverages)}
    if guarded.lost:
        return {**update, "refusals": [_refusal(revised, number, guarded.lost)]}
    return {**update, "versions": [_version(revised.steps, number, "revised", revised)]}


async def finish(state: GuidelineState, runtime: Runtime[RefinementContext]) -> GuidelineState:
    """The guideline's history, checked as a whole."""
    guideline = runtime.context.guideline(state["guideline_id"])
    later = max((number for number in runtime.context.edited if number >= max(state["round"], 1)), default=0)
    versions = [*state["versions"], *_edits(state, runtime.context, later)]
    refined = RefinedGuideline.model_validate(
        {
            "guideline_id": guideline.id,
            "points": guideline_points(guideline),
            "versions": [_covering(version, state["coverages"]) for version in versions],
            "criticisms": state["criticisms"],
            "refusals": state["refusals"],
            "coverages": state["coverages"],
            "failures": state["failures"],
            "rounds": state["round"],
            "ended": state["ended"],
        }
    )
    return {"refined": [refined]}


async def gather(state: RefinementState, runtime: Runtime[RefinementContext]) -> RefinementState:
    """Whether what the guidelines handed on can be used: not where one stopped the run, or no call was answered."""
    if stops := sorted(state["stops"], key=lambda stop: (stop.kind not in STOPS, stop.node)):
        return {"failure": stops[0]}
    refined = state["refined"]
    if refined and all(guideline.ended == "failed" and not _answered(guideline) for guideline in refined):
        first = min(refined, key=lambda guideline: guideline.guideline_id).failures[0]
        told = Failure(node="gather", kind=first.kind, message=first.message, hint=first.hint)
        return {"failure": told}
    return {}


def build_guideline_graph() -> StateGraph[GuidelineState, RefinementContext, GuidelineState, GuidelineResult]:
    """The uncompiled machine of one guideline."""
    graph = StateGraph(
        GuidelineState, context_schema=RefinementContext, input_schema=GuidelineState, output_schema=GuidelineResult
    )
    graph.add_node("begin", begin)
    graph.add_node("criticise", criticise)
    graph.add_node("revise", revise)
    graph.add_node("finish", finish)
    graph.add_edge(START, "begin")
    graph.add_conditional_edges("begin", _next_round, ["criticise", "finish", END])
    graph.add_conditional_edges("criticise", _after_criticism, ["criticise", "revise", "finish", END])
    graph.add_conditional_edges("revise", _next_round, ["criticise", "finish", END])
    graph.add_edge("finish", END)
    return graph


def build_refinement_graph() -> StateGraph[RefinementState, RefinementContext, RefinementState, RefinementState]:
    """The uncompiled machine."""
    graph = StateGraph(RefinementState, context_schema=RefinementContext)
    graph.add_node("guideline", build_guideline_graph().compile(), input_schema=GuidelineState)
    graph.add_node("gather", gather)
    graph.add_conditional_edges(START, _send_guidelines, ["guideline", "gather"])
    graph.add_edge("guideline", "gather")
    graph.add_edge("gather", END)
    return graph


def _send_guidelines(state: RefinementState) -> list[Send] | str:
    """All guidelines at once; the door's limits say how many calls are in flight."""
    return [Send("guideline", begun(guideline_id)) for guideline_id in state["waiting"]] or "gather"


def _next_round(state: GuidelineState) -> str:
    if state["stops"]:
        return END
    return "finish" if state["ended"] else "criticise"


def _after_criticism(state: GuidelineState) -> str:
    last = state["criticisms"][-1] if state["criticisms"] else None
    raised = last is not None and last.round == state["round"] and any(last.findings.values())
    return "revise" if raised and not state["ended"] and not state["stops"] else _next_round(state)


def _ended_round(number: int, stage: Stage, error: RefereeError, *, last: bool = False) -> GuidelineState:
    """The record of a reply nobody can use; another try helps only where the model did answer."""
    failure = record_failure(stage, error)
    record = RoundFailure(round=number, stage=stage, kind=failure.kind, message=failure.message, hint=failure.hint)
    ended: Ended | None = "failed" if not isinstance(error, ReplyInvalid) else "rounds" if last else None
    return {"failures": [record], "ended": ended}


def _version(steps: tuple[str, ...], number: int, origin: Origin, written: WrittenSteps | None = None) -> PromptVersion:
    return PromptVersion(
        round=number,
        steps=steps,
        digest=steps_digest(steps),
        origin=origin,
        model=written.model if written else "",
        call_id=written.call_id if written else "",
    )


def _edits(state: GuidelineState, context: RefinementContext, number: int) -> list[PromptVersion]:
    """The steps that a person changed after this round; none where they say what they said before."""
    given = context.edited.get(number, {}).get(state["guideline_id"])
    before = state["versions"][-1].steps
    if not number or given is None or given == tuple(map(one_line, before)):
        return []
    return [_version(given, number, "edited")]


def _covering(version: PromptVersion, coverages: Sequence[Coverage]) -> PromptVersion:
    """The version with the points it serves, where somebody was asked."""
    known = next((one for one in coverages if one.digest == version.digest), None)
    return version.model_copy(update={"covers": tuple(known.words)}) if known else version


def _refusal(revised: WrittenSteps, number: int, lost: tuple[str, ...]) -> Refusal:
    return Refusal(
        round=number,
        steps=revised.steps,
        digest=steps_digest(revised.steps),
        lost=lost,
        model=revised.model,
        call_id=revised.call_id,
    )


def _just_lost(state: GuidelineState) -> list[str]:
    """What the last round's revision lost, if it was refused."""
    last = state["refusals"][-1] if state["refusals"] else None
    return list(last.lost) if last and last.round == state["round"] - 1 else []


def _said(steps: Sequence[str]) -> list[tuple[str, ...]]:
    """The steps without case and punctuation, in which alone a revision may differ that changes nothing."""
    return [tuple(_WORD.findall(step.casefold())) for step in steps]


def _answered(guideline: RefinedGuideline) -> bool:
    return bool(guideline.criticisms or guideline.current.call_id)
