"""The result of an experiment, from what lies on the disk: it can be computed at any time, finished or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from referee.evals.results import RESULTS, read_results
from referee.experiments.comparing import METHOD, cells_of, compared
from referee.experiments.execution import Execution
from referee.experiments.review_set import case_id
from referee.experiments.units import Unit
from referee.experiments.values import Measured, UnitOutcome, values_of
from referee.schemas.experiment import ArmRecord, ExperimentResult, PaperValue
from referee.schemas.metric import MetricResult
from referee.schemas.usage import Usage

# What intervals cover was measured from this many papers on (benchmarks/comparisons.py).
FEW_PAPERS = 10


def experiment_result(
    execution: Execution,
    planned: ExperimentResult,
    pairs: Sequence[tuple[str, str]],
    status: Literal["finished", "stopped", "failed"],
) -> ExperimentResult:
    """Everything that tables and plots need.

    Args:
        execution: What was made and measured.
        planned: What the plan was resolved to, before anything came out.
        pairs: Which arms are compared.
        status: How the run stands.

    Raises:
        RunError: A run folder's record is damaged.
    """
    outcomes = {unit: _outcome_of(execution, unit) for unit in execution.units}
    results = {paper: _results(execution, paper) for paper in execution.papers}
    values = tuple(_values(execution, outcomes, results))
    return planned.model_copy(
        update={
            "status": status,
            "arms": tuple(_arm(execution, arm, outcomes, results) for arm in planned.arms),
            "values": values,
            "cells": cells_of(values, [arm.name for arm in planned.arms], planned.metrics),
            "comparisons": compared(values, pairs, planned.metrics),
            "method": METHOD,
            "notes": (*planned.notes, *_notes(execution, outcomes, values)),
            "paid": execution.journal.paid(),
        }
    )


def _outcome_of(execution: Execution, unit: Unit) -> UnitOutcome:
    if unit.problem:
        return UnitOutcome("failed", unit.problem)
    if execution.store.review(unit) is not None:
        return UnitOutcome("finished")
    reason = execution.journal.reason("review", unit.paper, unit.arm, unit.seed)
    return UnitOutcome("failed", reason) if reason else UnitOutcome("pending", "the run ended before its review")


def _results(execution: Execution, paper: str) -> dict[tuple[str, str], MetricResult]:
    file = execution.evaluation(paper) / RESULTS
    return {(result.case_id, result.metric): result for result in read_results(file)}


def _values(
    execution: Execution, outcomes: dict[Unit, UnitOutcome], results: dict[str, dict[tuple[str, str], MetricResult]]
) -> Iterator[PaperValue]:
    for paper in execution.papers:
        units = {arm: _units(execution, paper, arm) for arm in execution.arms}
        reason = execution.journal.reason("evaluation", paper)
        yield from values_of(Measured(paper, units, outcomes, results[paper], reason), execution.metrics)


def _units(execution: Execution, paper: str, arm: str) -> list[Unit]:
    own = [unit for unit in execution.units if (unit.paper, unit.arm) == (paper, arm)]
    return sorted(own, key=lambda unit: unit.seed)


def _arm(
    execution: Execution,
    arm: ArmRecord,
    outcomes: dict[Unit, UnitOutcome],
    results: dict[str, dict[tuple[str, str], MetricResult]],
) -> ArmRecord:
    own = [unit for unit in execution.units if unit.arm == arm.name]
    counts = Counter(outcomes[unit].status for unit in own)
    finished = [unit for unit in own if outcomes[unit].status == "finished"]
    reused = {entry.folder for entry in execution.journal.entries if entry.event == "reused"}
    judged = [result.usage for unit in own for key, result in results[unit.paper].items() if key[0] == case_id(unit)]
    return arm.model_copy(
        update={
            "units": {
                "finished": counts["finished"],
                "failed": counts["failed"],
                "pending": counts["pending"],
                "reused": sum(str(execution.store.folder(unit)) in reused for unit in finished),
            },
            "usage": sum((execution.store.usage(unit) for unit in finished), Usage()),
            "judging": sum(judged, Usage()),
        }
    )


def _notes(execution: Execution, outcomes: dict[Unit, UnitOutcome], values: Sequence[PaperValue]) -> Iterator[str]:
    failed = sum(outcome.status == "failed" for outcome in outcomes.values())
    if failed:
        yield f"{failed} of {len(outcomes)} reviews failed; their papers are failed in every arm (--resume tries again)"
    for metric in execution.metrics:
        own = [value for value in values if value.metric == metric]
        reasons = {value.reason for value in own if value.status == "not_applicable"}
        if reasons and not any(value.status == "scored" for value in own):
            yield f"{metric} could be measured on no paper: {min(reasons)}"
    if len(execution.papers) < FEW_PAPERS:
        yield f"{len(execution.papers)} papers are few: what intervals cover was measured from {FEW_PAPERS} papers on"
    versions = {
        review.provenance.package_version
        for unit in execution.units
        if (review := execution.store.review(unit)) is not None and review.provenance is not None
    }
    if len(versions) > 1:
        yield f"the reviews were made by several versions of referee: {', '.join(sorted(versions))}"
