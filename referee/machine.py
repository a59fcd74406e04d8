"""What differs from system to system: cores, locks on files, limits of a process, special files.

Where a system lacks one of them, what stands here does without: it counts all cores, or takes a lock as free.
"""

from __future__ import annotations

import math
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.errors import DataError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_ALARM_GRACE_S = 10


def usable_cores() -> int:
    """Cores that this process may use: its affinity, and a container's quota where one is set."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        quota, period = _CPU_QUOTA.read_text("ascii").split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores


def process_lives(pid: int) -> bool:
    """Whether a process of this machine lives, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is somebody else's, or no number of a process
        return isinstance(pid, int) and 0 < pid < 2**31
    return True


def try_lock(handle: int) -> bool:
    """Lock an open file for this process alone; False where another one holds it.

    The system gives the lock back when the process ends, however it ends. Without such locks all are free.
    """
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(handle: int) -> Iterator[None]:
    """Wait until this process alone may change an open file, and let others on behind the block.

    Where the system or the disk has no such locks, nobody waits.
    """
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)


def open_file_limit(wanted: int) -> int | None:
    """How many files this process may have open, after the limit was raised towards those wanted; None for no limit."""
    if resource is None:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return None if soft == resource.RLIM_INFINITY else soft


def bound_process(seconds: float, *, memory_bytes: int, file_bytes: int, open_files: int) -> None:
    """Put this process under limits; there is no way back.

    The alarm ends a process whose parent is gone and that only waits: processor time alone would never do that. A
    system that knows no limit of memory (macOS refuses one) does without it.

    Args:
        seconds: Wall time, and as much processor time.
        memory_bytes: Address space; the interpreter and the converters alone take about 350 MiB of it.
        file_bytes: The longest file that may be written.
        open_files: How many files may be open at once.
    """
    if resource is not None:
        bounds = {
            resource.RLIMIT_AS: memory_bytes,
            resource.RLIMIT_CPU: math.ceil(seconds),
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_FSIZE: file_bytes,
            resource.RLIMIT_NOFILE: open_files,
        }
        for kind, most in bounds.items():
            hard = resource.getrlimit(kind)[1]
            if hard != resource.RLIM_INFINITY:
                most = min(most, hard)
            # The soft limit of processor time sends a signal that can be told from others; the hard one comes after it.
            later = most + 1 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else most
            try:
                resource.setrlimit(kind, (most, later))
            except ValueError:
                if kind != resource.RLIMIT_AS:
                    raise
    if hasattr(signal, "alarm"):
        signal.alarm(math.ceil(seconds) + _ALARM_GRACE_S)


def refuse_special_file(path: Path) -> None:
    """See that a path is a file or a folder, of whatever kind; a missing one is for the caller.

    Raises:
        DataError: It is a pipe, a device or a socket, which would keep who opens it waiting.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        mode = path.stat().st_mode
        kind = "named pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise DataError(
            f"{str(path)!r} is a {kind}, and only files and folders are read.", hint="Save what it gives to a file."
        )
