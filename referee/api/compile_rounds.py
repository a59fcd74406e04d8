"""What follows a compilation: the new venue's prompts refined, within what is left of the same limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from referee.api.refining import refine_prompts
from referee.errors import BudgetExceeded, RefereeError
from referee.runs import Progress
from referee.runs.folder import RECORD
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings
from referee.venues.refined import RefinedPrompts, refinable

ROUNDS = 3
REFINEMENT = "refinement"


async def refine_compiled(
    form: VenueForm,
    rounds: int,
    *,
    run: Path,
    used: Usage,
    settings: Settings,
    progress: Progress,
    confirm: Callable[[ReviewEstimate], bool] | None,
) -> RefinedPrompts | None:
    """Refine the prompts of a venue that was just compiled, in a folder of its own inside the compilation's run.

    Args:
        form: The venue, which is stored already.
        rounds: Rounds of criticism; none is done for 0, or where no guideline concerns a section.
        run: The compilation's run folder; a refinement that began there is continued.
        used: What the compilation took of the limits.
        settings: Those of the compilation.
        progress: Called with each event.
        confirm: Shown the plan before the first call.

    Raises:
        RefereeError: As ``refine_prompts``; the hint says that the venue is there, and how to go on.
    """
    if not rounds or not refinable(form):
        return None
    folder = run / REFINEMENT
    begun = (folder / RECORD).is_file()
    try:
        return await refine_prompts(
            form,
            rounds=rounds,
            out=None if begun else folder,
            resume=folder if begun else None,
            settings=_left(settings, used),
            progress=progress,
            confirm=confirm,
        )
    except RefereeError as error:
        there = f"Venue {form.id!r} is stored and can be used without."
        error.hint = f"{there} {error.hint} Or later: referee venue refine {form.id}."
        error.ids["run"] = str(run)
        raise


def _left(settings: Settings, used: Usage) -> Settings:
    """The settings with what a compilation has left of their limits."""
    limits = settings.budget
    taken = used.input_tokens + used.output_tokens
    tokens = None if limits.max_tokens is None else limits.max_tokens - taken
    cost = None if limits.max_cost is None else max(0.0, limits.max_cost - (used.cost_usd or 0.0))
    if tokens is not None and tokens < 1:
        raise BudgetExceeded(
            f"the compilation used all {limits.max_tokens:,} tokens: nothing is left to refine its prompts with.",
            hint="Allow more with --max-tokens.",
        )
    return changed_settings(settings, {"budget.max_tokens": tokens, "budget.max_cost": cost})
