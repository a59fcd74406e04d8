"""``refine_prompts``: a venue's prompts, criticised and revised with the chosen models; a run folder beside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from referee.api.options import RunOptions
from referee.api.session import session
from referee.errors import SettingsError, VenueError
from referee.graphs.refinement.run import (
    ROLES,
    Refinement,
    plan_refinement,
    refine_in_run,
    stored_refinement,
)
from referee.prompts import prompt_digests
from referee.schemas.venue import VenueForm
from referee.venues import load_venue, venue_digest
from referee.venues.refined import RefinedPrompts, digest_of, refinable
from referee.venues.steps_file import read_steps

MOST_ROUNDS = 10


async def refine_prompts(
    venue: str | Path | VenueForm,
    *,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    rounds: int = 3,
    until_stable: bool = False,
    steps: str | Path | None = None,
    pause: bool = False,
    options: RunOptions = RunOptions(),
) -> RefinedPrompts:
    """Refine the steps that reviewers of sections are given for each guideline of a venue.

    A supervisor criticises the steps with the guideline as the problem statement, and they are revised, in so many
    rounds. Every version and criticism is kept. A second refinement of the same guidelines with the same prompts,
    models and rounds makes no call and no run folder: the stored one is returned, with ``reused`` set.

    Args:
        venue: A venue's id, a venue file, or a ``VenueForm``.
        model: The model for all roles.
        model_for: Other models for single roles: ``writer`` writes and revises, ``supervisor`` criticises.
        rounds: Rounds of criticism and revision, 1 to 10.
        until_stable: End a guideline early when the supervisor has nothing new.
        steps: A file with steps to begin with, in place of those that ship: ``## GUIDELINE`` and numbered lines.
        pause: Stop after each round, for a person to edit the steps in the run folder; a resumed run takes them.
        options: How it runs. Without ``cache`` nothing that was refined earlier is used either.

    Raises:
        VenueError: The venue is unknown, has no guideline that sections are read for, or cannot be stored.
        SettingsError: A setting, model name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached, or refused every call.
        RunPaused: A round was made, with ``pause``; the message names the file to edit.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    settings = options.settled(model=model, model_for=model_for)
    form = venue if isinstance(venue, VenueForm) else load_venue(venue)
    refinement = Refinement(refinable_form(form), settings, _checked_rounds(rounds), until_stable, pause=pause)
    if steps is not None:
        given = read_steps(Path(steps), [guideline.id for guideline in refinement.guidelines])
        refinement = replace(refinement, given=given)
    async with session("venue refine", "refine", form.id, options=options, settings=settings) as run:
        looks = options.resume is None and settings.calls.cache and not pause
        if looks and (stored := stored_refinement(refinement, either=False)):
            return stored
        models = await run.open_models()
        run.check_inputs(refinement_inputs(refinement))
        run.confirm(plan_refinement(refinement, models))
        door = run.begin(models, roles=ROLES, prompts=prompt_digests(refinement.prompts))
        return await refine_in_run(refinement, run.folder, door, reuse=False, either=False, progress=run.progress)


def refinable_form(form: VenueForm) -> VenueForm:
    """The form; raises ``VenueError`` where it has no guideline that sections are read for."""
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


def refinement_inputs(refinement: Refinement) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    return {
        "venue form": venue_digest(refinement.form),
        **({"file of steps": digest_of(dict(refinement.given))} if refinement.given else {}),
        "number of rounds": str(refinement.rounds),
        "choice of --until-stable": str(refinement.until_stable),
        **{f"model for {role}": model for role, model in refinement.models.items()},
        **{f"version of prompt {name}": digest for name, digest in prompt_digests(refinement.prompts).items()},
        "temperature": str(refinement.settings.models.temperature),
        "state of the stored steps": refinement.key,
    }
