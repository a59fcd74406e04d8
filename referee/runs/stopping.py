"""A stop on request: calls under way are answered and written down, and no other one is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar


class Stop:
    """Counts the calls under way, and ends the work once a stop was asked for and the last of them is done.

    All methods belong to the event loop that the work runs in.

    Args:
        end: Ends the work; called once.

    Attributes:
        requested: Whether a stop was asked for.
        in_flight: Calls that were sent and are not written down yet.
    """

    def __init__(self, end: Callable[[], object] = lambda: None) -> None:
        self.requested = False
        self.in_flight = 0
        self._end: Callable[[], object] | None = end

    def request(self) -> None:
        """Ask for the stop; asking twice is harmless."""
        self.requested = True
        self._end_if_idle()

    def now(self) -> None:
        """End the work without waiting for calls under way."""
        self.requested = True
        end, self._end = self._end, None
        if end is not None:
            end()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Hold one call that is being sent; after a stop was asked for, wait here until the work is ended."""
        await self._gate()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._end_if_idle()

    async def pause(self, seconds: float) -> None:
        """Wait between two tries of a call: meanwhile it is not under way, and a stop is not kept waiting by it."""
        self.in_flight -= 1
        try:
            self._end_if_idle()
            await asyncio.sleep(seconds)
            await self._gate()
        finally:
            self.in_flight += 1

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Wait inside a call for what may take hours: meanwhile it is not under way, and a stop ends it at once."""
        self.in_flight -= 1
        try:
            self._end_if_idle()
            yield
        finally:
            self.in_flight += 1

    async def _gate(self) -> None:
        if self.requested:
            await asyncio.get_running_loop().create_future()

    def _end_if_idle(self) -> None:
        if self.requested and self.in_flight == 0:
            self.now()


_CURRENT: ContextVar[Stop | None] = ContextVar("referee_stop", default=None)


def current_stop() -> Stop:
    """The stop of the work that runs here; one that nobody asks for where there is none."""
    return _CURRENT.get() or Stop()


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    """Make it the stop of all that is run inside."""
    before = _CURRENT.set(stop)
    try:
        yield
    finally:
        _CURRENT.reset(before)
