"""``refine_prompts``: a venue's prompts, criticised and revised with the chosen models; a run folder beside."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import referee
from referee.api.job import Plan
from referee.api.recording import recorded
from referee.api.refined_steps import (
    ROLES,
    Refinement,
    plan_refinement,
    prompt_digests,
    refine_in_run,
    stored_refinement,
)
from referee.errors import RunError, SettingsError, VenueError
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.models import Models, open_models
from referee.runs import Budget, Event, Ledger, Progress, RunFolder, silent
from referee.runs.folder import TRACE, check_new, check_resumable
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings, load_settings
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
    confirm: Callable[[Plan], bool] | None = None,
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
    overrides = {
        "models.default": model,
        "models.roles": dict(model_for) if model_for else None,
        "models.base_url": base_url,
        "budget.max_cost": max_cost,
        "budget.max_tokens": max_tokens,
        "calls.cache": cache,
    }
    settings = load_settings(overrides) if settings is None else changed_settings(settings, overrides)
    form = venue if isinstance(venue, VenueForm) else load_venue(venue)
    refinement = Refinement(_checked(form), settings, _checked_rounds(rounds), until_stable)
    if resume is None and settings.calls.cache and (stored := stored_refinement(refinement, either=False)):
        return stored
    folder = _checked_folder(form, out, resume)
    models = await open_models(settings, progress)
    try:
        inputs = _inputs(refinement)
        if resume is not None:
            check_resumable(folder, inputs)
        if confirm is not None and not confirm(plan_refinement(refinement, models)):
            raise RunError("not confirmed: nothing was sent or written.", hint="Add --yes to go on without asking.")
        with _opened(folder, resume is not None, refinement, models) as run:
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


def _checked_folder(form: VenueForm, out: str | Path | None, resume: str | Path | None) -> Path:
    if resume is None:
        folder = Path(out) if out is not None else _default_folder(form)
        check_new(folder)
        return folder
    if out is not None and Path(out) != Path(resume):
        raise RunError("--resume and --out name different folders.", hint="Leave --out away: --resume names the run.")
    check_resumable(Path(resume))
    return Path(resume)


def _default_folder(form: VenueForm) -> Path:
    base = Path("referee-runs") / f"refine-{form.id}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


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


def _opened(folder: Path, resumed: bool, refinement: Refinement, models: Models) -> RunFolder:
    inputs, values = _inputs(refinement), refinement.settings.model_dump(mode="json")
    if resumed:
        return RunFolder.resume(folder, inputs=inputs, settings=values)
    return RunFolder.create(
        folder,
        command="venue refine",
        inputs=inputs,
        settings=values,
        models={role: models[role].record() for role in ROLES},
        prompts=prompt_digests(refinement.prompts),
        package_version=referee.__version__,
    )


async def _run(run: RunFolder, refinement: Refinement, models: Models, progress: Progress) -> RefinedPrompts:
    settings = refinement.settings
    progress(Event("run", os.fspath(run.path)))
    ledger = Ledger(run.path / TRACE)
    budget = Budget(settings.budget.max_cost, settings.budget.max_tokens, spent=ledger.usage())
    cache = ReplyCache(cache_root() / "replies") if settings.calls.cache else None
    door = Door(models, calls=settings.calls, ledger=ledger, budget=budget, cache=cache, progress=progress)
    with recorded(run, ledger):
        refined = await refine_in_run(refinement, run, door, reuse=False, either=False, progress=progress)
        run.set_usage(ledger.usage(), ledger.usage_by_role())
        run.set_status("finished")
    return refined
