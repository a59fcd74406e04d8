"""How an experiment makes a review and measures a paper: with models that are open, within one budget over all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from referee.api.eval_job import needs
from referee.api.eval_run import SharedMeans
from referee.api.evaluating import evaluate
from referee.api.experiment_job import ExperimentJob
from referee.api.experiment_models import OpenModels
from referee.api.reviewing import review
from referee.experiments.course import Makers
from referee.experiments.units import Unit
from referee.graphs.job import Shared
from referee.llm.models import Models
from referee.runs import Budget, Event, Progress
from referee.runs.folder import RECORD


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
            settings=prepared.settings,
            shared=Shared(await opened.of(prepared.settings), budget),
            sample=unit.seed,
            progress=inner,
            **_place(folder),
        )

    async def measured(paper: str, source: Path, folder: Path) -> None:
        await evaluate(
            source,
            papers=job.papers[paper][0].path,
            venue=next(iter(job.forms.values())),
            metrics=[metric.name for metric in job.metrics],
            judges=measure.judges,
            repeats=measure.repeats,
            settings=job.settings,
            shared=await _means(job, opened, budget),
            progress=inner,
            **_place(folder),
        )

    return Makers(make, measured)


async def _means(job: ExperimentJob, opened: OpenModels, budget: Budget) -> SharedMeans:
    """Judges and embedder, opened with the first measurement that needs them."""
    panel = job.plan.measure.judges
    judges = await opened.of(job.settings, judges=panel) if needs(job.metrics, "judge") else Models({})
    embedder = await opened.embedder(job.settings) if needs(job.metrics, "embedder") else None
    return SharedMeans(judges, embedder, budget)


def _place(folder: Path) -> dict[str, Any]:
    """A new run in the folder, or the one that lies there."""
    return {"resume": folder} if (folder / RECORD).is_file() else {"out": folder}
