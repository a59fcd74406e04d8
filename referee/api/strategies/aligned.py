"""Strategy ``aligned``: ``single``, written to agree with a rating that is given. For research on reviewing only.

Source: "Is Your Paper Being Reviewed by an LLM?" (Yu et al.), score-aligned reviews: the prompt names
the rating label of a human review of the same paper, and one review is generated for each.

Deviations: the rating is a setting, ``review.target``, an option of the form's overall field by its label or its value;
the reply may choose no other, so that none has to be thrown away. Where no verified quotation supports it, the rating
is null in the review and stands only in the file for the form, as in ``single``.
"""

from __future__ import annotations

from dataclasses import replace

from referee.agents.single_reviewer import ROLE, Variation
from referee.api.job import Job, Written
from referee.api.strategies import single
from referee.api.strategies.research import marked, marked_plan
from referee.api.strategies.strategy import Strategy
from referee.errors import DataError, SettingsError
from referee.llm.door import Door
from referee.prompts import Prompt
from referee.runs import RunFolder
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.venue import FormField, Option, VenueForm
from referee.venues import parse_score

ROLES = (ROLE,)
PROMPT = "review/aligned"
BRIEF_PROMPT = "review/aligned-brief"


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


def prompts(job: Job) -> list[Prompt]:
    """The one prompt that suits the writer's context."""
    return single.prompts(*_aligned(job))


async def plan(job: Job) -> ReviewEstimate:
    """As ``single``."""
    return marked_plan(await single.plan(*_aligned(job)), _how(job))


async def run(job: Job, folder: RunFolder, door: Door) -> Written:
    """Run the machine ``single`` on a form whose overall field offers the target alone.

    Raises:
        RefereeError: What a node recorded as its failure.
    """
    narrowed, variation = _aligned(job)
    return marked(job, await single.run(narrowed, folder, door, variation), _how(job))


def inputs(job: Job) -> dict[str, str]:
    """The target decides the run.

    Raises:
        SettingsError: The preset ``full`` was asked for, or the target is missing or none of the form's options.
    """
    return {**single.inputs(job), "rating to agree with": _shown(target_option(job.form, job.settings.review.target))}


def narrowed_form(form: VenueForm, option: Option) -> VenueForm:
    """The form with one option of its overall field."""
    fields = [
        {**field.model_dump(), "options": [option.model_dump()]} if field.name == form.overall else field.model_dump()
        for field in form.fields
    ]
    return VenueForm.model_validate({**form.model_dump(), "fields": fields, "accept_at": None})


def _aligned(job: Job) -> tuple[Job, Variation]:
    option = target_option(job.form, job.settings.review.target)
    overall = job.form.field(str(job.form.overall))
    said = f"The overall rating ({overall.name}) is {_shown(option)}. {option.means} {_scale(overall)}"
    variation = Variation(PROMPT, BRIEF_PROMPT, {"target": " ".join(said.split())})
    return replace(job, form=narrowed_form(job.form, option)), variation


def _scale(field: FormField) -> str:
    return f"The whole scale: {'; '.join(map(_shown, field.options))}."


def _how(job: Job) -> str:
    option = target_option(job.form, job.settings.review.target)
    return f"it was written to agree with the given rating {_shown(option)!r}"


def _shown(option: Option) -> str:
    value = option.value if isinstance(option.value, str) else f"{option.value:g}"
    return f"{value}: {option.label}" if option.label and option.label != value else value


STRATEGY = Strategy(
    plan=plan,
    prompts=prompts,
    run=run,
    roles=ROLES,
    inputs=inputs,
    title="one call that argues for a given rating",
    calls="1",
    chain="1",
    research_only=True,
)
