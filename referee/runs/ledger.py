"""The call ledger: every model call as one line, on the disk before its reply is used.

A resumed run finds a reply under its request's digest and does not pay for it again. A line that a crash cut off, or
that no longer parses, is left out and counted, as is a line that stands there again; the file itself is only ever
appended to.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from pydantic import ValidationError

from referee.errors import RunError
from referee.runs.files import naming
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage
from referee.secrets import scrub


class Ledger:
    """The calls of one run, in a file or (without a path) in memory.

    Args:
        path: The file; it may be there already.
        keep_messages: Whether ``records`` keep the messages that were sent. They are most of the file: without them a
            run of very many calls needs little memory.
        prefix: Begins the ids of new calls, so that those of a run's shards differ.

    Attributes:
        records: The calls so far.
        damaged_lines: Lines of the file that were left out.

    Raises:
        RunError: The file is there and cannot be read.
    """

    def __init__(self, path: Path | None = None, *, keep_messages: bool = True, prefix: str = "") -> None:
        self.path = path
        self._prefix = prefix
        self._keep_messages = keep_messages
        self._total = Usage()
        self._by_role: dict[str, Usage] = defaultdict(Usage)
        self.records: list[CallRecord] = []
        self.damaged_lines = 0
        self._replies: dict[str, CallRecord] = {}
        if path is not None and path.exists():
            self._read(path)

    def append(self, record: CallRecord) -> None:
        """Write the line through to the disk, then remember it.

        Raises:
            OSError: It could not be written, with the file's name; it is not remembered either.
        """
        record = record.model_copy(update={"error": scrub(record.error)})
        if self.path is not None:
            self._write(self.path, record.model_dump_json(exclude_defaults=True) + "\n")
        self._remember(record)

    def reply(self, request: str) -> CallRecord | None:
        """The call that answered this request, if the run has made it."""
        return self._replies.get(request)

    def next_call_id(self) -> str:
        """An id that no call of this run has, those on damaged lines included."""
        return f"{self._prefix}c{len(self.records) + self.damaged_lines + 1:04d}"

    def usage(self) -> Usage:
        """What the run has consumed in all its starts."""
        return self._total

    def usage_by_role(self) -> dict[str, Usage]:
        """The same, per role."""
        return dict(sorted(self._by_role.items()))

    def _remember(self, record: CallRecord) -> None:
        self._total += record.usage
        self._by_role[record.role] += record.usage
        if not self._keep_messages:
            record = record.model_copy(update={"messages": ()})
        self.records.append(record)
        if record.reply is not None:
            self._replies[record.request] = record
        elif record.request == record.base:
            self._forget(record.base)

    def _forget(self, base: str) -> None:
        """A question that was given up may be asked anew: its unusable replies are not replayed."""
        self._replies = {request: r for request, r in self._replies.items() if r.base != base}

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as error:
            raise RunError(
                f"{str(path)!r} cannot be read: {error.strerror or error}.",
                hint="Mend its rights, or start a new run: the replies in it cannot be used without it.",
            ) from error
        seen: set[bytes] = set()
        for line in filter(None, lines):
            try:
                record = CallRecord.model_validate_json(line)
            except ValidationError:
                self.damaged_lines += 1
                continue
            if line in seen:
                self.damaged_lines += 1
                continue
            seen.add(line)
            self._remember(record)

    @staticmethod
    def _write(path: Path, line: str) -> None:
        with naming(path), path.open("ab") as file:
            if file.tell() and not _ends_with_newline(path):
                file.write(b"\n")
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
