"""``sections`` part by part: each part read whole with the card beside it, points checked, scores from points."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from referee.agents import checker, mapper
from referee.agents.briefing import how_read
from referee.agents.card import NO_CARD, Card, build_card, render_card
from referee.agents.mapper import needs_a_call
from referee.agents.parts import Part, content_parts, render_part, split_part
from referee.agents.section_reviewer import section_budget
from referee.api.job import Job, Written
from referee.api.strategies.ablation import (
    CHUNK_TOKENS,
    ablation_inputs,
    form_of,
    points_a_part,
    used_prompts,
    what_was_changed,
)
from referee.api.strategies.guidance import (
    about_the_paper,
    guidance_inputs,
    guidance_notes,
    guided_plan,
    refined_prompts,
    refinement_of,
)
from referee.api.strategies.machine import run_machine
from referee.api.strategies.research import marked, marked_plan
from referee.graphs.failure import failed_lines
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.prompts import Prompt, load_prompt
from referee.retrieval import Retriever, open_embedder, open_retriever
from referee.runs import Event, RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost
from referee.venues.prompts import SectionPrompt, general_prompts, section_prompts
from referee.venues.refined import refined_section_prompts

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
    section, *later = used_prompts(job, lean=_is_lean(job))
    names = (section, mapper.PROMPT, *later)
    versions = job.settings.review.prompt_versions
    refinement = refinement_of(job)
    refining = refinement.prompts if refinement is not None else []
    return [*(load_prompt(name, versions.get(name)) for name in names), *refining]


async def plan(job: Job) -> ReviewEstimate:
    """Calls and tokens from the parts there are; how many points they raise is a guess. Both presets are told."""
    planned, changed = guided_plan(job, _quick_plan(job)), what_was_changed(job, lean=_is_lean(job))
    return marked_plan(planned, changed) if changed else planned


def _quick_plan(job: Job) -> ReviewEstimate:
    setup, without = _setup(job), job.settings.review.ablate
    writer, most = job.models["writer"], len(setup.parts)
    frame, reply = (_LEAN_FRAME_TOKENS, _LEAN_REPLY_TOKENS) if setup.lean else (_FRAME_TOKENS, _REPLY_TOKENS)
    card_room = section_budget(writer.context_tokens, lean=setup.lean).card
    card = writer.count(render_card(NO_CARD if "card" in without else setup.card, card_room, writer.count))
    calls = {"writer": most, "composer": 1, "mapper": int(needs_a_call(setup.steps, setup.parts))}
    tokens_in = {
        "writer": sum(writer.count(render_part(p, numbered=setup.lean)[0]) + card + frame for p in setup.parts)
    }
    if not setup.lean:
        calls |= {"cross": 1, "checker": min(-(-most * _POINTS_A_PART // checker.BATCH), most + 2)}
    calls |= {role: 0 for step, role in (("cross", "cross"), ("check", "checker")) if step in without}
    rest = {role: count * (card + frame) for role, count in calls.items() if role != "writer"}
    if "score-from-points" in without:
        rest["composer"] += _paper_tokens(job)
    costs = [job.models[role].cost((tokens_in | rest)[role], count * reply) for role, count in calls.items() if count]
    return ReviewEstimate(
        strategy="sections",
        models={role: job.models[role].spec.id for role, count in calls.items() if count},
        calls=sum(calls.values()),
        input_tokens=sum((tokens_in | rest).values()),
        output_tokens=sum(calls.values()) * reply,
        cost_usd=total_cost(costs),
        notes=tuple(writer.notes),
    )


def _paper_tokens(job: Job) -> int:
    """What a composer sees of the paper, where it sees it."""
    model = job.models["composer"]
    whole = model.count("\n".join(section.text for section in job.paper.content))
    return min(whole, model.reading_tokens or model.context_tokens)


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``review``; on the lean plan without an index of the paper.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.evidence import QuotationIndex
    from referee.graphs.review import build_review_graph
    from referee.graphs.review_state import ReviewContext, initial_state

    setup, changed = _setup(job), what_was_changed(job, lean=_is_lean(job))
    refined = await refined_prompts(job, folder, door)
    if refined is not None:
        setup = replace(setup, steps=about_the_paper(refined_section_prompts(job.form, refined)))
    async with _retrieval(job, setup.lean) as (retriever, embedder):
        context = ReviewContext(
            paper=job.paper,
            form=form_of(job),
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
            ablated=frozenset(job.settings.review.ablate),
            quota=points_a_part(job, len(setup.parts)),
        )
        state = await run_machine(folder, build_review_graph(), context, initial_state())
    failed = failed_lines(state["failures"])
    notes = (*guidance_notes(job, refined), *sorted(set(state["notes"])), *failed)
    written = Written(state["review"], (), notes, refined.digests() if refined else {})
    return marked(job, written, changed) if changed else written


def inputs(job: Job) -> dict[str, str]:
    """What decides the parts and steps of a run; the keys read well after "was started with another".

    Raises:
        SettingsError: A step that is to be taken out has no meaning here.
    """
    return {
        **ablation_inputs(job, lean=_is_lean(job)),
        "choice of appendices": str(job.settings.review.appendices),
        "context length of the writer": str(job.models["writer"].context_tokens),
        **guidance_inputs(job),
    }


def _instructions(job: Job) -> str:
    section = prompts(job)[0]
    return f"{section.system}\n{section.user}"


def _is_lean(job: Job) -> bool:
    return job.models["writer"].spec.is_local


def _setup(job: Job) -> _Setup:
    writer, lean = job.models["writer"], _is_lean(job)
    without = job.settings.review.ablate
    room = section_budget(writer.context_tokens, lean=lean).section
    room = min(room, CHUNK_TOKENS) if "whole-section" in without else room
    whole = content_parts(job.paper, appendices=job.settings.review.appendices)
    parts = tuple(piece for part in whole for piece in split_part(part, room, writer.count))
    steps = general_prompts() if "venue" in without else section_prompts(job.form)
    return _Setup(parts, build_card(job.paper, parts), about_the_paper(steps), lean)


@asynccontextmanager
async def _retrieval(job: Job, lean: bool) -> AsyncIterator[tuple[Retriever | None, Embedder | None]]:
    """The index of the paper, closed with the run; none on the lean plan."""
    if lean:
        yield None, None
        return
    base_url = None if job.settings.embedder.startswith("local") else job.settings.models.base_url
    job.progress(Event("stage", "indexing the paper"))
    embedder = await open_embedder(job.settings.embedder, base_url=base_url, calls=job.settings.calls)
    try:
        async with await open_retriever(job.paper, embedder) as retriever:
            yield retriever, embedder
    finally:
        await embedder.aclose()
