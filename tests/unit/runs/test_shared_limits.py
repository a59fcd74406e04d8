"""One budget and one rate over several processes, with a clock of the test's own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import BudgetExceeded, RunError
from referee.llm.limits import Limits
from referee.runs import Budget
from referee.runs.shared_limits import Rates, SqliteBook, open_book, this_process
from referee.schemas.usage import Usage
from tests.held import happened

OTHER = "elsewhere:7"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "limits.sqlite"


def dead() -> str:
    """The name of a process of this machine that is no more."""
    host = this_process().rpartition(":")[0]
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return f"{host}:{ended.pid}"


def test_budgets_of_two_runs_reach_one_limit_together(file: Path) -> None:
    one, two = SqliteBook(str(file)), SqliteBook(str(file))
    first = Budget(max_tokens=1_000, spent=Usage(input_tokens=300), book=one, run="a")
    second = Budget(max_tokens=1_000, book=two, run="b")
    reserved = first.reserve(400, None)
    with pytest.raises(BudgetExceeded, match="up to 400 tokens, and 300 of the budget is left"):
        second.reserve(400, None)
    first.settle(reserved, Usage(input_tokens=100))
    second.settle(second.reserve(600, None), Usage(input_tokens=600))
    with pytest.raises(BudgetExceeded):
        first.reserve(1, None)


def test_costs_are_kept_together_as_tokens_are(file: Path) -> None:
    first, second = (Budget(max_cost=1.0, book=SqliteBook(str(file)), run=run) for run in "ab")
    first.settle(first.reserve(1, 0.75), Usage(cost_usd=0.75))
    with pytest.raises(BudgetExceeded, match=r"\$0.2500 of the budget is left"):
        second.reserve(1, 0.5)


def test_a_run_that_goes_on_has_spent_what_its_ledger_says_and_holds_nothing(file: Path) -> None:
    book = SqliteBook(str(file))
    Budget(max_tokens=100, book=book, run="a").reserve(90, None)
    Budget(max_tokens=100, book=book, run="b")
    Budget(max_tokens=100, spent=Usage(input_tokens=40), book=book, run="a").reserve(60, None)


@pytest.mark.parametrize("who", [dead, lambda: OTHER], ids=["dead", "of another machine"])
def test_what_a_dead_process_of_this_machine_holds_is_taken_back(file: Path, who: Callable[[], str]) -> None:
    book, name = SqliteBook(str(file)), who()
    book.begin("a", name, 0, 0.0)
    assert book.reserve("a", name, 90, 0.0, 100, None).id is not None
    slot, _ = book.enter("m", name, Rates(1, None, None), 1)
    assert slot is not None
    freed = name != OTHER
    assert (book.reserve("b", this_process(), 90, 0.0, 100, None).id is not None) is freed
    assert (book.enter("m", this_process(), Rates(1, None, None), 1)[0] is not None) is freed
    book.begin("a", this_process(), 0, 0.0)
    assert book.reserve("a", this_process(), 10, 0.0, 100, None).id is not None


def test_requests_and_tokens_a_minute_are_those_of_all(file: Path) -> None:
    now = [1_000.0]
    one, two = (SqliteBook(str(file), clock=lambda: now[0]) for _ in range(2))
    rates = Rates(100, 2, 600)
    assert one.enter("m", "x:1", rates, 100)[0] is not None
    assert two.enter("m", "x:2", rates, 100)[0] is not None
    slot, wait_s = one.enter("m", "x:1", rates, 100)
    assert (slot, wait_s) == (None, pytest.approx(30.0)), "two a minute: the next after half of one"
    assert one.enter("other", "x:1", rates, 100)[0] is not None, "each model has its own"
    now[0] += 30.0
    assert two.enter("m", "x:2", rates, 10_000)[0] is not None
    now[0] += 60.0
    assert two.enter("m", "x:2", rates, 10_000)[0] is not None, "a larger call takes a whole minute's worth"
    assert one.enter("m", "x:1", rates, 300)[1] == pytest.approx(30.0)


async def test_calls_of_two_processes_are_never_more_than_allowed(file: Path) -> None:
    under_way, most = 0, 0

    async def call(limits: Limits) -> None:
        nonlocal under_way, most
        async with limits.slot(1):
            under_way += 1
            most = max(most, under_way)
            await happened(lambda: most == 3)
            under_way -= 1

    both = [Limits(3, None, None, book=SqliteBook(str(file)), model="m") for _ in range(2)]
    await asyncio.gather(*(call(limits) for limits in both for _ in range(6)))
    assert (most, under_way) == (3, 0)


def test_a_file_that_cannot_be_kept_is_named(tmp_path: Path) -> None:
    (tmp_path / "limits").write_text("these are no limits, and no database either, for sure")
    with pytest.raises(RunError, match="limits"):
        open_book(str(tmp_path / "limits"))
    with pytest.raises(RunError, match="cannot be opened"):
        open_book(str(tmp_path / "nowhere" / "limits"))
