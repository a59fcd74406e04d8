"""Files of JSON lines: one set of rules for every store that is appended to, whatever a crash or a stranger left in it.

- A line is written with its end, whole or not at all: what a failed write left is taken back.
- A last line that has no end and is no JSON object is torn. Nobody has used it: readers pass it over, and the next
  ``append`` cuts it off. No beginning of an object is an object, so a whole line that only lacks its end is read.
- Any other line that is no record is damaged. It stays where it is; readers pass it over, count it or refuse it.
- A line above the limit is damaged. Its text is never in memory.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import IO, Literal, Self, TypeVar

from pydantic import BaseModel, ValidationError

from referee.errors import RunError
from referee.machine import locked
from referee.runs.files import naming
from referee.runs.stopping import end_if_stopped

MOST_STORED_BYTES = 2**26
"""The longest line of a file that this package writes: a call holds a whole prompt and its reply."""
MOST_LINE_BYTES = 2**22
"""The longest line of a file from elsewhere, packed or not. Parsed, it can take some forty times that."""
TOO_LONG = f"longer than {MOST_LINE_BYTES // 2**20} MiB"
_BLOCK_BYTES = 2**20
_SHOWN_BYTES = 2**10
_ASKS_EVERY = 256
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank.

    Attributes:
        number: Its number, from 1, where reading began at the top.
        place: Where it begins in the file.
        text: Its bytes without its end; of one that is too long the beginning alone.
        end: The place behind it.
        fault: What is wrong with it whatever it says.
    """

    number: int
    place: int
    text: bytes
    end: int
    fault: Literal["", "torn", "too long"] = ""


def read_lines(stream: IO[bytes], most: int, *, place: int = 0) -> Iterator[Line]:
    """The lines of a stream from a place on, each in at most so many bytes of memory; a stop ends them."""
    number, foreign = 0, most < MOST_STORED_BYTES  # a run that was stopped reads its own stores to their end
    while raw := stream.readline(most + 1):
        if foreign and not number % _ASKS_EVERY:
            end_if_stopped()
        number, start, place = number + 1, place, place + len(raw)
        ended, too_long = raw.endswith(b"\n"), len(raw) > most and not raw.endswith(b"\n")
        while too_long and not ended and (more := stream.readline(_BLOCK_BYTES)):
            if foreign:
                end_if_stopped()
            ended, place = more.endswith(b"\n"), place + len(more)
        if too_long:
            yield Line(number, start, raw[:_SHOWN_BYTES], place, "too long")
        elif raw.strip():
            yield Line(number, start, raw.removesuffix(b"\n"), place, "" if ended or _is_object(raw) else "torn")


def lines_of(path: Path, *, most: int = MOST_STORED_BYTES, at: int = 0) -> Iterator[Line]:
    """The lines of a file from a place on, sound and faulty ones; none of a missing file.

    Raises:
        OSError: It cannot be read, with the file's name.
    """
    with naming(path):
        try:
            stream = path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            stream.seek(at)
            yield from read_lines(stream, most, place=at)


def records(
    path: Path,
    kind: type[M],
    *,
    damaged: Callable[[Line, ValidationError | None], object] | None = None,
    at: int = 0,
) -> Iterator[tuple[Line, M]]:
    """The records of a file from a place on, with their lines; none of a missing file.

    Args:
        path: The file.
        kind: What its lines are.
        damaged: Told of each line that is none, with what is wrong with it where it has no fault; it may raise.
        at: Where reading begins.

    Raises:
        OSError: It cannot be read, with the file's name.
    """
    for line in lines_of(path, at=at):
        error = None
        if not line.fault:
            try:
                record = kind.model_validate_json(line.text)
            except ValidationError as failed:
                error = failed
            else:
                yield line, record
                continue
        if damaged is not None:
            damaged(line, error)


class JsonLines:
    """The file at a path, which need not be there, or (without one) a file that ends with the process.

    Use as a context manager, or close it. Several processes may append to one file: each line is written alone.

    Attributes:
        size: How many of its bytes have been read or written here.
        checksum: Their CRC-32.
    """

    def __init__(self, path: Path | None, *, most: int = MOST_STORED_BYTES) -> None:
        self._path = path or Path(tempfile.gettempdir())
        self._own, self._most = path is None, most
        self._file: FileIO | None = None
        self.size, self.checksum = 0, 0
        if path is not None and path.exists():
            with naming(path):
                self._file = FileIO(path, "rb")

    def begins_as(self, size: int, checksum: int) -> bool:
        """Whether the first bytes are those; they count as read then, otherwise nothing does."""
        self.size, self.checksum = 0, 0
        self._count_to(size)
        if (self.size, self.checksum) == (size, checksum):
            return True
        self.size, self.checksum = 0, 0
        return False

    @property
    def has_unread(self) -> bool:
        """Whether there is more than was read or written here, as after a flush that failed."""
        return self._file is not None and os.fstat(self._file.fileno()).st_size != self.size

    def unread(self) -> Iterator[Line]:
        """The lines that were not read yet. A torn one does not count as read."""
        if self._file is None:
            return
        with naming(self._path), open(os.dup(self._file.fileno()), "rb") as stream:  # noqa: PTH123 - a handle, no path
            stream.seek(self.size)
            for line in read_lines(stream, self._most, place=self.size):
                if line.fault != "torn":
                    self._count_to(line.end)
                yield line

    def read(self, place: int, size: int) -> bytes:
        """The bytes that stand there."""
        with naming(self._path):
            return os.pread(self._file.fileno(), size, place) if self._file is not None else b""

    def append(self, *texts: bytes, flush: bool = True) -> int:
        """Write lines, all or none of them, and (unless told not to) through to the disk; the place of the first.

        A torn line at the end is cut off before, and one that only lacks its end gets it.

        Raises:
            OSError: They could not be written, with the file's name. Where only the flush failed, they stand there.
            RunError: One is longer than the limit.
        """
        if (longest := max(map(len, texts), default=0)) > self._most:
            raise RunError(
                f"a line of {longest:,} bytes is too long for {str(self._path)!r}, which takes {self._most:,}.",
                hint="Give a shorter input.",
            )
        lines = b"".join(text + b"\n" for text in texts)
        with naming(self._path):
            file = self._writable()
            with locked(file.fileno()):
                end, is_ended = self._mended(file)
                written = lines if is_ended else b"\n" + lines
                self._write(file, written, end)
            if flush:
                self.flush()
        if self.size == end:
            self._count(written)
        return end + len(written) - len(lines)

    def flush(self) -> None:
        """Have the system write all to the disk; a file that ends with the process need not lie there."""
        if self._file is not None and not self._own:
            with naming(self._path):
                os.fsync(self._file.fileno())

    def cut(self, place: int) -> None:
        """Take away what stands at a place and behind it, through to the disk."""
        with naming(self._path):
            os.ftruncate(self._writable().fileno(), place)
            self.flush()

    def close(self) -> None:
        """Close the file; doing so twice is harmless."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _writable(self) -> FileIO:
        if self._file is None or not self._file.writable():
            self.close()
            self._file = tempfile.TemporaryFile(buffering=0) if self._own else FileIO(self._path, "ab+")  # noqa: SIM115
        return self._file

    def _mended(self, file: FileIO) -> tuple[int, bool]:
        """Where the sound lines end, after a torn one behind them was cut off, and whether the last has its end."""
        size = start = os.fstat(file.fileno()).st_size
        if not size or os.pread(file.fileno(), 1, size - 1) == b"\n":
            return size, True
        last = b""
        while start and b"\n" not in last and len(last) <= self._most:
            block = min(_BLOCK_BYTES, start)
            start -= block
            last = os.pread(file.fileno(), block, start) + last
        last = last[last.rfind(b"\n") + 1 :]
        if len(last) > self._most or not last.strip(b" \t\r") or _is_object(last):
            return size, False
        os.ftruncate(file.fileno(), size - len(last))
        return size - len(last), True

    def _write(self, file: FileIO, lines: bytes, end: int) -> None:
        left = memoryview(lines)
        try:
            while left:
                left = left[file.write(left) :]
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file.fileno(), end)
            raise

    def _count_to(self, end: int) -> None:
        while self.size < end and (block := self.read(self.size, min(_BLOCK_BYTES, end - self.size))):
            self._count(block)

    def _count(self, part: bytes) -> None:
        self.size += len(part)
        self.checksum = zlib.crc32(part, self.checksum)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
