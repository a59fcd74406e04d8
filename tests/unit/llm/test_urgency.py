from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from referee.llm.urgency import Urgency, UrgentFirst


class Bench:
    """One thread that is kept busy until ``go``, and the order in which it then took up what waited."""

    def __init__(self) -> None:
        self.threads = UrgentFirst(1, "test")
        self.order: list[str] = []
        self._go = threading.Event()
        begun = threading.Event()

        def first() -> None:
            begun.set()
            self._go.wait(120)

        self.futures = [self.threads.submit(Urgency.COMPARISON, first)]
        assert begun.wait(120)

    def add(self, name: str, urgency: Urgency) -> Any:
        self.futures.append(self.threads.submit(urgency, self._noting(name)))
        return self.futures[-1]

    def go(self) -> list[str]:
        self._go.set()
        for future in self.futures:
            if not future.cancelled():
                future.result(120)
        return self.order

    def _noting(self, name: str) -> Callable[[], None]:
        return lambda: self.order.append(name)


def test_the_most_urgent_goes_first_and_of_equals_the_one_that_came_first() -> None:
    bench = Bench()
    for name, urgency in (
        ("review", Urgency.COMPARISON),
        ("paper", Urgency.PASSAGES),
        ("second paper", Urgency.PASSAGES),
        ("question", Urgency.QUERY),
        ("second review", Urgency.COMPARISON),
        ("second question", Urgency.QUERY),
    ):
        bench.add(name, urgency)
    assert bench.go() == ["question", "second question", "paper", "second paper", "review", "second review"]


def test_what_nobody_waits_for_any_more_is_left_out() -> None:
    bench = Bench()
    bench.add("question", Urgency.QUERY).cancel()
    bench.add("paper", Urgency.PASSAGES)
    assert bench.go() == ["paper"]


def test_an_error_reaches_who_asked_and_ends_no_thread() -> None:
    threads = UrgentFirst(1, "test")

    def broken() -> None:
        raise KeyError("weight")

    with pytest.raises(KeyError, match="weight"):
        threads.submit(Urgency.QUERY, broken).result(120)
    assert threads.submit(Urgency.QUERY, lambda: 3).result(120) == 3


def test_as_many_threads_as_were_asked_for_work_at_once() -> None:
    threads, both = UrgentFirst(2, "test"), threading.Barrier(2)
    jobs = [threads.submit(Urgency.QUERY, lambda: both.wait(120)) for _ in range(2)]
    assert sorted(job.result(120) for job in jobs) == [0, 1]


def test_comparisons_leave_a_thread_to_what_is_urgent() -> None:
    threads, go, begun = UrgentFirst(2, "test", comparisons=1), threading.Event(), threading.Semaphore(0)
    compared: list[int] = []

    def compare(number: int) -> None:
        begun.release()
        assert go.wait(120)
        compared.append(number)

    reviews = [threads.submit(Urgency.COMPARISON, partial(compare, number)) for number in range(4)]
    assert begun.acquire(timeout=120)
    assert threads.submit(Urgency.QUERY, lambda: "found").result(120) == "found"
    assert not begun.acquire(blocking=False), "a second comparison began beside the first"
    go.set()
    for review in reviews:
        review.result(120)
    assert compared == [0, 1, 2, 3]
