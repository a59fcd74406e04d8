"""A folder with a LaTeX project: the files among which the main one is, with limits on how much is looked at."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from referee.errors import PaperParseError

_LOOKED_AT = (".tex", ".ltx", ".latex")
_DEPTH, _ENTRIES = 12, 20_000
_ONE_FILE = "Give the paper's main file itself"


def sources_in(folder: Path, max_bytes: int) -> dict[str, bytes]:
    """The LaTeX files of a folder and a preprint server's ``00README``, by their path with ``/`` between folders.

    Hidden folders, as that of version control, are left out, and linked ones are not entered.

    Raises:
        PaperParseError: A LaTeX file is a link or no regular file, the folder is no project but half a disk, or
            something cannot be read.
    """
    found: dict[str, bytes] = {}
    size = 0
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        if not (path.suffix.lower() in _LOOKED_AT or ("/" not in name and name.lower().startswith("00readme"))):
            continue
        try:
            found[name] = _read(path, name, folder, max_bytes - size)
        except OSError as error:
            raise _unread(path, error) from error
        size += len(found[name])
    if not found:
        others = sorted(one.name for one in folder.iterdir() if one.suffix.lower() == ".pdf")[:3]
        raise PaperParseError(
            f"{shown_name(folder)!r} is a folder without a .tex file.",
            hint=f"Give one paper{': ' + ' or '.join(map(repr, others)) if others else ''}.",
        )
    return found


def shown_name(folder: Path) -> str:
    """The folder's own name, also where it is given as ``.``."""
    return folder.absolute().name or str(folder)


def _read(path: Path, name: str, folder: Path, most: int) -> bytes:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise _refused(name, folder, "is a link, and links are not followed")
    if not stat.S_ISREG(status.st_mode):
        raise _refused(name, folder, "is no file, but a pipe, socket or device")
    if status.st_size > most:
        raise _refused(name, folder, "brings its LaTeX files to more bytes than are read")
    # Somebody may put a link or a pipe there meanwhile.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        return stream.read(most)


def _files(folder: Path) -> Iterator[Path]:
    """All files, in one order whatever the disk's."""
    entries = 0
    for place, folders, names in os.walk(folder, onerror=_raise):
        depth = len(Path(place).relative_to(folder).parts)
        entries += len(folders) + len(names)
        if entries > _ENTRIES:
            raise PaperParseError(f"{shown_name(folder)!r} holds more than {_ENTRIES:,} files.", hint=f"{_ONE_FILE}.")
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEPTH else []
        yield from (Path(place) / name for name in sorted(names) if not name.startswith("._"))


def _raise(error: OSError) -> None:
    raise _unread(Path(error.filename or "."), error) from error


def _refused(name: str, folder: Path, cause: str) -> PaperParseError:
    return PaperParseError(
        f"{name!r} in the folder {shown_name(folder)!r} {cause}.", hint=f"{_ONE_FILE}, or remove {name!r}."
    )


def _unread(path: Path, error: OSError) -> PaperParseError:
    return PaperParseError(f"{str(path)!r} cannot be read: {error.strerror}.", hint="Check the path and its rights.")
