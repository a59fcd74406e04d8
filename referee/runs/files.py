"""Whole files and folders, or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.errors import DataError

_PART = ".part"


def umask() -> int:
    """The process's mask for new files; mkstemp ignores it and makes files private."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def is_part(name: str) -> bool:
    """Whether a file of that name is one that ``write_atomically`` had not finished."""
    return name.startswith(".") and name.endswith(_PART)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, also after a crash, sees the old file or the new one, never a part.

    Text is written as UTF-8.

    Raises:
        OSError: The folder cannot be written or the disk is full, with the file's name; the old file is untouched.
    """
    with naming(path):
        _write(path, content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the file system inside get this file's name: a full disk's has none of its own."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART)
    try:
        with os.fdopen(handle, "wb") as part:
            part.write(content)
            os.fchmod(part.fileno(), 0o666 & ~umask())
            part.flush()
            os.fsync(part.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which stands at ``path`` once all is written, and not at all where anything goes wrong.

    Raises:
        DataError: There is something at ``path``, or no folder can be made beside it.
    """
    if path.exists() or path.is_symlink():
        raise DataError(f"{str(path)!r} is there already.", hint="Choose another --out, or remove it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PART))
    except OSError as error:
        raise DataError(
            f"{str(path)!r} cannot be made: {error.strerror or error}.", hint="Choose another --out, or make room."
        ) from error
    try:
        yield part
        part.chmod(0o777 & ~umask())
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
