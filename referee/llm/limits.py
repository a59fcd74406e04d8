"""One concurrency limit and one optional rate limit per model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter

from referee.runs.shared_limits import Book, Rates, this_process


class Limits:
    """How many calls may be in flight, and how many requests and tokens may start per minute.

    Args:
        concurrency: Calls in flight.
        requests_per_minute: None for as many as there are.
        tokens_per_minute: The same.
        book: What several processes keep together; the limits are those of all of them then.
        model: The model, by which the book knows the limits.
    """

    def __init__(
        self,
        concurrency: int,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        *,
        book: Book | None = None,
        model: str = "",
    ) -> None:
        self._book, self._model = book, model
        self._rates = Rates(concurrency, requests_per_minute, tokens_per_minute)
        self._slots = asyncio.Semaphore(concurrency)
        self._turn = asyncio.Lock()
        self._requests = AsyncLimiter(requests_per_minute, 60) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute, 60) if tokens_per_minute else None

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a slot and for the rate; a call larger than a minute's tokens waits for a whole minute's worth."""
        async with self._slots:
            if self._book is not None:
                async with self._shared_slot(self._book, tokens):
                    yield
                return
            if self._requests:
                await self._requests.acquire()
            if self._tokens:
                await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))
            yield

    @asynccontextmanager
    async def _shared_slot(self, book: Book, tokens: int) -> AsyncIterator[None]:
        # One call of a process asks at a time: hundreds that ask again and again keep a cluster's book from all work.
        async with self._turn:
            slot, wait_s = book.enter(self._model, this_process(), self._rates, tokens)
            while slot is None:
                await asyncio.sleep(wait_s)
                slot, wait_s = book.enter(self._model, this_process(), self._rates, tokens)
        try:
            yield
        finally:
            book.leave(slot)
