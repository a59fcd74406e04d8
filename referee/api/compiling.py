"""``compile_venue``: a venue's guideline page in, a venue of the user's own out, and a run folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from referee.agents.guideline_labeller import ROLE
from referee.api.compile_job import CompileJob, compile_job, compile_plan, job_inputs, job_prompts
from referee.api.options import RunOptions
from referee.api.page_source import PAGE_COPY, open_page
from referee.api.refining import refine_prompts
from referee.api.session import Session, session
from referee.api.strategies.machine import run_machine
from referee.errors import BudgetExceeded, RefereeError, VenueError
from referee.llm.door import Door
from referee.llm.models import check_models
from referee.runs import Event
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.venues import load_venue
from referee.venues.fates import Fate, check_conserved
from referee.venues.page import GuidelinePage, candidates, check_holds_guidelines
from referee.venues.refined import RefinedPrompts, refinable
from referee.venues.user import check_storable, check_venue_id, store_venue, venue_json

FATES = "guidelines.json"
VENUE = "venue.json"
REFINEMENT = "refinement"
ROUNDS = 3


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
    rounds: int | None = None,
    force: bool = False,
    options: RunOptions = RunOptions(),
) -> Compiled:
    """Compile a venue from its page for reviewers, and store it among the user's own.

    Args:
        source: An http or https address, or an HTML, Markdown or text file.
        venue_id: The id by which the venue is used: lower-case letters, digits and hyphens.
        name: Its name; the page's title by default.
        paper_type: Whose guidelines are kept where the page has several types of paper; the first by default.
        form: A venue whose form is borrowed, in place of what the page shows.
        model: The model that labels; ``local`` by default.
        rounds: Rounds in which the new venue's prompts are refined; 3 by default, 0 on the embedded model.
        force: Whether the venue may stand in for a bundled one, or replace one of the user's.
        options: How it runs; its limits are those of the compilation and the refinement together.

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
    settings = options.settled(model=model)
    check_venue_id(venue_id) if options.resume is not None else check_storable(venue_id, force=force)
    lender = form if isinstance(form, VenueForm) or form is None else load_venue(form)
    check_models(settings)
    async with session("venue compile", "compile", venue_id, options=options, settings=settings) as run:
        run.progress(Event("stage", f"reading {source}"))
        read = await open_page(str(source), run.place.path if run.place.resumed else None)
        cut = candidates(read.page, paper_type)
        check_holds_guidelines(read.page, cut)
        models = await run.open_models()
        job = compile_job(venue_id, name, read, cut, paper_type, lender, settings, models)
        run.check_inputs(job_inputs(job))
        run.confirm(compile_plan(job))
        door = run.begin(models, roles=(ROLE,), prompts=job_prompts(job))
        compiled = await _compiled(run, job, door, force)
    if rounds is None:
        rounds = 0 if job.lean else ROUNDS
    return replace(compiled, refined=await _refined(compiled, rounds, replace(options, settings=settings)))


async def _compiled(run: Session, job: CompileJob, door: Door, force: bool) -> Compiled:
    from referee.graphs.guidelines import build_guidelines_graph, notes_of
    from referee.graphs.guidelines_state import GuidelinesContext, initial_state

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
    run.write(PAGE_COPY, job.source.to_json())
    state = await run_machine(run.folder, build_guidelines_graph(), context, initial_state())
    fates = tuple(Fate.model_validate(fate) for fate in state["fates"])
    run.write(FATES, _fates_json(job, fates))
    if state["venue"] is None:
        raise _no_criterion(job, fates)
    form = VenueForm.model_validate(state["venue"])
    run.write(VENUE, venue_json(form))
    stored = store_venue(form, force=force)
    return Compiled(
        form=form,
        path=stored.path,
        backup=stored.backup,
        run=run.path,
        page=job.source.page,
        paper_type=job.paper_type,
        fates=fates,
        notes=notes_of(state),
        usage=run.usage,
    )


async def _refined(compiled: Compiled, rounds: int, options: RunOptions) -> RefinedPrompts | None:
    """The new venue's prompts, refined in a folder of its own inside the compilation's run, within what is left.

    None is done for 0 rounds, or where no guideline concerns a section. A refinement that began is continued.

    Raises:
        RefereeError: As ``refine_prompts``; the hint says that the venue is there, and how to go on.
    """
    form = compiled.form
    if not rounds or not refinable(form):
        return None
    try:
        return await refine_prompts(
            form, rounds=rounds, options=_left(options, compiled.usage).within(compiled.run / REFINEMENT)
        )
    except RefereeError as error:
        there = f"Venue {form.id!r} is stored and can be used without."
        error.hint = f"{there} {error.hint} Or later: referee venue refine {form.id}."
        error.ids["run"] = str(compiled.run)
        raise


def _left(options: RunOptions, used: Usage) -> RunOptions:
    """The options with what a compilation has left of its limits."""
    limits = options.settled().budget
    tokens = None if limits.max_tokens is None else limits.max_tokens - used.total_tokens
    cost = None if limits.max_cost is None else max(0.0, limits.max_cost - (used.cost_usd or 0.0))
    if tokens is not None and tokens < 1:
        raise BudgetExceeded(
            f"the compilation used all {limits.max_tokens:,} tokens: nothing is left to refine its prompts with.",
            hint="Allow more with --max-tokens.",
        )
    return replace(options, max_tokens=tokens, max_cost=cost)


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
