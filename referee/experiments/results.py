"""The result of an experiment, from what lies on the disk: it can be computed at any time, finished or not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from referee.evals.planted.metrics import PlantedDetails
from referee.evals.quality.judged import stored_as
from referee.evals.registry import judged_ranges
from referee.evals.results import RESULTS, read_results
from referee.experiments.comparing import METHOD, cells_of, compared
from referee.experiments.execution import EVALUATIONS, Execution
from referee.experiments.review_set import case_id
from referee.experiments.units import Unit
from referee.experiments.values import Measured, UnitOutcome, values_of
from referee.schemas.base import Frozen
from referee.schemas.experiment import ArmRecord, ExperimentResult, PaperValue
from referee.schemas.metric import MetricResult
from referee.schemas.paper_cut import PaperCut, cuts_told
from referee.schemas.usage import Usage

# What intervals cover was measured from this many papers on (benchmarks/comparisons.py).
FEW_PAPERS = 10


class UnitRecord(Frozen):
    """A unit and what became of it. ``usage`` is what its review took, whoever paid; ``version`` that of referee.

    ``cut`` says how much of the paper its reviewer read, null for all of it.
    """

    unit: Unit
    outcome: UnitOutcome
    usage: Usage = Usage()
    reused: bool = False
    version: str = ""
    cut: PaperCut | None = None


class Made(Frozen):
    """What came out of a run's units, as far as its folder does not say it: all that the result needs beside it.

    Attributes:
        papers: Names in the order they are taken.
        units: All units of these papers.
        reasons: Why the measurement of a paper failed, where it did.
        paid: What the run paid itself.
    """

    papers: tuple[str, ...]
    units: tuple[UnitRecord, ...]
    reasons: dict[str, str]
    paid: Usage


def made_of(execution: Execution) -> Made:
    """What came out so far."""
    reused = {entry.folder for entry in execution.journal.entries if entry.event == "reused"}
    return Made(
        papers=tuple(execution.papers),
        units=tuple(_unit_record(execution, unit, reused) for unit in execution.units),
        reasons={paper: execution.journal.reason("evaluation", paper) for paper in execution.papers},
        paid=execution.journal.paid(),
    )


def _unit_record(execution: Execution, unit: Unit, reused: Collection[str]) -> UnitRecord:
    review = execution.store.review(unit)
    if unit.problem or review is None:
        reason = unit.problem or execution.journal.reason("review", unit.paper, unit.arm, unit.seed, unit.twin)
        pending = UnitOutcome("pending", "the run ended before its review")
        return UnitRecord(unit=unit, outcome=UnitOutcome("failed", reason) if reason else pending, cut=unit.unread)
    return UnitRecord(
        unit=unit,
        outcome=UnitOutcome("finished"),
        usage=execution.store.usage(unit),
        reused=str(execution.store.folder(unit)) in reused,
        version=review.provenance.package_version if review.provenance is not None else "",
        cut=review.provenance.cut if review.provenance is not None else None,
    )


def experiment_result(
    made: Made,
    folder: Path,
    planned: ExperimentResult,
    pairs: Sequence[tuple[str, str]],
    status: Literal["finished", "stopped", "failed"],
) -> ExperimentResult:
    """Everything that tables and plots need.

    Args:
        made: What was made and measured.
        folder: The run folder, with the measurements.
        planned: What the plan was resolved to, before anything came out.
        pairs: Which arms are compared.
        status: How the run stands.

    Raises:
        RunError: A run folder's record is damaged.
    """
    results = {paper: _results(folder, paper) for paper in made.papers}
    values = tuple(_values(made, results, [arm.name for arm in planned.arms], planned.metrics))
    return planned.model_copy(
        update={
            "status": status,
            "arms": tuple(_arm(made, arm, results) for arm in planned.arms),
            "values": values,
            "cells": cells_of(
                values,
                [arm.name for arm in planned.arms],
                planned.metrics,
                judged_ranges(planned.metrics),
                len(planned.seeds),
            ),
            "comparisons": compared(values, pairs, planned.metrics),
            "method": METHOD,
            "notes": (*planned.notes, *_notes(made, values, planned.metrics)),
            "error_statements": dict(_statements(results)),
            "paid": made.paid,
            "cuts": {one.unit.label: one.cut for one in made.units if one.cut is not None},
            "cut_line": _cut_line(made),
        }
    )


def _cut_line(made: Made) -> str:
    """What of the papers their reviewers did not read; empty where they read all of each."""
    ended = [one for one in made.units if one.outcome.status == "finished" or one.cut]
    return cuts_told((one.cut for one in ended), (one.outcome.status == "finished" for one in ended))


def _results(folder: Path, paper: str) -> dict[tuple[str, str], MetricResult]:
    file = folder / EVALUATIONS / paper / RESULTS
    return {(result.case_id, result.metric): result for result in read_results(file)}


def _statements(results: Mapping[str, Mapping[tuple[str, str], MetricResult]]) -> Iterator[tuple[str, dict[str, str]]]:
    """What each planted error is, by paper, as the measurement of recall tells."""
    for paper, found in results.items():
        told = next(
            (one for key, one in found.items() if key[1] == "planted_recall" and "records" in one.details), None
        )
        if told is not None:
            yield paper, {one.record_id: one.statement for one in stored_as(PlantedDetails, told).counted}


def _values(
    made: Made, results: dict[str, dict[tuple[str, str], MetricResult]], arms: Sequence[str], metrics: Sequence[str]
) -> Iterator[PaperValue]:
    outcomes = {one.unit: one.outcome for one in made.units}
    of_paper: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for one in made.units:
        of_paper[one.unit.paper, one.unit.arm].append(one.unit)
    for paper in made.papers:
        units = {arm: sorted(of_paper[paper, arm], key=lambda unit: (unit.twin, unit.seed)) for arm in arms}
        yield from values_of(Measured(paper, units, outcomes, results[paper], made.reasons[paper]), metrics)


def _arm(made: Made, arm: ArmRecord, results: dict[str, dict[tuple[str, str], MetricResult]]) -> ArmRecord:
    own = [one for one in made.units if one.unit.arm == arm.name]
    counts = Counter(one.outcome.status for one in own)
    finished = [one for one in own if one.outcome.status == "finished"]
    ids = {(one.unit.paper, case_id(one.unit)) for one in own}
    judged = [one.usage for paper, found in results.items() for key, one in found.items() if (paper, key[0]) in ids]
    return arm.model_copy(
        update={
            "units": {
                "finished": counts["finished"],
                "failed": counts["failed"],
                "pending": counts["pending"],
                "reused": sum(one.reused for one in finished),
            },
            "usage": sum((one.usage for one in finished), Usage()),
            "judging": sum(judged, Usage()),
        }
    )


def _notes(made: Made, values: Sequence[PaperValue], metrics: Sequence[str]) -> Iterator[str]:
    failed = sum(one.outcome.status == "failed" for one in made.units)
    if failed:
        of = f"{failed} of {len(made.units)} reviews failed"
        yield f"{of}; their papers are failed in every arm (--resume tries again)"
    for metric in metrics:
        own = [value for value in values if value.metric == metric]
        reasons = {value.reason for value in own if value.status == "not_applicable"}
        if reasons and not any(value.status == "scored" for value in own):
            yield f"{metric} could be measured on no paper: {min(reasons)}"
    if len(made.papers) < FEW_PAPERS:
        few = "1 paper is too few" if len(made.papers) == 1 else f"{len(made.papers)} papers are few"
        yield f"{few}: what intervals cover was measured from {FEW_PAPERS} papers on"
    versions = {one.version for one in made.units if one.version}
    if len(versions) > 1:
        yield f"the reviews were made by several versions of referee: {', '.join(sorted(versions))}"
