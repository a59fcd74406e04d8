"""``sections`` for a window that holds the paper: each call begins with the whole paper and ends with its task."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from referee.agents import grouper, paper_reader, paper_text, prose, verifier
from referee.agents.focus import FocusKind, FocusPart, ask_questions, focus_parts, paper_questions, part_questions
from referee.agents.paper_text import PaperRun, SharedPaper, share_paper
from referee.graphs.job import Job
from referee.graphs.running import run_machine
from referee.graphs.sections.ablation import form_of
from referee.graphs.sections.guidance import about_the_paper
from referee.graphs.sections.guided import Guided
from referee.llm.door import Door
from referee.llm.prices import image_tokens
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost
from referee.venues.prompts import SectionPrompt, general_prompts, section_prompts
from referee.venues.refined import RefinedPrompts, refined_section_prompts

PROMPTS = (
    paper_text.PROMPT,
    paper_reader.WHOLE_PROMPT,
    paper_reader.FOCUS_PROMPT,
    grouper.PROMPT,
    verifier.PROMPT,
    verifier.AMEND_PROMPT,
    prose.PROMPT,
)
_SHARED = "each call begins with the same {tokens:,} tokens, which providers with a prompt cache bill once in full"

# Which parts are read line by line beside the reading of the whole paper.
_KINDS: dict[str, tuple[FocusKind, ...]] = {
    "whole": (),
    "core": ("method", "experiments", "appendix"),
    "all": ("frame", "related", "method", "experiments", "appendix"),
}
# What calls typically hold beside the paper, and what replies typically have, in tokens.
_READING, _TASK = 3_500, 1_200
_POINT, _POINTS_A_READING, _CORRECTIONS_A_READING = 150, 8, 5
_SHARE_LEFT = 0.6
_COMPOSING, _COMPOSED = 4_000, 4_500


class Whole(Guided):
    """Every call reads the whole paper."""

    roles = ("writer", "checker", "composer")

    def prompt_ids(self, job: Job) -> tuple[str, ...]:
        """The paper, and the tasks that follow it."""
        return PROMPTS

    def quick_plan(self, job: Job) -> ReviewEstimate:
        """Calls and tokens; the paper is the same in each."""
        readers, shared = 1 + len(job.once(_parts)), job.once(shared_paper).tokens
        raised = readers * (_POINTS_A_READING + _CORRECTIONS_A_READING)
        left = int(readers * _POINTS_A_READING * _SHARE_LEFT)
        checks = (
            min(verifier.MOST_BATCHES, -(-left // verifier.BATCH)) if "check" not in job.settings.review.ablate else 0
        )
        corrections = min(1, checks)
        tails = {
            "writer": [_TASK + tokens for tokens in _question_tokens(job)],
            "checker": [
                *([_TASK + raised * _POINT // 2] if readers > 1 else []),
                *([_TASK + left * _POINT // max(checks, 1)] * checks),
                *([_TASK + raised * _POINT // 4] * corrections),
            ],
            "composer": [_COMPOSING + left * _POINT],
        }
        out = {"writer": readers * _READING, "checker": (raised + left) * _POINT // 2, "composer": _COMPOSED}
        by_model: dict[str, tuple[list[int], int]] = {}
        for role, own in tails.items():
            known, written = by_model.get(job.models[role].spec.id, ([], 0))
            by_model[job.models[role].spec.id] = ([*known, *own], written + out[role])
        models = {job.models[role].spec.id: job.models[role] for role in self.roles}
        costs = [models[name].shared_cost(shared, own, written) for name, (own, written) in by_model.items()]
        return ReviewEstimate(
            strategy=self.name,
            models={role: job.models[role].spec.id for role in self.roles},
            calls=sum(map(len, tails.values())),
            input_tokens=sum(shared + tail for own in tails.values() for tail in own),
            output_tokens=sum(out.values()),
            cost_usd=total_cost(costs),
            notes=(*job.models["writer"].notes, _SHARED.format(tokens=shared)),
        )

    async def plan(self, job: Job) -> ReviewEstimate:
        """As ``quick_plan``, or with the refinement.

        Raises:
            ContextTooLong: The venue's criteria do not fit beside the paper, even without steps.
        """
        writer = job.models["writer"]
        room = writer.context_tokens - job.once(shared_paper).tokens - paper_reader.LONG_READING_TOKENS - _TASK
        ask_questions(paper_questions(_steps(job, job.refined)), room, writer.count)
        return await super().plan(job)

    async def state(self, job: Job, folder: RunFolder, door: Door, refined: RefinedPrompts | None) -> Any:
        """Run the machine over the whole paper."""
        from referee.evidence import QuotationIndex
        from referee.graphs.sections.state import no_points
        from referee.graphs.sections.whole import build_whole_graph
        from referee.graphs.sections.whole_compose import WholeContext

        writer = job.models["writer"]
        pictures = sum(image_tokens(writer.spec, one.image) for one in job.thumbnails)
        context = WholeContext(
            paper=job.paper,
            run=PaperRun(
                shared=job.once(shared_paper),
                form=form_of(job),
                sections={section.id: section.heading for section in job.paper.content},
                index=QuotationIndex(job.paper),
                door=door,
                context_tokens=writer.context_tokens - pictures,
                count=writer.count,
            ),
            review_id=f"r-{folder.record.run_id}",
            source=writer.spec.id,
            parts=job.once(_parts),
            steps=_steps(job, refined),
            ablated=frozenset(job.settings.review.ablate),
            literature=job.literature,
            look_up=job.look_up,
            figures=job.figures,
            figure_points=job.figure_points,
            thumbnails=job.thumbnails,
        )
        return await run_machine(build_whole_graph, context, no_points())

    def inputs(self, job: Job) -> dict[str, str]:
        """What decides the readings of a run.

        Raises:
            SettingsError: A step that is to be taken out has no meaning here.
        """
        return {**super().inputs(job), "choice of readings": job.settings.review.readings}


def shared_paper(job: Job) -> SharedPaper:
    """What every call of a run would begin with."""
    return share_paper(job.paper, job.models["writer"].count)


def fits(job: Job) -> bool:
    """Whether the windows of all roles hold the paper with room to work."""
    shared = job.once(shared_paper)
    return all(shared.fits(job.models[role].context_tokens) for role in Whole.roles)


def _parts(job: Job) -> tuple[FocusPart, ...]:
    kinds = _KINDS[job.settings.review.readings]
    return focus_parts(job.paper, kinds) if kinds else ()


def _question_tokens(job: Job) -> list[int]:
    """Tokens of what the venue asks, for the reader of the whole paper and for that of each part."""
    steps, count = _steps(job, job.refined), job.models["writer"].count
    asked = [paper_questions(steps), *(part_questions(part, steps) for part in job.once(_parts))]
    return [ask_questions(questions, sys.maxsize, count).tokens for questions in asked]


def _steps(job: Job, refined: RefinedPrompts | None) -> tuple[SectionPrompt, ...]:
    """What the venue asks readers to look at: each guideline in its own words, with steps that were refined."""
    if "venue" in job.settings.review.ablate:
        return about_the_paper(general_prompts())
    plain = {p.guideline_id: replace(p, steps=()) for p in section_prompts(job.form)}
    if refined is not None:
        asked = {guideline.guideline_id for guideline in refined.guidelines}
        plain |= {p.guideline_id: p for p in refined_section_prompts(job.form, refined) if p.guideline_id in asked}
    return about_the_paper(plain.values())
