"""One concurrency limit and one optional rate limit per model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiolimiter import AsyncLimiter


class Limits:
    """How many calls may be in flight, and how many requests and tokens may start per minute."""

    def __init__(self, concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._requests = AsyncLimiter(requests_per_minute, 60) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute, 60) if tokens_per_minute else None

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a slot and for the rate; a call larger than a minute's tokens waits for a whole minute's worth."""
        async with self._slots:
            if self._requests:
                await self._requests.acquire()
            if self._tokens:
                await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))
            yield
