"""Equal questions at the same time, and the order of calls that begin alike."""

import asyncio
from pathlib import Path

import pytest

from referee.errors import ModelUnavailable, ReplyInvalid
from referee.llm.turns import SingleFlight, Turns
from referee.runs import Ledger
from tests.held import PATIENCE_S, happened
from tests.support import FakeServer, Fault

from .shared import GOOD, ask, door_to, sharing


async def test_equal_questions_asked_at_the_same_time_are_asked_once(tmp_path: Path) -> None:
    with FakeServer({"*": GOOD}, latency_s=0.1) as server:
        async with door_to("server", server, ledger=Ledger(tmp_path / "trace.jsonl")) as door:
            answers = await asyncio.gather(*(ask(door, sharing("Task.", prefix="")) for _ in range(3)))
            assert [answer.usage.calls for answer in answers] == [1, 0, 0]
            assert [answer.usage.reused_calls for answer in answers] == [0, 1, 1]
            assert len({answer.call_id for answer in answers}) == 1
            assert len(door.ledger.records) == 1
    assert len(server.log) == 1


async def test_their_repairs_are_asked_once_as_well() -> None:
    with FakeServer({"*": ["no json", GOOD]}, latency_s=0.05) as server:
        async with door_to("server", server) as door:
            answers = await asyncio.gather(*(ask(door, sharing("Task.", prefix="")) for _ in range(2)))
    assert [answer.value.score for answer in answers] == [2, 2]
    assert len(server.log) == 2


async def test_who_asks_second_gets_the_failure_of_the_first() -> None:
    with FakeServer(faults=[Fault("500")], latency_s=0.05) as server:
        async with door_to("server", server) as door:
            asked = (ask(door, sharing("Task.", prefix="")) for _ in range(3))
            results = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(result, ModelUnavailable) for result in results)
    assert len(server.log) == 6, "one call's tries"


async def test_replies_that_never_fit_are_paid_once_for_both() -> None:
    with FakeServer({"*": "prose"}, latency_s=0.05) as server:
        async with door_to("server", server) as door:
            asked = (ask(door, sharing("Task.", prefix="")) for _ in range(2))
            results = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(result, ReplyInvalid) for result in results)
    assert len(server.log) == 3


async def test_a_cancelled_question_is_asked_by_the_next() -> None:
    with FakeServer({"*": GOOD}, faults=[Fault("timeout", calls=(0,))]) as server:
        async with door_to("server", server) as door:
            first = asyncio.create_task(ask(door, sharing("Task.", prefix="")))
            second = asyncio.create_task(ask(door, sharing("Task.", prefix="")))
            await happened(lambda: len(server.log))
            first.cancel()
            assert (await second).usage.calls == 1
    assert len(server.log) == 2


async def test_a_waiter_that_is_cancelled_leaves_the_work_alone() -> None:
    flights: SingleFlight[int] = SingleFlight()
    done = asyncio.Event()

    async def work() -> int:
        await done.wait()
        return 7

    first = asyncio.create_task(flights.once("key", work))
    second = asyncio.create_task(flights.once("key", work))
    await asyncio.sleep(0)
    second.cancel()
    done.set()
    assert await first == (7, True)
    with pytest.raises(asyncio.CancelledError):
        await second


async def test_turns_of_other_beginnings_do_not_wait() -> None:
    turns = Turns()
    async with turns.turn("one"), asyncio.timeout(PATIENCE_S), turns.turn("another") as other:
        assert not other.later


async def test_after_a_beginning_all_go_at_once() -> None:
    turns = Turns()
    async with turns.turn("one") as first, asyncio.timeout(PATIENCE_S):
        first.begun()
        async with turns.turn("one") as second, turns.turn("one") as third:
            assert second.later
            assert third.later


async def test_of_very_many_beginnings_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.llm.turns._BEGINNINGS_KEPT", 2)
    turns, later = Turns(), []
    for beginning in ("one", "two", "two", "three", "three", "one"):
        async with turns.turn(beginning) as turn:
            turn.begun()
            later.append(turn.later)
    assert later == [False, False, True, False, True, False]
