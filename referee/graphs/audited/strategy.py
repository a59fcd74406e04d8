"""Strategy ``audited``: the one call of ``single``, a reader who tests its review, and a last reading."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from referee.agents.auditor import AUDIT, FINAL, ROLE
from referee.agents.form_reply import lengths_for
from referee.agents.literature_points import works_text
from referee.agents.single_reviewer import PLAIN
from referee.agents.single_reviewer import ROLE as WRITER
from referee.graphs.guidance import (
    guidance_inputs,
    guidance_notes,
    guided_plan,
    refined_prompts,
    refinement_of,
)
from referee.graphs.job import Job, Written
from referee.graphs.refinement.given import steps_in_use
from referee.graphs.running import run_machine
from referee.graphs.single.strategy import Single, plan_of, question_of
from referee.graphs.strategy import load_prompts, refuse_ablation
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost

# What the answers of the auditor and of the last reading come to, beside the draft's.
_TYPICAL_AUDIT, _TYPICAL_FINAL = 3_000, 1_000
# What they are asked behind the paper, list and schema together, as a share of the draft's expected reply.
_DRAFT_TOLD, _REVIEW_TOLD = 0.5, 0.4
_SHARED = "each call begins with the same {tokens:,} tokens, which providers with a prompt cache bill once in full"
NOT_AUDITED = "the draft is no list of points (the writer's context is short, or its prompt is an older one): no audit"


class Audited(Single):
    """One reader writes, another tests what it wrote, and the result is read once more.

    The steps that were refined for the venue stand in the beginning that all three share, each with its guideline.
    """

    name = "audited"
    title = "one call fills the form; another tests its points and adds to them; a last reading takes out"
    calls = "3"
    chain = "3"
    roles: ClassVar[tuple[str, ...]] = ("writer", ROLE)
    refines = True

    def prompts(self, job: Job) -> list[Prompt]:
        """The draft's, the audit's, the last reading's, and those of a refinement."""
        refinement = refinement_of(job)
        refining = refinement.prompts if refinement is not None else []
        return [*super().prompts(job), *load_prompts(AUDIT, FINAL), *refining]

    async def plan(self, job: Job) -> ReviewEstimate:
        """The draft's question is counted; the others begin with it and hold the draft. Both presets are told."""
        question = question_of(*self.prepared(job))
        draft = plan_of(question, job)
        if not drafts_points(job):
            return guided_plan(job, replace(draft, notes=(*draft.notes, NOT_AUDITED)))
        writer, checker = job.models[WRITER], job.models[ROLE]
        shared = writer.count(question.prompt.system) + writer.count(question.prompt.user)
        own = [int(draft.output_tokens * share) for share in (_DRAFT_TOLD, _REVIEW_TOLD)]
        added = _TYPICAL_AUDIT + _TYPICAL_FINAL
        if writer.spec.id == checker.spec.id:
            cost = writer.shared_cost(shared, [draft.input_tokens - shared, *own], draft.output_tokens + added)
        else:
            cost = total_cost([draft.cost_usd, checker.shared_cost(shared, own, added)])
        quick = replace(
            draft,
            models={**draft.models, ROLE: checker.spec.id},
            calls=3,
            input_tokens=draft.input_tokens + 2 * shared + sum(own),
            output_tokens=draft.output_tokens + added,
            cost_usd=cost,
            notes=(*draft.notes, _SHARED.format(tokens=shared)),
        )
        return guided_plan(job, quick)

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Write, verify, audit, settle, read, compose, after the refinement of the venue's steps where one is made."""
        from referee.graphs.audited.machine import build_audited_graph, initial_state, notes_of
        from referee.graphs.single.machine import SingleContext

        refined = await refined_prompts(job, folder, door)
        context = SingleContext(
            job.paper,
            job.form,
            door,
            review_id=f"r-{folder.record.run_id}",
            variation=replace(
                PLAIN, steps=steps_in_use(refined), works=works_text(job.literature), begins=drafts_points(job)
            ),
            literature=job.literature,
        )
        state = await run_machine(build_audited_graph, context, initial_state())
        reply = state["reply"]
        untested = [] if drafts_points(job) else [NOT_AUDITED]
        notes = tuple(dict.fromkeys([*guidance_notes(job, refined), *untested, *notes_of(state)]))
        return Written(state["review"], reply.cuts, notes, refined.digests() if refined else {}, cut=reply.cut)

    def inputs(self, job: Job) -> dict[str, str]:
        """Which steps it goes by, where any were refined.

        Raises:
            SettingsError: A step was to be taken out.
        """
        refuse_ablation(job)
        return guidance_inputs(job)


def drafts_points(job: Job) -> bool:
    """Whether the writer is asked for a list of points, which can be audited."""
    return PLAIN.lists(lengths_for(job.form, job.models[WRITER].context_tokens))
