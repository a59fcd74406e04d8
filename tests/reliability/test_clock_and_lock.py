"""A clock that is set back during a run, and two runs on one folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from referee.errors import RefereeError, RunError
from referee.llm.failures import classify
from referee.llm.spec import ModelSpec
from referee.runs import Event
from referee.runs.lock import FolderLock
from tests.support import Fault, FaultPlan

from .disturbance import Clock, benchmark

HOUR_S = 3600


def test_a_clock_set_back_during_a_run(paper: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, script, clock = benchmark("runs"), benchmark("script"), Clock(monkeypatch)

    def progress(event: Event) -> None:
        if event.kind == "call_finished":
            clock.set_back(HOUR_S)

    faults = FaultPlan([Fault("429", role="checker", first=1, retry_after_s=HOUR_S)])
    with script.serving(faults) as server:
        quick = runs.quick(server.base_url, **{"calls.requests_per_minute": 600})
        ended = runs.started(paper, folder / "run", quick, progress=progress)
        assert ended.error == ""
        assert ended.seconds < HOUR_S, "a pause that the provider named is bounded"
        assert server.log.outcomes()["429"] == 1
        calls = runs.flushed(folder / "run")
    assert all(0 <= call.seconds < HOUR_S for call in calls)
    assert [call.call_id for call in calls] == [f"c{number:04d}" for number in range(1, len(calls) + 1)]
    assert [call.at for call in calls] != sorted(call.at for call in calls), "the clock was set back"
    left = runs.record(folder / "run")
    assert left.status == "finished"
    assert datetime.fromisoformat(left.started_at) <= datetime.fromisoformat(left.finished_at)


def test_a_run_that_dies_again_and_again_while_the_clock_goes_back(
    paper: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each start finds what the one before it did, though what came later bears earlier times."""
    runs, script, clock = benchmark("runs"), benchmark("script"), Clock(monkeypatch)
    deaths = ["writer:", "cross:", "checker:", "composer:"]

    def progress(event: Event) -> None:
        if event.kind == "call_finished" and deaths and event.text.startswith(deaths[0]):
            deaths.pop(0)
            raise KeyError("the process dies here")

    run = folder / "run"
    with script.serving() as server:
        quick = runs.quick(server.base_url)
        assert runs.started(paper, folder / "undisturbed", quick).error == ""
        while deaths:
            kept, before = runs.paid(run), len(server.log)
            with pytest.raises(KeyError):
                runs.started(paper, run, quick, progress=progress)
            assert not set(kept).intersection(runs.sent(server, before))
            assert kept == runs.paid(run)[: len(kept)]
            clock.set_back(HOUR_S)
        assert runs.started(paper, run, quick).error == ""
        before = len(server.log)
        assert runs.started(paper, run, quick).error == "", "a finished run may be resumed"
        assert runs.sent(server, before) == []
    assert runs.comparable(run) == runs.comparable(folder / "undisturbed")


@pytest.mark.parametrize(("ahead_s", "least", "most"), [(-HOUR_S, 0.0, 0.0), (HOUR_S, HOUR_S - 60, HOUR_S + 60)])
def test_a_date_to_retry_after_is_never_a_negative_pause(ahead_s: int, least: float, most: float) -> None:
    class Limited(Exception):
        status_code = 429

    error: Any = Limited("slow down")
    when = (datetime.now(UTC) + timedelta(seconds=ahead_s)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    error.response = type("Response", (), {"headers": {"retry-after": when}})()
    pause = float(classify(error, ModelSpec("server", "fake", "http://127.0.0.1:9/v1")).ids["retry_after_s"])
    assert least <= pause <= most


_HOLDING = """
import sys, pathlib
from referee.runs.lock import FolderLock
FolderLock(pathlib.Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_the_holder_of_a_folder_is_named_and_a_dead_one_is_forgotten(folder: Path) -> None:
    root = Path(__file__).parents[2]
    command, env = [sys.executable, "-c", _HOLDING, str(folder)], os.environ | {"PYTHONPATH": str(root)}
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        lock = FolderLock(folder)
        with pytest.raises(RunError) as refused:
            lock.acquire()
        assert f"(pid {holder.pid} on {socket.gethostname()!r})" in refused.value.message
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert f"pid {holder.pid} " in (folder / ".lock").read_text(), "it had no time to tidy up"
        lock.acquire()
    assert f"pid {os.getpid()} " in (folder / ".lock").read_text()
    lock.release()


def test_a_second_run_on_a_folder_is_refused_and_the_first_is_left_alone(paper: Path, folder: Path) -> None:
    runs, script = benchmark("runs"), benchmark("script")
    refusals: list[str] = []

    def progress(event: Event) -> None:
        if event.kind == "call_finished" and not refusals:
            with pytest.raises(RefereeError) as refused:
                FolderLock(folder / "run").acquire()
            refusals.append(refused.value.message)

    with script.serving() as server:
        assert runs.started(paper, folder / "run", runs.quick(server.base_url), progress=progress).error == ""
    assert f"pid {os.getpid()} on " in refusals[0]
