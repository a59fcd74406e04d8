"""What every command that calls a model does alike: choose a run folder, open it, open the door with its ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

import referee
from referee.errors import RunError
from referee.llm.cache import ReplyCache
from referee.llm.catalogue import cache_root
from referee.llm.door import Door
from referee.llm.models import Models
from referee.runs import Budget, Event, Ledger, Progress, RunFolder
from referee.runs.folder import TRACE, check_new, check_resumable
from referee.settings import Settings

_RUNS = Path("referee-runs")
_NAME_CHARS = 40


class RunPlace:
    """Where a run is to lie: a folder that was asked for, the run that is resumed, or a new folder by default.

    Attributes:
        resumed: Whether an earlier run goes on.
        path: The folder; a default that another run has taken meanwhile is chosen anew when the run is opened.
    """

    def __init__(self, *names: str, out: str | Path | None, resume: str | Path | None) -> None:
        """Choose the folder and see that a run could begin or go on there; nothing is written.

        Args:
            *names: What a default folder is named by, before the time.
            out: The folder asked for.
            resume: The folder of the run to be resumed.

        Raises:
            RunError: Two folders are named, a new one holds something, or there is no run to resume.
        """
        self.resumed = resume is not None
        self._names = names if out is None and resume is None else ()
        self.path = Path(resume or out or _free_folder(names))
        if out is not None and resume is not None and Path(out) != self.path:
            raise RunError(
                "--resume and --out name different folders.", hint="Leave --out away: --resume names the run."
            )
        if self.resumed:
            check_resumable(self.path)
        else:
            check_new(self.path)

    def check_inputs(self, inputs: Mapping[str, str]) -> None:
        """See that a run to be resumed was started on these inputs, before anything is shown or asked.

        Raises:
            RunError: It was started on others; each is named.
        """
        if self.resumed:
            check_resumable(self.path, inputs)

    def open(
        self,
        command: str,
        *,
        inputs: Mapping[str, str],
        settings: Settings,
        models: Models,
        roles: Iterable[str],
        prompts: Mapping[str, str],
        asked: Mapping[str, str] | None = None,
    ) -> RunFolder:
        """Begin the run, or go on with it; the folder is locked until it is left. ``asked``: how inputs were named.

        Raises:
            RunError: It is in use, unwritable, or belongs to other inputs.
        """
        values = settings.model_dump(mode="json")
        if self.resumed:
            return RunFolder.resume(self.path, inputs=inputs, settings=values)
        if self._names:
            self.path = _free_folder(self._names)
        return RunFolder.create(
            self.path,
            command=command,
            inputs=inputs,
            settings=values,
            models={role: models[role].record() for role in roles},
            prompts=prompts,
            package_version=referee.__version__,
            asked=asked,
        )


def require_confirmed(answer: bool) -> None:
    """Go on only with a yes; raises ``RunError``."""
    if not answer:
        raise RunError("not confirmed: nothing was sent or written.", hint="Add --yes to go on without asking.")


def open_door(
    run: RunFolder,
    models: Models,
    settings: Settings,
    progress: Progress,
    *,
    budget: Budget | None = None,
    keep_messages: bool = True,
    sample: int = 0,
) -> tuple[Door, Ledger]:
    """The door of a run and its ledger: the calls on the disk, the budget less what was spent, the cache if asked.

    Progress is told where the run lies, what it has consumed before, and how many lines of the ledger are damaged.

    Args:
        run: The opened folder.
        models: Role to model.
        settings: Limits of calls and budget.
        progress: Told about each call.
        budget: One that several runs share; by default the run's own, less what it has spent before.
        keep_messages: As in ``Ledger``.
        sample: As in ``Door``.
    """
    ledger = Ledger(run.path / TRACE, keep_messages=keep_messages)
    progress(Event("run", os.fspath(run.path), ledger.usage()))
    if ledger.damaged_lines:
        progress(Event("note", f"{ledger.damaged_lines} damaged line(s) in {TRACE} were left out"))
    if budget is None:
        budget = Budget(settings.budget.max_cost, settings.budget.max_tokens, spent=ledger.usage())
    cache = ReplyCache(cache_root() / "replies") if settings.calls.cache else None
    door = Door(
        models, calls=settings.calls, ledger=ledger, budget=budget, cache=cache, progress=progress, sample=sample
    )
    return door, ledger


def _free_folder(names: Iterable[str]) -> Path:
    parts = ["".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:_NAME_CHARS] for name in names]
    base = _RUNS / "-".join([*parts, f"{datetime.now():%Y%m%d-%H%M%S}"])
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder
