"""A file of lines that is only ever appended to, and read by the places of its lines."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from referee.runs.files import naming

_BLOCK_BYTES = 2**20


class TraceFile:
    """The file at a path, which need not be there, or (without one) a file that ends with the process.

    Attributes:
        size: How many of its bytes have been read or written here.
        checksum: Their CRC-32.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path or Path(tempfile.gettempdir())
        self._own = path is None
        self._file: FileIO | None = None
        self.size, self.checksum = 0, 0
        if path is not None and path.exists():
            self._file = FileIO(path, "rb")

    def begins_as(self, size: int, checksum: int) -> bool:
        """Whether the first bytes are those; they count as read then, otherwise nothing does."""
        self.size, self.checksum = 0, 0
        while self.size < size and (block := self.read(self.size, min(_BLOCK_BYTES, size - self.size))):
            self._count(block)
        if (self.size, self.checksum) == (size, checksum):
            return True
        self.size, self.checksum = 0, 0
        return False

    @property
    def has_unread(self) -> bool:
        """Whether there is more than was read or written here, as after a write that failed in its middle."""
        return self._file is not None and os.fstat(self._file.fileno()).st_size != self.size

    def unread(self) -> Iterator[tuple[int, bytes]]:
        """Place and text of each line that was not read yet; empty ones are passed over."""
        if self._file is None:
            return
        with open(os.dup(self._file.fileno()), "rb") as file:  # noqa: PTH123 - a handle, no path
            file.seek(self.size)
            for line in file:
                place = self.size
                self._count(line)
                if text := line.removesuffix(b"\n"):
                    yield place, text

    def read(self, place: int, size: int) -> bytes:
        """The bytes that stand there."""
        with naming(self._path):
            return os.pread(self._file.fileno(), size, place) if self._file is not None else b""

    def append(self, text: bytes, *, flush: bool = True) -> int:
        """Write a line, on a line of its own, and (unless told not to) through to the disk; its place.

        Raises:
            OSError: It could not be written, with the file's name; a part of it may stand there.
        """
        with naming(self._path):
            file = self._writable()
            line = text + b"\n"
            if self.size and os.pread(file.fileno(), 1, self.size - 1) != b"\n":
                line = b"\n" + line
            left = memoryview(line)
            while left:
                left = left[file.write(left) :]
            if flush:
                self.flush()
        self._count(line)
        return self.size - len(text) - 1

    def flush(self) -> None:
        """Have the system write all to the disk; a file that ends with the process need not lie there."""
        if self._file is not None and not self._own:
            with naming(self._path):
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; doing so twice is harmless."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _writable(self) -> FileIO:
        if self._file is None or not self._file.writable():
            self.close()
            self._file = tempfile.TemporaryFile(buffering=0) if self._own else FileIO(self._path, "ab+")  # noqa: SIM115
        return self._file

    def _count(self, part: bytes) -> None:
        self.size += len(part)
        self.checksum = zlib.crc32(part, self.checksum)
