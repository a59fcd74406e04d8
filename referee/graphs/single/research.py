"""Strategies ``archetype``, ``aligned`` and ``enriched``: ``single`` with another prompt. For research alone.

``archetype`` writes in the manner of one kind of reviewer: balanced, conservative, innovative or nitpicky, drawn
uniformly. ``aligned`` writes to agree with a rating that is given, ``enriched`` so too, with
a list of dos and don'ts.

Source: "Is Your Paper Being Reviewed by an LLM?" (Yu et al.), the appendix on archetype prompts, and score-aligned
reviews, whose prompt names the rating label of a human review of the same paper. The words of the personas are ours.

Deviations: a persona is drawn by the paper's id and not by a human review's, so that one paper gets one persona
wherever it is reviewed; ``review.persona`` names another. No decision is shown, which the source leaves open. The
rating to agree with is a setting, ``review.target``, an option of the form's overall field by its label or its value;
the reply may choose no other, so that none has to be thrown away. Quotations are looked up and scores are settled by
code, as in ``single``: where no verified quotation supports it, the rating is null in the review and stands only in
the file for the form.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from referee.agents.single_reviewer import PERSONAS, Persona, Variation, persona_text
from referee.errors import DataError, SettingsError
from referee.graphs.job import Job
from referee.graphs.single.strategy import Single
from referee.schemas.venue import FormField, Option, VenueForm
from referee.venues import parse_score


class Archetype(Single):
    """One call in the manner of a persona."""

    name = "archetype"
    title = "one call in the manner of a kind of reviewer"
    research_only = True
    takes_steps = False
    takes_figures = False

    def prepared(self, job: Job) -> tuple[Job, Variation]:
        """The prompt with the persona."""
        inputs = {"persona": persona_text(_persona(job))}
        return job, Variation("review/archetype", "review/archetype-brief", inputs)

    def how(self, job: Job) -> str:
        """Which persona, and why this one."""
        origin = "named by review.persona" if job.settings.review.persona else "drawn by the paper's id"
        return f"its reviewer was given the persona {_persona(job)!r}, {origin}"

    def inputs(self, job: Job) -> dict[str, str]:
        """The persona decides the run."""
        return {**super().inputs(job), "persona": _persona(job)}


class Aligned(Single):
    """One call on a form whose overall field offers the given rating alone."""

    name = "aligned"
    title = "one call that argues for a given rating"
    research_only = True
    takes_steps = False
    takes_figures = False

    def prepared(self, job: Job) -> tuple[Job, Variation]:
        """The job with the narrowed form, and the prompt that names the rating."""
        option, overall = _target(job), job.form.field(str(job.form.overall))
        said = f"The overall rating ({overall.name}) is {_shown(option)}. {option.means} {_scale(overall)}"
        variation = Variation("review/aligned", "review/aligned-brief", {"target": " ".join(said.split())})
        return replace(job, form=narrowed_form(job.form, option)), variation

    def how(self, job: Job) -> str:
        """Which rating."""
        return f"it was written to agree with the given rating {_shown(_target(job))!r}"

    def inputs(self, job: Job) -> dict[str, str]:
        """The target decides the run.

        Raises:
            SettingsError: As for ``single``, or the target is missing or none of the form's options.
        """
        return {**super().inputs(job), "rating to agree with": _shown(_target(job))}


class Enriched(Aligned):
    """``aligned`` with a list of what to do and what not, in a prompt of its own."""

    name = "enriched"
    title = "aligned, with a list of dos and don'ts"

    def prepared(self, job: Job) -> tuple[Job, Variation]:
        """As ``aligned``, with its own prompt."""
        narrowed, variation = super().prepared(job)
        return narrowed, replace(variation, prompt="review/enriched", brief_prompt="review/enriched-brief")


def drawn_persona(paper_id: str) -> Persona:
    """The persona of a paper: one of the four, equally likely, the same each time."""
    number = int.from_bytes(hashlib.sha256(f"archetype\x00{paper_id}".encode()).digest()[:8], "big")
    return PERSONAS[number % len(PERSONAS)]


def target_option(form: VenueForm, target: str | None) -> Option:
    """The option of the form's overall field that a target names.

    Args:
        form: The venue's form.
        target: A value (``4``), a label, or both (``4: Borderline accept``).

    Raises:
        SettingsError: The form has no overall field, or the target is missing or none of its options.
    """
    if form.overall is None:
        raise SettingsError(
            f"{form.id!r} has no overall rating that a review could agree with.", hint="Use another venue or strategy."
        )
    field = form.field(form.overall)
    offer = f"Give --target (review.target) one of: {', '.join(map(_shown, field.options))}."
    if target is None or not target.strip():
        raise SettingsError("strategy 'aligned' needs the rating that the review is to agree with.", hint=offer)
    asked = target.strip().casefold()
    for option in field.options:
        if asked in (option.label.casefold(), _shown(option).casefold()):
            return option
    try:
        value = parse_score(field, target)
    except DataError:
        value = None
    named = next((option for option in field.options if value is not None and option.value == value), None)
    if named is None:
        raise SettingsError(f"review.target {target!r} is no option of {field.name!r} of {form.id!r}.", hint=offer)
    return named


def narrowed_form(form: VenueForm, option: Option) -> VenueForm:
    """The form with one option of its overall field."""
    fields = [
        {**field.model_dump(), "options": [option.model_dump()]} if field.name == form.overall else field.model_dump()
        for field in form.fields
    ]
    return VenueForm.model_validate({**form.model_dump(), "fields": fields, "accept_at": None})


def _persona(job: Job) -> Persona:
    return job.settings.review.persona or drawn_persona(job.paper.paper_id)


def _target(job: Job) -> Option:
    return target_option(job.form, job.settings.review.target)


def _scale(field: FormField) -> str:
    return f"The whole scale: {'; '.join(map(_shown, field.options))}."


def _shown(option: Option) -> str:
    value = option.value if isinstance(option.value, str) else f"{option.value:g}"
    return f"{value}: {option.label}" if option.label and option.label != value else value
