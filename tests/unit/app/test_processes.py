"""Workers that end or cannot be started at a bad moment."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from referee.app.asking import Asked
from referee.app.job_files import last_line
from referee.app.jobs import Jobs
from referee.app.processes import _LOADED_AHEAD, Worker
from tests.held import happened


def test_a_signal_to_a_worker_that_ended_meanwhile_is_no_error() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    held, hold = Pipe(duplex=False)
    process = cast(ForkServerProcess, SimpleNamespace(is_alive=lambda: True, pid=ended.pid))
    worker = Worker(process, cast(Any, hold))
    worker.send(signal.SIGKILL)
    worker.stop()
    worker.stop()
    held.close()


async def test_where_no_process_can_be_forked_the_job_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_process: ForkServerProcess) -> None:
        raise EOFError("unexpected EOF")

    monkeypatch.setattr(ForkServerProcess, "start", broken)
    jobs = Jobs(tmp_path)
    name = jobs.new("paper.md", "arr")
    jobs.plan(name, Asked(paper="paper.md", venue="arr"))
    await happened(lambda: jobs.phase(name) is None)
    line = last_line(jobs.folder(name))
    assert line is not None
    assert line.state == "failed"
    assert "No process could be started" in line.said


@pytest.mark.parametrize("name", _LOADED_AHEAD[1:])
def test_what_is_loaded_ahead_exists(name: str) -> None:
    """A name that is wrong would be passed over in silence, and workers would begin slowly again."""
    assert find_spec(name) is not None
