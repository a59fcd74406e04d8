"""``compile_venue``: a venue's guideline page in, a venue of the user's own out, and a run folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.agents import form_reader, page_reader
from referee.agents.guideline_labeller import (
    FULL_ROOM_TOKENS,
    LEAN_ROOM_TOKENS,
    ROLE,
    cut_windows,
    label_prompt,
    needs_call,
    render_window,
    reply_tokens,
)
from referee.agents.page_reader import PageReply
from referee.api.options import RunOptions
from referee.api.session import Session, session
from referee.api.venues.page_source import PAGE_COPY, ReadPage, open_pages
from referee.api.venues.refining import refine_prompts
from referee.errors import BudgetExceeded, RefereeError, VenueError
from referee.graphs.running import run_machine
from referee.llm.door import Door
from referee.llm.models import Model, Models, check_models
from referee.prompts import RenderedPrompt, load_prompt, prompt_digests
from referee.runs import Event
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues import load_venue, venue_digest
from referee.venues.compiled import drafted_fields
from referee.venues.page import (
    Candidate,
    GuidelinePage,
    Window,
    candidates,
    check_holds_guidelines,
    form_fields,
    text_for,
    windows,
)
from referee.venues.page_places import diff_text, page_lines
from referee.venues.refined import RefinedPrompts, refinable
from referee.venues.registry import check_storable, check_venue_id, store_venue, venue_json
from referee.venues.statements import Statement, check_conserved

STATEMENTS = "guidelines.json"
VENUE = "venue.json"
PAGE_DIFF = "page.diff"
REFINEMENT = "refinement"
ROUNDS = 3


@dataclass(frozen=True)
class Compiled:
    """A compiled venue and how it came about.

    ``statements`` are all that code cut from the page; ``path`` is where the venue was stored, ``backup`` the file it
    replaced, ``run`` the run folder. ``paper_type`` is empty where the page names none. ``refined`` holds the
    prompts where they were refined, whose usage is not part of ``usage``.
    """

    form: VenueForm
    path: Path
    backup: Path | None
    run: Path
    page: GuidelinePage
    paper_type: str
    statements: tuple[Statement, ...]
    notes: tuple[str, ...]
    usage: Usage
    refined: RefinedPrompts | None = None


async def compile_venue(
    source: str | Path | Sequence[str | Path],
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
        source: An http or https address, or an HTML, Markdown, text, PDF or Word file; or several, read as one page.
        venue_id: The id by which the venue is used: lower-case letters, digits and hyphens.
        name: Its name; the page's title by default.
        paper_type: Whose guidelines are kept where the page has several types of paper; the first by default.
        form: A venue whose form is borrowed, in place of what the page shows.
        model: The model that reads the page; ``local`` by default, which only labels what code cut.
        rounds: Rounds in which the new venue's prompts are refined; 3 by default, 0 on the embedded model.
        force: Whether the venue may stand in for a bundled one, or replace one of the user's; and whether a page that
            is taken for no guidelines is compiled all the same.
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
        given = [source] if isinstance(source, str | Path) else list(source)
        run.progress(Event("stage", f"reading {', '.join(map(str, given))}"))
        read = await open_pages([str(each) for each in given], run.place.path if run.place.resumed else None)
        cut = candidates(read.page, paper_type)
        models = await run.open_models()
        job = compile_job(venue_id, name, read, cut, paper_type, lender, settings, models)
        if not job.pieces and not force:
            check_holds_guidelines(read.page, cut)
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
        pieces=job.pieces,
        most_out=page_reader.most_output(job.models[ROLE].context_tokens),
        force=force,
        others=tuple((each.page, each.origin) for each in job.source.parts),
        lender=job.lender,
    )
    run.write(PAGE_COPY, job.source.to_json())
    state = await run_machine(build_guidelines_graph, context, initial_state())
    statements = tuple(Statement.model_validate(fate) for fate in state["statements"])
    run.write(STATEMENTS, _statements_json(job, statements))
    if state["venue"] is None:
        raise _refused(job, state["readings"], statements) if job.pieces else _no_criterion(job, statements)
    form = VenueForm.model_validate(state["venue"])
    run.write(VENUE, venue_json(form))
    run.write(PAGE_DIFF, diff_text(page_lines(form, job.source.page)))
    stored = store_venue(form, force=force)
    return Compiled(
        form=form,
        path=stored.path,
        backup=stored.backup,
        run=run.path,
        page=job.source.page,
        paper_type=job.paper_type,
        statements=statements,
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


def _refused(job: CompileJob, replies: Sequence[PageReply], statements: tuple[Statement, ...]) -> VenueError:
    from referee.graphs.guidelines_reading import refusal_of

    why = refusal_of(replies, statements, job.source.page)
    return VenueError(
        f"{job.source.origin.name!r} holds no guidelines for reviewers: {why}. Nothing was stored.",
        hint="Give the page that tells reviewers what to look for; or add --force to go on with what was read.",
        ids={"venue": job.venue_id},
    )


def _no_criterion(job: CompileJob, statements: tuple[Statement, ...]) -> VenueError:
    reasons = Counter(fate.reason for fate in statements)
    said = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return VenueError(
        f"no criterion was found on {job.source.origin.name!r} ({said}). Nothing was stored.",
        hint=f"The statements are in the run's {STATEMENTS}; try another --model or another page, or add --force.",
        ids={"venue": job.venue_id},
    )


def _statements_json(job: CompileJob, statements: tuple[Statement, ...]) -> str:
    """Every statement and its fate, and what code left out before; the counts add up."""
    cut = [fate.id for fate in statements] if job.pieces else [candidate.id for candidate in job.cut]
    counts = check_conserved(cut, statements)
    page = job.source.page
    data = {
        "page": {"title": page.title, "extractor": page.extractor, "language": page.language},
        "counts": {"candidates": len(statements), **{fate: counts[fate] for fate in ("kept", "merged", "dropped")}},
        "candidates": [fate.model_dump(mode="json") for fate in statements],
        "left_out_by_code": [{"words": item.words, "reason": item.reason} for item in page.dropped],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


# Of the longest reply a window allows, a typical reply takes about this share.
_TYPICAL_SHARE = 0.5


@dataclass(frozen=True)
class CompileJob:
    """What is read or cut from the page, by whom, and whose form is borrowed, if any.

    ``pieces`` are empty where code reads the page and a model only labels ``windows``.
    """

    venue_id: str
    venue_name: str
    source: ReadPage
    paper_type: str
    cut: tuple[Candidate, ...]
    windows: tuple[Window, ...]
    lender: VenueForm | None
    settings: Settings
    models: Models
    pieces: tuple[str, ...] = ()

    @property
    def lean(self) -> bool:
        """Whether the model is one that reads slowly."""
        return self.models[ROLE].spec.is_local


def compile_plan(job: CompileJob) -> ReviewEstimate:
    """Calls and tokens, known before the first reply but for the length of replies."""
    if job.pieces:
        return _reading_plan(job)
    model = job.models[ROLE]
    lean, language = job.lean, job.source.page.language
    asked = [window for window in job.windows if needs_call(window, lean=lean, language=language)]
    prompts = [render_window(window, venue_name=job.venue_name, lean=lean, language=language) for window in asked]
    most_out = sum(reply_tokens(window, lean=lean) for window in asked)
    drafts = drafted_fields(form_fields(job.source.page), job.paper_type) if job.lender is None else ()
    if unclear := form_reader.unclear_scores(drafts):
        prompts.append(form_reader.render_form_prompt(unclear, venue_name=job.venue_name))
    return _planned(model, prompts, int(most_out * _TYPICAL_SHARE))


def _planned(model: Model, prompts: Sequence[RenderedPrompt], tokens_out: int) -> ReviewEstimate:
    tokens_in = sum(model.count(prompt.system) + model.count(prompt.user) for prompt in prompts)
    return ReviewEstimate(
        strategy="guidelines",
        models={ROLE: model.spec.id},
        calls=len(prompts),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=model.cost(tokens_in, tokens_out),
        notes=tuple(model.notes),
    )


def _reading_plan(job: CompileJob) -> ReviewEstimate:
    model = job.models[ROLE]
    prompts = [
        page_reader.render_piece(number, job.pieces, venue_name=job.venue_name) for number in range(len(job.pieces))
    ]
    # What is copied from a page is about as long as the page, and at most what a reply may be.
    tokens_out = sum(
        min(page_reader.most_output(model.context_tokens), 200 + model.count(piece)) for piece in job.pieces
    )
    return _planned(model, prompts, tokens_out)


def compile_job(
    venue_id: str,
    name: str | None,
    read: ReadPage,
    cut: tuple[Candidate, ...],
    paper_type: str | None,
    lender: VenueForm | None,
    settings: Settings,
    models: Models,
) -> CompileJob:
    """Divide the page into pieces or windows that suit the model, and settle name and paper type."""
    model = models[ROLE]
    kept = _kept_type(read.page, cut, paper_type)
    reads = page_reader.reads_pages(is_local=model.spec.is_local, context_tokens=model.context_tokens)
    text = text_for(read.page, kept)
    room = LEAN_ROOM_TOKENS if model.spec.is_local else min(FULL_ROOM_TOKENS, model.context_tokens // 3)
    return CompileJob(
        venue_id=venue_id,
        venue_name=" ".join((name or read.page.title or venue_id).split()),
        source=read,
        paper_type=kept,
        cut=cut,
        windows=cut_windows(windows(cut, room, model.count), lean=model.spec.is_local),
        lender=lender,
        settings=settings,
        models=models,
        pieces=page_reader.page_pieces(text, model.context_tokens, model.count) if reads else (),
    )


def _kept_type(page: GuidelinePage, cut: tuple[Candidate, ...], asked: str | None) -> str:
    """The type of paper whose guidelines were kept; ``candidates`` has refused one the page does not name."""
    if not page.paper_types:
        return ""
    named = {candidate.paper_type for candidate in cut} - {""}
    return next((kind for kind in page.paper_types if kind in named), asked or page.paper_types[0])


def job_inputs(job: CompileJob) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    return {
        "page": job.source.origin.sha256,
        "venue id": job.venue_id,
        "venue name": job.venue_name,
        "paper type": job.paper_type,
        "form to borrow": venue_digest(job.lender) if job.lender else "",
        "division of the page": _digest(job.pieces or [[c.id, c.words] for w in job.windows for c in w.candidates]),
        **{f"version of prompt {name}": digest for name, digest in job_prompts(job).items()},
        "temperature": str(job.settings.models.temperature),
        "model": job.models[ROLE].spec.id,
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()


def job_prompts(job: CompileJob) -> dict[str, str]:
    """Digest by prompt and version, of the prompts a run may use."""
    if job.pieces:
        return prompt_digests([load_prompt(page_reader.PROMPT)])
    return prompt_digests([label_prompt(lean=job.lean), load_prompt(form_reader.PROMPT)])
