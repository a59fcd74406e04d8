"""Two commands on one folder, and Ctrl-C: with real processes."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import ChatRequest, FakeServer

from .command import Referee
from .processes import PATIENCE_S, command, ended, finished, wait_for
from .refusals import assert_finished, on, record

VENUE = ("--venue", "neurips-2025", "--strategy", "single")


class SlowServer:
    """A server that answers when it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()
        self.fake = FakeServer({"writer": self._reply}, context_tokens=32_000)

    async def _reply(self, request: ChatRequest) -> Any:
        await asyncio.to_thread(self.let.wait, PATIENCE_S)
        return request.instance()


@pytest.fixture
def slow() -> Iterator[SlowServer]:
    server = SlowServer()
    with server.fake:
        yield server
        server.let.set()


@pytest.mark.slow
def test_two_runs_on_one_folder(workplace: Path, paper: Path, slow: SlowServer) -> None:
    asked = ("review", paper, *VENUE, *on(slow.fake))
    with command(workplace, *asked, "--out", "run") as first:
        wait_for(lambda: len(slow.fake.log))
        second = finished(workplace, *asked, "--resume", "run")
        third = finished(workplace, *asked, "--out", "run")
        slow.let.set()
        done = ended(first)
    assert second.returncode == third.returncode == 2
    assert second.stdout == third.stdout == ""
    assert f"error: run folder 'run' is in use by another process (pid {first.pid} on " in second.stderr
    assert "  next: Wait for it to end" in second.stderr
    assert "'run' already holds a run" in third.stderr
    assert done.returncode == 0, done.stderr
    assert len(slow.fake.log) == 1
    assert_finished(workplace / "run")


@pytest.mark.slow
def test_ctrl_c_twice_during_a_call(referee: Referee, workplace: Path, paper: Path, slow: SlowServer) -> None:
    asked = ("review", paper, *VENUE, *on(slow.fake))
    with command(workplace, *asked, "--out", "run") as process:
        wait_for(lambda: len(slow.fake.log))
        process.send(signal.SIGINT)
        wait_for(lambda: "Ctrl-C again stops at once" in process.err.read_text())
        process.send(signal.SIGINT)
        stopped = ended(process)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stdout == ""
    assert "Traceback" not in stopped.stderr
    assert "interrupted: what was answered so far is kept" in stopped.stderr
    assert "continue with --resume run" in stopped.stderr
    left = record(workplace / "run")
    assert (left.status, left.error) == ("stopped", "interrupted")
    assert not list((workplace / "run").glob("review.*"))

    slow.let.set()
    done = referee(*asked, "--resume", "run")
    assert done.code == 0, done.err
    assert_finished(workplace / "run")
