"""LangGraph checkpoints in the run folder (SQLite). A damaged file is refused and named; it is never repaired."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, closing, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import RunError
from referee.runs.checkpoint_times import drop_if_ahead
from referee.secrets import scrub

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

# How long another program's hold on the file is waited for.
_BUSY_MS = 5_000
_SEAL_BYTES = hashlib.sha256().digest_size
_FULL = "is full"
# Turns of the event loop in which a task that was made when another one ended has begun.
_TURNS_TO_BEGIN = 3


class _Changed(sqlite3.DatabaseError):
    """A value is not the one that was written, though SQLite finds nothing wrong with the file."""


class Sealed:
    """A serializer that puts a digest before what another one writes, and takes nothing without it back."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        """What is stored of a value."""
        # LangGraph keeps the error that ended a node, and an error that nobody foresaw may quote a key.
        said = scrub(repr(value)) if isinstance(value, BaseException) else value
        kind, data = self._plain.dumps_typed(said)
        return kind, _seal(kind, data) + data

    def loads_typed(self, stored: tuple[str, bytes]) -> Any:
        """The value; raises ``sqlite3.DatabaseError`` where it is not the one that was written."""
        kind, sealed = stored
        seal, data = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
        if seal != _seal(kind, data):
            raise _Changed("a stored state is not what was written")
        return self._plain.loads_typed((kind, data))


class Writes:
    """The writes of a saver that are under way: LangGraph begins some after the run that they belong to has failed."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self._open = 0
        self._none_open = asyncio.Event()
        self._none_open.set()
        for name in ("aput", "aput_writes"):
            setattr(saver, name, self._counted(getattr(saver, name)))

    async def end(self) -> None:
        """Wait for those that have begun and for those that are about to."""
        for _ in range(_TURNS_TO_BEGIN):
            await asyncio.sleep(0)
        await self._none_open.wait()

    def _counted(self, write: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
        @wraps(write)
        async def counted(*args: Any, **kwargs: Any) -> Any:
            self._open += 1
            self._none_open.clear()
            try:
                return await write(*args, **kwargs)
            finally:
                self._open -= 1
                if not self._open:
                    self._none_open.set()

        return counted


@asynccontextmanager
async def open_checkpoints(path: Path, stored: Iterable[type] = ()) -> AsyncIterator[AsyncSqliteSaver]:
    """Open (or begin) the checkpoint file of a run.

    Args:
        path: The file.
        stored: The types of ours that states hold. A value of any other type is not made from the file.

    Raises:
        RunError: The file is damaged, or another program holds it; also while it is in use.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    try:
        if path.exists():
            _examine(path)
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            saver.serde = Sealed(JsonPlusSerializer(allowed_msgpack_modules=tuple(stored)))
            await saver.conn.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            writes = Writes(saver)
            try:
                yield saver
            finally:
                # A write that was cut short stays open past the end of its connection while anything refers to it,
                # and would hold the file against the run that goes on in this process.
                await writes.end()
                with suppress(sqlite3.Error):
                    await saver.conn.rollback()
    except sqlite3.Error as error:
        raise _failure(path, error) from error


def _examine(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=_BUSY_MS / 1000)) as database:
        (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(" ".join(str(said).split()))
        drop_if_ahead(database)


def _seal(kind: str, data: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + b"\x00" + data).digest()


def _failure(path: Path, error: sqlite3.Error) -> RunError:
    if "locked" in str(error):
        return RunError(
            f"{str(path)!r} is held by another program: {error}.",
            hint="Close what has the file open, then continue the run.",
        )
    if _FULL in str(error) or "disk I/O" in str(error):
        return RunError(
            f"{str(path)!r} cannot be written: {error}.",
            hint="Make room on the disk, then continue the run; answered calls are not paid again.",
        )
    return RunError(
        f"{str(path)!r} is damaged: {error}.",
        hint="Continue the run after you delete it; answered calls are not paid again.",
    )
