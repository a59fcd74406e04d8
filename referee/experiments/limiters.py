"""Limits on units: so many at once, and of those that wait the one that stands first in the plan's order goes next."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from referee.llm.spec import LOCAL

Rank = tuple[int, int]
"""A unit's place: the number of its paper, then its place among the paper's units."""


class PriorityLimiter:
    """So many slots at once, given by rank and not by who came first."""

    def __init__(self, width: int) -> None:
        self._free = width
        self._waiting: list[tuple[Rank, int, asyncio.Future[None]]] = []
        self._came = 0

    @asynccontextmanager
    async def slot(self, rank: Rank) -> AsyncIterator[None]:
        """Hold a slot."""
        await self._taken(rank)
        try:
            yield
        finally:
            self._given_back()

    async def _taken(self, rank: Rank) -> None:
        # Units of one rank come in their order: what is started together is looked at once all of it has come.
        self._came += 1
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (rank, self._came, turn))
        asyncio.get_running_loop().call_soon(self._next)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._given_back()
            raise

    def _given_back(self) -> None:
        self._free += 1
        self._next()

    def _next(self) -> None:
        while self._free and self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                self._free -= 1
                turn.set_result(None)


class ModelLimiters:
    """One limiter for what the embedded model does, one at a time, and one for all else."""

    def __init__(self, width: int) -> None:
        self._local, self._other = PriorityLimiter(1), PriorityLimiter(width)

    def of(self, models: Iterable[str]) -> PriorityLimiter:
        """The limiter of what is done with these models, named by their ids."""
        return self._local if any(model.partition(":")[0] == LOCAL for model in models) else self._other
