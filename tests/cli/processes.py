"""Real processes of the command line, each with a life of its own, forked from one that has imported everything."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import pytest

with pytest.MonkeyPatch.context() as _patched:
    _patched.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from forked_commands import PATIENCE_S, Command, ForkServer, environment, fork_server

__all__ = ["PATIENCE_S", "Command", "Done", "command", "ended", "environment", "finished", "forks", "wait_for"]

_STREAMS = count(1)


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    returncode: int | None
    stdout: str
    stderr: str


@cache
def forks() -> ForkServer:
    """The one that all tests of this process start their commands with."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(fork_server())


@contextmanager
def command(folder: Path, *arguments: object) -> Iterator[Command]:
    """``referee ARGUMENTS`` as a process in a folder; it does not outlive the block."""
    number = next(_STREAMS)
    out, err = (folder / f".{number}.{stream}" for stream in ("out", "err"))
    process = forks().start(arguments, folder, out=out, err=err)
    try:
        yield process
    finally:
        process.kill()


def ended(process: Command) -> Done:
    """Wait for its end."""
    return Done(process.ended(), process.out.read_text(), process.err.read_text())


def finished(folder: Path, *arguments: object) -> Done:
    """Run ``referee ARGUMENTS`` to its end."""
    with command(folder, *arguments) as process:
        return ended(process)


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds; fail loudly when it never does."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "what was waited for did not happen"
        time.sleep(0.01)
