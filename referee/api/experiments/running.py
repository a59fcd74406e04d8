"""``experiment``: a plan in, reviews by every arm, their measurement and paired comparisons out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from referee.api.coverage import beside_limits, in_batches
from referee.api.evaluations.evaluating import evaluate
from referee.api.evaluations.job import needs
from referee.api.experiments.estimate import estimate, expected_by_paper
from referee.api.experiments.job import ExperimentJob, all_prompts, experiment_inputs, notes_of, open_job
from referee.api.experiments.models import OpenModels
from referee.api.experiments.parts import PLAN, experiment_part, remark, require_review, shard_of_job, write_result
from referee.api.options import RunOptions
from referee.api.reviewing import review
from referee.api.session import Session, session
from referee.errors import MissingExtra, RunError, RunStopped, SettingsError
from referee.experiments.execution import EVALUATIONS, Execution, Makers
from referee.experiments.journal import JOURNAL, Journal
from referee.experiments.limiters import ModelLimiters
from referee.experiments.papers import Split, link_papers
from referee.experiments.plan_file import Given
from referee.experiments.results import experiment_result, made_of
from referee.experiments.schedule import execute
from referee.experiments.seal import SEALS, Seals
from referee.experiments.tracking import check_tracking, track_experiment, tracking_uri
from referee.experiments.units import UNITS, Unit, UnitStore
from referee.graphs.job import Shared
from referee.llm.models import Models
from referee.prompts import active, chosen_prompts
from referee.runs import Budget, Event, Progress
from referee.runs.folder import RECORD, read_record
from referee.runs.joining import PART
from referee.runs.lock import most_run_folders
from referee.schemas.estimate import ExperimentEstimate
from referee.schemas.experiment import ArmRecord, ExperimentResult, PaperRecord
from referee.schemas.usage import Usage
from referee.secrets import scrub
from referee.version import VERSION

_ON: Mapping[str, Split] = {"dev": "development", "test": "test"}

STORE = Path("referee-runs")
"""Where finished units and the seals of test splits lie; all plans share it."""


@dataclass(frozen=True)
class Experiment:
    """A finished experiment: its folder and what came out. ``table`` is the table of arms, in lines."""

    run: Path
    result: ExperimentResult
    table: tuple[str, ...]


async def experiment(
    plan: str | Path | Mapping[str, Any],
    *,
    arms: Sequence[str] = (),
    strategies: Sequence[str] = (),
    venue: str | None = None,
    models: Sequence[str] = (),
    papers: Sequence[str | Path] = (),
    planted: str | Path | None = None,
    metrics: Sequence[str] | None = None,
    judges: Sequence[str] = (),
    references: str | Path | None = None,
    embedder: str | None = None,
    repeat: int | None = None,
    on: Literal["dev", "test"] | None = None,
    store: str | Path = STORE,
    mlflow: str | None = None,
    options: RunOptions = RunOptions(),
) -> Experiment:
    """Review the papers of a plan by each of its arms, measure the reviews, and compare the arms paper by paper.

    Finished reviews lie in a store that all plans share, so none is paid twice. Units are made side by side, with each
    model opened once and its limits kept over all of them. Papers are begun in order, all arms of one before the next:
    wherever a budget ends the run, any two arms differ by at most one finished review.

    Args:
        plan: A TOML file, the name of a plan that ships (``table2``, ``planted``, ``ablation``, ...), or a plan's data.
        arms: Names of the arms that are run; all by default.
        strategies: In place of the grid's.
        venue: In place of the plan's.
        models: In place of the grid's; one for a plan that lists its arms.
        papers: Files, folders or patterns in place of the plan's.
        planted: A folder of planted papers in place of the plan's: each arm reviews planted and clean copies.
        metrics: In place of the plan's.
        judges: In place of the plan's.
        references: A set of human reviews in place of the plan's.
        embedder: In place of the plan's.
        repeat: How often every arm reviews each paper, in place of the plan's seeds; from 2 on the result says how much
            an arm differs from itself.
        on: ``dev`` for the development split, ``test`` to open the test split, once for each plan; a plan that names no
            splits is split in half by the digests of its papers' files. By default the development split of a plan that
            names splits, and all papers of another.
        store: Where finished units and seals lie.
        mlflow: Where MLflow is told of it too: ``local``, a folder, or an address; in place of the plan's.
        options: How it runs; limits are those of the whole experiment and go over the plan's. Of a resumed run finished
            units are kept and failed ones tried again; each seed has replies of its own in the cache.

    Returns:
        What came out. Units that failed, with the reason, take their paper out of every comparison.

    Raises:
        SettingsError: The plan, a model or a key is not usable, or a metric fits no paper.
        MissingExtra: MLflow was asked for and is not installed.
        DataError: Papers or reviews cannot be found, or no paper can be read.
        VenueError: A venue is unknown.
        RunError: A folder is in use, unwritable or of another plan, the test split was opened before, or MLflow does
            not answer.
        ModelUnavailable: A server cannot be reached at the start.
        EvaluationError: Every review failed; the most frequent reason is named.
        BudgetExceeded: The next call could pass a limit; what is there is written, resume with a higher limit.
    """
    given = Given(
        arms, strategies, venue, models, papers, metrics, judges, references, embedder, mlflow, planted, repeat
    )
    name = Path(plan).stem if isinstance(plan, str | Path) else "plan"
    settings = options.settled()
    async with (
        aclosing(OpenModels(options.progress)) as opened,
        session("experiment", "experiment", name, options=options, settings=settings) as run,
    ):
        units = UnitStore(Path(store) / UNITS)
        opened.batches = run.open_batches()
        inner = replace(options, settings=run.settings, prompts=None)
        job = await open_job(plan, given, split=_split(on), options=inner, store=units, opened=opened)
        prompts = all_prompts(job)
        run.check_inputs(experiment_inputs(job), hint=_edited(store))
        if job.split == "test" and (run.shard is not None or options.workers is not None):
            raise SettingsError(
                "the test split is opened by one run, once, and not by shards.",
                hint="Leave --shard and --processes away with --on test.",
            )
        seals = Seals(Path(store) / SEALS)
        if job.split == "test":
            seals.require_unopened(job.digest, run.place.path)
            job = _looked_at(job, seals)
        planned = planned_result(job)
        if run.shard is not None:
            job = shard_of_job(job, run.shard)
        tracked = tracking_uri(job.plan.tracking.mlflow, Path(store)) if job.plan.tracking.mlflow else None
        if tracked is not None:
            check_tracking(tracked)
        foreseen = await estimate(job, _measured(run.place.path))
        run.confirm(foreseen, job.limits)
        run.open_folder(settings=job.settings, prompts=prompts)
        journal = Journal(run.path / JOURNAL)
        run.record(journal.paid)
        run.write(PLAN, scrub(job.plan.model_dump_json(indent=2, exclude_defaults=True)) + "\n")
        note_look(run, job, seals, job.digest)
        execution = execution_of(run, job, expected_by_paper(job, foreseen), opened, units, journal)
        write = partial(_written, run, tracked, job.plan.measure.paper_table)
        done = await _run(run, job, execution, seals, write)
        if run.shard is not None:
            run.write(PART, experiment_part(job, planned, execution).model_dump_json() + "\n")
        return done


def _edited(store: str | Path) -> str:
    """What to do with a plan that was edited: a new run pays for nothing twice."""
    return (
        f"Start a new run (another --out, without --resume): it takes the reviews that lie in {str(store)!r} and makes "
        "only those that the edited plan adds."
    )


def _split(on: str | None) -> Split | None:
    if on not in (None, *_ON):
        raise SettingsError(f"there is no split {on!r}.", hint="Give dev (for work) or test (opened once).")
    return _ON[on] if on is not None else None


async def estimate_experiment(
    plan: str | Path | Mapping[str, Any],
    *,
    arms: Sequence[str] = (),
    strategies: Sequence[str] = (),
    venue: str | None = None,
    models: Sequence[str] = (),
    papers: Sequence[str | Path] = (),
    planted: str | Path | None = None,
    metrics: Sequence[str] | None = None,
    judges: Sequence[str] = (),
    references: str | Path | None = None,
    embedder: str | None = None,
    repeat: int | None = None,
    on: Literal["dev", "test"] | None = None,
    store: str | Path = STORE,
    options: RunOptions = RunOptions(),
) -> ExperimentEstimate:
    """What ``experiment`` would make, ask and cost; no call is made, nothing is written, and no judge is opened.

    The embedded model is not loaded for it, so its tokens are counted roughly.

    Args and errors are those of ``experiment``; of the options, where and whether it runs is not looked at.
    """
    given = Given(arms, strategies, venue, models, papers, metrics, judges, references, embedder, None, planted, repeat)
    units = UnitStore(Path(store) / UNITS)
    settings = options.settled()
    options = replace(options, settings=settings, prompts=None)
    async with aclosing(OpenModels(options.progress, loads=False)) as opened:
        with active(chosen_prompts(settings.prompts)):
            job = await open_job(plan, given, split=_split(on), options=options, store=units, opened=opened)
            if job.split == "test":
                job = _looked_at(job, Seals(Path(store) / SEALS))
            return beside_limits(in_batches(await estimate(job), job.settings.calls.batch), job.limits)


def _looked_at(job: ExperimentJob, seals: Seals) -> ExperimentJob:
    """The job with what is known of earlier looks at its test papers among its notes."""
    return replace(job, looked_at=seals.looked_at(job.split_digests, job.metric_names, job.digest))


def note_look(run: Session, job: ExperimentJob, seals: Seals, digest: str) -> None:
    """Seal a test split under a digest before it is looked at, and note for later plans what is opened."""
    name, opened = job.plan.name or "experiment", job.split_digests
    if job.split == "test":
        seals.open(name, digest, opened, job.metric_names, run.path)
    try:
        seals.note_look(name, job.split, opened, job.metric_names, run.path)
    except OSError as error:
        # The store's own seal holds without it: a read-only account must not stop an experiment.
        run.progress(Event("note", f"later plans will not know that these papers were looked at: {error}"))


def execution_of(
    run: Session,
    job: ExperimentJob,
    expected: Mapping[str, Usage],
    models: OpenModels,
    store: UnitStore,
    journal: Journal,
    *,
    budget: Budget | None = None,
    folder: Path | None = None,
) -> Execution:
    """The execution of a job's units in an open run, within a budget and a folder of their own where they are given."""
    budget = budget or run.budget(job.limits, run.usage)
    return Execution(
        folder=folder or run.path,
        papers=tuple(job.papers),
        arms=tuple(arm.name for arm in job.arms),
        units=tuple(prepared.unit for prepared in job.units),
        metrics=job.metric_names,
        judges=job.judges,
        forms=job.forms,
        references=job.references,
        store=store,
        journal=journal,
        makers=makers_of(job, models, budget, run.progress),
        budget=budget,
        limiters=ModelLimiters(most_run_folders(job.settings.units_at_once)),
        expected=expected,
        progress=run.progress,
    )


async def _run(
    run: Session, job: ExperimentJob, execution: Execution, seals: Seals, write: Callable[[ExperimentResult], list[str]]
) -> Experiment:
    planned = planned_result(job)
    planned = planned.model_copy(update={"notes": (*planned.notes, *execution.journal.notes)})
    try:
        await execute(execution)
    except RunStopped:
        write(experiment_result(made_of(execution), run.path, planned, job.pairs, "stopped"))
        raise
    made = made_of(execution)
    result = experiment_result(made, run.path, planned, job.pairs, "finished")
    run.cuts = result.cuts
    table = write(result)
    if job.split == "test":
        seals.close(result, run.path)
    if run.shard is None:
        require_review(made, run.path)
    run.remark = remark(result)
    return Experiment(run.path, result, tuple(table))


def _written(run: Session, tracked: str | None, paper_table: bool, result: ExperimentResult) -> list[str]:
    lines = write_result(run.folder, result, paper_table=paper_table)
    if tracked is not None:
        try:
            track_experiment(result, run.path, tracked)
        except (MissingExtra, RunError) as error:
            run.progress(Event("note", str(error)))  # what was paid for is written, and MLflow's copy can be made later
    return lines


def _measured(folder: Path) -> list[str]:
    """The papers of a run whose measurement came to its end."""
    runs = (folder / EVALUATIONS).glob(f"*/{RECORD}")
    return [path.parent.name for path in runs if read_record(path.parent).status == "finished"]


def planned_result(job: ExperimentJob) -> ExperimentResult:
    """The result before anything came out: what the plan was resolved to."""
    return ExperimentResult(
        name=job.plan.name or "experiment",
        split=job.split,
        plan_digest=job.digest,
        package_version=VERSION,
        status="stopped",
        seeds=job.plan.seeds,
        metrics=job.metric_names,
        judges=job.judges,
        repeats=job.plan.measure.repeats,
        embedder=job.embedder,
        arms=tuple(_arm_record(job, arm.name) for arm in job.arms),
        papers=tuple(_paper_records(job)),
        values=(),
        cells=(),
        comparisons=(),
        notes=tuple(notes_of(job)),
        planted=job.planted is not None,
        prompt_changes=job.prompt_changes,
        null_tests=job.null_tests,
    )


def _arm_record(job: ExperimentJob, name: str) -> ArmRecord:
    arm = next(arm for arm in job.arms if arm.name == name)
    identity = next((prepared.unit.identity for prepared in job.units if prepared.unit.arm == name), {})
    roles = {key.removeprefix("model for "): value for key, value in identity.items() if key.startswith("model for ")}
    return ArmRecord(
        name=name,
        strategy=arm.strategy,
        venue=job.forms[name].id,
        rounds=arm.rounds,
        models=roles,
        prompts={prompt.id: prompt.version for prompt in chosen_prompts(arm.prompts).values()},
        settings=arm.settings,
        ablate=arm.ablate,
    )


def _paper_records(job: ExperimentJob) -> list[PaperRecord]:
    records = []
    for paper in (paper for paper in job.all_papers if paper.split == job.split):
        read = job.papers.get(paper.name)
        records.append(
            PaperRecord(
                name=paper.name,
                paper_id=paper.digest,
                title=next(iter(read[1].values())).title if read else "",
                references=len(job.references.get(paper.name, ())),
                excluded=job.excluded.get(paper.name, ""),
            )
        )
    return records


def makers_of(job: ExperimentJob, opened: OpenModels, budget: Budget, progress: Progress) -> Makers:
    """The makers of a job's units; their own run folders are not what a user resumes, so they are not told."""
    by_unit = {prepared.unit: prepared for prepared in job.units}
    measure = job.plan.measure

    def inner(event: Event) -> None:
        if event.kind != "run":
            progress(event)

    async def make(unit: Unit, folder: Path) -> None:
        prepared = by_unit[unit]
        await review(
            prepared.paper,
            venue=prepared.form,
            shared=Shared(await opened.of(prepared.settings), budget),
            sample=unit.seed,
            refined=prepared.refined,
            options=RunOptions(settings=prepared.settings, progress=inner).within(folder),
        )

    async def measured(paper: str, source: Path, folder: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="referee-") as aside:
            own = job.papers[paper][0]
            if own.clean is not None:
                link_papers(Path(aside), [own])
            await evaluate(
                source,
                papers=own.path if own.clean is None else Path(aside),
                planted=job.planted or measure.planted,
                venue=next(iter(job.forms.values())),
                metrics=job.metric_names,
                judges=measure.judges,
                repeats=measure.repeats,
                shared=await _measuring(job, opened, budget),
                options=RunOptions(settings=job.settings, progress=inner).within(folder),
            )

    return Makers(make, measured)


async def _measuring(job: ExperimentJob, opened: OpenModels, budget: Budget) -> Shared:
    """Judges and embedder, opened with the first measurement that needs them."""
    panel = job.plan.measure.judges
    judges = await opened.of(job.settings, judges=panel) if job.asks_judges else Models({})
    embedder = await opened.embedder(job.settings) if needs(job.metrics, "embedder") else None
    return Shared(judges, budget, embedder)
