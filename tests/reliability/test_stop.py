"""The counting behind Ctrl-C, without processes: who is waited for, and who is not sent any more."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from typing import Any, cast

import pytest

from referee.runs.stopping import Stop, current_stop, run_stoppable, stoppable

PATIENCE_S = 600.0


class Ends:
    """Counts how often the work is ended."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_stop_without_a_call_under_way_ends_at_once_and_once() -> None:
    ends = Ends()
    stop = Stop(ends)
    stop.request()
    stop.request()
    stop.now()
    assert ends.times == 1


async def test_the_last_call_under_way_is_waited_for() -> None:
    ends, let = Ends(), [asyncio.Event(), asyncio.Event()]
    stop = Stop(ends)

    async def called(number: int) -> None:
        async with stop.call():
            await let[number].wait()

    calls = [asyncio.create_task(called(number)) for number in (0, 1)]
    await _settled()
    stop.request()
    let[0].set()
    await calls[0]
    assert (stop.in_flight, ends.times) == (1, 0)
    let[1].set()
    await calls[1]
    assert (stop.in_flight, ends.times) == (0, 1)


async def test_no_call_is_sent_after_a_stop_and_a_pause_is_not_waited_for() -> None:
    ends = Ends()
    stop, sent = Stop(ends), []

    async def retried() -> None:
        async with stop.call():
            await stop.pause(0.0)
            sent.append("again")

    async def later() -> None:
        async with stop.call():
            sent.append("later")

    waiting = asyncio.create_task(retried())
    await asyncio.sleep(0)
    assert stop.in_flight == 0, "a call between two tries is not under way"
    stop.request()
    other = asyncio.create_task(later())
    await _settled()
    assert (sent, ends.times) == ([], 1)
    for task in (waiting, other):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert stop.in_flight == 0


async def test_a_second_request_does_not_wait() -> None:
    ends = Ends()
    stop = Stop(ends)
    async with stop.call():
        stop.request()
        assert ends.times == 0
        stop.now()
        assert ends.times == 1
    assert ends.times == 1


async def test_the_stop_of_the_work_reaches_its_tasks_and_no_others() -> None:
    stop = Stop()

    async def seen() -> Stop:
        return current_stop()

    with stoppable(stop):
        assert await asyncio.create_task(seen()) is stop
    assert await seen() is not stop


class Signals:
    """Runs work that signals end in the middle."""

    def __init__(self) -> None:
        self.stop, self.said = Stop(), list[str]()

    def run(self, work: Coroutine[Any, Any, str]) -> str:
        leave = cast("Any", lambda: None)  # timers call it after the test
        return run_stoppable(work, self.stop, after_s=600.0, say=self.said.append, leave=leave)


@pytest.fixture
def signals() -> Iterator[Signals]:
    """A process of which every stop is told what was said; its handlers are as before afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield Signals()
    for number, handler in before.items():
        signal.signal(number, handler)


SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_stop_between_two_calls(signals: Signals, number: signal.Signals, times: int) -> None:
    sent = []

    async def work() -> str:
        for call in range(3):
            async with current_stop().call():
                sent.append(call)
            if call == 1:
                for _ in range(times):
                    signal.raise_signal(number)
                await asyncio.sleep(0)
        return "done"

    with pytest.raises(KeyboardInterrupt):
        signals.run(work())
    assert (sent, signals.said, signals.stop.dropped) == ([0, 1], [], 0)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_stop_before_the_first_call(signals: Signals, number: signal.Signals) -> None:
    async def work() -> str:
        signal.raise_signal(number)
        async with current_stop().call():
            return "sent"

    with pytest.raises(KeyboardInterrupt):
        signals.run(work())


@pytest.mark.parametrize("number", SIGNALS)
def test_a_stop_during_the_last_write_lets_it_end(signals: Signals, number: signal.Signals) -> None:
    async def work() -> str:
        async with current_stop().call():
            pass
        signal.raise_signal(number)
        signal.raise_signal(signal.SIGTERM)
        return "written"

    assert signals.run(work()) == "written"


def test_the_second_ctrl_c_says_what_was_dropped(signals: Signals) -> None:
    async def work() -> str:
        async with current_stop().call():
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0.01)
            assert signals.said == ["stopping: waiting for 1 call under way"]
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(PATIENCE_S)
        return "answered"

    with pytest.raises(KeyboardInterrupt):
        signals.run(work())
    assert signals.stop.kept == "what was answered so far is kept; 1 call under way was dropped, to be sent again"
