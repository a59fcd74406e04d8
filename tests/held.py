"""Replies of the fake server that wait for an event, so that no test depends on how fast the machine is."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Mapping

from tests.support import ChatRequest, Fault
from tests.support.script import Entry, Script

# Only an event that never comes takes so long.
PATIENCE_S = 600.0


class Held(Script):
    """A script whose first replies go out at once; the others wait until ``go`` is set.

    Args:
        script: What is answered.
        first: How many replies do not wait, in order of the calls' arrival.

    Attributes:
        until: Where it is set, replies go out until it holds.
        arrived: How many calls have arrived.
        go: Releases all replies.
    """

    def __init__(self, script: Script | Mapping[str, Entry] | None = None, *, first: int = 0) -> None:
        inner = script if isinstance(script, Script) else Script(script)
        super().__init__(inner.entries, rules=inner.rules, otherwise=inner.otherwise)
        self.first, self.arrived, self.go = first, 0, threading.Event()
        self.until: Callable[[], bool] | None = None

    def may_go(self, number: int) -> bool:
        """Whether the reply to the ``number``-th call, counted from 1, may go out."""
        return number <= self.first or self.go.is_set() or (self.until is not None and not self.until())

    async def answer(self, request: ChatRequest) -> str | Fault:
        """The script's reply, when it may go out."""
        self.arrived += 1
        number = self.arrived
        reply = await super().answer(request)
        await happened(lambda: self.may_go(number), f"reply {number} was not released")
        return reply


class InSteps(Held):
    """Holds the replies of a step until all of its calls have arrived.

    Calls of one step that wait for one another never all arrive: the reply is not released, and the test fails.

    Args:
        script: What is answered.
        calls: How many calls each step has.
    """

    def __init__(self, script: Script | Mapping[str, Entry] | None, *calls: int) -> None:
        super().__init__(script)
        self._ends = list(itertools.accumulate(calls))

    def may_go(self, number: int) -> bool:
        """Whether all calls of the reply's step have arrived."""
        return self.arrived >= next((end for end in self._ends if end >= number), number)


async def happened(condition: Callable[[], object], otherwise: str = "what was waited for did not happen") -> None:
    """Wait, without holding up the loop, until a condition holds; fail where it never does."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, otherwise
        await asyncio.sleep(0.01)
