"""Who makes a unit: one process at a time. Another one that wants the same unit waits, and finds it finished."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOOK_AGAIN_S = 0.2


@contextmanager
def claimed(file: Path) -> Iterator[bool]:
    """Try to claim what the file stands for; false where another process, or another task of this one, has done so.

    The kernel gives the claim back when the process ends, however it ends. The file stays.

    Raises:
        OSError: It cannot be opened.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield _is_locked(handle)
    finally:
        os.close(handle)


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def wait_for_others() -> None:
    """Wait a moment before a claim is tried again; the kernel tells nobody that one was given back."""
    await asyncio.sleep(LOOK_AGAIN_S)
