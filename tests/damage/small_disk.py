"""Disks of a few megabytes that can be filled, emptied and made read-only; mounting needs root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_PAGE = 4096


class Disk:
    """A mounted folder. ``fill`` leaves so many bytes free; ``clear`` gives the room back."""

    def __init__(self, path: Path, kib: int) -> None:
        self.path = path
        self._pages = kib * 1024 // _PAGE + 1
        self._ballast = path / ".ballast"

    def fill(self, leaving: int = 0) -> None:
        """Fill it up, but for some whole pages."""
        with self._ballast.open("ab", buffering=0) as ballast:
            with suppress(OSError):
                for _ in range(self._pages):
                    ballast.write(bytes(_PAGE))
            assert os.statvfs(self.path).f_bavail == 0
            ballast.truncate(max(0, ballast.tell() - leaving))

    def clear(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)

    def read_only(self) -> None:
        """Refuse all writes from now on, to root too."""
        _mounted("-o", "remount,ro", str(self.path))


@contextmanager
def small_disk(path: Path, kib: int = 4096) -> Iterator[Disk]:
    """Mount a tmpfs over a new folder; skips the test where that is not possible."""
    path.mkdir(parents=True)
    _mounted("-t", "tmpfs", "-o", f"size={kib}k,mode=0777", "tmpfs", str(path))
    try:
        yield Disk(path, kib)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True, capture_output=True)


def filling(disk: Disk, call: Callable[..., object], at: int = 1) -> Callable[..., object]:
    """The same function, which fills the disk before its so-manieth call."""
    count = 0

    def called(*arguments: object, **named: object) -> object:
        nonlocal count
        count += 1
        if count == at:
            disk.fill()
        return call(*arguments, **named)

    return called


def _mounted(*arguments: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root: run the tests as root")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(
            f"a small disk cannot be mounted here: {done.stderr.strip()}: in a container, start it with --privileged"
        )
