"""``review``: a paper and a venue in, a review on the venue's form and a run folder out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Literal

from referee.agents.form_reply import lengths_for
from referee.api.loading_ahead import read_and_load
from referee.api.looking import Looking, look, to_look_at, with_figures
from referee.api.options import RunOptions
from referee.api.outside import NOTHING, Outside, look_outside, where, with_outside
from referee.api.resuming import named
from referee.api.review_pages import begin_drawing, write_page
from referee.api.session import Session, session
from referee.errors import ContextTooLong, SettingsError
from referee.evidence.listing import listed
from referee.graphs.job import Job, Shared, Written
from referee.graphs.strategies import DEFAULT, STRATEGIES, default_strategy
from referee.llm.catalogue import cache_root
from referee.llm.models import check_models
from referee.llm.spec import ModelSpec
from referee.machine import refuse_special_file
from referee.papers import fetch_paper, remote_name
from referee.papers.isolated import load_as_set
from referee.prompts import prompt_digests
from referee.runs import Event, Ledger
from referee.schemas.calibration import RatingMap
from referee.schemas.paper import Paper
from referee.schemas.review import Provenance, Review
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings
from referee.venues import load_venue, venue_digest
from referee.venues.refined import RefinedPrompts
from referee.version import VERSION


async def review(
    paper: str | Path | Paper,
    *,
    venue: str | Path | VenueForm,
    strategy: str | None = None,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    embedder: str | None = None,
    appendices: bool | None = None,
    preset: str | None = None,
    rounds: int | None = None,
    sample: int = 0,
    strategy_options: Mapping[str, object] | None = None,
    calibration: str | Path | RatingMap | None = None,
    references: str | Path | None = None,
    support: bool | None = None,
    literature: str | Path | None = None,
    as_of: date | None = None,
    contact: str | None = None,
    figures: Literal["auto", "none", "pages"] | None = None,
    shared: Shared | None = None,
    refined: RefinedPrompts | None = None,
    options: RunOptions = RunOptions(),
) -> Review:
    """Review a paper on a venue's own form.

    Args:
        paper: A file (PDF, LaTeX, Word, HTML, Markdown, plain text), a LaTeX submission, packed or a folder, a
            ``Paper``, or as text an arXiv id or an http(s) address. A file of that name goes first.
        venue: A venue's id (``neurips-2025``), a venue file, or a ``VenueForm``. It is never guessed.
        strategy: How the review is made: ``audited`` (the default; ``single`` on the embedded model), or another of
            ``docs/strategies.md``.
        model: The model for all roles: ``local`` (the embedded default), ``openai:NAME``, ``anthropic:NAME``,
            ``google_genai:NAME``, or a server's own name with ``base_url`` in the options.
        model_for: Other models for single roles.
        embedder: The embedding model.
        appendices: Whether ``sections`` reviews the appendices too; False by default.
        preset: ``full`` refines the venue's prompts with the run's models first, ``quick`` (the default) takes those
            that ship. For ``audited`` and ``sections``.
        rounds: Rounds of that refinement; 3 by default.
        sample: Tells repeated reviews of one paper apart: replies to another sample are never taken for this one.
        strategy_options: Settings of single strategies by their names under ``review`` (``docs/settings.md``), as
            ``{"ensemble_size": 3}``; those that are None are left out.
        calibration: A rating map of ``referee arena calibrate``: the overall rating becomes what the model's comes to
            in human ratings, and the record keeps what the model stated.
        references: Where the paper's references are looked up: ``online`` or an index; nowhere by default.
        support: Whether the abstracts of verified works are asked for what the paper claims of them.
        literature: Where earlier works are searched for: ``online`` or an index; nowhere by default. Its missing
            comparisons are points of the review; ``audited`` and ``single`` take its works into account where they
            score originality.
        as_of: The last day of works that count; by default the day on which the file says it was made.
        contact: The e-mail address that services ask for.
        figures: Whether figures are shown to a model that takes pictures: cut out (``auto``, the default), as whole
            ``pages``, or not at all (``none``). For ``audited``, ``single`` and ``sections``; a command that makes
            several reviews shows none.
        shared: Models and budget of a command that makes several reviews, in place of this review's own.
        refined: Prompts to go by, in place of those in the store.
        options: How it runs: where, within which limits, and who is told.

    Returns:
        The review. Scores that nothing backs are None, with the reason under ``nulls``.

    Raises:
        PaperParseError: The paper cannot be read or fetched.
        VenueError: The venue is unknown.
        DataError: The file of ``calibration`` holds no map.
        EvaluationError: The map is for another model, form or prompt.
        SettingsError: A setting, model name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached, refused, or gave no valid reply.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    own = {
        "review.strategy": strategy,
        "embedder": embedder,
        "review.appendices": appendices,
        "review.preset": preset,
        "review.rounds": rounds,
        "review.references": where(references),
        "review.support": support,
        "review.literature": where(literature),
        "review.as_of": as_of,
        "citations.contact": contact,
        "review.figures": figures,
        **{f"review.{name}": value for name, value in (strategy_options or {}).items()},
    }
    settings = options.settled(own, model=model, model_for=model_for)
    if rounds is not None and settings.review.preset != "full":
        raise SettingsError(f"--rounds {rounds} goes with --preset full.", hint="Add it, or leave --rounds away.")
    form = venue if isinstance(venue, VenueForm) else load_venue(venue)
    rating_map = _rating_map(calibration)
    specs = check_models(settings)
    if rating_map is not None and specs["writer"].is_local:
        raise SettingsError(
            "a review by the embedded model states no rating that --calibration could map.",
            hint="Name another --model, or leave --calibration away.",
        )
    unnamed = settings.review.strategy == "auto"
    settings = _with_strategy(settings, embedded=specs["writer"].is_local)
    asked = named(paper, venue)
    async with session("review", _stem(paper), form.id, options=options, settings=settings) as run:
        file, read = (None, paper) if isinstance(paper, Paper) else await _read(paper, run, specs)
        outside = Outside.opened(settings, file)
        run.closing(outside.close)
        models = shared.models if shared else await run.open_models()
        job = Job(read, form, settings, models, run.progress, refined)
        if unnamed:
            job = await _for_the_window(job)
        strategy_used = STRATEGIES[job.settings.review.strategy]
        looking = await to_look_at(job, file, run, strategy_used) if shared is None else None
        extra = outside.inputs(settings) | ({"sample": str(sample)} if sample else {})
        extra |= looking.inputs() if looking else {}
        run.check_inputs(_inputs(job, rating_map) | extra)
        plan = outside.planned(await strategy_used.plan(job), job)
        run.confirm(looking.planned(plan, job) if looking else plan)
        if plan.cut is not None:
            run.cuts[job.paper.paper_id] = plan.cut
        budget = shared.budget if shared else None
        door = run.begin(
            models,
            roles=strategy_used.roles,
            prompts=_prompts(job, outside, looking),
            asked=asked,
            budget=budget,
            sample=sample,
        )
        drawing = begin_drawing(run, file, read) if shared is None else None
        looked_up, job = await look_outside(outside, job, run, door)
        job = await look(looking, job, run, door)
        written = await strategy_used.run(job, run.folder, door)
        reviewed = with_figures(with_outside(written.review, form, looked_up, job.literature), job)
        written = replace(written, review=reviewed)
        finished = _finished(written, run, job, door.ledger, rating_map)
        _write(run, finished, form)
        if shared is None:
            await write_page(run, finished, read, file, form, drawing)
        return finished


def _stem(paper: str | Path | Paper) -> str:
    return paper.paper_id[:12] if isinstance(paper, Paper) else remote_name(paper) or Path(paper).absolute().stem


async def _read(paper: str | Path, run: Session, specs: Mapping[str, ModelSpec]) -> tuple[Path, Paper]:
    """The paper and its file, which is fetched first where it is none."""
    path = await _fetched(str(paper), run) if remote_name(paper) else Path(paper)
    refuse_special_file(path)
    run.progress(Event("stage", f"reading {path.name or path}"))
    return path, await read_and_load(path, run.settings, specs.values(), run.progress)


def _rating_map(given: str | Path | RatingMap | None) -> RatingMap | None:
    """The map itself; what reads and applies it is loaded only where there is one."""
    if not isinstance(given, str | Path):
        return given
    from referee.api.rating_maps import read_rating_map

    return read_rating_map(Path(given))


def _with_strategy(settings: Settings, *, embedded: bool) -> Settings:
    """The settings with a strategy, the default one where none is named."""
    if settings.review.strategy != "auto":
        return settings
    return changed_settings(settings, {"review.strategy": default_strategy(embedded=embedded)})


async def _for_the_window(job: Job) -> Job:
    """The job, part by part where the window is too short for the default strategy, which reads all at once."""
    if job.settings.review.strategy != DEFAULT:
        return job
    writer = job.models["writer"]
    try:
        held = (await STRATEGIES[DEFAULT].plan(job)).cut is None
    except ContextTooLong:
        held = False
    if held and not lengths_for(job.form, writer.context_tokens).brief:
        return job
    missing = "a list of points beside the paper" if held else "the paper"
    why = f"the context of {writer.context_tokens:,} tokens of {writer.spec.id} does not hold {missing}"
    job.progress(Event("note", f"{why}: it is read part by part (--strategy sections)"))
    return replace(job, settings=changed_settings(job.settings, {"review.strategy": "sections"}))


async def _fetched(source: str, run: Session) -> Path:
    limits = run.settings.paper
    return await fetch_paper(
        source,
        cache_root(),
        max_bytes=limits.max_bytes,
        progress=run.progress,
        readable=lambda path: load_as_set(path, limits),
    )


def _inputs(job: Job, rating_map: RatingMap | None) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    ours = {}
    if rating_map is not None:
        from referee.api.rating_maps import map_digest, require_fit

        require_fit(rating_map, job)
        ours["rating map"] = map_digest(rating_map)
    return {
        "paper": job.paper.paper_id,
        "venue form": venue_digest(job.form),
        "strategy": job.settings.review.strategy,
        **{f"version of prompt {name}": digest for name, digest in _prompts(job).items()},
        "temperature": str(job.settings.models.temperature),
        **{f"model for {role}": job.models[role].spec.id for role in STRATEGIES[job.settings.review.strategy].roles},
        **STRATEGIES[job.settings.review.strategy].inputs(job),
        **ours,
    }


def _prompts(job: Job, outside: Outside = NOTHING, looking: Looking | None = None) -> dict[str, str]:
    """Digest by prompt and version, of all prompts the strategy, and a search of the literature, may use."""
    used = [
        *STRATEGIES[job.settings.review.strategy].prompts(job),
        *outside.prompts(job),
        *(looking.prompts(job) if looking else ()),
    ]
    return prompt_digests(used)


def _write(run: Session, review: Review, form: VenueForm) -> None:
    """Write each output by itself, the whole review first; one that fails keeps none of the others back."""
    with run.output("review.json"):
        run.write("review.json", review.model_dump_json(indent=2) + "\n")
    with run.output("review.openreview.json"):
        from referee.reports import openreview_object, to_json

        run.write("review.openreview.json", to_json(openreview_object(review, form)))
    with run.output("review.md"):
        from referee.reports import render_review

        run.write("review.md", render_review(review, form))
    with run.output("fixes.md"):
        from referee.reports.fixes import render_fixes

        run.write("fixes.md", render_fixes(review, form))


def _finished(written: Written, run: Session, job: Job, ledger: Ledger, rating_map: RatingMap | None) -> Review:
    """The review with its disclosure and with what made it."""
    from referee.reports import disclosure

    calls = ledger.records
    roles = {call.role for call in calls}
    used = {call.prompt: call.prompt_digest for call in calls}
    provenance = Provenance(
        strategy=job.settings.review.strategy,
        models={role: model_id for role, model_id in job.models.ids().items() if role in roles},
        prompts={name: run.folder.record.prompts.get(name, digest) for name, digest in used.items()}
        | dict(written.prompts),
        package_version=VERSION,
        run_id=run.folder.record.run_id,
        venue_digest=venue_digest(job.form),
        converter=f"{job.paper.converter.name} {job.paper.converter.version}",
        usage=ledger.usage(),
        rules=STRATEGIES[job.settings.review.strategy].takes_rules(job),
        cut=written.cut,
        cuts=written.cuts,
        notes=written.notes,
    )
    review, embedded = written.review, job.models["writer"].spec.is_local
    if embedded:
        from referee.graphs.form_values import as_trial

        review = as_trial(review, job.form)
    if rating_map is not None:
        from referee.api.rating_maps import mapped_review

        review = mapped_review(review, job.form, rating_map)
    review = listed(review, job.form)
    disclosed = disclosure(
        review,
        job.form,
        embedded=embedded,
        mark=written.mark,
        looked_up="quotation-check" not in job.settings.review.ablate,
    )
    return review.model_copy(update={"disclosure": disclosed, "provenance": provenance})
