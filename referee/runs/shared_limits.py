"""One rate and one budget that several processes keep together: a small SQLite file, or a Ray actor that holds one.

A process that is killed keeps nothing: what it had set aside is given back when its shard goes on, and on one machine
as soon as somebody else needs it.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from referee.errors import MissingExtra, RunError

RAY = "ray:"
_BUSY_S = 30.0
_MINUTE_S = 60.0
# A slot is looked for again after this long; a call to a provider takes hundreds of times as long.
LOOK_AGAIN_S = 0.02
_TABLES = """
    CREATE TABLE IF NOT EXISTS spent (run TEXT PRIMARY KEY, process TEXT, tokens INTEGER, cost REAL);
    CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, run TEXT, process TEXT, tokens INTEGER, cost REAL);
    CREATE TABLE IF NOT EXISTS slot (id INTEGER PRIMARY KEY, model TEXT, process TEXT);
    CREATE TABLE IF NOT EXISTS rate (model TEXT, what TEXT, level REAL, at REAL, PRIMARY KEY (model, what));
"""


@dataclass(frozen=True)
class Held:
    """Whether room was set aside (its ``id``, else None), and what all runs had spent or set aside before."""

    id: int | None
    tokens: int
    cost: float


@dataclass(frozen=True)
class Rates:
    """What all processes together may do with a model: calls under way, requests and tokens a minute."""

    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None


class Book(Protocol):
    """What processes keep together. ``run`` is a shard's folder, ``process`` who works on it."""

    def begin(self, run: str, process: str, tokens: int, cost: float) -> None:
        """A run starts, or goes on: what it has spent, by its own ledger, and nothing set aside."""

    def reserve(
        self, run: str, process: str, tokens: int, cost: float, max_tokens: int | None, max_cost: float | None
    ) -> Held:
        """Set room aside for a call, where it stays within the limits."""

    def settle(self, held: int, run: str, tokens: int, cost: float) -> None:
        """Replace what was set aside by what the call consumed."""

    def enter(self, model: str, process: str, rates: Rates, tokens: int) -> tuple[int | None, float]:
        """A slot for a call, or None and the seconds after which to ask again."""

    def leave(self, slot: int) -> None:
        """Give a slot back."""


class SqliteBook:
    """The book in a SQLite file that processes of one machine share; ``:memory:`` for one process alone.

    Args:
        path: The file; it is made where it is missing.
        clock: Seconds since the epoch, the same for all processes.

    Raises:
        RunError: The file cannot be opened.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        try:
            self._database = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA synchronous = OFF")  # what a crash of the machine takes, ledgers know
            self._database.executescript(_TABLES)
        except sqlite3.Error as error:
            raise RunError(
                f"the shared limits {path!r} cannot be opened: {error}.",
                hint="Name a file on a local disk that can be written, or leave calls.shared_limits away.",
            ) from error

    def begin(self, run: str, process: str, tokens: int, cost: float) -> None:
        """As ``Book.begin``."""
        with self._alone() as database:
            before = database.execute("SELECT process FROM spent WHERE run = ?", (run,)).fetchone()
            if before is not None and before[0] != process:
                self._forget(database, before[0])
            database.execute("DELETE FROM held WHERE run = ?", (run,))
            database.execute("INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)", (run, process, tokens, cost))

    def reserve(
        self, run: str, process: str, tokens: int, cost: float, max_tokens: int | None, max_cost: float | None
    ) -> Held:
        """As ``Book.reserve``."""
        with self._alone() as database:
            taken = _taken(database)
            if not _fits(taken, tokens, cost, max_tokens, max_cost) and self._drop_dead(database):
                taken = _taken(database)
            if not _fits(taken, tokens, cost, max_tokens, max_cost):
                return Held(None, *taken)
            added = database.execute(
                "INSERT INTO held (run, process, tokens, cost) VALUES (?, ?, ?, ?)", (run, process, tokens, cost)
            )
            return Held(added.lastrowid, *taken)

    def settle(self, held: int, run: str, tokens: int, cost: float) -> None:
        """As ``Book.settle``."""
        with self._alone() as database:
            database.execute("DELETE FROM held WHERE id = ?", (held,))
            database.execute("UPDATE spent SET tokens = tokens + ?, cost = cost + ? WHERE run = ?", (tokens, cost, run))

    def enter(self, model: str, process: str, rates: Rates, tokens: int) -> tuple[int | None, float]:
        """As ``Book.enter``; a call larger than a minute's tokens takes a whole minute's worth."""
        with self._alone() as database:
            if _slots(database, model) >= rates.concurrency and not (
                self._drop_dead(database) and _slots(database, model) < rates.concurrency
            ):
                return None, LOOK_AGAIN_S
            now, most = self._clock(), rates.tokens_per_minute
            asked = [("requests", rates.requests_per_minute, 1.0)]
            asked.append(("tokens", most, min(float(tokens), float(most)) if most else 0.0))
            limited = [(what, float(limit), amount) for what, limit, amount in asked if limit]
            levels = {what: self._level(database, model, what, limit, now) for what, limit, _ in limited}
            waits = [(levels[what] + n - limit) / (limit / _MINUTE_S) for what, limit, n in limited]
            if waits and max(waits) > 0:
                return None, max(*waits, LOOK_AGAIN_S)
            for what, _, amount in limited:
                row = (model, what, levels[what] + amount, now)
                database.execute("INSERT OR REPLACE INTO rate VALUES (?, ?, ?, ?)", row)
            added = database.execute("INSERT INTO slot (model, process) VALUES (?, ?)", (model, process))
            return added.lastrowid, 0.0

    def leave(self, slot: int) -> None:
        """As ``Book.leave``."""
        with self._alone() as database:
            database.execute("DELETE FROM slot WHERE id = ?", (slot,))

    def _level(self, database: sqlite3.Connection, model: str, what: str, limit: float, now: float) -> float:
        """How full a bucket of a minute's worth is; it empties evenly."""
        row = database.execute("SELECT level, at FROM rate WHERE model = ? AND what = ?", (model, what)).fetchone()
        return max(row[0] - max(now - row[1], 0.0) * limit / _MINUTE_S, 0.0) if row else 0.0

    def _drop_dead(self, database: sqlite3.Connection) -> bool:
        """Take back what processes of this machine hold that are no more; whether there were any."""
        query = "SELECT process FROM held UNION SELECT process FROM slot"
        dead = [process for (process,) in database.execute(query).fetchall() if _is_dead(process)]
        for process in dead:
            self._forget(database, process)
        return bool(dead)

    @staticmethod
    def _forget(database: sqlite3.Connection, process: str) -> None:
        database.execute("DELETE FROM held WHERE process = ?", (process,))
        database.execute("DELETE FROM slot WHERE process = ?", (process,))

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise RunError(
                f"the shared limits {self._path!r} cannot be kept: {error}.",
                hint="Mend the file's disk or delete the file, then resume the run.",
            ) from error


class RayBook:
    """The book of a named Ray actor, asked from a worker of the same cluster."""

    def __init__(self, name: str) -> None:
        self._ray: Any = import_ray()
        try:
            self._actor = self._ray.get_actor(name)
        except ValueError as error:
            raise RunError(
                f"there is no Ray actor {name!r} that keeps the limits.", hint="Start the run with --engine ray."
            ) from error

    def begin(self, run: str, process: str, tokens: int, cost: float) -> None:
        """As ``Book.begin``."""
        self._ray.get(self._actor.begin.remote(run, process, tokens, cost))

    def reserve(
        self, run: str, process: str, tokens: int, cost: float, max_tokens: int | None, max_cost: float | None
    ) -> Held:
        """As ``Book.reserve``."""
        held: Held = self._ray.get(self._actor.reserve.remote(run, process, tokens, cost, max_tokens, max_cost))
        return held

    def settle(self, held: int, run: str, tokens: int, cost: float) -> None:
        """As ``Book.settle``."""
        self._ray.get(self._actor.settle.remote(held, run, tokens, cost))

    def enter(self, model: str, process: str, rates: Rates, tokens: int) -> tuple[int | None, float]:
        """As ``Book.enter``."""
        slot: tuple[int | None, float] = self._ray.get(self._actor.enter.remote(model, process, rates, tokens))
        return slot

    def leave(self, slot: int) -> None:
        """As ``Book.leave``."""
        self._ray.get(self._actor.leave.remote(slot))


def import_ray() -> Any:
    """Ray; raises ``MissingExtra`` where it is not installed."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingExtra("Ray is not installed.", hint="pip install 'referee[ray]'") from error


@cache
def open_book(name: str) -> Book:
    """The book of that name: a file's path, or ``ray:`` and an actor's name.

    Raises:
        RunError: It cannot be opened.
        MissingExtra: Ray is not installed.
    """
    return RayBook(name.removeprefix(RAY)) if name.startswith(RAY) else SqliteBook(str(Path(name).absolute()))


def this_process() -> str:
    """The name of this process among all that share a book."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _is_dead(process: str) -> bool:
    host, _, number = process.rpartition(":")
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _slots(database: sqlite3.Connection, model: str) -> int:
    return int(database.execute("SELECT count(*) FROM slot WHERE model = ?", (model,)).fetchone()[0])


def _taken(database: sqlite3.Connection) -> tuple[int, float]:
    query = "SELECT tokens, cost FROM spent UNION ALL SELECT tokens, cost FROM held"
    rows = database.execute(f"SELECT coalesce(sum(tokens), 0), coalesce(sum(cost), 0.0) FROM ({query})").fetchone()  # noqa: S608
    return int(rows[0]), float(rows[1])


def _fits(taken: tuple[int, float], tokens: int, cost: float, max_tokens: int | None, max_cost: float | None) -> bool:
    return (max_tokens is None or taken[0] + tokens <= max_tokens) and (max_cost is None or taken[1] + cost <= max_cost)
