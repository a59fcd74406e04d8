import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import BudgetExceeded
from referee.runs import Budget
from referee.schemas.usage import Usage


def used(tokens: int, cost: float = 0.0) -> Usage:
    return Usage(calls=1, input_tokens=tokens, cost_usd=cost)


def test_a_call_that_could_pass_the_tokens_is_not_allowed() -> None:
    budget = Budget(max_tokens=100)
    first = budget.reserve(60, 0.0)
    with pytest.raises(BudgetExceeded, match="40 of the budget is left"):
        budget.reserve(41, 0.0)
    budget.settle(first, used(10))
    budget.reserve(90, 0.0)


def test_calls_in_flight_count_against_the_cost_together() -> None:
    budget = Budget(max_cost=1.0)
    budget.reserve(1, 0.6)
    with pytest.raises(BudgetExceeded) as caught:
        budget.reserve(1, 0.5)
    assert "--max-cost" in caught.value.hint


def test_what_an_earlier_start_spent_counts() -> None:
    with pytest.raises(BudgetExceeded):
        Budget(max_tokens=100, spent=used(95)).reserve(6, 0.0)
    with pytest.raises(BudgetExceeded, match=r"take up to \$0.2000, and \$0.1000 of the budget is left"):
        Budget(max_cost=1.0, spent=used(95, 0.9)).reserve(6, 0.2)


def test_a_call_that_just_fits_is_allowed_and_unknown_prices_count_as_nothing() -> None:
    budget = Budget(max_cost=1.0, max_tokens=100, spent=used(40, 0.5))
    assert budget.reserve(60, 0.5).cost_usd == 0.5
    assert budget.reserve(0, None).cost_usd == 0.0
    assert Budget(max_cost=1.0, spent=Usage(calls=1, input_tokens=1, cost_usd=None)).reserve(1, 1.0)


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), max_size=40), st.integers(1, 200))
def test_spending_within_reservations_never_passes_the_limit(calls: list[tuple[int, float]], limit: int) -> None:
    budget = Budget(max_tokens=limit)
    for most, share in calls:
        try:
            reservation = budget.reserve(most, 0.0)
        except BudgetExceeded:
            continue
        budget.settle(reservation, used(int(most * share)))
    assert budget.spent.total_tokens <= limit
