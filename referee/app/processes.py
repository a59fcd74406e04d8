"""Processes of workers, forked from one that has loaded the libraries of a review before it is asked for."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from multiprocessing import Pipe, forkserver, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from signal import Signals

_LOADED_AHEAD = [
    *("__main__", "referee.app.worker", "referee.api.reviewing", "referee.reports.review_page", "langchain_openai"),
    *("referee.graphs.single.machine", "referee.graphs.single.strategy", "referee.graphs.audited.strategy"),
]


class Worker:
    """A process at work on one run.

    Args:
        process: The process, started.
        hold: The end of its input closes with this, which tells it to stop.
    """

    def __init__(self, process: ForkServerProcess, hold: Connection) -> None:
        self._process, self._hold = process, hold

    def stop(self) -> None:
        """Tell it to send no further call and to end; asking twice is harmless."""
        self._hold.close()

    def send(self, number: Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self._process.is_alive() and self._process.pid:
            with suppress(ProcessLookupError):  # it may end between the two
                os.kill(self._process.pid, number)

    async def wait(self) -> int:
        """Its exit code when it has ended; below 0, the signal that ended it."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
            self.stop()
        self._process.join()
        return self._process.exitcode or 0


def load_ahead() -> None:
    """Start the process that workers are forked from, and return at once; it loads the libraries by itself."""
    get_context("forkserver").set_forkserver_preload(_LOADED_AHEAD)
    forkserver.ensure_running()


async def start_worker(what: str, run: Path, job: Path, base_url: str | None) -> Worker:
    """Start a worker; raises ``OSError`` where the system starts no further process."""
    return await asyncio.to_thread(_started, what, run, job, base_url)


def _started(what: str, run: Path, job: Path, base_url: str | None) -> Worker:
    held, hold = Pipe(duplex=False)
    try:
        process = get_context("forkserver").Process(target=_work, args=(held, what, run, job, base_url))
        process.start()
    except EOFError as error:
        hold.close()
        raise OSError("the process that workers are forked from has ended") from error
    except BaseException:
        hold.close()
        raise
    finally:
        held.close()
    return Worker(process, hold)


def _work(held: Connection, what: str, run: Path, job: Path, base_url: str | None) -> None:
    """In the new process: a session of its own, so that Ctrl-C at the app's terminal reaches it through the app."""
    from referee.app.worker import work

    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    work(held, what, run, job, base_url)
