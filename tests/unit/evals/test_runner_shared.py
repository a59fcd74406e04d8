"""What several units use is made once."""

from __future__ import annotations

import asyncio

import pytest

from referee.errors import BudgetExceeded, ReplyInvalid
from referee.evals.shared import Shared


async def test_a_thing_is_made_once_while_others_wait() -> None:
    made: list[int] = []
    begun = asyncio.Event()

    async def make() -> int:
        made.append(1)
        await begun.wait()
        return 7

    shared = Shared()
    asked = [asyncio.create_task(shared.once("topics", make)) for _ in range(5)]
    await asyncio.sleep(0)
    begun.set()
    assert await asyncio.gather(*asked) == [7] * 5
    assert await shared.once("topics", make) == 7
    assert len(made) == 1


@pytest.mark.parametrize(("error", "times"), [(ReplyInvalid("no"), 1), (BudgetExceeded("no"), 2)])
async def test_failures_are_remembered_unless_they_pass(error: Exception, times: int) -> None:
    made: list[int] = []

    async def make() -> int:
        made.append(1)
        raise error

    shared = Shared()
    for _ in range(2):
        with pytest.raises(type(error)):
            await shared.once("topics", make)
        await asyncio.sleep(0)
    assert len(made) == times


async def test_one_who_gives_up_waiting_does_not_spoil_it_for_the_others() -> None:
    begun = asyncio.Event()

    async def make() -> int:
        await begun.wait()
        return 7

    shared = Shared()
    first, second = (asyncio.create_task(shared.once("x", make)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    begun.set()
    assert await second == 7
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_the_oldest_things_are_let_go() -> None:
    made: list[int] = []

    async def make() -> int:
        made.append(1)
        return 7

    shared = Shared(kept=3)
    for number in (1, 2, 3, 1, 4, 5, 1):
        await shared.once(number, make)
    assert len(made) == 5, "1 was used in between and is still there"


async def test_closing_ends_what_is_being_made() -> None:
    shared = Shared()
    asked = asyncio.create_task(shared.once("x", asyncio.Event().wait))
    await asyncio.sleep(0)
    await shared.aclose()
    with pytest.raises(asyncio.CancelledError):
        await asked
