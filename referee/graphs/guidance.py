"""What readers are told to look at: the venue's steps, refined where they were, and when a run refines them itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from referee.graphs.job import Job, joined
from referee.graphs.refinement.given import given_inputs, measured_note, pin
from referee.graphs.refinement.run import (
    Refinement,
    measured_refinement,
    plan_refinement,
    refine_in_run,
    stored_refinement,
)
from referee.llm.door import Door
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate
from referee.venues.prompts import SectionPrompt, known_guidelines
from referee.venues.refined import RefinedPrompts, refinable

_MOST_ROUNDS = 10


def refinement_of(job: Job) -> Refinement | None:
    """The refinement that a run goes by, or null where it goes by the steps as they ship.

    Without a preset, steps that were refined for this venue and model are used, those that were measured first: they
    are paid for. A venue of the user's own, of whose guidelines none has steps that ship, is refined first for readers
    of single sections, who are shown nothing else of it, but not by the embedded model, which would take hours.
    ``quick`` never refines and takes what ships, ``full`` always refines.
    """
    review = job.settings.review
    if job.refined is not None or not refinable(job.form) or review.preset == "quick" or "venue" in review.ablate:
        return None
    asked = Refinement(job.form, job.settings, review.rounds)
    if review.preset == "full":
        return asked
    if (stored := _stored(job)) is not None:
        return stored
    own = review.strategy == "sections" and not any(
        guideline.id in known_guidelines() for guideline in job.form.guidelines
    )
    return asked if own and not job.models["writer"].spec.is_local else None


async def refined_prompts(job: Job, folder: RunFolder, door: Door) -> RefinedPrompts | None:
    """The refined steps of a run: from the store, or refined now; null where it goes by the steps as they ship.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    if job.refined is not None:
        pin(job.refined, folder)
        return job.refined
    refinement = refinement_of(job)
    if refinement is None:
        return None
    return await refine_in_run(refinement, folder, door, reuse=True, either=True, progress=job.progress)


def guided_plan(job: Job, quick: ReviewEstimate) -> ReviewEstimate:
    """The estimate with that of the refinement, if the run makes one, and with the other preset's beside it."""
    if job.refined is not None or not refinable(job.form) or "venue" in job.settings.review.ablate:
        return quick
    chosen = refinement_of(job)
    asked = chosen or Refinement(job.form, job.settings, job.settings.review.rounds)
    if stored_refinement(asked, either=True) is None:
        full = joined(plan_refinement(asked, job.models), quick)
    else:
        full = replace(quick, notes=(*quick.notes, "the venue's prompts were refined earlier: no call for them"))
    if chosen is not None and job.settings.review.preset is None and full.calls > quick.calls:
        note = "the venue is your own and has no steps that ship: they are written and refined first"
        full = replace(full, notes=(*full.notes, note))
    plans = {"quick": replace(quick, preset="quick"), "full": replace(full, preset="full")}
    name, other = ("full", "quick") if chosen is not None else ("quick", "full")
    return replace(plans[name], other=plans[other])


def guidance_inputs(job: Job) -> dict[str, str]:
    """What decides the steps of a run, for its resumption."""
    if job.refined is not None:
        return given_inputs(job.refined)
    refinement = refinement_of(job)
    if refinement is None:
        return {}
    return {
        "preset": "full",
        "model for supervisor": refinement.models["supervisor"],
        "refinement of the prompts": refinement.key,
    }


def guidance_notes(job: Job, refined: RefinedPrompts | None) -> tuple[str, ...]:
    """What a review says of the steps its readers were given."""
    if refined is None:
        asked = job.settings.review.preset == "full"
        return ("the venue has no guideline whose prompt could be refined",) if asked else ()
    if said := measured_note(refined):
        return (said,)
    taken = sum(len(guideline.versions) - 1 for guideline in refined.guidelines)
    refused = sum(len(guideline.refusals) for guideline in refined.guidelines)
    failures = sum(len(guideline.failures) for guideline in refined.guidelines)
    when = f"on {refined.refined_at[:10]}" if refined.reused else "for this run"
    bad = f", {failures} calls without a usable reply" if failures else ""
    return (f"prompts refined {when}: {taken} revisions taken, {refused} refused{bad}",)


def about_the_paper(prompts: Iterable[SectionPrompt]) -> tuple[SectionPrompt, ...]:
    """The prompts without those about the review's form."""
    return tuple(prompt for prompt in prompts if not prompt.is_about_the_review)


def _stored(job: Job) -> Refinement | None:
    """The refinement of this venue and model that is stored: measured, or with the rounds of the settings or others."""
    if (measured := measured_refinement(job.form, job.settings)) is not None:
        return measured[0]
    rounds = job.settings.review.rounds
    for number in (rounds, *(n for n in range(_MOST_ROUNDS, 0, -1) if n != rounds)):
        refinement = Refinement(job.form, job.settings, number)
        if stored_refinement(refinement, either=True) is not None:
            return refinement
    return None
