"""What Ctrl-C does, and what is said after it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from referee.cli.exits import EXIT_INTERRUPTED
from referee.errors import RefereeError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from referee.cli.progress import ProgressLine, Stages
    from referee.runs.stopping import Stop

T = TypeVar("T")

_CLEAN_LINE = b"\r\x1b[2K\x1b[?25h"  # the living line away, the cursor back


class Interrupted(RefereeError):
    """Ctrl-C during a command; ``ids["run"]`` is the folder it can be continued from, if there is one."""

    @classmethod
    def during(cls, run_folder: str) -> Interrupted:
        """Say what is kept."""
        if run_folder and (waiting := _batches_of(run_folder)):
            return cls(
                f"what was answered so far is kept; {waiting} batch(es) go on at the provider, and are paid for.",
                hint=f"Resume later with --batch to read them; to end them: referee batches {run_folder} --cancel",
                ids={"run": run_folder},
            )
        if run_folder:
            return cls("what was answered so far is kept; a call in progress is asked again.", ids={"run": run_folder})
        return cls("nothing was sent or written.")


def _batches_of(run_folder: str) -> int:
    """Batches that were handed in and whose replies are not here."""
    from pathlib import Path

    from referee.llm.batches.book import open_batches

    return len(open_batches(Path(run_folder)))


def run_interruptible(work: Coroutine[Any, Any, T], progress: ProgressLine | Stages) -> T:
    """Run a command's work in an event loop of its own, so that Ctrl-C loses nothing that was paid.

    The first Ctrl-C, or SIGTERM, lets the calls under way be answered and written down, and no other one is sent. The
    second ends the work at once. A third ends the process where it stands.

    Args:
        work: What to run.
        progress: Told what is waited for; says where the run lies.

    Returns:
        What the work returns.

    Raises:
        Interrupted: The work was ended before it was done.
    """
    try:
        return _attended(work, progress)
    except KeyboardInterrupt:
        raise Interrupted.during(progress.run_folder) from None


def _attended(work: Coroutine[Any, Any, T], progress: ProgressLine | Stages) -> T:
    """Run the work in a loop that hears of signals; raises ``KeyboardInterrupt`` where they ended it."""
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

        with _signals(loop, _Asking(stop, progress)):
            try:
                return runner.run(attended())
            except asyncio.CancelledError:
                if stop.requested:
                    raise KeyboardInterrupt from None
                raise
            finally:
                work.close()  # where the first signal came before its first step


class _Asking:
    """What the loop does when it hears of a signal."""

    def __init__(self, stop: Stop, progress: ProgressLine | Stages) -> None:
        self._stop, self._progress = stop, progress
        self.heard = False

    def interrupt(self) -> None:
        """Ctrl-C."""
        if self.heard:
            self._stop.now()
        else:
            self.terminate()

    def terminate(self) -> None:
        """SIGTERM, which never asks for more than the first Ctrl-C does."""
        from referee.runs import Event

        if self.heard:
            return
        self.heard = True
        waiting = self._stop.in_flight
        self._stop.request()
        if waiting:
            calls = f"{waiting} call{'' if waiting == 1 else 's'} under way"
            self._progress(Event("note", f"stopping: waiting for {calls}; Ctrl-C again stops at once"))


class _Presses:
    """Counts Ctrl-C beside the loop, which may be busy: the third ends the process."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, number: int, frame: object) -> None:
        self.count += 1
        if self.count > 2:
            _leave()


@contextmanager
def one_press_ends(run_folder: str) -> Iterator[None]:
    """Let the first Ctrl-C, or SIGTERM, end the command: at a question no call is under way that one could wait for.

    Raises:
        Interrupted: The signal came, at the question or just before it.
    """
    numbers = (signal.SIGINT, signal.SIGTERM)
    before: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}
    in_main = threading.current_thread() is threading.main_thread()
    attended = [number for number in numbers if in_main and before[number] not in (signal.SIG_IGN, None)]

    def end(number: int, frame: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # a second one would break the way out
        raise Interrupted.during(run_folder)

    presses = before[signal.SIGINT]
    if isinstance(presses, _Presses) and presses.count:
        raise Interrupted.during(run_folder)
    try:
        for number in attended:
            signal.signal(number, end)
        yield
    finally:
        for number in attended:
            signal.signal(number, before[number])


def _leave() -> None:
    """End the process where it stands, which no file of a run minds; an exception here could come up anywhere."""
    clean = _CLEAN_LINE if os.isatty(2) else b""
    os.write(2, clean + b"\ninterrupted.\n")
    os._exit(EXIT_INTERRUPTED)


@contextmanager
def _signals(loop: AbstractEventLoop, asking: _Asking) -> Iterator[None]:
    """Attend to Ctrl-C and SIGTERM, unless somebody else does or they are ignored.

    The loop itself is told, because a signal that comes just before it waits would not wake it otherwise. A process
    that was told to end is ending when this is left: one more signal would only break its last words.
    """
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    heard = {signal.SIGINT: asking.interrupt, signal.SIGTERM: asking.terminate}
    in_main = threading.current_thread() is threading.main_thread()
    ours = [number for number in heard if in_main and signal.getsignal(number) == usual[number]]
    presses = _Presses()
    for number in ours:
        loop.add_signal_handler(number, heard[number])
    if signal.SIGINT in ours:
        signal.signal(signal.SIGINT, presses)
    try:
        yield
    finally:
        for number in ours:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN if asking.heard or presses.count else usual[number])
