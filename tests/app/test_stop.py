"""Stop and Stop now while a server hangs, and the end of the app: no worker outlives it."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.held import Held
from tests.support import FakeServer

from .served import App, served, wait_for
from .test_load import workers

SOON_S = 60.0
DROPPED = "1 call under way was dropped, to be sent again"


@contextmanager
def hanging(folder: Path, paper: Path, stop_after_s: float) -> Iterator[tuple[App, str, FakeServer, Held]]:
    """An app with a review whose only call is not answered until it is let."""
    held = Held()
    with (
        FakeServer(held, context_tokens=32_000) as server,
        served(folder, server, REFEREE_CALLS__STOP_AFTER_S=str(stop_after_s)) as app,
    ):
        run = app.upload(paper)
        app.reach(run, "Waits for your go")
        app.post(f"/runs/{run}/start")
        wait_for(lambda: server.log.calls())
        yield app, run, server, held
        held.go.set()


@pytest.mark.slow
def test_stop_waits_for_a_hanging_server_as_long_as_the_settings_say(tmp_path: Path, paper: Path) -> None:
    with hanging(tmp_path, paper, stop_after_s=5.0) as (app, run, server, held):
        for _ in range(2):
            assert app.post(f"/runs/{run}/stop").status_code == 303
        begun = time.monotonic()
        app.reach(run, "Stopped")
        assert time.monotonic() - begun < SOON_S
        assert DROPPED in app.get(f"/runs/{run}").text
        held.go.set()
        app.post(f"/runs/{run}/start")
        app.reach(run, "Finished")
        assert len(server.log.calls()) == 2, "only the call under way was sent again"


@pytest.mark.slow
def test_stop_now_waits_for_nothing(tmp_path: Path, paper: Path) -> None:
    with hanging(tmp_path, paper, stop_after_s=600.0) as (app, run, _, _held):
        app.post(f"/runs/{run}/stop")
        app.reach(run, "Is stopping")
        assert f'action="/runs/{run}/stop-now"' in app.get(f"/runs/{run}").text
        begun = time.monotonic()
        app.post(f"/runs/{run}/stop-now")
        app.reach(run, "Stopped")
        assert time.monotonic() - begun < SOON_S
        assert DROPPED in app.get(f"/runs/{run}").text


@pytest.mark.slow
def test_no_worker_outlives_the_app_not_even_one_that_cannot_end(tmp_path: Path, paper: Path) -> None:
    with hanging(tmp_path, paper, stop_after_s=3.0) as (app, _run, _, _held):
        (worker,) = workers(app)
        worker.suspend()
        begun = time.monotonic()
        app.end(signal.SIGTERM)
        assert time.monotonic() - begun < SOON_S
        assert not psutil.pid_exists(worker.pid)


@pytest.mark.slow
def test_a_worker_killed_again_and_again_loses_only_calls_under_way(tmp_path: Path, examples: Path) -> None:
    """``REFEREE_KILLS`` sets how often; each kill comes with a call under way, after a random number of replies."""
    dice, held, cut_off = random.Random(36), Held(), 0
    with FakeServer(held, context_tokens=32_000) as server, served(tmp_path, server) as app:
        run = app.upload(examples / "paper.md", venue="neurips-2025", strategy="sections")
        app.reach(run, "Waits for your go")
        trace = app.runs / run / "trace.jsonl"

        def kept() -> int:
            return trace.read_bytes().count(b"\n") if trace.is_file() else 0

        for _ in range(int(os.environ.get("REFEREE_KILLS", "2"))):
            sent_before, kept_before = held.arrived, kept()
            held.first = sent_before + dice.randint(0, 1)
            app.post(f"/runs/{run}/start")
            wait_for(lambda: held.arrived > held.first)
            (worker,) = workers(app)
            worker.kill()
            wait_for(lambda: app.state(run) in ("Interrupted", "Failed"))
            cut_off += held.arrived - sent_before - (kept() - kept_before)
        held.go.set()
        app.post(f"/runs/{run}/start")
        app.reach(run, "Finished")
        assert held.arrived == kept() + cut_off, "only calls under way were sent again"


@pytest.mark.slow
def test_a_limit_of_the_form_holds(tmp_path: Path, paper: Path, server: FakeServer) -> None:
    with served(tmp_path, server) as app:
        run = app.upload(paper, max_tokens="500")
        app.reach(run, "Waits for your go")
        app.post(f"/runs/{run}/start")
        app.reach(run, "Stopped")
        assert "500" in app.get(f"/runs/{run}").text
        assert not server.log.calls()
