"""What Ctrl-C does, and what is said after it."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from referee.cli.exits import EXIT_INTERRUPTED
from referee.errors import RefereeError

if TYPE_CHECKING:
    from referee.cli.progress import ProgressLine, Stages

T = TypeVar("T")

_CLEAN_LINE = b"\r\x1b[2K\x1b[?25h"  # the living line away, the cursor back
_KEPT = "what was answered so far is kept; calls that were under way are sent again"


class Interrupted(RefereeError):
    """Ctrl-C during a command; ``ids["run"]`` is the folder it can be continued from, if there is one."""

    @classmethod
    def during(cls, run_folder: str, kept: str = _KEPT) -> Interrupted:
        """Say what is kept, in these words."""
        if run_folder and (waiting := _batches_of(run_folder)):
            return cls(
                f"what was answered so far is kept; {waiting} batch(es) go on at the provider, and are paid for.",
                hint=f"Resume later with --batch to read them; to end them: referee batches {run_folder} --cancel",
                ids={"run": run_folder},
            )
        if run_folder:
            return cls(f"{kept}.", ids={"run": run_folder})
        return cls("nothing was sent or written.")


def _batches_of(run_folder: str) -> int:
    """Batches that were handed in and whose replies are not here."""
    from pathlib import Path

    from referee.llm.batches.book import open_batches

    return len(open_batches(Path(run_folder)))


def run_interruptible(work: Coroutine[Any, Any, T], progress: ProgressLine | Stages) -> T:
    """Run a command's work so that Ctrl-C loses nothing that was paid, as ``run_stoppable`` does.

    Args:
        work: What to run.
        progress: Told what is waited for; says where the run lies.

    Returns:
        What the work returns.

    Raises:
        Interrupted: The work was ended before it was done.
    """
    from referee.cli.output import error_lines
    from referee.runs import Event
    from referee.runs.stopping import Stop, run_stoppable
    from referee.settings import load_settings

    stop, alone, told = Stop(), threading.RLock(), list[str]()

    def say(text: str) -> None:
        progress(Event("note", f"{text}; Ctrl-C again stops at once"))

    def leave() -> NoReturn:
        """An exception could come up anywhere, nobody may read what is said, and two ways may lead here at once."""
        try:
            if alone.acquire(timeout=1) and not told:
                told.extend(error_lines("interrupted", Interrupted.during(progress.run_folder, stop.kept)))
                if select.select([], [2], [], 0)[1]:
                    clean = _CLEAN_LINE if os.isatty(2) else b""
                    os.write(2, clean + "\n".join(["", *told, ""]).encode("utf-8", "replace"))
        finally:
            os._exit(EXIT_INTERRUPTED)

    try:
        after_s = load_settings().calls.stop_after_s
        return run_stoppable(work, stop, after_s=after_s, say=say, leave=leave)
    except KeyboardInterrupt:
        raise Interrupted.during(progress.run_folder, stop.kept) from None
    finally:
        work.close()


@contextmanager
def one_press_ends(run_folder: str) -> Iterator[None]:
    """Let the first Ctrl-C, or SIGTERM, end the command: at a question no call is under way that one could wait for.

    Raises:
        Interrupted: The signal came, at the question or just before it.
    """
    from referee.runs.stopping import Signals

    numbers = (signal.SIGINT, signal.SIGTERM)
    before: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}
    in_main = threading.current_thread() is threading.main_thread()
    attended = [number for number in numbers if in_main and before[number] not in (signal.SIG_IGN, None)]

    def end(number: int, frame: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # a second one would break the way out
        raise Interrupted.during(run_folder)

    if any(isinstance(handler, Signals) and handler.heard for handler in before.values()):
        raise Interrupted.during(run_folder)
    try:
        for number in attended:
            signal.signal(number, end)
        yield
    finally:
        for number in attended:
            signal.signal(number, before[number])
