"""``evaluate``: a review set in, every metric of every review out, with a table and a run folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.api.detection.continuing import OpenedDetectors
from referee.api.evaluations.job import EvalJob, asked_judges, eval_inputs, eval_notes, eval_plan, eval_prompts, needs
from referee.api.evaluations.rescoring import (
    EvalPart,
    Summary,
    SummaryOptions,
    remark,
    require_others,
    require_own_results,
    require_value,
    write_summary,
)
from referee.api.evaluations.review_set import read_for
from referee.api.options import RunOptions
from referee.api.resuming import named_evaluation
from referee.api.session import Session, session
from referee.data import read_papers
from referee.data.known_sets import read_known
from referee.errors import SettingsError
from referee.evals.forms import Forms
from referee.evals.judging import Panel
from referee.evals.metric import Metric
from referee.evals.paper_context import PaperContext, open_index
from referee.evals.planted.services import PlantedPapers
from referee.evals.registry import find_metrics
from referee.evals.results import RESULTS, damaged_lines, finals_in, paid_in, refused_in
from referee.evals.runner import Runner, Tally
from referee.evals.unit import EvalServices
from referee.graphs.job import Shared
from referee.llm.door import Door
from referee.llm.embeddings import Embedder
from referee.llm.models import Models, check_models
from referee.reports.eval_summary import About
from referee.runs import Event
from referee.runs.joining import PART
from referee.runs.lines import JsonLines
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm
from referee.venues import load_venue

OpenDetection = Callable[[Session], Awaitable[OpenedDetectors]]


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


async def evaluate(
    reviews: str | Path,
    *,
    papers: str | Path | None = None,
    known: str | Path | None = None,
    venue: str | Path | VenueForm | None = None,
    metrics: Sequence[str] | None = None,
    judges: Sequence[str] = (),
    repeats: int = 1,
    embedder: str | None = None,
    group_by: str = "source",
    compare: tuple[str, str] | None = None,
    paper_table: bool = False,
    correlate: str | None = None,
    mapping: str | Path | None = None,
    layout: str | None = None,
    planted: str | Path | None = None,
    shared: Shared | None = None,
    detection: OpenDetection | None = None,
    command: str = "eval",
    options: RunOptions = RunOptions(),
) -> Evaluation:
    """Measure every review of a set, AI or human.

    Args:
        reviews: A file or a folder in one of the layouts of ``referee.data``.
        papers: A folder of papers named by their ids, rows with full texts (JSONL, Parquet), or the one paper of all
            reviews.
        known: Known errors of the papers: a folder that ``referee data load`` wrote.
        venue: The form of reviews that name no known venue themselves.
        metrics: Names of metrics; all that ship by default.
        judges: Models that judge, each named once; by default ``models.roles.judge``, else ``models.default``.
        repeats: How often each judge is asked the same.
        embedder: The embedding model.
        group_by: The table's rows: ``source``, ``kind``, and within which other keys of ``Grouping``: ``venue,year``.
        compare: Labels of two rows that are compared, paired by paper.
        paper_table: Whether the published table stands beside ours.
        correlate: One of the metrics, which is correlated with all others.
        mapping: A file that says which key of a row is what.
        layout: The layout's name where it is not to be found by what is in the file.
        planted: The folder of ``referee plant`` with the keys that ``planted_recall`` and ``false_alarms`` need.
        detection: Opens what detectors work with, and names it; see ``referee.detect_score``.
        command: What the run is recorded as, where another command makes it.
        shared: Judges, embedder and budget of a command that makes several evaluations, in place of this one's own.
        options: How it runs; of a resumed run finished units are kept and failed ones tried again.

    Returns:
        The table and where everything lies. Units without a value are counted, with their reasons.

    Raises:
        DataError: The reviews, the mapping or the papers cannot be read, or there is no usable review.
        SettingsError: A metric, judge, setting or key is not usable, or a judge is named twice.
        VenueError: The venue is unknown.
        RunError: The run folder is in use, unwritable, or belongs to other inputs.
        EvaluationError: Units failed and none was scored.
        BudgetExceeded: The next call could pass a limit; resume with a higher one.
    """
    asked_for = named_evaluation(
        reviews,
        {
            "papers": papers,
            "known": known,
            "venue": venue,
            "metrics": metrics,
            "judges": judges,
            "repeats": repeats,
            "embedder": embedder,
            "group_by": group_by,
            "compare": compare,
            "paper_table": paper_table,
            "correlate": correlate,
            "mapping": mapping,
            "layout": layout,
            "planted": planted,
        },
    )
    settings = options.settled({"embedder": embedder})
    chosen = find_metrics(metrics)
    require_others(correlate, chosen)
    if known is not None and not needs(chosen, "known"):
        raise SettingsError("no metric uses --known.", hint="Give --metrics known_recall, or leave --known away.")
    panel = asked_judges(chosen, judges)
    if repeats < 1:
        raise SettingsError(f"a judge cannot be asked {repeats} times.", hint="Give --repeats 1 or more.")
    if panel is not None:
        check_models(settings, judges=panel)
    form = load_venue(venue) if isinstance(venue, str | Path) else venue
    plants = PlantedPapers(Path(planted)) if planted is not None else None
    async with session(command, *command.split()[:-1], Path(reviews).stem, options=options, settings=settings) as run:
        errors = read_known(Path(known)) if known is not None else None
        paper_store = read_papers(Path(papers)) if papers is not None else None
        run.progress(Event("stage", f"reading {reviews}"))
        read = read_for(run, reviews, mapping=mapping, layout=layout, group_by=group_by)
        for label in compare or ():
            read.rows.find(label)
        models, embeds = (shared.models, shared.embedder) if shared else await _opened(run, chosen, panel)
        job = EvalJob(
            reviews=read,
            metrics=chosen,
            settings=settings,
            models=models,
            repeats=repeats,
            embedder=embeds,
            detection=await detection(run) if detection else None,
            papers=Path(papers) if papers is not None else None,
            paper_store=paper_store,
            known=errors,
            venue=form,
            planted=plants,
            progress=run.progress,
        )
        run.check_inputs(eval_inputs(job))
        asked, part = SummaryOptions(compare, paper_table, correlate), None
        if run.shard is not None:
            part = EvalPart(group_by=group_by, asked=asked, about=_about(job))
            job = replace(job, reviews=job.reviews.part(run.holds))
        if run.is_asked:
            run.confirm(eval_plan(job))
        budget = shared.budget if shared else None
        door = run.begin(job.asked_models, prompts=eval_prompts(chosen), budget=budget, asked=asked_for)
        if part is not None:
            run.write(PART, part.model_dump_json(indent=2) + "\n")
        return await _evaluated(run, job, door, asked)


async def _opened(
    run: Session, metrics: Sequence[Metric], panel: Sequence[str] | None
) -> tuple[Models, Embedder | None]:
    """The judges and the embedder, as far as a metric needs them."""
    models = await run.open_models(panel) if panel is not None else Models({})
    return models, await run.open_embedder() if needs(metrics, "embedder") else None


async def _evaluated(run: Session, job: EvalJob, door: Door, asked: SummaryOptions) -> Evaluation:
    """Measure what is not measured yet, then compute and write the summary; of a shard, that of its own reviews."""
    if damaged := damaged_lines(run.path / RESULTS):
        run.progress(Event("note", f"{damaged} damaged line(s) in {RESULTS} were left out"))
    require_own_results(run.path / RESULTS, job.reviews.rows)
    job.reviews.keep_in(run.folder)
    about = _about(job)
    if run.shard is not None:
        about = replace(about, notes=(f"these are shard {run.shard} of the papers, not the whole run", *about.notes))
    tally = await _measured(run, job, door)
    summary = write_summary(
        run.path / RESULTS, run.write, rows=job.reviews.rows, metrics=job.names, about=about, asked=asked
    )
    if run.shard is None:
        require_value(summary, run.path)
    run.remark = remark(summary)
    run.cuts = summary.table.cuts
    return Evaluation(run.path, summary, about, tally, run.usage)


async def _measured(run: Session, job: EvalJob, door: Door) -> Tally:
    roles = tuple(job.models.by_role)
    services = EvalServices(
        panel=Panel(door, roles, job.repeats, job.models.ids()) if roles else None,
        embedder=job.embedder,
        forms=Forms(job.venue),
        papers=str(job.papers or ""),
        planted=job.planted,
        detection=job.detection.through(door) if job.detection else None,
        known=job.known,
        progress=run.progress,
    )
    store = job.reviews.store
    door.ledger.owe_earlier(paid_in(run.path / RESULTS))
    door.forget(refused_in(run.path / RESULTS))  # of a start that was killed
    with JsonLines(run.path / RESULTS) as results:
        runner = Runner(
            store,
            job.metrics,
            services,
            results=results,
            finals=finals_in(run.path / RESULTS, job.names),
            open_context=lambda paper_id: PaperContext(paper_id, store, job.paper_store, job.embedder, open_index),
            concurrency=job.concurrency,
            judged=job.judged_at_once,
            usage=door.ledger.usage,
        )
        try:
            return await runner.run()
        finally:
            door.forget(refused_in(run.path / RESULTS))


def _about(job: EvalJob) -> About:
    reviews = job.reviews
    return About(
        reviews=len(reviews.store),
        papers=len(list(reviews.store.papers)),
        rejected=reviews.rejected,
        rejected_by=reviews.rejected_by,
        judges=tuple(judge.spec.id for judge in job.judges),
        repeats=job.repeats,
        embedder=job.embedder.id if job.embedder else "",
        notes=tuple(eval_notes(job)),
    )
