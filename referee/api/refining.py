"""``refine_prompts``: a venue's prompts, criticised and revised with the chosen models; a run folder beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from referee.api.call_settings import settings_of_call
from referee.api.coverage import beside_limits
from referee.api.recording import recorded
from referee.api.runs import RunPlace, open_door, require_confirmed
from referee.errors import SettingsError, VenueError
from referee.graphs.refinement.run import (
    ROLES,
    Refinement,
    plan_refinement,
    prompt_digests,
    refine_in_run,
    stored_refinement,
)
from referee.llm.models import Models, open_models
from referee.runs import Progress, RunFolder, silent
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import load_venue, venue_digest
from referee.venues.refined import RefinedPrompts, refinable

MOST_ROUNDS = 10


async def refine_prompts(
    venue: str | Path | VenueForm,
    *,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    base_url: str | None = None,
    rounds: int = 3,
    until_stable: bool = False,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    cache: bool | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    confirm: Callable[[ReviewEstimate], bool] | None = None,
) -> RefinedPrompts:
    """Refine the steps that reviewers of sections are given for each guideline of a venue.

    A supervisor criticises the steps with the guideline as the problem statement, and they are revised, in so many
    rounds. Every version and criticism is kept. A second refinement of the same guidelines with the same prompts,
    models and rounds makes no call and no run folder: the stored one is returned, with ``reused`` set.

    Args:
        venue: A venue's id, a venue file, or a ``VenueForm``.
        model: The model for all roles.
        model_for: Other models for single roles: ``writer`` writes and revises, ``supervisor`` criticises.
        base_url: An OpenAI-compatible server.
        rounds: Rounds of criticism and revision, 1 to 10.
        until_stable: End a guideline early when the supervisor has nothing new.
        out: The run folder; by default a new one under ``referee-runs``.
        resume: The folder of an earlier run with the same inputs, to be continued.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out together, that no call may pass.
        cache: Whether what was refined or answered earlier is used; True by default.
        settings: A ready settings tree; the arguments above then only override what they name.
        progress: Called with each event.
        confirm: Shown the plan before the first call; the run ends without a call where it returns False.

    Raises:
        VenueError: The venue is unknown, has no guideline that sections are read for, or cannot be stored.
        SettingsError: A setting, model name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached, or refused every call.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    settings = settings_of_call(
        settings,
        model=model,
        model_for=model_for,
        base_url=base_url,
        max_cost=max_cost,
        max_tokens=max_tokens,
        cache=cache,
    )
    form = venue if isinstance(venue, VenueForm) else load_venue(venue)
    refinement = Refinement(_checked(form), settings, _checked_rounds(rounds), until_stable)
    if resume is None and settings.calls.cache and (stored := stored_refinement(refinement, either=False)):
        return stored
    place = RunPlace("refine", form.id, out=out, resume=resume)
    models = await open_models(settings, progress)
    try:
        inputs = _inputs(refinement)
        place.check_inputs(inputs)
        plan = beside_limits(plan_refinement(refinement, models), settings.budget)
        require_confirmed(confirm is None or confirm(plan))
        with place.open(
            "venue refine",
            inputs=inputs,
            settings=settings,
            models=models,
            roles=ROLES,
            prompts=prompt_digests(refinement.prompts),
        ) as run:
            return await _run(run, refinement, models, progress)
    finally:
        await models.aclose()


def _checked(form: VenueForm) -> VenueForm:
    if refinable(form):
        return form
    raise VenueError(
        f"venue {form.id!r} has no guideline that sections are read for: there is nothing to refine.",
        hint=f"See its guidelines: referee venue show {form.id}.",
        ids={"venue": form.id},
    )


def _checked_rounds(rounds: int) -> int:
    if 1 <= rounds <= MOST_ROUNDS:
        return rounds
    raise SettingsError(f"{rounds!r} rounds of refinement are not possible.", hint=f"Take 1 to {MOST_ROUNDS}.")


def _inputs(refinement: Refinement) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    return {
        "venue form": venue_digest(refinement.form),
        "number of rounds": str(refinement.rounds),
        "choice of --until-stable": str(refinement.until_stable),
        **{f"model for {role}": model for role, model in refinement.models.items()},
        **{f"version of prompt {name}": digest for name, digest in prompt_digests(refinement.prompts).items()},
        "temperature": str(refinement.settings.models.temperature),
        "state of the stored steps": refinement.key,
    }


async def _run(run: RunFolder, refinement: Refinement, models: Models, progress: Progress) -> RefinedPrompts:
    door, ledger = open_door(run, models, refinement.settings, progress)
    with recorded(run, ledger):
        refined = await refine_in_run(refinement, run, door, reuse=False, either=False, progress=progress)
        run.set_usage(ledger.usage(), ledger.usage_by_role())
        run.set_status("finished")
    return refined
