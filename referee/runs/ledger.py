"""The call ledger: every model call as one line, on the disk before its reply is used.

A resumed run finds a reply under its request's digest and does not pay for it again. A damaged line, and one that
stands there again, is left out and counted. Replies stay in the file: memory holds sums alone, however many calls a
run makes.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from pydantic import ValidationError

from referee.errors import RunError
from referee.runs.call_index import CallIndex, Covered, remove_index
from referee.runs.lines import JsonLines, Line
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage
from referee.secrets import scrub

logger = logging.getLogger(__name__)


class Ledger:
    """The calls of one run, in a file or (without a path) in one that ends with the process.

    Args:
        path: The file; it may be there already.
        index: Where its index lies, so that another start need not read all lines again; by default in memory. It may
            be missing, damaged or behind the file, or impossible to write: the file is what counts.
        prefix: Begins the ids of new calls, so that those of a run's shards differ.

    Raises:
        RunError: The file is there and cannot be read.
    """

    def __init__(self, path: Path | None = None, *, index: Path | None = None, prefix: str = "") -> None:
        self.path = path
        self._prefix = prefix
        self._owed = bytearray()
        self._held = ExitStack()
        weakref.finalize(self, self._held.close)
        try:
            self._trace = JsonLines(path)
            self._held.callback(self._trace.close)
            self._flushes = _Flushes(self._trace)
            self._index = self._opened(index)
        except OSError as error:
            self._held.close()
            raise RunError(
                f"{str(path)!r} cannot be read: {error.strerror or error}.",
                hint="Mend its rights, or start a new run: the replies in it cannot be used without it.",
            ) from error

    async def keep(self, call: CallRecord) -> None:
        """``append`` without holding up other calls: lines that come together are flushed to the disk together.

        The line is with the system, and remembered, before others run; it is on the disk when this returns.
        """
        self.append(call, flush=False)
        if self.path is not None:
            await self._flushes.flushed()

    def append(self, call: CallRecord, *, flush: bool = True) -> None:
        """Write the line through to the disk, then remember it.

        Raises:
            OSError: It could not be written, with the file's name; it is not remembered either.
        """
        if call.error:
            call = call.model_copy(update={"error": scrub(call.error)})
        text = call.model_dump_json(exclude_defaults=True).encode()
        if self._trace.has_unread:
            self._remake_index_if_broken(lambda: self._catch_up(self._index))
        place = self._trace.append(text, flush=flush)
        self._remake_index_if_broken(lambda: self._note(self._index, place, len(text), call))

    def reply(self, request: str) -> CallRecord | None:
        """The call that answered this request, if the run has made it."""
        try:
            return self._reply(request)
        except sqlite3.Error as error:
            self._remake_index(error)
            return self._reply(request)

    @property
    def records(self) -> list[CallRecord]:
        """All calls so far, read from the file: for runs of few calls, and for looking back."""
        return [self._call(place, size) for place, size in self._index.places()]

    def answered(self) -> Iterator[str]:
        """The requests that have a reply, usable or not, read from the file one by one."""
        calls = (self._call(place, size) for place, size in self._index.places())
        return (call.request for call in calls if call.reply is not None)

    @property
    def damaged_lines(self) -> int:
        """Lines of the file that were left out."""
        return self._damaged + self._torn

    def owe_earlier(self, counted: Iterable[str] = ()) -> None:
        """Have ``claim`` tell what earlier starts paid and nothing has counted yet.

        Args:
            counted: Ids of the calls that something has counted.
        """
        self._owed = bytearray(b"\1") * (self._calls + self._damaged + 1)
        for call_id in counted:
            if (number := self._number(call_id)) < len(self._owed):
                self._owed[number] = 0

    def claim(self, call: CallRecord) -> Usage:
        """What a reply that is there already costs who asks: what it cost an earlier start, if that is still owed."""
        number = self._number(call.call_id)
        if number >= len(self._owed) or not self._owed[number]:
            return Usage(reused_calls=1)
        self._owed[number] = 0
        return call.usage

    def next_call_id(self) -> str:
        """An id that no call of this run has, those on damaged lines included."""
        return f"{self._prefix}c{self._calls + self._damaged + 1:04d}"

    def usage(self) -> Usage:
        """What the run has consumed in all its starts."""
        return self._total

    def usage_by_role(self) -> dict[str, Usage]:
        """The same, per role."""
        return dict(sorted(self._by_role.items()))

    def close(self) -> None:
        """Write all down and close the files; the sums can still be asked for."""
        with suppress(sqlite3.Error, OSError):
            self._trace.flush()  # what a call that was cancelled left to a flush that never came
            self._index.commit(self._covered())
        self._held.close()

    def _number(self, call_id: str) -> int:
        """The number in an id of ``next_call_id``; beyond all numbers for another id, as one of a merged shard."""
        digits = call_id.removeprefix(f"{self._prefix}c")
        return int(digits) if digits.isdecimal() else sys.maxsize

    def _reply(self, request: str) -> CallRecord | None:
        found = self._index.reply(request)
        if found is None:
            return None
        call = self._call(*found)
        if call.request != request:
            raise sqlite3.DatabaseError(f"the index names another line for request {request}")
        return call

    def _call(self, place: int, size: int) -> CallRecord:
        try:
            return CallRecord.model_validate_json(self._trace.read(place, size))
        except ValidationError as error:
            raise sqlite3.DatabaseError("the index names a place where no line is") from error

    def _opened(self, path: Path | None) -> CallIndex:
        """The index at the path, made anew where it is of no use, or one in memory where that cannot be."""
        for place in (path, path) if path else ():
            try:
                return self._filled(CallIndex(place))
            except sqlite3.Error as error:
                logger.info("the index %s is made anew: %s", path, error)
                remove_index(place)
        return self._filled(CallIndex())

    def _remake_index_if_broken(self, change: Callable[[], None]) -> None:
        try:
            change()
        except sqlite3.Error as error:
            self._remake_index(error)

    def _remake_index(self, error: sqlite3.Error) -> None:
        logger.warning("the index of %s cannot be used (%s); this run goes on with one in memory", self.path, error)
        self._index = self._filled(CallIndex())

    def _filled(self, index: CallIndex) -> CallIndex:
        """The index, after it was compared with the file and knows all of it."""
        self._held.callback(index.close)
        covered = index.covered()
        if not self._trace.begins_as(covered.size, covered.checksum):
            index.clear()
            covered = Covered()
        self._calls, self._damaged = covered.calls, covered.damaged
        self._total, self._by_role = covered.usage, defaultdict(Usage, covered.by_role)
        self._catch_up(index)
        return index

    def _catch_up(self, index: CallIndex) -> None:
        """Read what the index does not know yet."""
        read, self._torn = False, False
        for line in self._trace.unread():
            if line.fault == "torn":
                self._torn = True
                break
            read = True
            call = _call_of(line)
            if call is None or self._has(index, line.text, call):
                self._damaged += 1
            else:
                self._note(index, line.place, len(line.text), call)
        if read:
            index.commit(self._covered())

    def _has(self, index: CallIndex, text: bytes, call: CallRecord) -> bool:
        size = len(text)
        return any(self._trace.read(other, size) == text for other in index.places_of(call.request, size))

    def _note(self, index: CallIndex, place: int, size: int, call: CallRecord) -> None:
        self._calls += 1
        self._total += call.usage
        self._by_role[call.role] += call.usage
        if index.add(place, size, call):
            index.commit(self._covered())

    def _covered(self) -> Covered:
        return Covered(
            size=self._trace.size,
            checksum=self._trace.checksum,
            calls=self._calls,
            damaged=self._damaged,
            usage=self._total,
            by_role=dict(self._by_role),
        )


def _call_of(line: Line) -> CallRecord | None:
    try:
        return None if line.fault else CallRecord.model_validate_json(line.text)
    except ValidationError:
        return None


class _Flushes:
    """Flushes of a file in a thread. One covers all lines that were written before it begins."""

    def __init__(self, trace: JsonLines) -> None:
        self._trace = trace
        self._under_way: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def flushed(self) -> None:
        """Wait for a flush that begins after this; raises its ``OSError``."""
        if self._next is None or self._next.done():
            self._next = asyncio.create_task(self._after(self._under_way))
        await asyncio.shield(self._next)

    async def _after(self, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            await asyncio.wait([before])
        self._under_way, self._next = self._next, None
        await asyncio.to_thread(self._trace.flush)
