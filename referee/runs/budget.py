"""A budget that no call passes: room is reserved before a call and settled after it."""

from __future__ import annotations

from dataclasses import dataclass

from referee.errors import BudgetExceeded
from referee.schemas.usage import Usage


@dataclass(frozen=True)
class Reservation:
    """The most one call can consume: tokens in and out, and US dollars (0 where the price is unknown)."""

    tokens: int
    cost_usd: float


class Budget:
    """Limits over a whole run, resumed parts included.

    A call may start only if what is spent, what calls in flight may still take, and what it may take itself stay
    within the limits. So concurrent calls cannot pass a limit together.
    """

    def __init__(
        self, max_cost: float | None = None, max_tokens: int | None = None, spent: Usage | None = None
    ) -> None:
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self._spent = spent or Usage()
        self._under_way = 0
        self._held_tokens, self._held_usd = 0, 0.0

    @property
    def spent(self) -> Usage:
        """What has been consumed so far."""
        return self._spent

    def reserve(self, tokens: int, cost_usd: float | None) -> Reservation:
        """Set room aside for one call.

        Raises:
            BudgetExceeded: The call could pass a limit. Nothing was sent; the run can be resumed with a higher one.
        """
        wanted = Reservation(tokens, cost_usd or 0.0)
        held_tokens = self._spent.total_tokens + self._held_tokens
        if self.max_tokens is not None and held_tokens + tokens > self.max_tokens:
            left = f"{self.max_tokens - held_tokens:,}"
            raise self._exceeded(f"{tokens:,} tokens", left, f"--max-tokens (it was {self.max_tokens:,})")
        if self.max_cost is not None:
            held = (self._spent.cost_usd or 0.0) + self._held_usd
            if held + wanted.cost_usd > self.max_cost:
                left = f"${self.max_cost - held:.4f}"
                raise self._exceeded(f"${wanted.cost_usd:.4f}", left, f"--max-cost (it was {self.max_cost:g})")
        self._under_way += 1
        self._held_tokens += wanted.tokens
        self._held_usd += wanted.cost_usd
        return wanted

    def settle(self, reservation: Reservation, usage: Usage) -> None:
        """Replace the reservation by what the call really consumed."""
        self._under_way -= 1
        self._held_tokens -= reservation.tokens
        # Sums of floats drift; where nothing is held, that is exact.
        self._held_usd = self._held_usd - reservation.cost_usd if self._under_way else 0.0
        self._spent += usage

    def _exceeded(self, wanted: str, left: str, limit: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"the next call may take up to {wanted}, and {left} of the budget is left; it was not sent.",
            hint=f"Resume the run with a higher {limit}.",
            usage=self._spent.model_dump(),
        )
