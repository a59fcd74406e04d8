"""File locks that hold between processes, and between two tasks or threads of one."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

_POLL_S = 0.05


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a lock file for a moment; blocks the thread until it is free.

    Raises:
        OSError: The file cannot be opened.
    """
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@asynccontextmanager
async def held_long(path: Path) -> AsyncGenerator[None]:
    """Hold a lock file over awaits; the system lets go of it when the process ends, however it ends.

    Raises:
        OSError: The file cannot be opened.
    """
    with path.open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_POLL_S)
        yield
