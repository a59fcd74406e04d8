"""A command that is killed on its way and resumed until it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from review_processes import CommandFailed, Ended, environment, run_python

MOMENTS = (0.2, 0.5, 0.8)
"""Shares of the units after which the process is killed."""
_LOOK_S = 0.2


@dataclass(frozen=True)
class Killed:
    """A run that was killed so often.

    Attributes:
        kills: How often.
        resumed_s: From the last resume's start to its first new result.
        last: The part that ended by itself.
    """

    kills: int
    resumed_s: float
    last: Ended


def killed_run(command: list[str], out: Path, units: int, folder: Path, slots: int) -> Killed:
    """Start, kill and resume a command until it has ended by itself.

    Args:
        command: Arguments of Python, but for ``--out``.
        out: The run folder.
        units: How many results the whole run has.
        folder: Where it runs.
        slots: Calls that are allowed at once.
    """
    resumed = 0.0
    for share in MOMENTS:
        before = _lines(out / "results.jsonl")
        start = time.monotonic()
        process = _started([*command, *_where(out)], folder, slots)
        try:
            while _lines(out / "results.jsonl") <= before and process.poll() is None:
                time.sleep(_LOOK_S)
            resumed = time.monotonic() - start
            while _lines(out / "results.jsonl") < share * units and process.poll() is None:
                time.sleep(_LOOK_S)
        finally:
            process.kill()
            process.wait()
    return Killed(len(MOMENTS), resumed, run_python([*command, *_where(out)], folder, slots))


def run_together(commands: list[list[str]], folder: Path, slots: int) -> float:
    """Run commands side by side to their ends; the seconds that took.

    Raises:
        CommandFailed: One ended with an error.
    """
    start = time.monotonic()
    running = [_started(command, folder, slots) for command in commands]
    for command, process in zip(commands, running, strict=True):
        if process.wait() != 0:
            raise CommandFailed(f"{' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - start


def _where(out: Path) -> list[str]:
    return ["--resume" if (out / "run.json").exists() else "--out", str(out)]


def _started(command: list[str], folder: Path, slots: int) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, *command], cwd=folder, env=environment(os.environ, slots), **quiet)


def _lines(file: Path) -> int:
    """How many finished lines a file has; 0 without a file."""
    return file.read_bytes().count(b"\n") if file.exists() else 0
