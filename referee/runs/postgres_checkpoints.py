"""LangGraph checkpoints in a Postgres database, for runs whose folders no single machine keeps."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import MissingExtra, RunError, SettingsError
from referee.runs.checkpoint_times import written_at
from referee.runs.checkpoints import Sealed, Writes
from referee.runs.files import write_atomically
from referee.secrets import scrub

if TYPE_CHECKING:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

DSN_VARIABLE = "REFEREE_POSTGRES_DSN"
NAME_FILE = "checkpoints.name"
"""Holds what a folder's checkpoints are called by in the database, wherever the folder is moved."""

_CONNECTS_S = 10
# Any number that is ours: whoever holds it makes or changes the tables.
_SETUP_LOCK = 7_105_322_644_019
_LOOK_AGAIN_S = 0.05
_TABLES = ("checkpoint_writes", "checkpoint_blobs", "checkpoints")


@asynccontextmanager
async def open_postgres_checkpoints(
    folder: Path, stored: Iterable[type] = ()
) -> AsyncIterator[tuple[AsyncPostgresSaver, str]]:
    """Open the database that the environment names; its tables are made where they are missing.

    Args:
        folder: The run's.
        stored: The types of ours that states hold. A value of any other type is not made from the database.

    Yields:
        The saver, and what the folder's threads are to begin with.

    Raises:
        SettingsError: The environment names no database.
        MissingExtra: The packages are not installed.
        RunError: The database cannot be reached or used; what its address holds is not said.
    """
    dsn = os.environ.get(DSN_VARIABLE, "").strip()
    if not dsn:
        raise SettingsError(
            f"checkpoints are to go to Postgres, and {DSN_VARIABLE} names no database.",
            hint=f"Set it, as {DSN_VARIABLE}=postgresql://USER@HOST/DATABASE, or leave the setting checkpoints away.",
        )
    try:
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from psycopg.rows import dict_row
    except ImportError as error:
        raise MissingExtra(
            "checkpoints in Postgres need packages that are not installed.", hint="pip install 'referee[postgres]'"
        ) from error
    try:
        connection = await psycopg.AsyncConnection.connect(
            dsn, autocommit=True, prepare_threshold=0, row_factory=dict_row, connect_timeout=_CONNECTS_S
        )
        async with connection:
            saver = AsyncPostgresSaver(connection)
            await _set_up(connection, saver)
            saver.serde = Sealed(JsonPlusSerializer(allowed_msgpack_modules=tuple(stored)))
            name = _name(folder)
            await _drop_if_ahead(connection, name)
            writes = Writes(saver)
            try:
                yield saver, name
            finally:
                await writes.end()
    except psycopg.Error as error:
        raise RunError(
            f"the Postgres database of {DSN_VARIABLE} cannot be used: {_said(error, dsn)}.",
            hint="Mend the address or the server, then continue the run; answered calls are not paid again.",
        ) from None  # the original quotes the address


async def _set_up(connection: Any, saver: AsyncPostgresSaver) -> None:
    """Make the tables, one process at a time: nobody waits in a statement, for which the making of an index waits."""
    while True:
        found = await (await connection.execute("SELECT pg_try_advisory_lock(%s) AS got", (_SETUP_LOCK,))).fetchone()
        if found["got"]:
            break
        await asyncio.sleep(_LOOK_AGAIN_S)
    try:
        await saver.setup()
    finally:
        await connection.execute("SELECT pg_advisory_unlock(%s)", (_SETUP_LOCK,))


def _name(folder: Path) -> str:
    """What the folder's checkpoints are called by; two runs of the same inputs in one second have their own."""
    file = folder / NAME_FILE
    if not file.is_file():
        write_atomically(file, f"{uuid.uuid4().hex}\n")
    return f"{file.read_text(encoding='utf-8').strip()}-"


async def _drop_if_ahead(connection: Any, name: str) -> None:
    """Drop the folder's checkpoints where the newest lies ahead of the clock, as ``drop_if_ahead`` does."""
    query = "SELECT max(checkpoint_id) AS newest FROM checkpoints WHERE starts_with(thread_id, %s)"
    found = await (await connection.execute(query, (name,))).fetchone()
    if found["newest"] is not None and written_at(found["newest"]) > time.time():
        for table in _TABLES:
            await connection.execute(f"DELETE FROM {table} WHERE starts_with(thread_id, %s)", (name,))  # noqa: S608


def _said(error: Exception, dsn: str) -> str:
    """What the server or the library said, without the address: an address that cannot be read is quoted by it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        password = str(conninfo_to_dict(dsn).get("password") or "")
    except psycopg.Error:
        return "its address cannot be read"
    said = " ".join(str(error).split()) or type(error).__name__
    return scrub(said.replace(password, "...") if password else said).rstrip(".")
