"""The run of an evaluation: its folder, its judges and embedder, its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.api.eval_job import EvalJob, eval_notes, needs
from referee.api.eval_output import Asked, Summary, write_summary
from referee.api.recording import recorded
from referee.api.runs import open_door
from referee.errors import EvaluationError
from referee.evals.forms import Forms
from referee.evals.judging import Panel
from referee.evals.metric import Metric
from referee.evals.paper_context import PaperContext, open_index
from referee.evals.results import RESULTS, ResultsFile, damaged_lines, finals_in
from referee.evals.runner import Runner, Tally
from referee.evals.unit import EvalServices
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.llm.models import Models, open_models
from referee.reports.eval_summary import About, silence_lines
from referee.runs import Budget, Event, Ledger, Progress, RunFolder
from referee.schemas.usage import Usage
from referee.settings import Settings


@dataclass(frozen=True)
class Evaluation:
    """A finished evaluation: its folder, its table, and what it cost over all its starts.

    ``tally`` counts the units of this start.
    """

    run: Path
    summary: Summary
    about: About
    tally: Tally
    usage: Usage


@dataclass(frozen=True)
class SharedMeans:
    """What several evaluations of one command share; who opened judges and embedder closes them.

    ``budget`` holds what the runs that are resumed have spent before.
    """

    models: Models
    embedder: Embedder | None
    budget: Budget


@asynccontextmanager
async def opened_means(
    metrics: Sequence[Metric], panel: Sequence[str] | None, settings: Settings, progress: Progress
) -> AsyncIterator[tuple[Models, Embedder | None]]:
    """The judges and the embedder, as far as a metric needs them; closed when this is left."""
    models = await open_models(settings, progress, judges=panel) if panel is not None else Models({})
    try:
        embedder = await opened_embedder(settings, progress) if needs(metrics, "embedder") else None
        try:
            yield models, embedder
        finally:
            if embedder is not None:
                await embedder.aclose()
    finally:
        await models.aclose()


async def opened_embedder(settings: Settings, progress: Progress) -> Embedder:
    """The embedder of the settings; who asked closes it."""
    from referee.retrieval import open_embedder

    def fetched(text: str, done: int, total: int) -> None:
        progress(Event("fetch", text, done=done, total=total))

    base_url = None if settings.embedder.startswith("local") else settings.models.base_url
    return await open_embedder(settings.embedder, base_url=base_url, progress=fetched, calls=settings.calls)


async def run_evaluation(run: RunFolder, job: EvalJob, asked: Asked, budget: Budget | None = None) -> Evaluation:
    """Measure what is not measured yet, then compute and write the summary.

    Args:
        run: The opened folder.
        job: What is measured, and with what.
        asked: The tables.
        budget: One that several runs share; by default the run's own.

    Raises:
        BudgetExceeded: The next call could pass a limit.
        EvaluationError: Units failed and none was scored, or no judge answers.
        RunError: The run folder can no longer be used.
    """
    door, ledger = open_door(run, job.models, job.settings, job.progress, budget=budget, keep_messages=False)
    if damaged := damaged_lines(run.path / RESULTS):
        job.progress(Event("note", f"{damaged} damaged line(s) in {RESULTS} were left out"))
    with recorded(run, ledger):
        job.reviews.keep_in(run)
        about = _about(job)
        tally = await _measured(run, job, door, ledger)
        summary = write_summary(
            run.path / RESULTS, run.write, rows=job.reviews.rows, metrics=job.names, about=about, asked=asked
        )
        run.set_usage(ledger.usage(), ledger.usage_by_role())
        _require_value(summary, run)
        failed = summary.table.failed
        troubles = [f"{failed} unit(s) failed; --resume tries them again"] if failed else []
        run.set_status("finished", error="; ".join([*troubles, *silence_lines(summary.table)]))
    return Evaluation(run.path, summary, about, tally, ledger.usage())


async def _measured(run: RunFolder, job: EvalJob, door: Door, ledger: Ledger) -> Tally:
    roles = tuple(job.models.by_role)
    means = EvalServices(
        panel=Panel(door, roles, job.repeats, job.models.ids()) if roles else None,
        embedder=job.embedder,
        forms=Forms(job.venue),
        papers=str(job.papers or ""),
        progress=job.progress,
    )
    store = job.reviews.store
    with ResultsFile(run.path / RESULTS) as results:
        runner = Runner(
            store,
            job.metrics,
            means,
            results=results,
            finals=finals_in(run.path / RESULTS, job.names),
            open_context=lambda paper_id: PaperContext(paper_id, store, job.shelf, job.embedder, open_index),
            concurrency=job.concurrency,
            usage=ledger.usage,
        )
        return await runner.run()


def _about(job: EvalJob) -> About:
    reviews = job.reviews
    return About(
        reviews=len(reviews.store),
        papers=len(list(reviews.store.papers)),
        rejected=reviews.rejected,
        judges=tuple(judge.spec.id for judge in job.judges),
        repeats=job.repeats,
        embedder=job.embedder.id if job.embedder else "",
        notes=tuple(eval_notes(job)),
    )


def _require_value(summary: Summary, run: RunFolder) -> None:
    """A run in which everything went wrong must not look like one that went well."""
    table = summary.table
    if table.failed and not table.scored:
        reasons = [reason for totals in table.totals.values() for status, reason, _ in totals.reasons]
        raise EvaluationError(
            f"all {table.failed:,} units that could be measured failed; the most frequent reason: {reasons[0]}.",
            hint=f"See {RESULTS}; --resume {run.path} tries them again.",
        )
