"""A file layer that fails: disks that fill up or break in the middle of a write, and writes that take a part."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import FileIO

import pytest

from referee.runs import lines


class FaultyFile(FileIO):
    """Takes so many bytes, then fails with an error; each write takes at most so many at once.

    Attributes:
        left: Bytes that can still be written, by all files together; None for any number.
        at_once: Most bytes that one write takes.
        code: The error's number.
    """

    left: int | None = None
    at_once = 2**30
    code = 0

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Write a part of the data, or fail."""
        most = self.at_once if self.left is None else min(self.at_once, self.left)
        if most == 0:
            raise OSError(self.code, os.strerror(self.code))
        taken = super().write(bytes(data[:most]))
        if type(self).left is not None:
            type(self).left -= taken
        return taken


def put_in(patch: pytest.MonkeyPatch, *, left: int | None = None, at_once: int = 2**30, code: int = 0) -> None:
    """Have all stores write through such files."""
    for name, value in {"left": left, "at_once": at_once, "code": code}.items():
        patch.setattr(FaultyFile, name, value)
    patch.setattr(lines, "FileIO", FaultyFile)


def failing(code: int) -> Callable[..., None]:
    """A function of ``os`` that fails."""

    def call(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return call
