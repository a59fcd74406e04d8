"""One process per run folder."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from referee.errors import RunError
from referee.machine import open_file_limit, try_lock

_LONGEST_OWNER = 300
_OWNER = re.compile(r"pid (?P<pid>\d+) on ['\"](?P<host>.*)['\"]\s*")
# A lock, the trace and its index, and what is being written.
_FILES_A_RUN, _FILES_BESIDE = 8, 256


class FolderLock:
    """An advisory lock that the kernel releases when the process ends, however it ends.

    The lock file says who holds it, for the message to others. What it says of a dead process holds nobody up.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            RunError: Another process works in the folder; the message names its id and its machine.
        """
        handle = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not try_lock(handle):
                owner = _owner(handle)
                raise RunError(
                    f"run folder {str(self._folder)!r} is in use by another process{f' ({owner})' if owner else ''}.",
                    hint="Wait for it to end, or choose another folder with --out.",
                )
            _write_owner(handle)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; doing so twice is harmless."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def most_run_folders(wanted: int) -> int:
    """How many run folders can be open at once, at most those wanted: each takes some of the process's open files.

    The process's limit is raised as far as the system lets it.
    """
    most = open_file_limit(_FILES_BESIDE + _FILES_A_RUN * wanted)
    return wanted if most is None else min(wanted, max(1, (most - _FILES_BESIDE) // _FILES_A_RUN))


def owner_of(folder: Path) -> tuple[int, str] | None:
    """The process and the machine that last said to hold a folder's lock; None where none did.

    The lock is not tried, which could hold up a process that begins at that moment.
    """
    try:
        with (folder / ".lock").open("rb") as file:
            said = _OWNER.fullmatch(file.read(_LONGEST_OWNER).decode("utf-8", "replace"))
    except OSError:
        return None
    return (int(said["pid"]), said["host"]) if said else None


def _write_owner(handle: int) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"pid {os.getpid()} on {socket.gethostname()!r}\n".encode(), 0)


def _owner(handle: int) -> str:
    """Who says to hold the lock; empty in the moment before it is written."""
    return os.pread(handle, _LONGEST_OWNER, 0).decode("utf-8", "replace").strip()
