"""Strategy ``sections``: each part read whole with the card beside it, points checked, scores from points.

On the embedded model the plan is lean: fewer calls, and no index of the paper.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from referee.agents import checker, mapper
from referee.agents.briefing import how_read
from referee.agents.card import NO_CARD, Card, build_card, render_card
from referee.agents.mapper import needs_a_call
from referee.agents.parts import Part, content_parts, render_part, split_part
from referee.agents.section_reviewer import section_budget
from referee.graphs.failure import failed_lines
from referee.graphs.guidance import (
    about_the_paper,
    guidance_inputs,
    guidance_notes,
    guided_plan,
    refined_prompts,
    refinement_of,
)
from referee.graphs.job import Job, Written
from referee.graphs.running import run_machine
from referee.graphs.sections.ablation import (
    CHUNK_TOKENS,
    ablation_inputs,
    form_of,
    points_a_part,
    used_prompts,
    what_was_changed,
)
from referee.graphs.strategy import Strategy, load_prompts, marked, marked_plan
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.prompts import Prompt
from referee.retrieval import Retriever, open_embedder, open_retriever
from referee.runs import Event, RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost
from referee.venues.prompts import SectionPrompt, general_prompts, section_prompts
from referee.venues.refined import RefinedPrompts, refined_section_prompts

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


class Sections(Strategy):
    """Each reader gets one part with a card of the paper, and looks at what the venue asks for."""

    name = "sections"
    title = "part by part with a card of the paper; points looked up, checked blind and all printed"
    calls = "at most 2 S + 5 (S: parts of the paper); S + 1 or S + 2 on the embedded model"
    chain = "5; 3 on the embedded model"
    roles = ("writer", "mapper", "cross", "checker", "composer")
    refines = True
    takes_steps = True
    takes_figures = True

    def prompts(self, job: Job) -> list[Prompt]:
        """Readers, map, cross pass, check and composition, and the prompts of a refinement."""
        section, *later = used_prompts(job, lean=is_lean(job))
        refinement = refinement_of(job)
        refining = refinement.prompts if refinement is not None else []
        return [*load_prompts(section, mapper.PROMPT, *later), *refining]

    async def plan(self, job: Job) -> ReviewEstimate:
        """What the run will need; how many points readers will raise is a guess. Both presets are told."""
        planned, changed = guided_plan(job, self._quick_plan(job)), what_was_changed(job, lean=is_lean(job))
        return marked_plan(planned, changed) if changed else planned

    def _quick_plan(self, job: Job) -> ReviewEstimate:
        """Calls and tokens from the parts there are, without a refinement."""
        setup, without = job.once(_setup), job.settings.review.ablate
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
        costs = [
            job.models[role].cost((tokens_in | rest)[role], count * reply) for role, count in calls.items() if count
        ]
        return ReviewEstimate(
            strategy=self.name,
            models={role: job.models[role].spec.id for role, count in calls.items() if count},
            calls=sum(calls.values()),
            input_tokens=sum((tokens_in | rest).values()),
            output_tokens=sum(calls.values()) * reply,
            cost_usd=total_cost(costs),
            notes=tuple(writer.notes),
        )

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Run the machine, after the refinement of the venue's steps where the run makes one."""
        changed, refined = what_was_changed(job, lean=is_lean(job)), await refined_prompts(job, folder, door)
        state = await self._state(job, folder, door, refined)
        notes = (*guidance_notes(job, refined), *sorted(set(state["notes"])), *failed_lines(state["failures"]))
        written = Written(state["review"], (), notes, refined.digests() if refined else {})
        return marked(job, written, changed) if changed else written

    async def _state(self, job: Job, folder: RunFolder, door: Door, refined: RefinedPrompts | None) -> Any:
        """The last state of the machine."""
        from referee.evidence import QuotationIndex
        from referee.graphs.sections.by_part import build_parts_graph
        from referee.graphs.sections.state import PartsContext, no_parts

        setup, reader = job.once(_setup), self.prompts(job)[0]
        asked = refined_section_prompts(job.form, refined) if refined is not None else None
        async with _retrieval(job, setup.lean) as (retriever, embedder):
            context = PartsContext(
                paper=job.paper,
                form=form_of(job),
                door=door,
                review_id=f"r-{folder.record.run_id}",
                card=setup.card,
                parts=setup.parts,
                prompts=setup.steps if asked is None else about_the_paper(asked),
                index=QuotationIndex(job.paper),
                how_read=how_read(job.paper, ()),
                instructions=f"{reader.system}\n{reader.user}",
                lean=setup.lean,
                retriever=retriever,
                embedder=embedder,
                ablated=frozenset(job.settings.review.ablate),
                quota=points_a_part(job, len(setup.parts)),
            )
            return await run_machine(build_parts_graph, context, no_parts())

    def takes_rules(self, job: Job) -> bool:
        """Unless research takes them out."""
        return "rules" not in job.settings.review.ablate

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the parts and steps of a run.

        Raises:
            SettingsError: A step that is to be taken out has no meaning here.
        """
        return {
            **ablation_inputs(job, lean=is_lean(job)),
            **guidance_inputs(job),
            "choice of appendices": str(job.settings.review.appendices),
            "context length of the writer": str(job.models["writer"].context_tokens),
        }


def is_lean(job: Job) -> bool:
    """Whether the writer is the embedded model, which gets a plan with fewer calls and no index."""
    return job.models["writer"].spec.is_local


def _paper_tokens(job: Job) -> int:
    """What a composer sees of the paper, where it sees it."""
    model = job.models["composer"]
    whole = model.count("\n".join(section.text for section in job.paper.content))
    return min(whole, model.reading_tokens or model.context_tokens)


def _setup(job: Job) -> _Setup:
    writer, lean = job.models["writer"], is_lean(job)
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
