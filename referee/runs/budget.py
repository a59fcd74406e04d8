"""A budget that no call passes: room is reserved before a call and settled after it."""

from __future__ import annotations

from dataclasses import dataclass

from referee.errors import BudgetExceeded
from referee.runs.shared_limits import Book, this_process
from referee.schemas.usage import Usage


@dataclass(frozen=True)
class Reservation:
    """The most one call can consume: tokens in and out, and US dollars (0 where the price is unknown).

    ``held`` is its id in a book that several processes keep.
    """

    tokens: int
    cost_usd: float
    held: int | None = None


class Budget:
    """Limits over a whole run, resumed parts included.

    A call may start only if what is spent, what calls in flight may still take, and what it may take itself stay
    within the limits. So concurrent calls cannot pass a limit together; with a book, not those of all its processes.

    Args:
        max_cost: US dollars.
        max_tokens: Tokens in and out.
        spent: What earlier starts have consumed.
        book: What several processes keep together.
        run: The folder that this budget's calls are made for, by which the book knows them.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        spent: Usage | None = None,
        *,
        book: Book | None = None,
        run: str = "",
    ) -> None:
        self._book, self._run = book, run
        if book is not None:
            known = spent or Usage()
            book.begin(run, this_process(), known.total_tokens, known.cost_usd or 0.0)
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self._spent = spent or Usage()
        self._under_way = 0
        self._held_tokens, self._held_usd = 0, 0.0

    @property
    def spent(self) -> Usage:
        """What has been consumed so far; of a shared budget, by this process."""
        return self._spent

    def reserve(self, tokens: int, cost_usd: float | None) -> Reservation:
        """Set room aside for one call.

        Raises:
            BudgetExceeded: The call could pass a limit. Nothing was sent; the run can be resumed with a higher one.
        """
        wanted, held_tokens, held = self._room(tokens, cost_usd or 0.0)
        if self.max_tokens is not None and held_tokens + tokens > self.max_tokens:
            left = f"{self.max_tokens - held_tokens:,}"
            raise self._exceeded(f"{tokens:,} tokens", left, f"--max-tokens (it was {self.max_tokens:,})")
        if self.max_cost is not None and held + wanted.cost_usd > self.max_cost:
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
        if self._book is not None and reservation.held is not None:
            self._book.settle(reservation.held, self._run, usage.total_tokens, usage.cost_usd or 0.0)

    def _room(self, tokens: int, cost_usd: float) -> tuple[Reservation, int, float]:
        """What is asked for, and the tokens and dollars that are spent or set aside; a book has set it aside itself."""
        if self._book is not None:
            held = self._book.reserve(self._run, this_process(), tokens, cost_usd, self.max_tokens, self.max_cost)
            return Reservation(tokens, cost_usd, held.id), held.tokens, held.cost
        held_cost = (self._spent.cost_usd or 0.0) + self._held_usd
        return Reservation(tokens, cost_usd), self._spent.total_tokens + self._held_tokens, held_cost

    def _exceeded(self, wanted: str, left: str, limit: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"the next call may take up to {wanted}, and {left} of the budget is left; it was not sent.",
            hint=f"Resume the run with a higher {limit}.",
            usage=self._spent.model_dump(),
        )
