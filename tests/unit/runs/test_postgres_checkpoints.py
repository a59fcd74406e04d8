"""Checkpoints in a real Postgres, which is started here where it is installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from referee.errors import RunError, SettingsError
from referee.graphs.running import run_machine
from referee.runs import RunFolder
from referee.runs.postgres_checkpoints import DSN_VARIABLE, open_postgres_checkpoints
from tests.needs import require
from tests.unit.runs.test_checkpoints import named

require("psycopg", "postgres")
pytestmark = pytest.mark.slow

PASSWORD = "very-secret-word"


def program(name: str) -> str | None:
    """A program of Postgres, which Debian keeps out of the path."""
    return shutil.which(name) or next(map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None)


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """The address of a database of its own, on a socket in a short folder; the server refuses to be root."""
    initdb, server = program("initdb"), program("postgres")
    if initdb is None or server is None:
        pytest.skip("Postgres is not installed: apt-get install postgresql")
    if os.getuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("Postgres does not run as root, and there is no runuser: apt-get install util-linux")
    place = Path(f"/tmp/referee-pg-{os.getpid()}")
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    user = "postgres" if as_user else ""
    named_user = ["-U", user] if user else []
    made = [*as_user, initdb, "-D", f"{place}/data", "-A", "trust", "--no-sync", *named_user]
    subprocess.run(made, check=True, capture_output=True, cwd="/")
    begun = [*as_user, server, "-D", f"{place}/data", "-k", str(place), "-c", "listen_addresses=", "-c", "fsync=off"]
    process = subprocess.Popen(begun, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not list(place.glob(".s.PGSQL.*[0-9]")) and time.monotonic() < until:
            time.sleep(0.02)
        yield f"host={place} dbname=postgres password={PASSWORD}" + (f" user={user}" if user else "")
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def database(dsn: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(DSN_VARIABLE, dsn)
    return dsn


def folder(path: Path) -> RunFolder:
    made = {"inputs": {"paper": "p"}, "models": {}, "prompts": {}, "package_version": "1"}
    return RunFolder.create(path, command="review", settings={"checkpoints": "postgres"}, **made)


class Counted(TypedDict):
    done: Annotated[list[str], lambda old, new: [*old, *new]]
    failure: Any


def machine(log: list[str], *, breaks: bool = False) -> Any:
    """Two steps; the second one can break."""
    from langgraph.graph import END, START, StateGraph

    async def first(state: Counted) -> dict[str, Any]:
        log.append("first")
        return {"done": ["first"]}

    async def second(state: Counted) -> dict[str, Any]:
        log.append("second")
        if breaks:
            raise ConnectionError("the power went out")
        return {"done": ["second"]}

    graph = StateGraph(Counted)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    return graph


async def test_a_broken_machine_goes_on_where_it_was_also_in_a_moved_folder(tmp_path: Path, database: str) -> None:
    log: list[str] = []
    begin: Counted = {"done": [], "failure": None}
    with folder(tmp_path / "run") as run:
        with pytest.raises(ConnectionError):
            await run_machine(run, machine(log, breaks=True), None, begin)
        assert not (tmp_path / "run" / "checkpoints.sqlite").exists()
    (tmp_path / "run").rename(tmp_path / "moved")
    with RunFolder.resume(tmp_path / "moved", inputs={"paper": "p"}, settings={"checkpoints": "postgres"}) as run:
        state = await run_machine(run, machine(log), None, begin)
    assert state["done"] == ["first", "second"]
    assert log == ["first", "second", "second"]
    with folder(tmp_path / "other") as other:
        assert (await run_machine(other, machine(log), None, begin))["done"] == ["first", "second"]
    assert log[3:] == ["first", "second"], "another folder of the same inputs has checkpoints of its own"


async def test_processes_that_open_it_at_once_and_a_clock_set_back(tmp_path: Path, database: str) -> None:
    import psycopg

    async def opened(number: int) -> str:
        place = tmp_path / str(number)
        place.mkdir()
        async with open_postgres_checkpoints(place) as (_, name):
            return name

    names = await asyncio.gather(*map(opened, range(4)))
    assert len(set(names)) == 4
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        insert = "INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint) VALUES (%s, %s, '{}')"
        for name, ahead_s in ((names[0], 3600), (names[1], -3600)):
            await connection.execute(insert, (f"{name}x", named(time.time() + ahead_s).lower()))
        for number in (0, 1):
            async with open_postgres_checkpoints(tmp_path / str(number)):
                pass
        left = await (await connection.execute("SELECT thread_id FROM checkpoints WHERE checkpoint = '{}'")).fetchall()
    assert left == [(f"{names[1]}x",)]


@pytest.mark.parametrize(
    "address", [f"host=/nowhere password={PASSWORD}", f"postgresql://u:{PASSWORD}@/x?wrong={PASSWORD}"]
)
async def test_an_address_that_leads_nowhere_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(DSN_VARIABLE, address)
    with pytest.raises(RunError, match=DSN_VARIABLE) as failure:
        async with open_postgres_checkpoints(tmp_path):
            pass
    assert PASSWORD not in str(failure.value)
    monkeypatch.delenv(DSN_VARIABLE)
    with pytest.raises(SettingsError, match=DSN_VARIABLE):
        async with open_postgres_checkpoints(tmp_path):
            pass
