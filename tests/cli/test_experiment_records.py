"""What ``referee experiment`` leaves beside its tables: plots, and the copy that MLflow gets."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.errors import RunError
from tests.needs import require
from tests.support import FakeServer

from .command import Outcome, Referee
from .eval_sets import install
from .experiment_sets import two_arms, write_papers

Run = Callable[..., Outcome]


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper and a plan of two arms."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    install(monkeypatch)
    write_papers(workplace, (1,))
    (workplace / "plan.toml").write_text(two_arms("p1.md"))
    return workplace


@pytest.fixture
def run(place: Path, referee: Referee, server: FakeServer) -> Run:
    server.script.entries["judge"] = {"reason": "so", "score": 3}

    def experiment(*arguments: object) -> Outcome:
        return referee("experiment", "plan.toml", "--base-url", server.base_url, "--yes", *arguments)

    return experiment


def logged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The MLflow runs in a folder."""
    from mlflow.tracking import MlflowClient

    with monkeypatch.context() as patched:
        patched.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        client = MlflowClient(tracking_uri=folder.absolute().as_uri())
    (experiment,) = [one for one in client.search_experiments() if one.name == "referee: plan"]
    return {found.data.tags["referee.part"]: found for found in client.search_runs([experiment.experiment_id])}


@pytest.mark.slow
@pytest.mark.drawn
def test_plots_lie_in_the_run_folder_and_the_summary_shows_them(run: Run, place: Path) -> None:
    done = run("--out", "run")
    assert done.code == 0, done.err
    shown = re.findall(r"\]\((plots/\S+\.svg)\)", (place / "run" / "summary.md").read_text())
    assert shown == ["plots/effects-tone.svg", "plots/papers-tone.svg", "plots/cost-tone.svg"]
    assert all((place / "run" / name).is_file() for name in shown)
    assert len(list((place / "run" / "plots").glob("*.png"))) == len(shown)
    assert not (place / "referee-runs" / "mlflow").exists()


@pytest.mark.slow
def test_mlflow_gets_a_copy_that_a_resumed_run_updates(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("mlflow", "mlflow")
    for start in ("--out", "--resume"):
        done = run(start, "run", "--mlflow", "local")
        assert done.code == 0, done.err
        found = logged(place / "referee-runs" / "mlflow", monkeypatch)
        assert set(found) == {"experiment", "arm a", "arm b", "comparison b less a"}
    assert found["arm a"].data.metrics["tone.mean"] == 3
    assert found["comparison b less a"].data.metrics["tone.n_pairs"] == 1


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_told_before_a_call(
    run: Run, place: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("mlflow", "mlflow")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    done = run("--out", "run", "--mlflow", "http://127.0.0.1:9")
    assert done.code != 0
    assert "MLflow at 'http://127.0.0.1:9' does not take the experiment" in done.err
    assert len(server.log) == 0
    assert not (place / "run").exists()


def test_what_mlflow_does_not_take_is_a_note_beside_a_finished_run(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> str:
        raise RunError("MLflow is full.", hint="Empty it.")

    monkeypatch.setattr("referee.api.experiments.running.check_tracking", lambda uri: None)
    monkeypatch.setattr("referee.api.experiments.running.track_experiment", full)
    done = run("--out", "run", "--mlflow", "http://localhost:5000")
    assert done.code == 0, done.err
    assert "MLflow is full. Empty it." in done.err
    assert (place / "run" / "summary.md").is_file()


def test_a_login_in_an_address_is_in_no_record(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(*arguments: object) -> str:
        return "id"

    monkeypatch.setattr("referee.api.experiments.running.check_tracking", taken)
    monkeypatch.setattr("referee.api.experiments.running.track_experiment", taken)
    done = run("--out", "run", "--mlflow", "http://me:secret-word@localhost:5000")
    assert done.code == 0, done.err
    written = [path for path in place.rglob("*") if path.is_file()]
    assert "plan.json" in {path.name for path in written}
    assert not [path for path in written if b"secret-word" in path.read_bytes()]
