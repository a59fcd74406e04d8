"""Calls that begin alike, and those that ask the same: who waits for whom, and what the provider's cache saved."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from referee.errors import RefereeError
from referee.llm.models import Model
from referee.llm.prices import CACHEABLE_TOKENS
from referee.schemas.usage import Usage

T = TypeVar("T")
_CALLS_WITHOUT = 2
# Providers forget a beginning after minutes; one that is forgotten here has a call go ahead again.
_BEGINNINGS_KEPT = 10_000


@dataclass(frozen=True)
class Turn:
    """A call's place among those that begin alike.

    ``later`` is whether another one's reply had begun before it. ``begun`` says that the reply has begun, so the
    beginning is in the provider's cache: all others may go. ``failed`` says that the call was not answered: the next
    one may go ahead meanwhile.
    """

    later: bool
    begun: Callable[[], None] = lambda: None
    failed: Callable[[], None] = lambda: None


class Turns:
    """The first of the calls that begin alike goes ahead, so that the others find their beginning in the cache."""

    def __init__(self) -> None:
        self._begun: dict[str, None] = {}
        self._ahead: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def turn(self, beginning: str) -> AsyncIterator[Turn | None]:
        """Wait until the reply to another call with this beginning has begun, or go ahead where there is none.

        A call that goes ahead and ends, however it does, lets the next one go. A call without a beginning has no turn.
        """
        if not beginning:
            yield None
            return
        if beginning not in self._begun:
            lock = self._ahead[beginning]
            await lock.acquire()
            if beginning in self._begun:
                lock.release()
        if beginning in self._begun:
            yield Turn(later=True)
            return
        ahead = True

        def end(begun: bool) -> None:
            nonlocal ahead
            if begun:
                self._note(beginning)
            if ahead:
                ahead = False
                lock.release()

        try:
            yield Turn(later=False, begun=partial(end, True), failed=partial(end, False))
        finally:
            end(False)

    def _note(self, beginning: str) -> None:
        """From now on nobody waits for it; who waits already holds the lock that goes."""
        self._begun[beginning] = None
        self._ahead.pop(beginning, None)
        if len(self._begun) > _BEGINNINGS_KEPT:
            del self._begun[next(iter(self._begun))]


class SingleFlight(Generic[T]):
    """Work that is asked for while the same work is under way is done once.

    Who asks second gets the first one's result. He gets its failure as well: it was tried as often as settings allow
    a moment ago, and another round of tries would cost time and perhaps money for the same end. Only where the first
    was cancelled does the second do the work himself.
    """

    def __init__(self) -> None:
        self._under_way: dict[str, asyncio.Future[T | None]] = {}

    async def once(self, key: str, work: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The result, and whether it was this call that did the work."""
        while (first := self._under_way.get(key)) is not None:
            result = await asyncio.shield(first)
            if result is not None:
                return result, False
        future: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = future
        try:
            done = await work()
            future.set_result(done)
        except RefereeError as error:
            future.set_exception(error)
            future.exception()  # nobody else may wait for it
            raise
        finally:
            del self._under_way[key]
            if not future.done():
                future.set_result(None)
        return done, True


def watch_cache(model: Model, shared_tokens: int, used: Usage) -> None:
    """Count a call whose beginning was sent before; the second one in vain leaves a note, a hit takes it back.

    A single miss says little: a provider may send a call to a machine that has not seen the beginning.

    Args:
        model: Whose call it was.
        shared_tokens: Tokens of the beginning, as we count them; short ones are never cached.
        used: What the provider reported.
    """
    if shared_tokens < CACHEABLE_TOKENS or model.uncached_calls is None:
        return
    note = f"{model.spec.id} reported no cached tokens; its prompts were billed whole"
    if used.cached_tokens:
        model.uncached_calls = None
        if note in model.notes:
            model.notes.remove(note)
        return
    model.uncached_calls += 1
    if model.uncached_calls == _CALLS_WITHOUT:
        model.notes.append(note)
