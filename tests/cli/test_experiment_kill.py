"""Ends of ``referee experiment`` that nobody planned, with real processes: nothing is paid twice, nothing is lost."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from referee.schemas.experiment import ExperimentResult
from tests.held import Held
from tests.support import FakeServer

from .experiment_sets import result, two_arms, write_papers
from .processes import command, ended, finished, wait_for

PAPERS = 3
UNITS = 2 * PAPERS


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(two_arms("p*.md", metric="depth"))
    write_papers(tmp_path, range(PAPERS))
    return tmp_path


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def server(held: Held) -> Iterator[FakeServer]:
    with FakeServer(held, context_tokens=32_000) as running:
        yield running


def asked(server: FakeServer) -> tuple[object, ...]:
    return ("experiment", "plan.toml", "--base-url", server.base_url, "--no-cache")


def record(place: Path, run: str = "run") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / run / "run.json").read_text())
    return found


def whole(place: Path, run: str = "run") -> ExperimentResult:
    """The result, after seeing that every pair has its value."""
    found = result(place / run)
    assert {value.status for value in found.values} == {"scored"}
    assert found.comparisons[0].n_pairs == PAPERS
    return found


def traced(place: Path) -> Counter[str]:
    """Calls that were written down, in all ledgers."""
    lines = [line for file in place.glob("**/trace.jsonl") for line in file.read_text().splitlines()]
    return Counter(json.loads(line)["request"] for line in lines if '"origin":"cache"' not in line)


@pytest.mark.slow
@pytest.mark.parametrize("answered", [1, UNITS + 2])
def test_a_killed_experiment_goes_on_where_it_was(place: Path, held: Held, server: FakeServer, answered: int) -> None:
    held.first = answered
    with command(place, *asked(server), "--out", "run") as process:
        wait_for(lambda: len(server.log.calls(outcome="ok")) >= answered)
        process.kill()
    held.go.set()
    assert record(place)["status"] == "running"
    kept = traced(place)
    done = finished(place, *asked(server), "--resume", "run")
    assert done.returncode == 0, done.stderr
    result = whole(place)
    calls = Counter(call.digest for call in server.log)
    assert len(calls) == 2 * UNITS
    assert calls.total() - 2 * UNITS <= 2 * UNITS - len(kept), "only calls that were not written down are made again"
    assert set(traced(place).values()) == {1}
    assert result.paid.calls == 2 * UNITS
    assert sum(arm.judging.calls for arm in result.arms) == UNITS


@pytest.mark.slow
def test_ctrl_c_lets_all_units_finish_their_calls_and_pays_none_again(
    place: Path, held: Held, server: FakeServer
) -> None:
    with command(place, *asked(server), "--out", "run") as process:
        wait_for(lambda: len(server.log) >= 3)
        process.send(signal.SIGINT)
        wait_for(lambda: "Ctrl-C again stops at once" in process.err.read_text())
        held.go.set()
        stopped = ended(process)
    assert stopped.returncode == 130, stopped.stderr
    assert "continue with --resume run" in stopped.stderr
    assert record(place)["status"] == "stopped"
    sent = len(server.log)
    assert set(server.log.outcomes()) == {"ok"}, "calls under way were answered"
    assert sum(traced(place).values()) == sent < 2 * UNITS, "and written down"
    done = finished(place, *asked(server), "--resume", "run")
    assert done.returncode == 0, done.stderr
    assert set(Counter(call.digest for call in server.log).values()) == {1}
    assert whole(place).paid.calls == 2 * UNITS


@pytest.mark.slow
def test_two_experiments_at_once_pay_each_review_once(place: Path, held: Held, server: FakeServer) -> None:
    held.go.set()
    runs = ("first", "second")
    with ExitStack() as both:
        started = [both.enter_context(command(place, *asked(server), "--out", run)) for run in runs]
        for process in started:
            done = ended(process)
            assert done.returncode == 0, done.stderr
    written = Counter(call.digest for call in server.log.calls(role="writer"))
    assert (len(written), written.total()) == (UNITS, UNITS)
    results = [whole(place, run) for run in runs]
    assert results[0].values == results[1].values
    assert sum(arm.units["reused"] for result in results for arm in result.arms) == UNITS
    judged = sum(arm.judging.calls for result in results for arm in result.arms)
    assert sum(result.paid.calls for result in results) == UNITS + judged
