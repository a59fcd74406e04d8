"""Reviews at work: each in a process of its own, few at once, the others waiting in the order they came."""

from __future__ import annotations

import asyncio
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from referee.app.asking import ASKED, Asked, checked_asked, new_run_name, read_asked
from referee.app.job_files import ESTIMATE, EVENTS, Line, add_line, last_line
from referee.app.processes import Worker, start_worker
from referee.errors import RunError
from referee.runs.files import write_atomically
from referee.runs.folder import RECORD

Phase = Literal["waiting", "reading", "queued", "running", "stopping"]
JOBS = ".app"
_LEAVES_S = 6.0
"""How long a process may take to end that was told to end at once, in seconds."""


@dataclass
class _Job:
    phase: Phase
    task: asyncio.Task[None]
    process: Worker | None = None


class Jobs:
    """The work that this app has started; what it knows beyond the folders is only which processes are its own.

    Args:
        root: The folder of runs.
        base_url: The server of all models, for runs that begin here.
        reading: How many papers are read at once.
        running: How many reviews are made at once.
        stop_after_s: How long a stop may take, in seconds.
    """

    def __init__(
        self,
        root: Path,
        *,
        base_url: str | None = None,
        reading: int = 2,
        running: int = 4,
        stop_after_s: float = 10.0,
    ) -> None:
        self.root, self._base_url, self._stop_after_s = root, base_url, stop_after_s
        self._reading, self._running = asyncio.Semaphore(reading), asyncio.Semaphore(running)
        self._jobs: dict[str, _Job] = {}
        self.ending = asyncio.Event()

    def folder(self, name: str) -> Path:
        """Where a run's job keeps what was asked for and what happened."""
        return self.root / JOBS / name

    def phase(self, name: str) -> Phase | None:
        """What is done for a run here and now; None where nothing is."""
        job = self._jobs.get(name)
        return job.phase if job else None

    def new(self, paper_name: str, venue: str) -> str:
        """A name for a new run, whose job folder is there."""
        while True:
            name = new_run_name(paper_name, venue)
            if not (self.root / name).exists():
                self.folder(name).mkdir(parents=True)
                return name

    def plan(self, name: str, asked: Asked) -> None:
        """Read the paper and estimate, when it is this job's turn."""
        write_atomically(self.folder(name) / ASKED, asked.model_dump_json() + "\n")
        self._begin(name, "waiting", "reading", self._reading)

    def plan_again(self, name: str, asked: Asked) -> None:
        """Read once more what was stopped or could not be read; raises ``RunError`` where it is being done."""
        self._refuse_twice(name)
        self.plan(name, asked)

    def plan_unread(self) -> None:
        """Go on with what an earlier app had taken in and not read: nothing of it was sent or paid."""
        for file in sorted(self.root.glob(f"{JOBS}/*/{ASKED}")):
            job, name = file.parent, file.parent.name
            if not ((self.root / name).exists() or (job / ESTIMATE).exists() or (job / EVENTS).exists()):
                self._begin(name, "waiting", "reading", self._reading)

    def discard(self, name: str) -> None:
        """Forget a review that has not begun, and its upload; raises ``RunError`` where it has."""
        self._refuse_twice(name)
        if (self.root / name / RECORD).exists():
            raise RunError(f"run {name!r} has begun.", hint=f"Delete the folder {str(self.root / name)!r} yourself.")
        shutil.rmtree(self.folder(name), ignore_errors=True)

    def start(self, name: str, *, max_cost: float | None = None, max_tokens: int | None = None) -> None:
        """Make the review, or go on with it, when it is this job's turn.

        Raises:
            RunError: It is being worked on already.
            DataError: A limit cannot be used; it is named, and the run is not begun.
        """
        self._refuse_twice(name)
        job = self.folder(name)
        given = {"max_cost": max_cost, "max_tokens": max_tokens}
        limits = {limit: value for limit, value in given.items() if value is not None}
        if limits:
            asked = read_asked(job) or Asked(paper=name, venue=name)  # begun elsewhere: run.json names both
            limited = checked_asked(asked.model_dump() | limits)
        job.mkdir(parents=True, exist_ok=True)
        if limits:
            write_atomically(job / ASKED, limited.model_dump_json() + "\n")
        self._begin(name, "queued", "running", self._running)

    def stop(self, name: str, *, now: bool = False) -> None:
        """Ask for the end of the work: calls under way are waited for, or dropped with ``now``.

        A process that does not end in time is killed. Asking twice is harmless.
        """
        job = self._jobs.get(name)
        if job is None:
            return
        if job.process is None:
            job.task.cancel()
            self._tell(name, Line(said="Stopped before it was its turn.", state="stopped"))
            return
        job.phase = "stopping"
        job.process.stop()
        if now:
            job.process.send(signal.SIGINT)
        limit_s = min(_LEAVES_S, self._stop_after_s) if now else self._stop_after_s
        asyncio.get_running_loop().call_later(limit_s, job.process.send, signal.SIGKILL)

    def stop_all(self) -> None:
        """End all work, and tell live pages that the app ends."""
        self.ending.set()
        for name in list(self._jobs):
            self.stop(name)

    async def aclose(self) -> None:
        """End all work, and wait for it: no process outlives the app."""
        self.stop_all()
        if tasks := [job.task for job in self._jobs.values()]:
            await asyncio.wait(tasks)

    def _refuse_twice(self, name: str) -> None:
        if name in self._jobs:
            raise RunError(f"run {name!r} is being worked on already.", hint="Wait for it, or stop it first.")

    def _begin(self, name: str, waiting: Phase, working: Phase, turn: asyncio.Semaphore) -> None:
        (self.folder(name) / EVENTS).unlink(missing_ok=True)
        task = asyncio.create_task(self._work(name, working, turn))
        self._jobs[name] = _Job(waiting, task)

    async def _work(self, name: str, working: Phase, turn: asyncio.Semaphore) -> None:
        try:
            async with turn:
                job = self._jobs[name]
                what = "plan" if working == "reading" else "run"
                try:
                    job.process = await start_worker(what, self.root / name, self.folder(name), self._base_url)
                except OSError as error:
                    self._tell(name, _not_begun(error))
                    return
                job.phase = working
                code = await job.process.wait()
                if code == -signal.SIGKILL and job.phase == "stopping":
                    if (last := last_line(self.folder(name))) is None or not last.state:
                        self._tell(name, _KILLED)
                elif code:
                    self._tell(name, _broken_off(code))
        finally:
            self._jobs.pop(name, None)

    def _tell(self, name: str, line: Line) -> None:
        add_line(self.folder(name), line)


def _not_begun(error: OSError) -> Line:
    """What is said where the system starts no further process."""
    return Line(
        said=f"No process could be started for it: {error.strerror or error}.",
        hint="Close other programs, then go on with it.",
        state="failed",
    )


_KILLED = Line(
    said="Stopped: what was answered so far is kept; calls that were under way are sent again.", state="stopped"
)


def _broken_off(code: int) -> Line:
    """What is said of a process that broke off, which a killed one cannot do itself."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    hint = "What was answered so far is kept: go on with it."
    return Line(said=f"The process that worked on it {how}.", hint=hint, state="failed")
