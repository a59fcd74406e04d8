"""What is told of an experiment to a tracker of runs: the whole, then each arm and each comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from referee.schemas.experiment import ArmCell, ArmComparison, ArmRecord, ExperimentResult
from referee.schemas.usage import Usage

Status = Literal["FINISHED", "KILLED", "FAILED"]

_STATUS: Mapping[str, Status] = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}


@dataclass(frozen=True)
class TrackedRun:
    """One run of the tracker.

    Attributes:
        part: Tells the runs of one experiment apart.
        name: What a reader sees.
        status: Whether it came to its end, in MLflow's words; an arm of which some reviews are pending was killed.
        params: What it was made with.
        metrics: What came out; what has no value is not among them.
        series: (step, value) for each paper, in the order of the papers.
    """

    part: str
    name: str
    status: Status
    params: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)


def tracked_runs(result: ExperimentResult, name: str) -> Iterator[TrackedRun]:
    """The whole under this name, then its arms, then each comparison with all metrics."""
    yield TrackedRun(
        "experiment", name, _STATUS[result.status], _plan_params(result), _known(_usage("paid", result.paid))
    )
    for arm in result.arms:
        yield _arm_run(result, arm)
    for first, second in dict.fromkeys((one.first, one.second) for one in result.comparisons):
        label = f"{first} less {second}"
        own = [one for one in result.comparisons if (one.first, one.second) == (first, second)]
        metrics = {key: value for one in own for key, value in _of_metric(one, "first", "second").items()}
        yield TrackedRun(
            f"comparison {label}", label, _STATUS[result.status], {"first": first, "second": second}, metrics
        )


def _plan_params(result: ExperimentResult) -> dict[str, object]:
    return {
        "split": result.split,
        "seeds": ", ".join(map(str, result.seeds)),
        "metrics": ", ".join(result.metrics),
        "judges": ", ".join(result.judges),
        "repeats": result.repeats,
        "embedder": result.embedder,
        "papers": sum(not paper.excluded for paper in result.papers),
        "excluded": sum(bool(paper.excluded) for paper in result.papers),
    }


def _arm_run(result: ExperimentResult, arm: ArmRecord) -> TrackedRun:
    params: dict[str, Any] = {"strategy": arm.strategy, "venue": arm.venue, "rounds": arm.rounds}
    params |= {f"model.{role}": model for role, model in arm.models.items()}
    params |= {f"prompt.{prompt}": version for prompt, version in arm.prompts.items()}
    params |= {f"setting.{key}": value for key, value in arm.settings.items()}
    params["ablate"] = ", ".join(arm.ablate)
    metrics = {f"reviews.{name}": float(count) for name, count in arm.units.items()}
    metrics |= _known(_usage("reviewing", arm.usage) | _usage("judging", arm.judging))
    for cell in result.cells:
        if cell.arm == arm.name:
            metrics |= _of_metric(cell, "arm")
    return TrackedRun(f"arm {arm.name}", arm.name, _arm_status(arm), params, metrics, _by_paper(result, arm))


def _arm_status(arm: ArmRecord) -> Status:
    if arm.units.get("pending"):
        return "KILLED"
    return "FINISHED" if arm.units.get("finished") else "FAILED"


def _of_metric(of: ArmCell | ArmComparison, *names: str) -> dict[str, float]:
    return _known({f"{of.metric}.{key}": value for key, value in of.model_dump(exclude={"metric", *names}).items()})


def _by_paper(result: ExperimentResult, arm: ArmRecord) -> dict[str, list[tuple[int, float]]]:
    steps = {paper.name: step for step, paper in enumerate(result.papers)}
    series: dict[str, list[tuple[int, float]]] = {}
    for value in result.values:
        if value.arm == arm.name and value.value is not None:
            series.setdefault(f"{value.metric}.by_paper", []).append((steps[value.paper], value.value))
    return series


def _usage(of: str, usage: Usage) -> dict[str, float | None]:
    return {f"{of}.{key}": value for key, value in usage.model_dump().items()}


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    """What has a value: a tracker has no word for none, and 0 would be one."""
    return {key: float(value) for key, value in values.items() if value is not None}
