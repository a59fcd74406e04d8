"""The arithmetic of ``benchmarks/strategies.py``; no figure is asserted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from referee.llm.tokens import count_tokens
from tests.support.log import CallEntry
from tests.support.request import ChatMessage, ChatRequest


@pytest.fixture
def benchmark(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("strategies")


def call(at: float, finished: float, text: str, schema: dict[str, object] | None = None) -> CallEntry:
    """A call that arrived at that second and was answered; the server started at second 0."""
    return CallEntry(
        index=0,
        at=at,
        endpoint="chat",
        role="writer",
        prompt_id="p",
        model="fake",
        digest="d",
        in_flight=1,
        started_s=at,
        input_tokens=0,
        finished_s=finished,
        request=ChatRequest("openai", "fake", (ChatMessage("user", text),), schema),
    )


def told(*reviews: tuple[float, float]) -> dict[str, object]:
    times = [{"seconds": end - begin, "began_at": begin, "ended_at": end} for begin, end in reviews]
    return {"reviews": times, "planned_calls": 4}


def test_each_review_has_its_own_calls_and_the_first_is_not_counted(benchmark: ModuleType) -> None:
    warming = [call(1.0, 2.0, "not counted " * 50)]
    counted = [call(11.0, 12.0, "one two", {"type": "object"}), call(11.1, 12.1, "three"), call(12.5, 13.5, "four")]
    (review,) = benchmark.counted("sections", told((0.0, 5.0), (10.0, 15.0)), [*warming, *counted]).reviews
    tokens = sum(count_tokens(text) for text in ("one two", '{"type": "object"}', "three", "four"))
    assert review == benchmark.Reviewed(seconds=5.0, calls=3, chain=2, prompt_tokens=tokens)


def test_a_review_without_a_call_gives_no_figure(benchmark: ModuleType) -> None:
    with pytest.raises(sys.modules["review_processes"].CommandFailed, match="single: a review made no call"):
        benchmark.counted("single", told((0.0, 5.0), (10.0, 15.0)), [call(1.0, 2.0, "in the first")])


def test_wall_time_is_measured_by_the_chain_of_its_own_review(benchmark: ModuleType) -> None:
    reviews = tuple(benchmark.Reviewed(s, 9, c, 100) for s, c in [(5.0, 2), (9.0, 3), (6.0, 2)])
    measured = benchmark.Measured("sections", 9, reviews)
    assert measured.ratio(2.0) == 1.5  # of 1.25, 1.5 and 1.5
    assert measured.added_s(2.0) == 2.0  # of 1, 3 and 2
