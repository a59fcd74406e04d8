"""Tokens and money."""

from __future__ import annotations

from referee.schemas.base import Frozen


class Usage(Frozen):
    """What calls consumed. ``cost_usd`` is null when a price is unknown: unknown is said, never guessed.

    ``calls`` counts requests that a provider answered; replies from the cache or the ledger count in
    ``reused_calls`` and cost nothing again. ``cached_tokens`` are those of the ``input_tokens`` that the provider
    served from its own cache of prompts, ``cache_write_tokens`` those that it wrote there.
    """

    calls: int = 0
    reused_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        return Usage(
            calls=self.calls + other.calls,
            reused_calls=self.reused_calls + other.reused_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost_usd=cost,
        )

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens
