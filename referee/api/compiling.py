"""``compile_venue``: a venue's guideline page in, a venue of the user's own out, and a run folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from referee.agents.guideline_labeller import ROLE
from referee.api.call_settings import settings_of_call
from referee.api.compile_job import CompileJob, compile_job, compile_plan, job_inputs, job_prompts
from referee.api.compile_rounds import ROUNDS, refine_compiled
from referee.api.coverage import beside_limits
from referee.api.page_source import PAGE_COPY, open_page
from referee.api.recording import recorded
from referee.api.runs import RunPlace, open_door, require_confirmed
from referee.errors import VenueError
from referee.graphs.running import run_machine
from referee.llm.models import check_models, open_models
from referee.runs import Event, Progress, RunFolder, silent
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import load_venue
from referee.venues.fates import Fate, check_conserved
from referee.venues.page import GuidelinePage, candidates, check_holds_guidelines
from referee.venues.refined import RefinedPrompts
from referee.venues.user import check_storable, check_venue_id, store_venue, venue_json

FATES = "guidelines.json"
VENUE = "venue.json"


@dataclass(frozen=True)
class Compiled:
    """A compiled venue and how it came about.

    ``fates`` hold every statement that code cut from the page; ``path`` is where the venue was stored, ``backup`` the
    file it replaced, ``run`` the run folder. ``paper_type`` is empty where the page names none. ``refined`` holds the
    prompts where they were refined, whose usage is not part of ``usage``.
    """

    form: VenueForm
    path: Path
    backup: Path | None
    run: Path
    page: GuidelinePage
    paper_type: str
    fates: tuple[Fate, ...]
    notes: tuple[str, ...]
    usage: Usage
    refined: RefinedPrompts | None = None


async def compile_venue(
    source: str | Path,
    *,
    venue_id: str,
    name: str | None = None,
    paper_type: str | None = None,
    form: str | Path | VenueForm | None = None,
    model: str | None = None,
    base_url: str | None = None,
    rounds: int | None = None,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    cache: bool | None = None,
    force: bool = False,
    settings: Settings | None = None,
    progress: Progress = silent,
    confirm: Callable[[ReviewEstimate], bool] | None = None,
) -> Compiled:
    """Compile a venue from its page for reviewers, and store it among the user's own.

    Args:
        source: An http or https address, or an HTML, Markdown or text file.
        venue_id: The id by which the venue is used: lower-case letters, digits and hyphens.
        name: Its name; the page's title by default.
        paper_type: Whose guidelines are kept where the page has several types of paper; the first by default.
        form: A venue whose form is borrowed, in place of what the page shows.
        model: The model that labels; ``local`` by default.
        base_url: An OpenAI-compatible server.
        rounds: Rounds in which the new venue's prompts are refined; 3 by default, 0 on the embedded model.
        out: The run folder; by default a new one under ``referee-runs``.
        resume: The folder of an earlier run with the same inputs, to be continued.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out together, that no call may pass.
        cache: Whether replies of earlier runs are used; True by default.
        force: Whether the venue may stand in for a bundled one, or replace one of the user's.
        settings: A ready settings tree; the arguments above then only override what they name.
        progress: Called with each event.
        confirm: Shown the plan before the first call; the run ends without a call where it returns False.

    Returns:
        The venue, where it lies, and what became of each statement of the page.

    Raises:
        VenueError: The id is taken or unusable, the page cannot be read or holds no guidelines for reviewers, the model
            found no criterion. Nothing is stored.
        SettingsError: A setting, model name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached, or refused.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    settings = settings_of_call(
        settings, model=model, base_url=base_url, max_cost=max_cost, max_tokens=max_tokens, cache=cache
    )
    check_venue_id(venue_id) if resume is not None else check_storable(venue_id, force=force)
    lender = form if isinstance(form, VenueForm) or form is None else load_venue(form)
    check_models(settings)
    place = RunPlace("compile", venue_id, out=out, resume=resume)
    progress(Event("stage", f"reading {source}"))
    read = await open_page(str(source), place.path if place.resumed else None)
    cut = candidates(read.page, paper_type)
    check_holds_guidelines(read.page, cut)
    models = await open_models(settings, progress)
    try:
        job = compile_job(venue_id, name, read, cut, paper_type, lender, settings, models, progress)
        inputs = job_inputs(job)
        place.check_inputs(inputs)
        require_confirmed(confirm is None or confirm(beside_limits(compile_plan(job), settings.budget)))
        with place.open(
            "venue compile", inputs=inputs, settings=settings, models=models, roles=(ROLE,), prompts=job_prompts(job)
        ) as run:
            compiled = await _run(run, job, force)
        rounds = rounds if rounds is not None else 0 if job.lean else ROUNDS
    finally:
        await models.aclose()
    refined = await refine_compiled(
        compiled.form,
        rounds,
        run=place.path,
        used=compiled.usage,
        settings=settings,
        progress=progress,
        confirm=confirm,
    )
    return replace(compiled, refined=refined)


async def _run(run: RunFolder, job: CompileJob, force: bool) -> Compiled:
    from referee.graphs.guidelines import build_guidelines_graph, notes_of
    from referee.graphs.guidelines_state import GuidelinesContext, initial_state

    door, ledger = open_door(run, job.models, job.settings, job.progress)
    context = GuidelinesContext(
        venue_id=job.venue_id,
        venue_name=job.venue_name,
        page=job.source.page,
        origin=job.source.origin,
        paper_type=job.paper_type,
        windows=job.windows,
        lean=job.lean,
        door=door,
        lender=job.lender,
        prompt_versions=job.settings.review.prompt_versions,
    )
    with recorded(run, ledger):
        run.write(PAGE_COPY, job.source.to_json())
        state = await run_machine(run, build_guidelines_graph(), context, initial_state())
        fates = tuple(Fate.model_validate(fate) for fate in state["fates"])
        run.write(FATES, _fates_json(job, fates))
        if state["venue"] is None:
            raise _no_criterion(job, fates)
        form = VenueForm.model_validate(state["venue"])
        run.write(VENUE, venue_json(form))
        stored = store_venue(form, force=force)
        run.set_usage(ledger.usage(), ledger.usage_by_role())
        run.set_status("finished")
    return Compiled(
        form=form,
        path=stored.path,
        backup=stored.backup,
        run=run.path,
        page=job.source.page,
        paper_type=job.paper_type,
        fates=fates,
        notes=notes_of(state),
        usage=ledger.usage(),
    )


def _no_criterion(job: CompileJob, fates: tuple[Fate, ...]) -> VenueError:
    reasons = Counter(fate.reason for fate in fates)
    said = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return VenueError(
        f"no criterion was found on {job.source.origin.name!r} ({said}). Nothing was stored.",
        hint=f"The statements are in the run's {FATES}; try another --model, or another page.",
        ids={"venue": job.venue_id},
    )


def _fates_json(job: CompileJob, fates: tuple[Fate, ...]) -> str:
    """Every statement and its fate, and what code left out before; the counts add up."""
    counts = check_conserved([candidate.id for candidate in job.cut], fates)
    page = job.source.page
    data = {
        "page": {"title": page.title, "extractor": page.extractor, "language": page.language},
        "counts": {"candidates": len(job.cut), **{fate: counts[fate] for fate in ("kept", "merged", "dropped")}},
        "candidates": [fate.model_dump(mode="json") for fate in fates],
        "left_out_by_code": [{"words": item.words, "reason": item.reason} for item in page.dropped],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
