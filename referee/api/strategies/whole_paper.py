"""``sections`` for a window that holds the paper: each call begins with the whole paper and ends with its task."""

from __future__ import annotations

from dataclasses import replace

from referee.agents import grouper, paper_reader, paper_text, prose, verifier
from referee.agents.focus import FocusKind, FocusPart, focus_parts
from referee.agents.paper_run import PaperRun
from referee.agents.paper_text import SharedPaper, share_paper
from referee.api.job import Job, Written
from referee.api.strategies.ablation import ablation_inputs, form_of, what_was_changed
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
from referee.prompts import Prompt, load_prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost
from referee.venues.prompts import SectionPrompt, general_prompts, section_prompts
from referee.venues.refined import RefinedPrompts, refined_section_prompts

ROLES = ("writer", "checker", "composer")
PROMPTS = (
    paper_text.PROMPT,
    paper_reader.WHOLE_PROMPT,
    paper_reader.FOCUS_PROMPT,
    grouper.PROMPT,
    verifier.PROMPT,
    verifier.AMEND_PROMPT,
    prose.PROMPT,
)

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


def shared_paper(job: Job) -> SharedPaper:
    """What every call of a run would begin with."""
    version = job.settings.review.prompt_versions.get(paper_text.PROMPT)
    return share_paper(job.paper, job.models["writer"].count, version)


def fits(job: Job) -> bool:
    """Whether the windows of all roles hold the paper with room to work."""
    shared = shared_paper(job)
    return all(shared.fits(job.models[role].context_tokens) for role in ROLES)


def prompts(job: Job) -> list[Prompt]:
    """Every prompt a run may use."""
    versions = job.settings.review.prompt_versions
    refinement = refinement_of(job)
    return [
        *(load_prompt(name, versions.get(name)) for name in PROMPTS),
        *(refinement.prompts if refinement is not None else []),
    ]


async def plan(job: Job) -> ReviewEstimate:
    """Calls and tokens; how many points readers will raise is a guess. Both presets are told."""
    planned, changed = guided_plan(job, _plan(job)), what_was_changed(job, lean=False)
    return marked_plan(planned, changed) if changed else planned


def _plan(job: Job) -> ReviewEstimate:
    readers, shared = 1 + len(_parts(job)), shared_paper(job).tokens
    raised = readers * (_POINTS_A_READING + _CORRECTIONS_A_READING)
    left = int(readers * _POINTS_A_READING * _SHARE_LEFT)
    checks = min(verifier.MOST_BATCHES, -(-left // verifier.BATCH)) if "check" not in job.settings.review.ablate else 0
    corrections = min(1, checks)
    tails = {
        "writer": [_TASK] * readers,
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
    models = {job.models[role].spec.id: job.models[role] for role in ROLES}
    costs = [models[name].shared_cost(shared, own, written) for name, (own, written) in by_model.items()]
    return ReviewEstimate(
        strategy="sections",
        models={role: job.models[role].spec.id for role in ROLES},
        calls=sum(map(len, tails.values())),
        input_tokens=sum(shared + tail for own in tails.values() for tail in own),
        output_tokens=sum(out.values()),
        cost_usd=total_cost(costs),
        notes=(*job.models["writer"].notes, _SHARED.format(tokens=shared)),
    )


_SHARED = "each call begins with the same {tokens:,} tokens, which providers with a prompt cache bill once in full"


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``whole_paper``.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    from referee.evidence import QuotationIndex
    from referee.graphs.whole_paper import build_whole_graph
    from referee.graphs.whole_state import WholeContext, initial_state

    refined, changed = await refined_prompts(job, folder, door), what_was_changed(job, lean=False)
    context = WholeContext(
        paper=job.paper,
        run=PaperRun(
            shared=shared_paper(job),
            form=form_of(job),
            sections={section.id: section.heading for section in job.paper.content},
            index=QuotationIndex(job.paper),
            door=door,
            versions=job.settings.review.prompt_versions,
        ),
        review_id=f"r-{folder.record.run_id}",
        source=job.models["writer"].spec.id,
        parts=_parts(job),
        steps=_steps(job, refined),
        ablated=frozenset(job.settings.review.ablate),
    )
    state = await run_machine(folder, build_whole_graph(), context, initial_state())
    failed = failed_lines(state["failures"])
    notes = (*guidance_notes(job, refined), *sorted(set(state["notes"])), *failed)
    written = Written(state["review"], (), notes, refined.digests() if refined else {})
    return marked(job, written, changed) if changed else written


def inputs(job: Job) -> dict[str, str]:
    """What decides the readings of a run; the keys read well after "was started with another"."""
    return {
        **ablation_inputs(job, lean=False),
        "choice of readings": job.settings.review.readings,
        **guidance_inputs(job),
    }


def _parts(job: Job) -> tuple[FocusPart, ...]:
    kinds = _KINDS[job.settings.review.readings]
    return focus_parts(job.paper, kinds) if kinds else ()


def _steps(job: Job, refined: RefinedPrompts | None) -> tuple[SectionPrompt, ...]:
    """What the venue asks readers to look at: refined steps, else each guideline in its own words."""
    if "venue" in job.settings.review.ablate:
        return about_the_paper(general_prompts())
    if refined is not None:
        return about_the_paper(refined_section_prompts(job.form, refined))
    words = {guideline.id: guideline.text for guideline in job.form.guidelines}
    return about_the_paper(replace(prompt, steps=(words[prompt.guideline_id],)) for prompt in section_prompts(job.form))
