"""How many processes work at once."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from referee.app.asking import Asked
from referee.app.jobs import Jobs
from referee.app.server import _limits
from referee.errors import DataError
from tests.held import happened


async def test_of_twenty_papers_two_are_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process works until its input is closed."""
    begun: list[Process] = []

    async def start(what: str, *_: object) -> Process:
        assert what == "plan"
        begun.append(await asyncio.create_subprocess_exec("cat", stdin=PIPE, stdout=asyncio.subprocess.DEVNULL))
        return begun[-1]

    monkeypatch.setattr("referee.app.jobs.start_worker", start)
    jobs = Jobs(tmp_path)
    names = [jobs.new("paper.md", "arr") for _ in range(20)]
    for name in names:
        jobs.plan(name, Asked(paper="paper.md", venue="arr"))
    for number in range(20):
        await happened(lambda: len(begun) == min(number + 2, 20))  # noqa: B023
        working = [process for process in begun if process.returncode is None]
        assert len(working) == min(2, 20 - number)
        assert working[0].stdin is not None
        working[0].stdin.close()
        await working[0].wait()
    await happened(lambda: not any(map(jobs.phase, names)))


@pytest.mark.parametrize("typed", [{"max_cost": "nan"}, {"max_cost": "inf"}, {"max_cost": "-1"}, {"max_tokens": "-5"}])
async def test_a_limit_that_cannot_be_used_is_named_and_nothing_begins(tmp_path: Path, typed: dict[str, str]) -> None:
    jobs = Jobs(tmp_path)
    (name,) = typed
    with pytest.raises(DataError, match=name.replace("_", " ")):
        jobs.start("run", **_limits(typed))
    assert jobs.phase("run") is None
    assert not jobs.folder("run").exists()
