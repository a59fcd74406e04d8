"""Where a run lies: a folder that was asked for, an earlier run's, or a new one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from referee.errors import RunError
from referee.llm.batches.book import open_batches
from referee.runs import RunFolder
from referee.runs.folder import check_new, check_resumable
from referee.runs.shards import Shard
from referee.schemas.run import ModelRecord
from referee.settings import Settings
from referee.version import VERSION

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

    def check_inputs(self, inputs: Mapping[str, str], hint: str | None = None) -> None:
        """See that a run to be resumed was started on these inputs, before anything is shown or asked.

        Args:
            inputs: What must be the same.
            hint: What to do where it is not; by default a general one.

        Raises:
            RunError: It was started on others; each is named.
        """
        if self.resumed:
            check_resumable(self.path, inputs, hint)

    def refuse_open_batches(self) -> None:
        """See that a run whose calls are made at once does not ask again what batches of it are paid for.

        Raises:
            RunError: The run to be resumed waits for batches.
        """
        waiting = [batch for batch in open_batches(self.path) if not batch.cancelled] if self.resumed else []
        if waiting:
            raise RunError(
                f"run {str(self.path)!r} waits for {len(waiting)} batch(es), whose calls would be paid twice.",
                hint=f"Resume it with --batch, or cancel them: referee batches {self.path} --cancel",
                ids={"run": str(self.path)},
            )

    def open(
        self,
        command: str,
        *,
        inputs: Mapping[str, str],
        settings: Settings,
        models: Mapping[str, ModelRecord],
        prompts: Mapping[str, str],
        asked: Mapping[str, str] | None = None,
        shard: Shard | None = None,
        workers: int | None = None,
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
            models=models,
            prompts=prompts,
            package_version=VERSION,
            asked=asked,
            shard=shard,
            workers=workers,
        )


def _free_folder(names: Iterable[str]) -> Path:
    parts = ["".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:_NAME_CHARS] for name in names]
    base = _RUNS / "-".join([*parts, f"{datetime.now():%Y%m%d-%H%M%S}"])
    folder, number = base, 1
    while folder.exists():
        number += 1
        folder = base.with_name(f"{base.name}-{number}")
    return folder
