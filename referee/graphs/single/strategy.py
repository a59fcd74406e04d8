"""Strategy ``single``: one call fills the whole form; quotations and scores are settled by code."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar

from referee.agents.form_reply import lengths_for
from referee.agents.literature_points import works_text
from referee.agents.single_reviewer import PLAIN, ROLE, SingleQuestion, Variation, choose_prompt, single_question
from referee.errors import ContextTooLong, PaperParseError
from referee.graphs.job import Job, Written, too_little_read
from referee.graphs.refinement.given import given_inputs, measured_note, pin, steps_in_use
from referee.graphs.running import run_machine
from referee.graphs.strategy import Strategy, marked, marked_plan
from referee.llm.dialects import reply_schema
from referee.llm.door import Door
from referee.llm.models import Model
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.venue import VenueForm
from referee.venues.refined import RefinedPrompts, prompts_dir

# Of the longest reply a form allows, a typical reply takes about this share.
_TYPICAL_SHARE = 0.5


class Single(Strategy):
    """One call for the whole form. Others differ in the prompt, in the form, or in what the review says of itself."""

    name = "single"
    title = "one call fills the whole form"
    calls = "1"
    chain = "1"
    roles: ClassVar[tuple[str, ...]] = (ROLE,)
    takes_steps = True
    takes_figures = True

    def prepared(self, job: Job) -> tuple[Job, Variation]:
        """The job as it is reviewed, and the prompt it is reviewed with."""
        refined = job.once(_measured_prompts)
        return job, replace(PLAIN, steps=steps_in_use(refined)) if refined is not None else PLAIN

    def how(self, job: Job) -> str:
        """What makes the review one for research; empty for an assessment."""
        return ""

    def prompts(self, job: Job) -> list[Prompt]:
        """The one prompt that suits the writer's context."""
        return [prompt_of(*self.prepared(job))]

    async def plan(self, job: Job) -> ReviewEstimate:
        """The reviewer's one question is made and counted, and not asked."""
        prepared, how = self.prepared(job), self.how(job)
        planned = plan_of(question_of(*prepared), prepared[0])
        return marked_plan(planned, how) if how else planned

    async def run(self, job: Job, folder: RunFolder, door: Door) -> Written:
        """Write, verify, compose."""
        from referee.graphs.single.machine import (
            SingleContext,
            build_single_graph,
            cut_of,
            cuts_of,
            initial_state,
            notes_of,
        )

        (prepared, variation), how = self.prepared(job), self.how(job)
        context = SingleContext(
            prepared.paper,
            prepared.form,
            door,
            review_id=f"r-{folder.record.run_id}",
            variation=replace(variation, works=works_text(job.literature)),
            literature=job.literature,
        )
        state = await run_machine(build_single_graph, context, initial_state())
        written = Written(state["review"], cuts_of(state), notes_of(state), cut=cut_of(state))
        if variation.steps and (refined := job.once(_measured_prompts)) is not None:
            pin(refined, folder)
            notes = tuple(filter(None, (measured_note(refined), *written.notes)))
            written = replace(written, notes=notes, prompts=refined.digests())
        return marked(job, written, how) if how else written

    def inputs(self, job: Job) -> dict[str, str]:
        """Which steps it goes by, where any were measured."""
        inputs, (_, variation) = super().inputs(job), self.prepared(job)
        refined = job.once(_measured_prompts) if variation.steps else None
        return {**inputs, **given_inputs(refined)} if refined is not None else inputs


def prompt_of(job: Job, variation: Variation) -> Prompt:
    """The prompt of one reviewer that suits the writer's context."""
    lengths = lengths_for(job.form, job.models[ROLE].context_tokens)
    return choose_prompt(lengths, variation)


def question_of(job: Job, variation: Variation) -> SingleQuestion:
    """One reviewer's one question.

    Raises:
        PaperParseError: The paper has no section to read.
        ContextTooLong: Form and paper do not fit into the writer's context; the message names the model.
    """
    model = job.models[ROLE]
    if not any(section.blocks for section in job.paper.content):
        raise PaperParseError(
            f"the paper {job.paper.title!r} holds no section that a reviewer could read.",
            hint="Give the whole paper; if it is whole, give its source text or another export.",
            ids={"paper": job.paper.paper_id},
        )
    try:
        return single_question(
            job.paper,
            job.form,
            context_tokens=model.context_tokens,
            count=model.count,
            reading_tokens=model.reading_tokens,
            variation=variation,
        )
    except ContextTooLong as error:
        raise _too_long(error, model, job.form) from error


def plan_of(question: SingleQuestion, job: Job) -> ReviewEstimate:
    """What a question needs, which is made and counted, and not asked."""
    model = job.models[ROLE]
    tokens_in = model.count(question.prompt.system) + model.count(question.prompt.user)
    if not model.spec.is_local:  # the embedded model's grammar takes no room in its prompt
        tokens_in += model.count(json.dumps(reply_schema(question.reply)))
    tokens_out = int(question.most_out * _TYPICAL_SHARE)
    cut = question.briefing.cut
    return ReviewEstimate(
        strategy=job.settings.review.strategy,
        models={ROLE: model.spec.id},
        calls=1,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=model.cost(tokens_in, tokens_out),
        notes=tuple(model.notes),
        cut=cut,
        refusal=too_little_read(cut, job.settings.paper.min_read, job.paper, model),
    )


def _too_long(error: ContextTooLong, model: Model, form: VenueForm) -> ContextTooLong:
    return ContextTooLong(
        f"model {model.spec.id!r} has a context of {model.context_tokens:,} tokens, too few for the form of "
        f"{form.id!r} and this paper: {error.message}",
        hint="Use a model with a longer context; where the server really has more, set models.context_tokens (in "
        "referee.toml, or as REFEREE_MODELS__CONTEXT_TOKENS).",
        ids={**error.ids, "model": model.spec.id},
    )


def _measured_prompts(job: Job) -> RefinedPrompts | None:
    """The prompts that the job was given, or that were measured for its venue and model and kept; null without either.

    What was refined without being measured is for the readers of sections alone, and preset ``quick`` takes none.
    """
    if job.refined is not None or job.settings.review.preset == "quick":
        return job.refined
    if not (prompts_dir() / job.form.id).is_dir():
        return None
    from referee.graphs.refinement.run import measured_refinement  # most reviews of one call need nothing of it

    found = measured_refinement(job.form, job.settings)
    return found[1] if found else None
