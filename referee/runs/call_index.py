"""Where the lines of a trace lie, by request, in SQLite: a reply is found without holding any in memory.

The index is derived. It says how far into the trace it goes and what that part's checksum is; what it does not know is
read again from the trace, and where it does not fit the trace it is made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import Field, ValidationError

from referee.schemas.base import Frozen
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage

_TABLES = """
CREATE TABLE IF NOT EXISTS calls (
    place INTEGER PRIMARY KEY, size INTEGER NOT NULL, request TEXT NOT NULL, base TEXT NOT NULL, usable INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS by_request ON calls (request);
CREATE INDEX IF NOT EXISTS repairs ON calls (base) WHERE base != request;
CREATE TABLE IF NOT EXISTS covered (state TEXT NOT NULL);
"""
# A kill costs reading this many lines again.
_COMMIT_EVERY = 500


class Covered(Frozen):
    """The part of a trace that an index knows, and what stands in it.

    ``size`` and ``checksum`` (CRC-32) are those of its bytes; ``damaged`` counts lines that were left out.
    """

    size: int = 0
    checksum: int = 0
    calls: int = 0
    damaged: int = 0
    usage: Usage = Usage()
    by_role: dict[str, Usage] = Field(default_factory=dict)


class CallIndex:
    """An index in a file, or (without a path) in memory. What is wrong with the file comes as ``sqlite3.Error``."""

    def __init__(self, path: Path | None = None) -> None:
        self._database = sqlite3.connect(path or ":memory:", isolation_level="DEFERRED", check_same_thread=False)
        self._uncommitted = 0
        try:
            self._examine()
        except BaseException:
            self._database.close()
            raise

    def _examine(self) -> None:
        # It is made anew from the trace where a crash of the machine leaves it damaged, so no write waits for the disk.
        self._database.execute("PRAGMA synchronous = OFF")
        (said,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(said)
        self._database.executescript(_TABLES)

    def covered(self) -> Covered:
        """What was covered at the last commit."""
        row = self._database.execute("SELECT state FROM covered").fetchone()
        try:
            return Covered.model_validate_json(row[0]) if row else Covered()
        except ValidationError as error:
            raise sqlite3.DatabaseError("what it covers is no record") from error

    def clear(self) -> None:
        """Forget all."""
        self._database.execute("DELETE FROM calls")
        self._database.execute("DELETE FROM covered")

    def add(self, place: int, size: int, call: CallRecord) -> bool:
        """Note a line of the trace; True where it is time to commit.

        A question that was given up may be asked anew: its unusable replies are not found any more.
        """
        usable = call.reply is not None
        self._database.execute(
            "INSERT INTO calls VALUES (?, ?, ?, ?, ?)", (place, size, call.request, call.base, usable)
        )
        if not usable and call.request == call.base:
            self._database.execute("UPDATE calls SET usable = 0 WHERE request = ?", (call.base,))
            self._database.execute("UPDATE calls SET usable = 0 WHERE base = ? AND base != request", (call.base,))
        self._uncommitted += 1
        return self._uncommitted >= _COMMIT_EVERY

    def reply(self, request: str) -> tuple[int, int] | None:
        """Place and size of the last line that answers a request."""
        found: tuple[int, int] | None = self._database.execute(
            "SELECT place, size FROM calls WHERE request = ? AND usable ORDER BY place DESC", (request,)
        ).fetchone()
        return found

    def places_of(self, request: str, size: int) -> Iterator[int]:
        """The places of lines of that request and size, answers or not."""
        rows = self._database.execute("SELECT place FROM calls WHERE request = ? AND size = ?", (request, size))
        return (place for (place,) in rows.fetchall())

    def places(self) -> Iterator[tuple[int, int]]:
        """Place and size of every line, in their order."""
        return iter(self._database.execute("SELECT place, size FROM calls ORDER BY place"))

    def commit(self, covered: Covered) -> None:
        """Write down what was added, and how far it goes."""
        self._database.execute("DELETE FROM covered")
        self._database.execute("INSERT INTO covered VALUES (?)", (covered.model_dump_json(),))
        self._database.commit()
        self._uncommitted = 0

    def close(self) -> None:
        """Close the file; what was not committed is lost, and read from the trace the next time."""
        with suppress(sqlite3.Error):
            self._database.close()


def remove_index(path: Path) -> None:
    """Remove an index that is of no use, as far as that can be; its journal would spoil the next one."""
    for file in (path, path.with_name(f"{path.name}-journal")):
        with suppress(OSError):
            file.unlink(missing_ok=True)
