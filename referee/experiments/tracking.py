"""Experiments in MLflow, beside our own records: a run for the whole, and below it one an arm and one a comparison.

Nothing here is needed to read or resume an experiment: what MLflow gets is a copy of what the run folder holds.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from referee.errors import MissingExtra, RunError
from referee.runs.folder import read_record
from referee.schemas.experiment import ArmCell, ArmComparison, ArmRecord, ExperimentResult
from referee.schemas.usage import Usage
from referee.secrets import scrub

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

LOCAL = "local"
"""Names the folder ``mlflow`` in the store of our own records."""

ARTEFACTS = ("summary.md", "summary.json", "summary.csv", "comparisons.csv", "results.jsonl", "plan.json", "table2.md")
"""Files of the run folder that MLflow gets, where they are there; the folder of plots besides."""

FOLDERS = ("plots",)

_IN_NO_KEY = re.compile(r"[^A-Za-z0-9_. -]+")
_LONGEST_VALUE, _MOST_AT_ONCE = 500, 100
_PART = "referee.part"
# MLflow reports its use to its makers, prints addresses, tries a dead server for minutes, and calls the folder that
# is enough for one person out of date; a value of the user's own goes first.
_QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_ALLOW_FILE_STORE": "true",
}


def tracking_uri(named: str, store: Path) -> str:
    """The address that MLflow is told.

    Args:
        named: ``local``, a folder, or an address that MLflow knows, as ``http://host:5000``.
        store: Where our own records lie; ``local`` is the folder ``mlflow`` there.
    """
    if is_address(named):
        return named
    return (store / "mlflow" if named == LOCAL else Path(named)).absolute().as_uri()


def is_address(named: str) -> bool:
    """Whether it is no folder."""
    return len(urlsplit(named).scheme) > 1  # one letter is a drive


def check_tracking(uri: str) -> None:
    """Find out before anything is paid whether an experiment can be logged there; nothing is written.

    Raises:
        MissingExtra: MLflow, or what it needs for that address, is not installed.
        RunError: The server does not answer, or the folder is a file.
    """
    if urlsplit(uri).scheme == "file":
        _require_folder(uri)
        return
    with _client(uri) as client:
        client.search_experiments(max_results=1)


def track_experiment(result: ExperimentResult, run: Path, uri: str) -> str:
    """Log an experiment, its arms and its comparisons, with files and plots; a second time updates the same runs.

    What has no value is left out and counted (``METRIC.n_failed`` and so on); no number stands in for it. Values by
    paper are the series ``METRIC.by_paper``, whose steps number the papers from 0. Keys are removed from all that is
    sent as a parameter or tag.

    Args:
        result: What came out.
        run: The folder of the run, where its files lie.
        uri: See ``tracking_uri``.

    Returns:
        The id of the MLflow run of the whole.

    Raises:
        MissingExtra: MLflow, or what it needs for that address, is not installed.
        RunError: The server or folder does not take it, or the run's record cannot be read.
    """
    run_id = read_record(run).run_id
    with _client(uri) as client:
        experiment = _experiment(client, f"referee: {scrub(result.name)}")
        known = {found.data.tags[_PART]: found for found in _found(client, experiment, run_id)}
        whole, *parts = tracked_runs(result, run.name)
        tags = {"referee.run": run_id, "referee.version": result.package_version, "referee.plan": result.plan_digest}
        parent = _log(client, experiment, whole, tags, known)
        for part in parts:
            _log(client, experiment, part, {**tags, "mlflow.parentRunId": parent}, known)
        for name in ARTEFACTS:
            if (run / name).is_file():
                client.log_artifact(parent, str(run / name))
        for name in FOLDERS:
            if (run / name).is_dir():
                client.log_artifacts(parent, str(run / name), name)
    return parent


@contextmanager
def _client(uri: str) -> Iterator[MlflowClient]:
    """A client whose errors are ours. On a folder it makes that folder."""
    with _quiet(), _understood(uri):
        from mlflow.tracking import MlflowClient

        yield MlflowClient(tracking_uri=uri)


def _require_folder(uri: str) -> None:
    with _quiet(), _understood(uri):
        folder = Path(url2pathname(urlsplit(uri).path))
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{str(folder)!r} is no folder.")


@contextmanager
def _quiet() -> Iterator[None]:
    """The environment is as it was afterwards."""
    added = {name: value for name, value in _QUIET.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _understood(uri: str) -> Iterator[None]:
    try:
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise MissingExtra(
            "logging to MLflow needs the package 'mlflow-skinny', which is not installed.",
            hint="Run `pip install 'referee[mlflow]'`, or leave --mlflow away.",
        ) from error
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"MLflow needs more than is installed for the address {scrub(uri)!r}: {error}.",
            hint="Run `pip install mlflow`, or name a folder or an http address.",
        ) from error
    except (MlflowException, OSError) as error:
        cause = scrub(str(error).strip().split("\n", 1)[0])[:_LONGEST_VALUE]
        raise RunError(
            f"MLflow at {scrub(uri)!r} does not take the experiment: {cause}",
            hint="Our own records do not depend on it: mend the address and use --resume, or leave --mlflow away.",
        ) from error


def _experiment(client: MlflowClient, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if found is None else found.experiment_id)


def _found(client: MlflowClient, experiment: str, run_id: str) -> Iterator[Run]:
    """The MLflow runs of an earlier start of this experiment."""
    token = None
    while True:
        page = client.search_runs([experiment], f"tags.`referee.run` = '{run_id}'", page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _log(
    client: MlflowClient, experiment: str, part: TrackedRun, tags: Mapping[str, str], known: Mapping[str, Run]
) -> str:
    from mlflow.entities import Metric, Param, RunTag

    tags = {**tags, _PART: _text(part.part)}
    run = known.get(tags[_PART]) or client.create_run(experiment, run_name=_text(part.name), tags=tags)
    run_id: str = run.info.run_id
    now = int(time.time() * 1000)
    metrics = [Metric(_key(key), float(value), now, 0) for key, value in part.metrics.items()]
    for key, points in part.series.items():
        told = {(m.step, m.value) for m in client.get_metric_history(run_id, _key(key))} if run.data.metrics else set()
        metrics += [Metric(_key(key), value, now, step) for step, value in points if (step, value) not in told]
    params = [Param(_key(key), _text(value)) for key, value in part.params.items()]
    for start in range(0, max(len(metrics), len(params)), _MOST_AT_ONCE):
        end = start + _MOST_AT_ONCE
        client.log_batch(run_id, metrics=metrics[start:end], params=params[start:end])
    client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])
    client.set_terminated(run_id, part.status)
    return run_id


def _key(text: str) -> str:
    """MLflow's keys are file names in a folder: what is none becomes an underscore."""
    return _IN_NO_KEY.sub("_", scrub(text))[:200]


def _text(value: object) -> str:
    text = scrub(str(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


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
