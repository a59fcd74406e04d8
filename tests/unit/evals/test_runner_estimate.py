"""The estimate before the first call, and how the rest is foretold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from referee.evals.estimate import Given, plan_metrics
from referee.evals.forms import Forms
from referee.evals.metric import Known, Load
from referee.evals.runner import Pace, duration
from referee.schemas.case import ReviewCase
from referee.schemas.estimate import SetEstimate

from .runs_of import Words, case, store_of

EMPTY = SetEstimate(reviews=1, papers=1, judges=("j",))


def judge(price: float | None = 0.001) -> Any:
    def cost(tokens_in: int, tokens_out: int) -> float | None:
        return None if price is None else price * (tokens_in + tokens_out)

    return SimpleNamespace(count=lambda text: len(text.split()), cost=cost)


class Foresees(Words):
    def load(self, case: ReviewCase, known: Known) -> Load:
        return Load(once=1, judged=2, input_tokens=100, output_tokens=10)


def plan(metric: Words, *reviews: ReviewCase, judges: int = 1, repeats: int = 1, papers: bool = False) -> Any:
    panel = [judge() for _ in range(judges)]
    (found,) = plan_metrics([metric], store_of(*reviews), Given(papers, Forms()), panel, repeats)
    return found


def test_steps_made_once_are_counted_once_however_many_judge() -> None:
    metric = Foresees(needs=frozenset({"judge"}))
    found = plan(metric, *(case(str(n)) for n in range(10)), judges=3, repeats=2)
    assert (found.units, found.calls) == (10, 10 * (1 + 3 * 2 * 2))
    assert (found.input_tokens, found.output_tokens) == (130 * 100, 130 * 10)
    assert found.cost_usd == pytest.approx(130 * 110 * 0.001)


class Guesses(Words):
    def load(self, case: ReviewCase, known: Known) -> Load:
        return Load(once=2, judged=1, most_once=10, most_judged=3 * known.references)


def test_what_is_guessed_comes_with_its_most() -> None:
    guessing, sure = Guesses(needs=frozenset({"judge"})), Foresees(needs=frozenset({"judge"}))
    found = plan(guessing, case("a"), case("b"), case("c"), judges=2, repeats=2)
    assert found.calls == 3 * (2 + 2 * 2)
    assert found.most_calls == 3 * (10 + 2 * 2 * 6), "two other human reviews each"
    certain = plan(sure, case("a"))
    assert certain.most_calls == certain.calls > 0
    whole = EMPTY.holding([found, certain])
    assert whole.most_calls == found.most_calls + certain.most_calls


def test_a_metric_is_told_the_form_and_the_judge() -> None:
    told: list[Known] = []

    class Curious(Words):
        def load(self, case: ReviewCase, known: Known) -> Load:
            told.append(known)
            return Load()

    plan(Curious(needs=frozenset({"judge"})), case("a", venue="iclr-2020"), case("b", "p2"))
    assert [known.form.id if known.form else None for known in told] == ["iclr-2020", None]
    assert all(known.judge is not None for known in told)


def test_a_metric_that_foresees_nothing_is_taken_to_ask_once_a_prompt() -> None:
    found = plan(Words(needs=frozenset({"judge"}), prompts=("review/map",)), case("a"), case("b"))
    assert found.calls == 2
    assert found.input_tokens > 2 * 250
    assert plan(Words(needs=frozenset({"judge"})), case("a")).calls == 1


def test_what_asks_nobody_costs_nothing() -> None:
    found = plan(Words(), case("a"))
    assert (found.units, found.calls, found.cost_usd) == (1, 0, 0.0)


@pytest.mark.parametrize(("need", "units"), [("references", 2), ("paper", 0), ("venue", 1), ("judge", 4)])
def test_reviews_that_lack_something_are_not_counted(need: Any, units: int) -> None:
    reviews = [
        case("a"),
        case("b"),
        case("c", "p2", venue="iclr-2020"),
        case("d", "p3", source="gpt"),
        case("e", text=" "),
    ]
    found = plan(Words(needs=frozenset({need})), *reviews[:1], *reviews[1:4])
    assert found.units == units
    empty = plan(Words(needs=frozenset({"judge"})), reviews[4])
    assert (empty.units, empty.calls) == (0, 0)


def test_a_large_set_is_estimated_from_a_sample() -> None:
    found = plan(Foresees(needs=frozenset({"judge"})), *(case(str(n), f"p{n}") for n in range(1000)))
    assert (found.units, found.calls) == (1000, 3000)


def test_one_unknown_price_makes_the_whole_cost_unknown() -> None:
    metrics = [Foresees(needs=frozenset({"judge"})), Words()]
    store, panel = store_of(case("a")), [judge(), judge(None)]
    found = plan_metrics(metrics, store, Given(False, Forms()), panel, 1)
    whole = EMPTY.holding(found)
    assert found[0].cost_usd is None
    assert whole.cost_usd is None
    assert whole.calls == 5
    assert (whole.input_tokens, whole.output_tokens) == (500, 50)
    assert EMPTY.holding(found[1:]).cost_usd == 0


def test_the_rest_is_foretold_once_a_second() -> None:
    now = [0.0]
    pace = Pace(100, clock=lambda: now[0])
    said = []
    for _ in range(4):
        now[0] += 0.5
        said.append(pace.step())
    assert said == [None, ", about 49 s left", None, ", about 48 s left"]
    now[0] += 0.1
    assert pace.step(last=True) is not None


@pytest.mark.parametrize(("seconds", "text"), [(7.4, "7 s"), (240, "4 min"), (9000, "2.5 h")])
def test_durations_are_as_precise_as_they_deserve(seconds: float, text: str) -> None:
    assert duration(seconds) == text
