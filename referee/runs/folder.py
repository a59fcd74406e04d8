"""A run folder: what was run on what, one line per model call, and what came out. It never holds a key."""

from __future__ import annotations

import hashlib
import json
import platform
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from pydantic import ValidationError

from referee.errors import RunError
from referee.nearest import nearest
from referee.runs.files import is_part, write_atomically
from referee.runs.lock import FolderLock
from referee.runs.shards import Shard, shard_record
from referee.runs.stored import unreadable
from referee.schemas.paper_cut import PaperCut
from referee.schemas.run import ModelRecord, RunRecord, RunStatus
from referee.schemas.usage import Usage
from referee.secrets import scrub_tree

RECORD = "run.json"
TRACE = "trace.jsonl"
TRACE_INDEX = ".trace.sqlite"
_ANEW = "Start a new run with another --out."
_FROM_OUTSIDE = ("inputs", "asked", "settings", "models", "error")


class RunFolder:
    """An open, locked run folder. Use as a context manager: the lock goes with it."""

    def __init__(self, path: Path, record: RunRecord, lock: FolderLock) -> None:
        self.path = path
        self.record = record
        self._lock = lock

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        command: str,
        inputs: Mapping[str, str],
        settings: Mapping[str, Any],
        models: Mapping[str, ModelRecord],
        prompts: Mapping[str, str],
        package_version: str,
        asked: Mapping[str, str] | None = None,
        shard: Shard | None = None,
        workers: int | None = None,
    ) -> RunFolder:
        """Begin a run, or a shard of one, in a new or empty folder.

        Raises:
            RunError: The folder holds a run or other files, is in use, or cannot be written.
        """
        lock = _locked(path)
        try:
            _require_empty(path)
            _sweep(path)
            commit, dirty = _commit()
            now = _now()
            record = RunRecord(
                run_id=f"{now:%Y%m%dT%H%M%S}-{inputs_digest(inputs)[:8]}",
                command=command,
                status="running",
                started_at=now.isoformat(timespec="seconds"),
                inputs=dict(inputs),
                asked=dict(asked or {}),
                settings=dict(settings),
                models=dict(models),
                prompts=dict(prompts),
                package_version=package_version,
                python_version=platform.python_version(),
                commit=commit,
                dirty=dirty,
                workers=workers,
            )
            if shard is not None:
                record = record.model_copy(update={"shard": shard_record(shard, record)})
            folder = cls(path, record, lock)
            folder.save()
        except BaseException:
            lock.release()
            raise
        return folder

    @classmethod
    def resume(cls, path: Path, *, inputs: Mapping[str, str], settings: Mapping[str, Any]) -> RunFolder:
        """Continue a run with the same inputs; its limits may have changed.

        Raises:
            RunError: There is no run, it is in use, or it was started on other inputs (each is named).
        """
        check_resumable(path)
        lock = _locked(path)
        try:
            _sweep(path)
            record = read_record(path)
            _require_same(path, record, inputs)
            folder = cls(path, record.model_copy(update={"settings": dict(settings)}), lock)
            if record.status != "finished":
                folder.set_status("running")
        except BaseException:
            lock.release()
            raise
        return folder

    def save(self) -> None:
        """Write ``run.json``, without keys in what was given or said from outside."""
        tree = self.record.model_dump()
        self.record = RunRecord.model_validate(tree | {name: scrub_tree(tree[name]) for name in _FROM_OUTSIDE})
        write_atomically(self.path / RECORD, self.record.model_dump_json(indent=2) + "\n")

    def write(self, name: str, text: str) -> Path:
        """Write one result file whole."""
        (self.path / name).parent.mkdir(exist_ok=True)
        write_atomically(self.path / name, text)
        return self.path / name

    def set_status(self, status: RunStatus, *, error: str = "") -> None:
        """Record how the run stands."""
        ended = max(_now(), datetime.fromisoformat(self.record.started_at))  # the clock may have been set back
        finished = ended.isoformat(timespec="seconds") if status != "running" else None
        self.record = self.record.model_copy(update={"status": status, "finished_at": finished, "error": error})
        self.save()

    def set_usage(self, usage: Usage, by_role: Mapping[str, Usage]) -> None:
        """Record what the run has cost so far, over all its starts."""
        self.record = self.record.model_copy(update={"usage": usage, "usage_by_role": dict(by_role)})

    def set_cuts(self, cuts: Mapping[str, PaperCut]) -> None:
        """Record the papers, by id, of which a model did not read all."""
        self.record = self.record.model_copy(update={"cuts": dict(cuts)})

    def set_unused_prompts(self, names: tuple[str, ...]) -> None:
        """Record the prompts that were chosen and that nothing in the run uses."""
        if names != self.record.unused_prompts:
            self.record = self.record.model_copy(update={"unused_prompts": names})
            self.save()

    def set_merged(self, runs: tuple[str, ...]) -> None:
        """Record the shards, by their ids, that the run was joined from."""
        self.record = self.record.model_copy(update={"merged": runs})

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def check_new(path: Path) -> None:
    """See that a new run could begin in the folder, without leaving anything behind.

    Raises:
        RunError: It holds a run or other files, or nothing can be written there.
    """
    if path.exists():
        if not path.is_dir():
            raise RunError(f"{str(path)!r} is a file, not a folder.", hint="Choose another --out.")
        _require_empty(path)
    nearest = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    try:
        tempfile.TemporaryDirectory(dir=nearest, prefix=".referee-").cleanup()
    except OSError as error:
        raise RunError(
            f"run folder {str(path)!r} cannot be written: {error.strerror or error} in {str(nearest)!r}.",
            hint="Choose a writable folder with --out.",
        ) from error


def require_run(path: Path, hint: str) -> None:
    """See that there is a run's record in a folder; ``hint`` is the next step where no run is near.

    Raises:
        RunError: There is none: the path is missing, a file, without a record, or not to be entered. Where a run
            beside it has nearly the same name, that one is offered.
    """
    try:
        # Without rights is_file() would say that there is none.
        if path.is_dir() and stat.S_ISREG((path / RECORD).stat().st_mode):
            return
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RunError(f"{str(path)!r} cannot be read: {error.strerror}.", hint="Mend its rights.") from error
    if path.is_dir():
        cause = f"holds no run: there is no {RECORD} in it"
    else:
        cause = "is a file, not the folder of a run" if path.is_file() else "holds no run: there is no such folder"
    try:
        near = nearest(path.name, [run.parent.name for run in path.absolute().parent.glob(f"*/{RECORD}")], most=3)
    except OSError:
        near = []
    offer = f"Did you mean {' or '.join(repr(str(path.parent / name)) for name in near)}? " if near else ""
    raise RunError(f"{str(path)!r} {cause}.", hint=f"{offer}{hint}")


_OTHER = "Resume with what it was started with (see its run.json), or start a new run without --resume."


def check_resumable(path: Path, inputs: Mapping[str, str] | None = None, hint: str | None = None) -> None:
    """See that the folder holds a run, and one that was started on these inputs, before anything is shown or asked.

    Raises:
        RunError: It holds none, its record is damaged, or it was started on other inputs (each is named).
    """
    require_run(path, "Name the folder of an earlier run, or start a new run without --resume.")
    if inputs is not None:
        _require_same(path, read_record(path), inputs, hint or _OTHER)


def read_record(path: Path) -> RunRecord:
    """Read a run's ``run.json``; raises ``RunError`` where it is damaged or cannot be read."""
    try:
        return RunRecord.model_validate_json((path / RECORD).read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(
            f"{str(path / RECORD)!r} cannot be read: {error.strerror or error}.",
            hint="Mend its rights, then try again.",
        ) from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise unreadable(path / RECORD, error, _ANEW) from error


def inputs_digest(inputs: Mapping[str, str]) -> str:
    """A digest of the inputs that define a run."""
    return hashlib.sha256(json.dumps(dict(inputs), sort_keys=True).encode()).hexdigest()


def _locked(path: Path) -> FolderLock:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(path)
        lock.acquire()
    except OSError as error:
        raise RunError(
            f"run folder {str(path)!r} cannot be written: {error.strerror or error}.",
            hint="Choose a writable folder with --out.",
        ) from error
    return lock


def _require_empty(path: Path) -> None:
    if (path / RECORD).exists():
        raise RunError(
            f"{str(path)!r} already holds a run.", hint=f"Continue it with --resume {path}, or choose another --out."
        )
    others = sorted(entry.name for entry in path.iterdir() if entry.name != ".lock" and not is_part(entry.name))
    if others:
        raise RunError(f"{str(path)!r} is not empty (it holds {others[0]!r}).", hint="Choose a new folder with --out.")


def _sweep(path: Path) -> None:
    """Remove the parts that a killed process left behind."""
    for entry in path.iterdir():
        if is_part(entry.name):
            entry.unlink(missing_ok=True)


def _require_same(path: Path, record: RunRecord, inputs: Mapping[str, str], hint: str = _OTHER) -> None:
    given = scrub_tree(dict(inputs))
    changed = sorted(key for key in record.inputs.keys() | given.keys() if record.inputs.get(key) != given.get(key))
    if changed:
        raise RunError(
            f"run {str(path)!r} was started with another {' and another '.join(changed)}.",
            hint=hint,
        )


@cache
def _commit() -> tuple[str | None, bool | None]:
    """The commit and dirtiness of a development checkout when first asked for; nothing for an installed package."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None, None

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()  # noqa: S603

    try:
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain"))
    except (OSError, subprocess.SubprocessError):
        return None, None


def _now() -> datetime:
    return datetime.now(UTC)
