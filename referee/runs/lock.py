"""One process per run folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from referee.errors import RunError


class FolderLock:
    """An advisory lock that the kernel releases when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            RunError: Another process works in the folder.
        """
        handle = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise RunError(
                f"run folder {str(self._folder)!r} is in use by another process.",
                hint="Wait for it to end, or choose another folder with --out.",
            ) from error
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; doing so twice is harmless."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
