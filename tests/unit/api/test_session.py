"""What a session holds around the work of a command: the confirmation before, and how the run ended after."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import referee
from referee import RunOptions
from referee.api.session import session
from referee.errors import BudgetExceeded, DataError, RunError
from referee.llm.models import Models
from referee.runs.folder import read_record
from referee.schemas.estimate import Estimate


async def worked(folder: Path, error: BaseException | None = None, *, remark: str = "", **how: Any) -> None:
    """A run that does nothing, or ends in an error."""
    options = RunOptions(**how).within(folder)
    async with session("eval", "set", options=options, settings=options.settled()) as run:
        run.check_inputs({"set": "one"})
        run.confirm(Estimate(calls=2))
        run.begin(Models({}), prompts={})
        run.remark = remark
        if error is not None:
            raise error


async def test_a_run_that_comes_to_its_end_is_finished_with_what_is_remarked(tmp_path: Path) -> None:
    seen: list[str] = []
    await worked(tmp_path / "run", remark="2 failed", progress=lambda event: seen.append(event.kind))
    record = read_record(tmp_path / "run")
    assert (record.status, record.error, seen) == ("finished", "2 failed", ["run"])


@pytest.mark.parametrize(
    ("error", "raised", "status", "said"),
    [
        (BudgetExceeded("no room.", hint="More."), BudgetExceeded, "stopped", "no room. More."),
        (DataError("no row.", hint="Add one."), DataError, "failed", "no row. Add one."),
        (OSError(28, "No space left"), RunError, "failed", "can no longer be used: No space left"),
        (asyncio.CancelledError(), asyncio.CancelledError, "stopped", "interrupted"),
        (KeyError("x"), KeyError, "failed", "KeyError('x')"),
    ],
)
async def test_however_the_work_ends_the_record_says_how(
    tmp_path: Path, error: BaseException, raised: type[BaseException], status: str, said: str
) -> None:
    with pytest.raises(raised) as caught:
        await worked(tmp_path / "run", error)
    record = read_record(tmp_path / "run")
    assert record.status == status
    assert said in record.error
    assert getattr(caught.value, "ids", {"run": str(tmp_path / "run")})["run"] == str(tmp_path / "run")
    await worked(tmp_path / "run")
    assert read_record(tmp_path / "run").status == "finished", "the folder was given back"


async def test_without_a_yes_nothing_is_written(tmp_path: Path) -> None:
    shown: list[Estimate] = []
    with pytest.raises(RunError, match="not confirmed"):
        await worked(tmp_path / "run", confirm=lambda plan: bool(shown.append(plan)))
    assert [plan.calls for plan in shown] == [2]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "verb",
    ["review", "evaluate", "profile", "experiment", "arena_run", "arena_score", "compile_venue", "refine_prompts"],
)
def test_how_a_function_runs_is_one_argument(verb: str) -> None:
    with pytest.raises(TypeError, match="max_cost"):
        getattr(referee, verb)("anything", max_cost=1.0)
