from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.errors import RunError
from referee.runs import checkpoints
from referee.runs.checkpoint_times import drop_if_ahead, written_at
from referee.runs.checkpoints import open_checkpoints

# RFC 9562, appendix A.5: 22 February 2022, 14:22:22 in a zone five hours behind UTC.
RFC_EXAMPLE = "1EC9414C-232A-6B00-B3C8-9F6BDECED846"
TICKS_BEFORE_1970 = 0x01B21DD213814000


def named(seconds: float) -> str:
    """A checkpoint's name that bears that time."""
    ticks = int(seconds * 10_000_000) + TICKS_BEFORE_1970
    return str(uuid.UUID(int=(ticks >> 12) << 80 | 6 << 76 | (ticks & 0xFFF) << 64 | 2 << 62))


def database(path: Path, *names: str) -> sqlite3.Connection:
    made = sqlite3.connect(path)
    for table in ("checkpoints", "writes"):
        made.execute(f"CREATE TABLE {table} (checkpoint_id TEXT)")
        made.executemany(f"INSERT INTO {table} VALUES (?)", [(name,) for name in names])
    made.commit()
    return made


def rows(of: sqlite3.Connection) -> list[int]:
    return [of.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("checkpoints", "writes")]


def test_the_time_in_a_name() -> None:
    assert written_at(RFC_EXAMPLE) == 1_645_557_742
    assert written_at(named(1_700_000_000.25)) == 1_700_000_000.25


@pytest.mark.parametrize(("ahead_s", "left"), [(-60, [2, 2]), (3600, [0, 0])])
def test_all_goes_where_the_newest_lies_ahead(tmp_path: Path, ahead_s: float, left: list[int]) -> None:
    path = tmp_path / "c.sqlite"
    with closing(database(path, named(time.time() - 7200), named(time.time() + ahead_s))) as made:
        drop_if_ahead(made)
    with closing(sqlite3.connect(path)) as again:
        assert rows(again) == left


def test_no_checkpoint_and_no_table_are_left_alone(tmp_path: Path) -> None:
    with closing(database(tmp_path / "empty.sqlite")) as made:
        drop_if_ahead(made)
        made.execute("INSERT INTO checkpoints VALUES (?)", (named(time.time() + 3600),))
        made.execute("DROP TABLE writes")
        drop_if_ahead(made)
        assert made.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)


async def test_a_state_comes_back_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    async with open_checkpoints(path) as saver:
        kind, stored = saver.serde.dumps_typed({"done": ["s1", "s2"]})
        assert saver.serde.loads_typed((kind, stored)) == {"done": ["s1", "s2"]}
    for changed in (stored[:-1] + bytes([stored[-1] ^ 1]), bytes([stored[0] ^ 1]) + stored[1:], stored[1:], b""):
        with pytest.raises(RunError, match="is damaged: a stored state is not what was written") as caught:
            async with open_checkpoints(path) as saver:
                saver.serde.loads_typed((kind, changed))
        assert "after you delete it" in caught.value.hint
    with pytest.raises(RunError, match="not what was written"):
        async with open_checkpoints(path) as saver:
            saver.serde.loads_typed(("json", stored))


async def test_an_error_is_kept_as_its_text_without_keys(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 10
    async with open_checkpoints(tmp_path / "c.sqlite") as saver:
        said = saver.serde.loads_typed(saver.serde.dumps_typed(ValueError(f"refused {key}")))
    assert said.startswith("ValueError('refused ")
    assert key not in said


async def test_checkpoints_ahead_of_the_clock_are_dropped_on_opening(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    database(path, named(time.time() + 3600)).close()
    checkpoints._examine(path)
    with closing(sqlite3.connect(path)) as again:
        assert rows(again) == [0, 0]


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"no database " * 400)
    with pytest.raises(RunError, match=r"c\.sqlite' is damaged: file is not a database"):
        async with open_checkpoints(path):
            pass


async def test_a_file_that_another_program_holds_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_BUSY_MS", 20)
    path = tmp_path / "c.sqlite"
    with closing(database(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(RunError, match="is held by another program: database is locked") as caught:
            async with open_checkpoints(path):
                pass
    assert "Close what has the file open" in caught.value.hint


@pytest.mark.parametrize("said", ["database or disk is full", "disk I/O error"])
async def test_a_full_disk_is_no_damage(tmp_path: Path, said: str) -> None:
    with pytest.raises(RunError, match="cannot be written") as caught:
        async with open_checkpoints(tmp_path / "c.sqlite"):
            raise sqlite3.OperationalError(said)
    assert "Make room" in caught.value.hint


async def test_a_write_that_begins_as_the_run_fails_ends_before_the_file_is_closed(tmp_path: Path) -> None:
    """LangGraph begins such writes in callbacks of the tasks that it cancels."""
    path = tmp_path / "checkpoints.sqlite"
    config: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": named(time.time())}}
    begun: list[asyncio.Task[None]] = []

    async def fail_while_writes_begin() -> None:
        async with open_checkpoints(path) as saver:
            begun.extend(asyncio.create_task(saver.aput_writes(config, [("a", n)], f"task {n}")) for n in range(4))
            raise KeyError("the process dies here")

    with pytest.raises(KeyError, match="the process dies here"):
        await fail_while_writes_begin()
    assert [task.done() and task.exception() for task in begun] == [None] * 4
    with closing(sqlite3.connect(path, timeout=0)) as again:
        assert again.execute("SELECT count(*) FROM writes").fetchone() == (4,)
        again.execute("DELETE FROM writes")
