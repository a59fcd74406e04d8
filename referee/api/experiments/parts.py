"""Shards of an experiment: a part of its papers each, and one result of all parts."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from referee.api.experiments.job import ExperimentJob
from referee.api.experiments.table import arms_and_experts
from referee.errors import EvaluationError
from referee.evals.results import RESULTS
from referee.experiments.execution import EVALUATIONS, SETS, Execution
from referee.experiments.results import Made, experiment_result, made_of
from referee.reports.experiment_summary import write_experiment
from referee.reports.page import PLOTS
from referee.reports.plots import write_plots
from referee.runs import RunFolder
from referee.runs.joining import SealedPart, file_digests, read_part
from referee.runs.shards import Shard
from referee.schemas.experiment import ExperimentResult
from referee.schemas.usage import Usage

PLAN, TABLE2 = "plan.json", "table2.md"
_MEASURED = f"{EVALUATIONS}/*/{RESULTS}"


class ExperimentPart(SealedPart):
    """What a shard says: of the whole what was planned, the papers' order and the pairs; of itself what was made."""

    planned: ExperimentResult
    papers: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    paper_table: bool
    made: Made


def shard_of_job(job: ExperimentJob, shard: Shard) -> ExperimentJob:
    """The job of some of its papers, by the digests of their files."""
    papers = {name: pair for name, pair in job.papers.items() if shard.holds(pair[0].digest)}
    mine = {paper.name for paper in job.all_papers if shard.holds(paper.digest)}
    return replace(
        job,
        all_papers=tuple(paper for paper in job.all_papers if paper.name in mine),
        papers=papers,
        excluded={name: why for name, why in job.excluded.items() if name in mine},
        units=tuple(one for one in job.units if one.unit.paper in papers),
    )


def experiment_part(job: ExperimentJob, planned: ExperimentResult, execution: Execution) -> ExperimentPart:
    """What a finished shard leaves for the result of all.

    Args:
        job: The shard's.
        planned: Of the whole experiment.
        execution: The shard's.
    """
    return ExperimentPart(
        planned=planned,
        papers=tuple(paper.name for paper in planned.papers if not paper.excluded),
        pairs=job.pairs,
        paper_table=job.plan.measure.paper_table,
        made=made_of(execution),
        files=file_digests(execution.folder, _MEASURED),
    )


def join_experiments(parts: Sequence[Path], folder: RunFolder) -> str:
    """Join the shards of an experiment: their measurements, and one result of all papers.

    Args:
        parts: The shards' folders, in the order of their numbers.
        folder: The whole run's.

    Returns:
        The remark of the run.

    Raises:
        EvaluationError: Every review failed, over all parts.
        RunError: A shard's measurements are not those that it wrote; the shard is named.
    """
    found = [read_part(one, ExperimentPart, _MEASURED) for one in parts]
    for one in parts:
        for name in (EVALUATIONS, SETS):
            if (one / name).is_dir():
                shutil.copytree(one / name, folder.path / name, dirs_exist_ok=True)
    shutil.copyfile(parts[0] / PLAN, folder.path / PLAN)
    first = found[0]
    by_paper = {name: one.made for one in found for name in one.made.papers}
    made = Made(
        papers=first.papers,
        units=tuple(unit for name in first.papers for unit in by_paper[name].units if unit.unit.paper == name),
        reasons={name: by_paper[name].reasons[name] for name in first.papers},
        paid=sum((one.made.paid for one in found), Usage()),
    )
    result = experiment_result(made, folder.path, first.planned, first.pairs, "finished")
    write_result(folder, result, paper_table=first.paper_table)
    require_review(made, folder.path)
    return remark(result)


def require_review(made: Made, run: Path) -> None:
    """An experiment in which everything went wrong must not look like one that went well.

    Raises:
        EvaluationError: Every review failed.
    """
    failed = (one.outcome.reason for one in made.units if one.outcome.status == "failed")
    reasons = Counter(next(iter(reason.splitlines()), "") for reason in failed)
    if made.units and reasons.total() == len(made.units):
        raise EvaluationError(
            f"none of the {len(made.units)} reviews was made; the most frequent reason: {reasons.most_common(1)[0][0]}",
            hint=f"See summary.md; --resume {run} tries them again.",
        )


def write_result(folder: RunFolder, result: ExperimentResult, *, paper_table: bool) -> list[str]:
    """Write the result, and the table in ReviewEval's layout, with the human reviews, from the same results.

    Returns:
        The table in lines; none where nothing was measured.
    """
    write_plots(write_experiment(result, folder.write), folder.path / PLOTS)
    table = arms_and_experts(folder.path, result, paper_table=paper_table)
    if table is not None:
        folder.write(TABLE2, table.markdown)
    return table.lines if table is not None else []


def remark(result: ExperimentResult) -> str:
    """What ``run.json`` says beside ``finished``."""
    failed = sum(value.status == "failed" for value in result.values)
    return f"{failed} value(s) failed; --resume tries them again" if failed else ""
