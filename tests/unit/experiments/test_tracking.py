"""Logging to MLflow: a local folder, read back with MLflow's own client; no network."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from referee.errors import MissingExtra, RunError
from referee.experiments.tracking import check_tracking, track_experiment, tracked_runs, tracking_uri
from referee.reports.experiment_summary import write_experiment
from referee.reports.plots import write_plots
from referee.runs import RunFolder
from referee.schemas.experiment import ExperimentResult
from tests.needs import require
from tests.unit.reports.experiment_results import arm, result

VALUES = {"single": (0.1, None, 0.3), "sections": (0.5, None, 0.8)}
KEY = "sk-abcdefghijklmnopqrstuv"


@pytest.fixture(autouse=True)
def _nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what the tests themselves import of MLflow; what the package imports is a test of its own."""
    monkeypatch.setenv("DO_NOT_TRACK", "true")


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """MLflow's own client on the folder that the tests log to."""
    require("mlflow", "mlflow")
    from mlflow.tracking import MlflowClient

    with monkeypatch.context() as patched:
        patched.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        return MlflowClient(tracking_uri=tracking_uri("local", tmp_path))


def two(**about: Any) -> ExperimentResult:
    return result(
        [arm("single, 0 rounds", strategy="single", **about), arm("sections: all/of *it*")],
        {"depth": {"single, 0 rounds": VALUES["single"], "sections: all/of *it*": VALUES["sections"]}},
    )


def run_folder(path: Path, of: ExperimentResult) -> Path:
    """A run folder with the files of a result."""
    made = RunFolder.create(
        path / "my run",
        command="experiment",
        inputs={},
        settings={},
        models={},
        prompts={},
        package_version="1",
    )
    with made as run:
        plots = write_experiment(of, run.write)
        run.set_status("finished")
    write_plots(plots, path / "my run" / "plots")
    return path / "my run"


def runs(client: Any) -> dict[str, Any]:
    (experiment,) = [one for one in client.search_experiments() if one.name == "referee: try"]
    return {run.data.tags["referee.part"]: run for run in client.search_runs([experiment.experiment_id])}


@pytest.mark.slow
def test_the_whole_its_arms_and_its_comparisons_are_runs_with_their_numbers(client: Any, tmp_path: Path) -> None:
    given = two()
    run_id = track_experiment(given, run_folder(tmp_path, given), tracking_uri("local", tmp_path))
    found = runs(client)
    assert set(found) == {
        "experiment",
        "arm single, 0 rounds",
        "arm sections: all/of *it*",
        "comparison sections: all/of *it* less single, 0 rounds",
    }
    assert found["experiment"].info.run_id == run_id
    assert all(r.data.tags["mlflow.parentRunId"] == run_id for part, r in found.items() if part != "experiment")
    own = found["arm single, 0 rounds"].data
    assert own.params["strategy"] == "single"
    assert own.params["model.writer"] == "m"
    assert own.metrics["depth.mean"] == pytest.approx(0.2)
    assert (own.metrics["depth.n_scored"], own.metrics["depth.n_failed"]) == (2, 1)
    assert own.metrics["reviewing.input_tokens"] == 3000
    (one,) = given.comparisons
    between = found["comparison sections: all/of *it* less single, 0 rounds"].data.metrics
    assert between["depth.mean_difference"] == one.mean_difference
    assert (between["depth.low"], between["depth.high"], between["depth.p_holm"]) == (one.low, one.high, one.p_holm)


@pytest.mark.slow
def test_values_by_paper_are_a_series_without_those_that_failed(client: Any, tmp_path: Path) -> None:
    given = two()
    track_experiment(given, run_folder(tmp_path, given), tracking_uri("local", tmp_path))
    arm_run = runs(client)["arm single, 0 rounds"].info.run_id
    assert [(m.step, m.value) for m in client.get_metric_history(arm_run, "depth.by_paper")] == [(0, 0.1), (2, 0.3)]


@pytest.mark.slow
def test_files_and_plots_go_along(client: Any, tmp_path: Path) -> None:
    given = two()
    run_id = track_experiment(given, run_folder(tmp_path, given), tracking_uri("local", tmp_path))
    assert {"summary.md", "summary.json", "comparisons.csv", "results.jsonl", "plots"} <= {
        file.path for file in client.list_artifacts(run_id)
    }
    assert "plots/papers-depth.svg" in {file.path for file in client.list_artifacts(run_id, "plots")}


@pytest.mark.slow
def test_a_second_time_updates_the_same_runs(client: Any, tmp_path: Path) -> None:
    uri = tracking_uri("local", tmp_path)
    stopped = two().model_copy(update={"status": "stopped"})
    folder = run_folder(tmp_path, stopped)
    first = track_experiment(stopped, folder, uri)
    assert client.get_run(first).info.status == "KILLED"
    before = {part: run.info.run_id for part, run in runs(client).items()}
    assert track_experiment(two(), folder, uri) == first
    after = runs(client)
    assert {part: run.info.run_id for part, run in after.items()} == before
    assert after["experiment"].info.status == "FINISHED"
    history = client.get_metric_history(before["arm single, 0 rounds"], "depth.by_paper")
    assert [(m.step, m.value) for m in history] == [(0, 0.1), (2, 0.3)]


def test_what_has_no_value_is_left_out_and_a_dead_arm_has_failed() -> None:
    given = result([arm("well"), arm("ill", reviews=0, cost=None, **{"units": {"finished": 0, "failed": 2}})], {"depth": {"well": (0.5, 0.6), "ill": (None, None)}})  # fmt: skip # noqa: E501
    told = {run.part: run for run in tracked_runs(given, "run")}
    ill = told["arm ill"]
    assert ill.status == "FAILED"
    assert ill.metrics["depth.n_failed"] == 2
    assert not {"depth.mean", "depth.low", "reviewing.cost_usd"} & ill.metrics.keys()
    assert ill.series == {}
    assert "depth.mean_difference" not in told["comparison ill less well"].metrics
    assert told["comparison ill less well"].metrics["depth.n_pairs"] == 0


def test_an_arm_with_pending_reviews_was_killed() -> None:
    given = result([arm("a", units={"finished": 1, "pending": 1})], {"depth": {"a": (0.5,)}})
    assert [run.status for run in tracked_runs(given, "run")] == ["FINISHED", "KILLED"]


@pytest.mark.slow
def test_no_key_reaches_the_folder(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "correct-horse-battery")
    given = two(settings={"models.note": KEY}, models={"writer": "m-correct-horse-battery"})
    track_experiment(given, run_folder(tmp_path, two()), tracking_uri("local", tmp_path))
    assert runs(client)["arm single, 0 rounds"].data.params["setting.models.note"] == "[key removed]"
    texts = [path.read_bytes() for path in (tmp_path / "mlflow").rglob("*") if path.is_file()]
    assert len(texts) > 20
    assert not [text for text in texts if KEY.encode() in text or b"correct-horse-battery" in text]


def test_the_environment_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("mlflow", "mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    before = dict(os.environ)
    check_tracking(tracking_uri("local", tmp_path))
    assert {k: v for k, v in os.environ.items() if k.startswith("MLFLOW")} == {
        k: v for k, v in before.items() if k.startswith("MLFLOW")
    }
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "uri"),
    [
        ("local", "file:///store/mlflow"),
        ("/my runs", "file:///my%20runs"),
        ("http://host:5000", "http://host:5000"),
    ],
)
def test_addresses(named: str, uri: str) -> None:
    assert tracking_uri(named, Path("/store")) == uri


def test_a_server_that_is_not_there_is_told_before_anything_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    require("mlflow", "mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(RunError, match="does not take the experiment") as raised:
        check_tracking("http://me:secret-word@127.0.0.1:9")
    assert "secret-word" not in str(raised.value)


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    require("mlflow", "mlflow")
    given = two()
    folder = run_folder(tmp_path, given)
    (tmp_path / "file").write_text("no folder")
    uri = tracking_uri(str(tmp_path / "file"), tmp_path)
    with pytest.raises(RunError, match="does not take the experiment"):
        check_tracking(uri)
    with pytest.raises(RunError, match="does not take the experiment"):
        track_experiment(given, folder, uri)


def test_without_the_package_the_command_to_install_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> ModuleType:
        if name.partition(".")[0] == "mlflow":
            raise ModuleNotFoundError("No module named 'mlflow'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'referee\[mlflow\]'"):
        check_tracking(tracking_uri("local", tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["", "; tracking.check_tracking('file:///nowhere')"], ids=["not asked for", "asked for"]
)
def test_mlflow_is_imported_when_asked_for_and_then_reports_nothing(call: str) -> None:
    require("mlflow", "mlflow")
    code = f"""
import sys
from referee.experiments import tracking{call}
print("mlflow" in sys.modules)
if "mlflow" in sys.modules:
    from mlflow.telemetry import get_telemetry_client
    print(get_telemetry_client())
"""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # a test says that it is one
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=own)
    assert told.stdout.split() == (["True", "None"] if call else ["False"])
