"""Real processes: the command line and the test server, each with a life of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

# Only a test that fails waits so long; a process that imports everything on a busy machine takes a minute.
PATIENCE_S = 180.0
_FOLDERS = ("REFEREE_CACHE_DIR", "REFEREE_CONFIG_DIR")


@contextmanager
def command(folder: Path, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """``referee ARGUMENTS`` as a process in a folder; it does not outlive the block."""
    given = [sys.executable, "-m", "referee", *map(str, arguments)]
    process = subprocess.Popen(
        given,
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_ctrl_c,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _hear_ctrl_c() -> None:
    """A shell that starts the tests in the background has Ctrl-C ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``referee ARGUMENTS`` to its end."""
    with command(folder, *arguments) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds; fail loudly when it never does."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "what was waited for did not happen"
        time.sleep(0.01)


@dataclass(frozen=True)
class ServerProcess:
    """A test server that outlives its clients."""

    base_url: str
    log: Path

    def answered(self) -> list[dict[str, Any]]:
        """The calls it has ended, in order; each line was flushed before its reply was sent."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def calls(self) -> list[dict[str, Any]]:
        """All calls, those in progress too, in order of arrival."""
        with urlopen(f"{self.base_url.removesuffix('/v1')}/log") as answer:
            calls: list[dict[str, Any]] = json.load(answer)
        return calls


@contextmanager
def server_process(folder: Path, name: str, options: Sequence[object]) -> Iterator[ServerProcess]:
    """``python -m referee.testing.server`` with a call log of its own."""
    log = folder / f"{name}.calls.jsonl"
    log.touch()
    given = [sys.executable, "-m", "referee.testing.server", "--log", str(log), "--max-seconds", "300"]
    process = subprocess.Popen([*given, *map(str, options)], env=environment(), text=True, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield ServerProcess(json.loads(process.stdout.readline())["base_url"], log)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def environment() -> dict[str, str]:
    """This process's own, without keys and settings, and with the package that is under test."""
    root = Path(__file__).parents[2]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_API_TOKEN")) and (not name.startswith("REFEREE_") or name in _FOLDERS)
    }
    return {**kept, "PYTHONPATH": str(root)}
