"""How far a limit reaches, said before money goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from referee.llm.prices import BATCH_SHARE
from referee.schemas.estimate import Estimate
from referee.settings import BudgetSettings

E = TypeVar("E", bound=Estimate)

_FEWEST = 20
_WORTH_SAYING_USD = 1.0
# A phrase of these reads well; what is left over is rounded down, for a limit never covers more than is said.
_PARTS = ((9, 10), (3, 4), (2, 3), (1, 2), (1, 3), (1, 4), *((1, n) for n in range(5, _FEWEST + 1)))


def beside_limits(estimate: E, limits: BudgetSettings) -> E:
    """The estimate, with a note for each limit that is below it; what earlier starts have spent is not looked at."""
    return replace(estimate, notes=(*estimate.notes, *_short(estimate, limits)))


def in_batches(estimate: E, batched: bool) -> E:
    """The estimate, with a note of the other price: at once, or in batches where so much money is at stake."""
    cost = estimate.cost_usd
    if batched and estimate.calls:
        price = f" (at once: about ${cost / BATCH_SHARE:.4f})" if cost is not None else ""
        note = f"calls go in batches, for half the price{price}; each step of the work waits for replies, up to 24 h"
    elif cost is not None and cost >= _WORTH_SAYING_USD:
        note = f"with --batch about ${cost * BATCH_SHARE:.2f}, and each step of the work waits for replies, up to 24 h"
    else:
        return estimate
    return replace(estimate, notes=(*estimate.notes, note))


def _short(estimate: Estimate, limits: BudgetSettings) -> Iterator[str]:
    tokens = estimate.input_tokens + estimate.output_tokens
    if limits.max_tokens is not None and limits.max_tokens < tokens:
        yield f"the limit of {limits.max_tokens:,} tokens {_reach(limits.max_tokens / tokens, estimate.calls)}"
    cost = estimate.cost_usd
    if limits.max_cost is not None and cost is not None and limits.max_cost < cost:
        yield f"the limit of ${limits.max_cost:g} {_reach(limits.max_cost / cost, estimate.calls)}"


def _reach(share: float, calls: int) -> str:
    if share * calls < 1:
        return f"is below what {'the' if calls == 1 else 'a typical'} call is estimated to take"
    some = next((f"about {part} in {whole}" for part, whole in _PARTS if share >= part / whole), "")
    return (
        f"covers {some or f'less than 1 in {_FEWEST}'} of the estimated calls; the run stops there and can be resumed"
    )
