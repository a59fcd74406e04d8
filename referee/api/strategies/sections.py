"""Strategy ``sections``: each part read whole, points checked blind, merged and placed by code, scores from points."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from referee.agents import checker, composer, cross_reviewer, mapper, section_reviewer
from referee.agents.briefing import how_read
from referee.agents.card import Card, build_card, render_card
from referee.agents.mapper import needs_a_call
from referee.agents.parts import Part, content_parts, render_part, split_part
from referee.agents.section_reviewer import section_budget
from referee.api.job import Job, Plan, Written
from referee.api.strategies.machine import run_machine
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.prompts import Prompt, load_prompt
from referee.retrieval import Retriever, open_embedder, open_retriever
from referee.runs import Event, RunFolder
from referee.schemas.review import Review
from referee.venues.prompts import SectionPrompt, section_prompts

ROLES = ("writer", "mapper", "cross", "checker", "composer")

# What a call typically takes beside the part it reads: instructions and schema, and what a typical reply has.
_FRAME_TOKENS, _LEAN_FRAME_TOKENS = 2_600, 900
_REPLY_TOKENS, _LEAN_REPLY_TOKENS = 1_200, 350
_POINTS_A_PART = 3


@dataclass(frozen=True)
class _Setup:
    """The fixed data of a run: parts that fit the writer's context, the card, the guidelines' steps."""

    parts: tuple[Part, ...]
    card: Card
    steps: tuple[SectionPrompt, ...]
    lean: bool


def prompts(job: Job) -> list[Prompt]:
    """Every prompt a run may use."""
    section = section_reviewer.LEAN_PROMPT if _is_lean(job) else section_reviewer.PROMPT
    names = (section, mapper.PROMPT, cross_reviewer.PROMPT, checker.PROMPT, composer.PROMPT)
    versions = job.settings.review.prompt_versions
    return [load_prompt(name, versions.get(name)) for name in names]


async def plan(job: Job) -> Plan:
    """Calls and tokens from the parts there are; how many points they raise is a guess."""
    setup = _setup(job)
    writer, most = job.models["writer"], len(setup.parts)
    frame, reply = (_LEAN_FRAME_TOKENS, _LEAN_REPLY_TOKENS) if setup.lean else (_FRAME_TOKENS, _REPLY_TOKENS)
    card_room = section_budget(writer.context_tokens, lean=setup.lean).card
    card = writer.count(render_card(setup.card, card_room, writer.count))
    calls = {"writer": most, "composer": 1, "mapper": int(needs_a_call(setup.steps, setup.parts))}
    tokens_in = {
        "writer": sum(writer.count(render_part(p, numbered=setup.lean)[0]) + card + frame for p in setup.parts)
    }
    if not setup.lean:
        calls |= {"cross": 1, "checker": min(-(-most * _POINTS_A_PART // checker.BATCH), most + 2)}
    rest = {role: count * (card + frame) for role, count in calls.items() if role != "writer"}
    costs = [job.models[role].cost((tokens_in | rest)[role], count * reply) for role, count in calls.items() if count]
    return Plan(
        strategy="sections",
        models={role: job.models[role].spec.id for role, count in calls.items() if count},
        calls=sum(calls.values()),
        input_tokens=sum((tokens_in | rest).values()),
        output_tokens=sum(calls.values()) * reply,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        notes=tuple(writer.notes),
    )


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``review``; on the lean plan without an index of the paper.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.evidence import QuotationIndex
    from referee.graphs.review import build_review_graph
    from referee.graphs.review_state import ReviewContext, initial_state

    setup = _setup(job)
    async with _retrieval(job, setup.lean) as (retriever, embedder):
        context = ReviewContext(
            paper=job.paper,
            form=job.form,
            door=door,
            review_id=f"r-{folder.record.run_id}",
            card=setup.card,
            parts=setup.parts,
            prompts=setup.steps,
            index=QuotationIndex(job.paper),
            how_read=how_read(job.paper, ()),
            instructions=_instructions(job),
            lean=setup.lean,
            retriever=retriever,
            embedder=embedder,
            prompt_versions=job.settings.review.prompt_versions,
        )
        state = await run_machine(folder, build_review_graph(), context, initial_state())
    failed = sorted(f"{failure['node']} failed: {failure['message']}" for failure in state["failures"])
    return Written(Review.model_validate(state["review"]), (), (*sorted(set(state["notes"])), *failed))


def _instructions(job: Job) -> str:
    section = prompts(job)[0]
    return f"{section.system}\n{section.user}"


def _is_lean(job: Job) -> bool:
    return job.models["writer"].spec.is_local


def _setup(job: Job) -> _Setup:
    writer, lean = job.models["writer"], _is_lean(job)
    room = section_budget(writer.context_tokens, lean=lean).section
    whole = content_parts(job.paper, appendices=job.settings.review.appendices)
    parts = tuple(piece for part in whole for piece in split_part(part, room, writer.count))
    steps = tuple(prompt for prompt in section_prompts(job.form) if not prompt.is_about_the_review)
    return _Setup(parts, build_card(job.paper, parts), steps, lean)


@asynccontextmanager
async def _retrieval(job: Job, lean: bool) -> AsyncIterator[tuple[Retriever | None, Embedder | None]]:
    """The index of the paper, closed with the run; none on the lean plan."""
    if lean:
        yield None, None
        return
    base_url = None if job.settings.embedder.startswith("local") else job.settings.models.base_url
    job.progress(Event("stage", "indexing the paper"))
    embedder = await open_embedder(job.settings.embedder, base_url=base_url)
    try:
        async with await open_retriever(job.paper, embedder) as retriever:
            yield retriever, embedder
    finally:
        await embedder.aclose()
