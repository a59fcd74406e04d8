"""A run made by several workers: a shard each, all under one limit, and what a killed one had in flight made again."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import NoReturn

from referee.api.merging import Merged, join
from referee.errors import BudgetExceeded, RunError, RunStopped
from referee.runs import RunFolder
from referee.runs.engines import Ended, Engine, Work
from referee.runs.folder import RECORD, read_record
from referee.runs.joining import ordered_parts
from referee.runs.stopping import after
from referee.settings import load_settings

SHARDS = "shards"
STARTS = 3
"""How often a shard is started whose process is killed."""

_SHARED_LIMITS = "REFEREE_CALLS__SHARED_LIMITS"
# Exit codes of the command line: a limit was reached; interrupted.
_OVER_BUDGET, _INTERRUPTED = 3, 130


def run_shards(
    folder: Path, arguments: Sequence[str], engine: Engine, *, say: Callable[[str], None], parquet: bool = False
) -> Merged:
    """Work on all shards of the run in a folder, and join them into it.

    Shards that are finished are left as they are, others go on where they ended. One whose process is killed is started
    again; one that a limit ended is tried once more, alone, when the others have ended: what they had set aside may be
    free by then.

    Args:
        folder: The run's, as ``RunOptions.workers`` left it.
        arguments: Those of the command, without what a shard has of its own.
        engine: Where shards are worked on; it is closed in the end.
        say: Told how shards end.
        parquet: Whether the rows are left as Parquet too.

    Raises:
        RunError: The folder is in use, or shards failed; the first is named with what it said.
        BudgetExceeded: A limit ended shards; the run can be resumed with a higher one.
        KeyboardInterrupt: Ctrl-C or SIGTERM; what was answered is kept.
    """
    record = read_record(folder)
    with RunFolder.resume(folder, inputs=record.inputs, settings=record.settings) as open_folder:
        crew = _Crew(folder, record.workers or 1, arguments, engine, say)
        try:
            with _ending_by_signals():
                crew.work()
            merged = join(ordered_parts(crew.folders), open_folder, parquet=parquet)
        except BaseException as error:
            stopped = isinstance(error, RunStopped | KeyboardInterrupt)
            with suppress(OSError):
                open_folder.set_status("stopped" if stopped else "failed", error=str(error) or "interrupted")
            raise
        finally:
            engine.close()
    return Merged(folder, merged.command, crew.count, merged.usage, merged.error, len(merged.cuts))


class _Crew:
    """The shards of a run while they are worked on."""

    def __init__(
        self, folder: Path, count: int, arguments: Sequence[str], engine: Engine, say: Callable[[str], None]
    ) -> None:
        self.count = count
        self._folder, self._arguments, self._engine, self._say = folder.absolute(), arguments, engine, say
        self._limits = ""
        self._starts = Counter[int]()
        self._over_budget: list[int] = []
        self._failed: list[int] = []
        (self._folder / SHARDS).mkdir(exist_ok=True)

    @property
    def folders(self) -> list[Path]:
        """Where the shards lie."""
        return [self._shard(number) for number in range(1, self.count + 1)]

    def work(self) -> None:
        """Until all shards are finished; raises as ``run_shards``."""
        self._limits = self._engine.open(self._folder)
        waiting = [number for number in range(1, self.count + 1) if not self._is_finished(number)]
        try:
            self._run(waiting)
            again, self._over_budget = self._over_budget, []
            for number in again if not self._failed else ():
                self._run([number])
                if self._over_budget:
                    break
        except KeyboardInterrupt as error:
            self._stop(limited=isinstance(error, _Terminated))
            raise
        if self._failed:
            raise self._failure(self._failed[0])
        if self._over_budget:
            raise BudgetExceeded(
                f"a limit ended shard {self._over_budget[0]}/{self.count}: {self._last_words(self._over_budget[0])}",
                hint=f"Resume the run with a higher limit: --resume {self._folder}.",
            )

    def _run(self, numbers: Sequence[int]) -> None:
        """Start these, and wait until the last has ended."""
        for number in numbers:
            self._start(number)
        under_way = len(numbers)
        while under_way:
            under_way -= not self._goes_on(self._engine.wait())

    def _goes_on(self, ended: Ended) -> bool:
        """Note how a shard ended; whether it was started again."""
        name = f"shard {ended.number}/{self.count}"
        if ended.code == 0:
            self._say(f"{name} is finished.")
        elif ended.code < 0 and self._starts[ended.number] < STARTS:
            self._say(f"{name}: its process was killed; it is started again and goes on where it was.")
            self._start(ended.number)
            return True
        elif ended.code == _OVER_BUDGET:
            self._over_budget.append(ended.number)
        elif ended.code == _INTERRUPTED:
            raise KeyboardInterrupt
        else:
            self._failed.append(ended.number)
            self._say(f"{name} failed: {self._last_words(ended.number)}")
        return False

    def _start(self, number: int) -> None:
        self._starts[number] += 1
        shard = self._shard(number)
        place = ("--resume" if (shard / RECORD).is_file() else "--out", str(shard))
        arguments = (*self._arguments, "--shard", f"{number}/{self.count}", "--yes", *place)
        self._engine.start(Work(number, arguments, self._log(number)), {_SHARED_LIMITS: self._limits})

    def _stop(self, *, limited: bool) -> None:
        """Ask all to stop, and wait for them; Ctrl-C once more, or the end of a limited time, ends them at once."""
        self._engine.stop(limited=limited)
        if limited:
            after(load_settings().calls.stop_after_s, lambda: self._engine.stop(limited=True))
        self._say("stopping: calls under way are waited for; Ctrl-C again stops at once")
        with suppress(KeyboardInterrupt):
            while self._engine.any():
                self._engine.wait()

    def _is_finished(self, number: int) -> bool:
        """Whether nothing of the shard is left to do or to be tried again."""
        shard = self._shard(number)
        if not (shard / RECORD).is_file():
            return False
        record = read_record(shard)
        return record.status == "finished" and not record.error

    def _failure(self, number: int) -> RunError:
        killed = self._starts[number] >= STARTS
        how = f"its process was killed {STARTS} times" if killed else self._last_words(number)
        more = f" (and {len(self._failed) - 1} more)" if len(self._failed) > 1 else ""
        return RunError(
            f"shard {number}/{self.count}{more} failed: {how}",
            hint=f"See {self._log(number)}; --resume {self._folder} goes on.",
        )

    def _last_words(self, number: int) -> str:
        """What the shard's command complained of, or the last line that it said."""
        lines = self._log(number).read_text(encoding="utf-8", errors="replace").splitlines()
        said = [line.partition(": ")[2] for line in lines if line.startswith(("error: ", "stopped: "))]
        return (said or lines or ["it said nothing"])[-1]

    def _shard(self, number: int) -> Path:
        return self._folder / SHARDS / f"{number}-of-{self.count}"

    def _log(self, number: int) -> Path:
        return self._folder / SHARDS / f"{number}-of-{self.count}.log"


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextmanager
def _ending_by_signals() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does."""

    def end(number: int, frame: object) -> NoReturn:
        raise _Terminated

    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
