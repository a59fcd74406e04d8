"""What Ctrl-C does, and what is said after it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from referee.cli import EXIT_INTERRUPTED
from referee.errors import RefereeError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from referee.runs import Progress
    from referee.runs.stopping import Stop

T = TypeVar("T")

_SHOW_CURSOR = b"\x1b[?25h"


class Interrupted(RefereeError):
    """Ctrl-C during a command; ``ids["run"]`` is the folder it can be continued from, if there is one."""

    @classmethod
    def during(cls, run_folder: str) -> Interrupted:
        """Say what is kept."""
        if run_folder:
            return cls("what was answered so far is kept; a call in progress is asked again.", ids={"run": run_folder})
        return cls("nothing was sent or written.")


def run_interruptible(work: Coroutine[Any, Any, T], progress: Progress) -> T:
    """Run a command's work in an event loop of its own, so that Ctrl-C loses nothing that was paid.

    The first Ctrl-C, or SIGTERM, lets the calls under way be answered and written down, and no other one is sent. The
    second ends the work at once. A third ends the process where it stands.

    Args:
        work: What to run.
        progress: Told what is waited for.

    Returns:
        What the work returns.

    Raises:
        KeyboardInterrupt: The work was ended before it was done.
    """
    import asyncio

    from referee.runs.stopping import Stop, stoppable

    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        tasks: list[asyncio.Task[Any]] = []
        stop = Stop(lambda: [task.cancel() for task in tasks])

        async def attended() -> T:
            with stoppable(stop):
                task = asyncio.current_task()
                assert task is not None, "the runner runs this as a task"
                tasks.append(task)
                if stop.requested:
                    task.cancel()
                return await work

        with _signals(_Asking(stop, loop, progress)):
            try:
                return runner.run(attended())
            except asyncio.CancelledError:
                if stop.requested:
                    raise KeyboardInterrupt from None
                raise
            finally:
                work.close()  # where the first signal came before its first step


class _Asking:
    """Turns signals into what the loop does with them."""

    def __init__(self, stop: Stop, loop: AbstractEventLoop, progress: Progress) -> None:
        self._stop, self._loop, self._progress = stop, loop, progress
        self._interrupts = 0
        self.heard = False

    def interrupt(self, number: int, frame: object) -> None:
        """Ctrl-C."""
        self._interrupts += 1
        if not self.heard:
            self._first()
        elif self._interrupts > 2:
            _leave()
        else:
            self._loop.call_soon_threadsafe(self._stop.now)

    def terminate(self, number: int, frame: object) -> None:
        """SIGTERM, which never asks for more than the first Ctrl-C does."""
        if not self.heard:
            self._first()

    def _first(self) -> None:
        self.heard = True
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        from referee.runs import Event

        waiting = self._stop.in_flight
        self._stop.request()
        if waiting:
            calls = f"{waiting} call{'' if waiting == 1 else 's'} under way"
            self._progress(Event("note", f"stopping: waiting for {calls}; Ctrl-C again stops at once"))


def _leave() -> None:
    """End the process where it stands, which no file of a run minds; an exception here could come up anywhere."""
    cursor = _SHOW_CURSOR if os.isatty(2) else b""
    os.write(2, cursor + b"\ninterrupted.\n")
    os._exit(EXIT_INTERRUPTED)


@contextmanager
def _signals(asking: _Asking) -> Iterator[None]:
    """Attend to Ctrl-C and SIGTERM, unless somebody else does or they are ignored.

    A process that was told to end is ending when this is left: one more signal would only break its last words.
    """
    wanted: dict[int, tuple[object, Callable[[int, object], None]]] = {
        signal.SIGINT: (signal.default_int_handler, asking.interrupt),
        signal.SIGTERM: (signal.SIG_DFL, asking.terminate),
    }
    in_main = threading.current_thread() is threading.main_thread()
    before: dict[int, Any] = {
        number: usual for number, (usual, _) in wanted.items() if in_main and signal.getsignal(number) == usual
    }
    for number in before:
        signal.signal(number, wanted[number][1])
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, signal.SIG_IGN if asking.heard else usual)
