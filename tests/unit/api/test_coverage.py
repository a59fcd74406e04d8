"""What is said of a limit below the estimate."""

from __future__ import annotations

import pytest

from referee.api import ReviewEstimate
from referee.api.coverage import beside_limits, in_batches
from referee.settings import BudgetSettings


def estimate(
    calls: int, tokens_in: int, tokens_out: int, cost: float | None, notes: tuple[str, ...] = ()
) -> ReviewEstimate:
    about = {"calls": calls, "input_tokens": tokens_in, "output_tokens": tokens_out}
    return ReviewEstimate(strategy="sections", models={"writer": "m"}, cost_usd=cost, notes=notes, **about)


PLAN = estimate(10, 80_000, 10_000, 0.9, notes=("one note",))
STOPS = "of the estimated calls; the run stops there and can be resumed"


def said(plan: ReviewEstimate = PLAN, **limits: float) -> tuple[str, ...]:
    return beside_limits(plan, BudgetSettings.model_validate(limits)).notes


@pytest.mark.parametrize(
    ("limit", "reach"),
    [
        (89_999, "9 in 10"),
        (70_000, "3 in 4"),
        (45_000, "1 in 2"),
        (30_000, "1 in 3"),
        (44_999, "1 in 3"),
        (9_000, "1 in 10"),
    ],
)
def test_a_limit_of_tokens_below_the_estimate(limit: int, reach: str) -> None:
    assert said(max_tokens=limit) == ("one note", f"the limit of {limit:,} tokens covers about {reach} {STOPS}")


def test_a_limit_of_money_below_the_estimate() -> None:
    assert said(max_cost=0.3, max_tokens=90_000)[1:] == (f"the limit of $0.3 covers about 1 in 3 {STOPS}",)
    many = estimate(1_000, 9_000, 1_000, 9.0)
    assert said(many, max_cost=0.09) == (f"the limit of $0.09 covers less than 1 in 20 {STOPS}",)


def test_a_limit_below_one_call() -> None:
    assert said(max_tokens=8_999)[1:] == (
        "the limit of 8,999 tokens is below what a typical call is estimated to take",
    )
    one = estimate(1, 9_000, 1_000, None)
    assert said(one, max_tokens=9_999, max_cost=0.1) == (
        "the limit of 9,999 tokens is below what the call is estimated to take",
    )


def test_nothing_is_said_of_a_limit_that_covers_the_estimate() -> None:
    assert said() == said(max_tokens=90_000, max_cost=0.9) == ("one note",)
    assert said(estimate(0, 0, 0, 0.0), max_tokens=1, max_cost=0.0) == ()


@pytest.mark.parametrize(
    ("cost", "batched", "notes"),
    [
        (0.9, False, ()),
        (3.0, False, ("with --batch about $1.50, and each step of the work waits for replies, up to 24 h",)),
        (None, False, ()),
        (
            1.5,
            True,
            (
                "calls go in batches, for half the price (at once: about $3.0000); each step of the work waits for "
                "replies, up to 24 h",
            ),
        ),
        (None, True, ("calls go in batches, for half the price; each step of the work waits for replies, up to 24 h",)),
    ],
)
def test_both_prices_are_said(cost: float | None, batched: bool, notes: tuple[str, ...]) -> None:
    assert in_batches(estimate(10, 80_000, 10_000, cost), batched).notes == notes
