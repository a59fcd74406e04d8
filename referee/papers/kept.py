"""Fetched papers on the disk: one folder per source, with a record of where the file came from and when."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from referee.runs.files import write_atomically
from referee.schemas.base import Frozen

_RECORD = "source.json"
_LOCK_POLL_S = 0.2


class Origin(Frozen):
    """Where a kept file came from. ``note`` is what the person has to know about it, or empty."""

    source: str
    url: str
    file: str
    sha256: str
    fetched_at: datetime
    note: str = ""

    @property
    def age_s(self) -> float:
        """Seconds since it was fetched."""
        return (datetime.now(UTC) - self.fetched_at).total_seconds()


def folder_of(source: str, cache_folder: Path) -> Path:
    """The folder of one source under the cache: its name is the source's digest, so no source can name a path."""
    return cache_folder / "papers" / hashlib.sha256(source.encode()).hexdigest()[:32]


def kept_origin(folder: Path) -> Origin | None:
    """The record of a folder whose file is whole; None where there is none, or the file was changed or removed."""
    try:
        origin = Origin.model_validate_json((folder / _RECORD).read_bytes())
        data = (folder / origin.file).read_bytes()
    except (OSError, ValidationError):
        return None
    return origin if hashlib.sha256(data).hexdigest() == origin.sha256 else None


def keep(folder: Path, data: bytes, *, source: str, url: str, file: str, note: str) -> Path:
    """Store a file and then its record; what an interrupted process leaves is no kept file.

    Raises:
        OSError: The folder cannot be written.
    """
    path = folder / file
    part = folder / f".{file}.part"
    part.write_bytes(data)
    part.replace(path)
    digest = hashlib.sha256(data).hexdigest()
    origin = Origin(source=source, url=url, file=file, sha256=digest, fetched_at=datetime.now(UTC), note=note)
    write_atomically(folder / _RECORD, origin.model_dump_json(indent=1) + "\n")
    return path


@asynccontextmanager
async def one_at_a_time(cache_folder: Path) -> AsyncGenerator[None]:
    """Hold the right to fetch papers: one request at a time, over all processes that share the cache.

    Raises:
        OSError: The folder cannot be written.
    """
    folder = cache_folder / "papers"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_LOCK_POLL_S)
        yield
