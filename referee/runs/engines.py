"""Where the shards of a run are worked on: processes of this machine, or tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from referee.errors import RunError
from referee.runs.shared_limits import RAY, SqliteBook, import_ray
from referee.settings import ENV_PREFIX, RESERVED_ENV

LIMITS = "limits.sqlite"
KILLED = -9
_LOOK_AGAIN_S = 0.05
_ANSWERS_S = 5.0
_JOINS_S = 30


@dataclass(frozen=True)
class Work:
    """One shard to be worked on: the command's arguments, and the file for what it says."""

    number: int
    arguments: tuple[str, ...]
    log: Path


@dataclass(frozen=True)
class Ended:
    """How the work on a shard ended: the exit code of its command, negative where its process was killed."""

    number: int
    code: int


class Engine(Protocol):
    """Works on shards beside each other."""

    def open(self, folder: Path) -> str:
        """Begin with the run in this folder; what its shards are to have as ``calls.shared_limits``."""

    def start(self, work: Work, environment: Mapping[str, str]) -> None:
        """Begin with a shard, with these variables beside those that are there."""

    def any(self) -> bool:
        """Whether some shard is worked on."""

    def wait(self) -> Ended:
        """Until the work on some shard has ended."""

    def stop(self, *, limited: bool) -> None:
        """Ask all to stop, as Ctrl-C does, or SIGTERM with a limit; who is asked again is killed."""

    def close(self) -> None:
        """Let go of everything; doing so twice is harmless."""


class LocalEngine:
    """Processes of this machine."""

    def __init__(self) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._stopping = False

    def open(self, folder: Path) -> str:
        """As ``Engine.open``: the limits lie in the run's folder."""
        return str((folder / LIMITS).absolute())

    def start(self, work: Work, environment: Mapping[str, str]) -> None:
        """As ``Engine.start``."""
        with work.log.open("ab") as log:
            self._processes[work.number] = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "referee", *work.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **environment},
                process_group=0,  # Ctrl-C comes to this process alone, which passes it on once
            )

    def any(self) -> bool:
        """As ``Engine.any``."""
        return bool(self._processes)

    def wait(self) -> Ended:
        """As ``Engine.wait``."""
        while True:
            for number, process in self._processes.items():
                code = process.poll()
                if code is not None:
                    del self._processes[number]
                    return Ended(number, code)
            time.sleep(_LOOK_AGAIN_S)

    def stop(self, *, limited: bool) -> None:
        """As ``Engine.stop``."""
        number = signal.SIGKILL if self._stopping else signal.SIGTERM if limited else signal.SIGINT
        for process in list(self._processes.values()):  # a timer may ask
            process.send_signal(number)
        self._stopping = True

    def close(self) -> None:
        """As ``Engine.close``."""
        for process in self._processes.values():
            process.kill()
            process.wait()
        self._processes.clear()


class RayEngine:
    """Tasks of a Ray cluster whose machines all see the run's folder and have ``referee`` installed.

    Args:
        address: The cluster as ``HOST:PORT`` or ``ray://HOST:PORT``; by default the one that runs on this machine.

    Raises:
        MissingExtra: Ray is not installed.
        RunError: No cluster answers there.
    """

    def __init__(self, address: str | None = None) -> None:
        self._ray = import_ray()
        if address is not None:
            _require_answer(address)
        self._tasks: dict[Any, int] = {}
        self._book: Any = None
        self._stopping = False
        self._joined = not self._ray.is_initialized()
        if not self._joined:
            return
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(_JOINS_S))
        try:
            self._ray.init(address or "auto", logging_level=logging.ERROR, log_to_driver=False, namespace="referee")
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = f"at {address!r}" if address else "on this machine"
            raise RunError(
                f"there is no Ray cluster {where}: {str(error).splitlines()[0]}",
                hint="Start one (`ray start --head`), or name it with --address HOST:PORT.",
            ) from error

    def open(self, folder: Path) -> str:
        """As ``Engine.open``: the limits are kept by an actor that ends with this process."""
        name = hashlib.sha256(f"{folder.absolute()} {socket.gethostname()} {os.getpid()}".encode()).hexdigest()[:16]
        actor = self._ray.remote(SqliteBook)
        self._book = actor.options(name=f"referee-limits-{name}", num_cpus=0).remote(":memory:")
        return f"{RAY}referee-limits-{name}"

    def start(self, work: Work, environment: Mapping[str, str]) -> None:
        """As ``Engine.start``; a worker ends with its shard, so that the next one begins with nothing of it."""
        task = self._ray.remote(num_cpus=1, max_retries=0, max_calls=1)(run_command)
        self._tasks[task.remote(work, str(Path.cwd()), {**settings_said(os.environ), **environment})] = work.number

    def any(self) -> bool:
        """As ``Engine.any``."""
        return bool(self._tasks)

    def wait(self) -> Ended:
        """As ``Engine.wait``."""
        while True:
            ended, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=_LOOK_AGAIN_S)
            if ended:
                break
        number = self._tasks.pop(ended[0])
        try:
            return Ended(number, int(self._ray.get(ended[0])))
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, RunError):
                raise error.cause from error
            raise
        except self._ray.exceptions.RayError:
            return Ended(number, KILLED)

    def stop(self, *, limited: bool) -> None:
        """As ``Engine.stop``; Ray knows only Ctrl-C."""
        for task in list(self._tasks):
            self._ray.cancel(task, force=self._stopping)
        self._stopping = True

    def close(self) -> None:
        """As ``Engine.close``."""
        for task in self._tasks:
            self._ray.cancel(task, force=True)
        self._tasks.clear()
        if self._book is not None:
            self._ray.kill(self._book)
            self._book = None
        if self._joined:
            self._ray.shutdown()
            self._joined = False


def settings_said(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings among a machine's variables: no place of the machine, and no key."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(ENV_PREFIX) and name not in RESERVED_ENV and not name.endswith(("_KEY", "_TOKEN"))
    }


def run_command(work: Work, folder: str, environment: Mapping[str, str]) -> int:
    """Run ``referee ARGUMENTS`` in this process, a worker of a cluster, and return its exit code.

    Raises:
        RunError: This machine does not see the run's folder.
    """
    if not work.log.parent.is_dir():
        raise RunError(
            f"the Ray worker on {socket.gethostname()!r} does not see {str(work.log.parent)!r}.",
            hint="Put the run's folder (--out) and the inputs on a disk that all machines of the cluster share.",
        )
    os.chdir(folder)
    os.environ.update(environment)
    with work.log.open("a", encoding="utf-8") as log, contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        return run_cli(work.arguments)


def run_cli(arguments: Sequence[str]) -> int:
    """The exit code of ``referee ARGUMENTS``, run by the interpreter as ``python -m referee``."""
    import runpy

    sys.argv = ["referee", *arguments]
    try:
        runpy.run_module("referee", run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


def _require_answer(address: str) -> None:
    """See that somebody listens at the address, within seconds: Ray itself tries for minutes.

    Raises:
        RunError: Nobody does, or it is no address.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    hint = "Start a cluster (`ray start --head`), and name its address as --address HOST:PORT."
    if not host or not port.isdecimal():
        raise RunError(f"{address!r} is no address of a Ray cluster.", hint=hint)
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWERS_S).close()
    except (OSError, OverflowError) as error:
        raise RunError(f"no Ray cluster answers at {address!r}: {error}.", hint=hint) from error
