"""``review``: a paper and a venue in, a review on the venue's form and a run folder out."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import referee
from referee.agents.form_reply import lengths_for
from referee.agents.single_reviewer import ROLE, choose_prompt
from referee.api.plan import Plan, plan_single
from referee.api.strategies import Written, run_single
from referee.errors import BudgetExceeded, RefereeError, RunError
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.models import Models, check_models, open_models
from referee.papers import load_paper
from referee.reports import disclosure, openreview_object, render_review, to_json
from referee.runs import Budget, Event, Ledger, Progress, RunFolder, silent
from referee.runs.folder import CHECKPOINTS, RECORD, TRACE, check_new, check_resumable
from referee.schemas.paper import Paper
from referee.schemas.review import Provenance, Review
from referee.schemas.run import RunStatus
from referee.schemas.venue import VenueForm
from referee.settings import Settings, changed_settings, load_settings
from referee.venues import load_venue, venue_digest

Confirm = Callable[[Plan, VenueForm], bool]


async def review(
    paper: str | Path | Paper,
    *,
    venue: str | Path | VenueForm,
    strategy: str | None = None,
    model: str | None = None,
    model_for: Mapping[str, str] | None = None,
    embedder: str | None = None,
    base_url: str | None = None,
    out: str | Path | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    resume: str | Path | None = None,
    cache: bool | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
    confirm: Confirm | None = None,
) -> Review:
    """Review a paper on a venue's own form.

    Args:
        paper: A file (PDF, Markdown, plain text), or a ``Paper``.
        venue: A venue's id (``neurips-2025``), a venue file, or a ``VenueForm``. It is never guessed.
        strategy: How the review is made; ``single`` by default.
        model: The model for all roles: ``local`` (the embedded default), ``openai:NAME``, ``anthropic:NAME``,
            ``google_genai:NAME``, or a server's own name with ``base_url``.
        model_for: Other models for single roles.
        embedder: The embedding model.
        base_url: An OpenAI-compatible server.
        out: The run folder; by default a new one under ``referee-runs``.
        max_cost: US dollars that no call may pass.
        max_tokens: Tokens, in and out together, that no call may pass.
        resume: The folder of an earlier run with the same inputs, to be continued.
        cache: Whether replies of earlier runs are used; True by default. A resumed run always uses its own.
        settings: A ready settings tree; the arguments above then only override what they name.
        progress: Called with each event.
        confirm: Shown the plan before the first call; the run ends without a call where it returns False.

    Returns:
        The review. Scores that nothing backs are None, with the reason under ``nulls``.

    Raises:
        PaperParseError: The paper cannot be read.
        VenueError: The venue is unknown.
        SettingsError: A setting, model name or key is not usable.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        ModelError: The model could not be reached, refused, or gave no valid reply.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    overrides = {
        "review.strategy": strategy,
        "models.default": model,
        "models.roles": dict(model_for) if model_for else None,
        "models.base_url": base_url,
        "embedder": embedder,
        "budget.max_cost": max_cost,
        "budget.max_tokens": max_tokens,
        "calls.cache": cache,
    }
    settings = load_settings(overrides) if settings is None else changed_settings(settings, overrides)
    form = venue if isinstance(venue, VenueForm) else load_venue(venue)
    check_models(settings)
    stem = paper.paper_id[:12] if isinstance(paper, Paper) else Path(paper).stem
    folder = Path(resume) if resume is not None else Path(out) if out is not None else _default_folder(stem, form)
    if resume is None:
        check_new(folder)
    elif out is not None and Path(out) != folder:
        raise RunError("--resume and --out name different folders.", hint="Leave --out away: --resume names the run.")
    else:
        check_resumable(folder)
    submission = paper if isinstance(paper, Paper) else _read(Path(paper), settings, progress)
    models = await open_models(settings, progress)
    try:
        inputs = _inputs(submission, form, settings, models)
        if resume is not None:
            check_resumable(folder, inputs)
        plan = await plan_single(submission, form, models, settings.review.prompt_versions)
        if confirm is not None and not confirm(plan, form):
            raise RunError("not confirmed: nothing was sent or written.", hint="Add --yes to go on without asking.")
        with _opened(folder, resume is not None, inputs, settings, models) as run:
            return await _run(run, submission, form, settings, models, progress)
    finally:
        await models.aclose()


def _read(path: Path, settings: Settings, progress: Progress) -> Paper:
    progress(Event("stage", f"reading {path.name or path}"))
    return load_paper(path, max_pages=settings.paper.max_pages, max_bytes=settings.paper.max_bytes)


def _default_folder(stem: str, form: VenueForm) -> Path:
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in stem)[:40]
    base = Path("referee-runs") / f"{name}-{form.id}-{datetime.now():%Y%m%d-%H%M%S}"
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder


def _inputs(paper: Paper, form: VenueForm, settings: Settings, models: Models) -> dict[str, str]:
    """What must be the same for a run to be resumed; the keys read well after "was started with another"."""
    lengths = lengths_for(form, models[ROLE].context_tokens)
    prompt = choose_prompt(lengths, settings.review.prompt_versions)
    return {
        "paper": paper.paper_id,
        "venue form": venue_digest(form),
        "strategy": settings.review.strategy,
        "prompt": f"{prompt.id}@{prompt.version} {prompt.digest}",
        "temperature": str(settings.models.temperature),
        **{f"model for {role}": model_id for role, model_id in models.ids().items()},
    }


def _opened(folder: Path, resumed: bool, inputs: Mapping[str, str], settings: Settings, models: Models) -> RunFolder:
    values = settings.model_dump(mode="json")
    if resumed:
        return RunFolder.resume(folder, inputs=inputs, settings=values)
    return RunFolder.create(
        folder,
        command="review",
        inputs=inputs,
        settings=values,
        models={role: model.record() for role, model in models.by_role.items()},
        prompts=dict([inputs["prompt"].split(" ")]),
        package_version=referee.__version__,
    )


async def _run(
    run: RunFolder, paper: Paper, form: VenueForm, settings: Settings, models: Models, progress: Progress
) -> Review:
    progress(Event("run", os.fspath(run.path)))
    ledger = Ledger(run.path / TRACE)
    if ledger.damaged_lines:
        progress(Event("note", f"{ledger.damaged_lines} damaged line(s) in {TRACE} were left out"))
    budget = Budget(settings.budget.max_cost, settings.budget.max_tokens, spent=ledger.usage())
    cache = ReplyCache(cache_root() / "replies") if settings.calls.cache else None
    door = Door(models, calls=settings.calls, ledger=ledger, budget=budget, cache=cache, progress=progress)
    with _recorded(run, ledger):
        written = await run_single(run, paper, form, door, settings.review.prompt_versions)
        finished = _finished(written, run, paper, form, settings, ledger, models)
        run.write("review.json", finished.model_dump_json(indent=2) + "\n")
        run.write("review.openreview.json", to_json(openreview_object(finished, form)))
        run.write("review.md", render_review(finished, form))
        run.set_usage(ledger.usage(), ledger.usage_by_role())
        run.set_status("finished")
    return finished


@contextmanager
def _recorded(run: RunFolder, ledger: Ledger) -> Iterator[None]:
    """However the work ends, ``run.json`` says how, and the error names the run."""
    try:
        yield
    except RefereeError as error:
        _end(run, ledger, "stopped" if isinstance(error, BudgetExceeded) else "failed", str(error))
        error.ids["run"] = os.fspath(run.path)
        raise
    except (OSError, sqlite3.Error) as error:
        failure = _unusable(run, error)
        _end(run, ledger, "failed", str(failure))
        raise failure from error
    except BaseException as error:
        interrupted = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        _end(run, ledger, "stopped" if interrupted else "failed", "interrupted" if interrupted else repr(error))
        raise


def _end(run: RunFolder, ledger: Ledger, status: RunStatus, error: str) -> None:
    run.set_usage(ledger.usage(), ledger.usage_by_role())
    with suppress(OSError):  # the folder itself may be what failed
        run.set_status(status, error=error)


def _unusable(run: RunFolder, error: OSError | sqlite3.Error) -> RunError:
    """What is said where the run's own files fail: a full disk, lost rights, a damaged file."""
    if isinstance(error, OSError):
        where = f" in {str(error.filename)!r}" if error.filename else ""
        cause, hint = f"{error.strerror or error}{where}", "Make room or mend its rights"
    else:
        cause, hint = f"{CHECKPOINTS}: {error}", f"If {CHECKPOINTS} is damaged, delete it"
    there = (run.path / RECORD).is_file()
    return RunError(
        f"run folder {str(run.path)!r} can no longer be used: {cause}.",
        hint=f"{hint}; the replies in {TRACE} are not paid again." if there else "Start a new run.",
        ids={"run": os.fspath(run.path)} if there else {},
    )


def _finished(
    written: Written,
    run: RunFolder,
    paper: Paper,
    form: VenueForm,
    settings: Settings,
    ledger: Ledger,
    models: Models,
) -> Review:
    """The review with its disclosure and with what made it."""
    provenance = Provenance(
        strategy=settings.review.strategy,
        models=models.ids(),
        prompts={record.prompt: record.prompt_digest for record in ledger.records},
        package_version=referee.__version__,
        run_id=run.record.run_id,
        venue_digest=venue_digest(form),
        converter=f"{paper.converter.name} {paper.converter.version}",
        usage=ledger.usage(),
        cuts=written.cuts,
        notes=written.notes,
    )
    disclosed = disclosure(written.review, form, embedded=models[ROLE].spec.is_local)
    return written.review.model_copy(update={"disclosure": disclosed, "provenance": provenance})
