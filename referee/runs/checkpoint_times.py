"""Checkpoints whose names bear a time that lies ahead, because the clock was set back since they were written."""

from __future__ import annotations

import sqlite3
import time
from uuid import UUID

# Checkpoints are named by UUIDs of version 6, whose time counts from the start of the Gregorian calendar.
_TICKS_BEFORE_1970 = 0x01B21DD213814000
_TICKS_A_SECOND = 10_000_000


def drop_if_ahead(database: sqlite3.Connection) -> None:
    """Drop all checkpoints where the newest one lies ahead of the clock.

    The newest checkpoint is the one with the latest time in its name, so what is written now would never be it. The
    machine then begins anew on the answers of the ledger.

    Raises:
        sqlite3.Error: The file is damaged, or another program holds it.
    """
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"checkpoints", "writes"} <= tables:
        return
    (newest,) = database.execute("SELECT max(checkpoint_id) FROM checkpoints").fetchone()
    if newest is not None and written_at(newest) > time.time():
        with database:
            database.execute("DELETE FROM checkpoints")
            database.execute("DELETE FROM writes")


def written_at(checkpoint_id: str) -> float:
    """The time in a checkpoint's name, in seconds since 1970."""
    number = UUID(checkpoint_id).int
    return (((number >> 80) << 12 | (number >> 64) & 0xFFF) - _TICKS_BEFORE_1970) / _TICKS_A_SECOND
