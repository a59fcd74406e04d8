"""What several units of a run use is made once: a review's topics, a paper's index, a venue's criteria."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from referee.errors import RunStopped

T = TypeVar("T")

KEPT = 4096


class Shared:
    """A memo for one run. What was made longest ago is let go when more than ``kept`` things are held.

    A thing that is asked for again after that is made again; its calls are answered from the run's ledger.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._made: OrderedDict[Hashable, asyncio.Task[Any]] = OrderedDict()

    async def once(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The thing under the key, made by the first who asks while the others wait.

        A failure is remembered too, so that it is met by all who ask and paid for once. Two are forgotten, so that
        the thing can be made later: a budget that was too small, and a run that was ended.

        Args:
            key: Names the thing, metric included, as ``("topics", case_id)``.
            make: Makes it.

        Raises:
            Whatever ``make`` raised.
        """
        task = self._made.get(key)
        if task is None:
            task = asyncio.ensure_future(_awaited(make))
            self._made[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
            self._trim()
        self._made.move_to_end(key)
        result: T = await asyncio.shield(task)
        return result

    async def aclose(self) -> None:
        """End what is still being made."""
        running = [task for task in self._made.values() if not task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._made.clear()

    def _forget(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        passing = task.cancelled() or isinstance(task.exception(), RunStopped)
        if passing and self._made.get(key) is task:
            del self._made[key]

    def _trim(self) -> None:
        for key in [key for key, task in self._made.items() if task.done()][: max(len(self._made) - self._kept, 0)]:
            del self._made[key]


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
