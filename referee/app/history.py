"""Runs as their folders tell them: how each stands, who works on it, and what it has."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from referee.app.asking import Asked, read_asked
from referee.app.job_files import Estimated, Line, last_line, read_estimate
from referee.app.jobs import JOBS, Jobs
from referee.errors import RunError
from referee.machine import process_lives
from referee.reports.html import PAGE
from referee.reports.plain import one_line
from referee.reports.tally import money
from referee.runs.folder import RECORD, read_record
from referee.runs.lock import owner_of
from referee.schemas.run import RunRecord

State = Literal[
    "waiting", "reading", "planned", "refused", "queued", "running", "stopping", "elsewhere",
    "finished", "stopped", "failed", "interrupted", "damaged",
]  # fmt: skip
WORDS: dict[State, str] = {
    "waiting": "waits to be read",
    "reading": "is being read",
    "planned": "waits for your go",
    "refused": "cannot be reviewed",
    "queued": "waits for its turn",
    "running": "is being made",
    "stopping": "is stopping",
    "elsewhere": "is being made by another process",
    "finished": "finished",
    "stopped": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
    "damaged": "cannot be read",
}
LIVE: frozenset[State] = frozenset({"waiting", "reading", "queued", "running", "stopping", "elsewhere"})
RESUMABLE: frozenset[State] = frozenset({"stopped", "failed", "interrupted"})
DOWNLOADS = ("review.md", "fixes.md", "review.openreview.json", "review.annotated.pdf", "review.json", PAGE)


@dataclass(frozen=True)
class Run:
    """A run, or a review that was asked for and has not begun.

    Attributes:
        name: That of its folder.
        state: How it stands.
        record: What ``run.json`` says; None before the run and where it cannot be read.
        asked: What was asked for in the app.
        estimate: Before the run: what it will take.
        last: What happened last, of work that the app did.
        problem: Why it cannot be read, failed or stopped.
        hint: What to do about that.
        files: What there is to take away.
        changed_at: When it began, as a time for sorting and showing.
    """

    name: str
    state: State
    record: RunRecord | None
    asked: Asked | None
    estimate: Estimated | None
    last: Line | None
    problem: str
    hint: str
    files: tuple[str, ...]
    changed_at: str

    @property
    def words(self) -> str:
        """How it stands."""
        return WORDS[self.state]

    @property
    def command(self) -> str:
        """What it was made by."""
        return self.record.command if self.record else "review"

    @property
    def paper(self) -> str:
        """The paper's name, where it is of one."""
        if self.record is not None and "paper" in self.record.asked:
            return one_line(Path(self.record.asked["paper"]).name)
        return one_line(self.asked.paper_name) if self.asked else ""

    @property
    def venue(self) -> str:
        """The venue it is for, where it is for one."""
        if self.record is not None and "venue" in self.record.asked:
            return one_line(self.record.asked["venue"])
        return one_line(self.asked.venue) if self.asked else ""

    @property
    def models(self) -> str:
        """The models it was made with."""
        if self.record is None:
            return one_line(self.asked.model or "") if self.asked else ""
        return ", ".join(dict.fromkeys(one_line(model.id) for model in self.record.models.values()))

    @property
    def cost(self) -> str:
        """What it has cost, where anything is known."""
        if self.record is None or not self.record.usage.calls:
            return ""
        usd = self.record.usage.cost_usd
        return "unknown" if usd is None else money(usd)

    @property
    def resumable(self) -> bool:
        """Whether it can go on from the app."""
        return self.state in RESUMABLE and self.command == "review"

    @property
    def page(self) -> bool:
        """Whether it has a page to look at."""
        return self.state == "finished" and (self.command == "review" or PAGE in self.files)


def runs_of(jobs: Jobs, words: str = "") -> list[Run]:
    """The runs in the app's folder, newest first; only those that hold all the words, where there are any."""
    wanted = words.casefold().split()
    found = [run for name in _names(jobs.root) if (run := run_of(jobs, name)) is not None]
    kept = [run for run in found if all(word in _searched(run) for word in wanted)]
    return sorted(kept, key=lambda run: (run.changed_at, run.name), reverse=True)


def run_of(jobs: Jobs, name: str) -> Run | None:
    """One run by its name; None where there is neither a run nor a job of that name."""
    folder, job = jobs.root / name, jobs.folder(name)
    begun = (folder / RECORD).is_file()
    asked = read_asked(job)
    if _unsafe(name) or not (begun or asked is not None):
        return None
    record, problem = None, ""
    if begun:
        try:
            record = read_record(folder)
        except RunError as error:
            problem = error.message
    last, estimate = last_line(job), read_estimate(job)
    phase = jobs.phase(name)
    state = phase or (_begun_state(folder, record) if begun else _unbegun_state(estimate, last))
    hint = ""
    if state in RESUMABLE | {"refused"} and last is not None and last.state in ("failed", "stopped"):
        problem, hint = last.said, last.hint
    elif record is not None and state in RESUMABLE:
        problem = record.error
    return Run(
        name=name,
        state=state,
        record=record,
        asked=asked,
        estimate=estimate,
        last=last,
        problem=one_line(problem),
        hint=one_line(hint),
        files=tuple(file for file in DOWNLOADS if (folder / file).is_file()),
        changed_at=record.started_at if record else _written_at(job if not begun else folder),
    )


def _begun_state(folder: Path, record: RunRecord | None) -> State:
    if record is None:
        return "damaged"
    if record.status != "running":
        return record.status
    return "elsewhere" if _is_worked_on(folder) else "interrupted"


def _unbegun_state(estimate: Estimated | None, last: Line | None) -> State:
    if estimate is not None:
        return "planned"
    return "refused" if last is not None and last.state == "failed" else "interrupted"


def _is_worked_on(folder: Path) -> bool:
    """Whether the process that says to hold the folder's lock is alive. Trying the lock could disturb a process."""
    owner = owner_of(folder)
    if owner is None:
        return False
    pid, host = owner
    return host != socket.gethostname() or process_lives(pid)


def _names(root: Path) -> Iterator[str]:
    with os.scandir(root) as entries:
        yield from (entry.name for entry in entries if entry.is_dir() and not _unsafe(entry.name))
    begun = root / JOBS
    if begun.is_dir():
        with os.scandir(begun) as entries:
            yield from (entry.name for entry in entries if entry.is_dir() and not (root / entry.name).is_dir())


def _unsafe(name: str) -> bool:
    return not name or name.startswith(".") or "/" in name or "\0" in name


def _searched(run: Run) -> str:
    return f"{run.name} {run.command} {run.words} {run.paper} {run.venue} {run.models}".casefold()


def _written_at(folder: Path) -> str:
    return datetime.fromtimestamp(folder.stat().st_mtime, UTC).isoformat(timespec="seconds")
