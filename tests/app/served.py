"""The app as a user starts it: a process of its own, in a folder of its own, at a free port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support import FakeServer

PATIENCE_S = 600.0
_STATE = re.compile(r'<b id="state">([^<]*)</b>')


class App:
    """A running app: requests as its own pages make them."""

    def __init__(self, process: subprocess.Popen[str], address: str, folder: Path) -> None:
        self.process, self.address, self.folder = process, address.split("?")[0].rstrip("/"), folder
        self.log, self.runs = folder / "app.log", folder / "referee-runs"
        self.entrance = address
        self.client = httpx.Client(base_url=self.address, headers={"Origin": self.address}, timeout=PATIENCE_S)

    def get(self, path: str, /, **more: Any) -> httpx.Response:
        return self.client.get(path, follow_redirects=True, **more)

    def post(self, path: str, /, **fields: Any) -> httpx.Response:
        return self.client.post(path, data=fields)

    def upload(self, paper: Path, name: str | None = None, **fields: str) -> str:
        """Upload a paper; the name of its run."""
        given = {"venue": "arr", "strategy": "single", **fields}
        with paper.open("rb") as file:
            answer = self.client.post("/runs", data=given, files={"upload": (name or paper.name, file)})
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].removeprefix("/runs/")

    def state(self, run: str) -> str:
        found = _STATE.search(self.get(f"/runs/{run}").text)
        assert found is not None, run
        return found[1]

    def reach(self, run: str, state: str) -> None:
        """Wait until the run stands so."""
        wait_for(lambda: self.state(run) == state, lambda: f"{run}: {self.state(run)}, not {state}")

    def reviewed(self, paper: Path, **fields: str) -> str:
        """Upload, start, and wait for the review."""
        run = self.upload(paper, **fields)
        self.reach(run, "Waits for your go")
        assert self.post(f"/runs/{run}/start").status_code == 303
        self.reach(run, "Finished")
        return run

    def jobs(self) -> list[str]:
        """The folders of what was asked for."""
        return sorted(path.name for path in (self.runs / ".app").iterdir() if path.name != ".lock")

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def served(folder: Path, server: FakeServer | None, *more: object, **environment: str) -> Iterator[App]:
    """The app on the run folders in ``referee-runs`` of a folder; it does not outlive the block."""
    by = ["--base-url", server.base_url] if server else []
    command = [sys.executable, "-m", "referee", "app", "--print", "--port", "0", *by, *map(str, more)]
    own = {"REFEREE_CALLS__CACHE": "false", **({"REFEREE_MODELS__DEFAULT": "fake"} if server else {}), **environment}
    log = folder / "app.log"
    with log.open("a") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **own}, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        assert "The app is at " in said, log.read_text()
        app = App(process, said.split("The app is at ")[1].split(" ")[0], folder)
        with app.client:
            yield app
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(condition: Callable[[], object], told: Callable[[], str] = lambda: "it did not happen") -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, told()
        time.sleep(0.1)
