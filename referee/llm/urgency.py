"""Work in threads, the most urgent first: what calls wait for is computed before what nothing waits for."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import Any, TypeVar

T = TypeVar("T")


class Urgency(IntEnum):
    """How much waits behind an embedding; the lowest number goes first."""

    QUERY = 0
    """A question: the next call of a chain waits for what it finds."""
    PASSAGES = 1
    """A text that will be searched: a whole chain of calls begins after it."""
    COMPARISON = 2
    """A text that is only compared: no call waits."""


@dataclass(order=True)
class _Job:
    urgency: Urgency
    number: int
    work: Callable[[], Any] = field(compare=False)
    future: Future[Any] = field(compare=False)


class UrgentFirst:
    """A few threads that always take the most urgent of the waiting jobs, and of equals the one that came first.

    A job that has begun is finished; jobs should be small, since an urgent one waits for that. A job whose future is
    cancelled before it begins is left out.

    Args:
        threads: Most jobs that are done at once.
        name: What the threads are called.
        comparisons: Most of them that are comparisons: those have time, and the thread that makes calls needs a core.
            By default there is no such bound.
    """

    def __init__(self, threads: int, name: str, *, comparisons: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._waiting: list[_Job] = []
        self._numbers = count()
        self._free = threads if comparisons is None else comparisons
        self._changing = threading.Lock()

    def submit(self, urgency: Urgency, work: Callable[[], T]) -> Future[T]:
        """Have the work done; the future holds its result, or what it raised."""
        future: Future[T] = Future()
        with self._changing:
            heapq.heappush(self._waiting, _Job(urgency, next(self._numbers), work, future))
        self._pool.submit(self._work)
        return future

    def _work(self) -> None:
        """Do jobs until none may begin. One of these is queued for each job, and who ends a comparison looks again."""
        while (job := self._taken()) is not None:
            if job.future.set_running_or_notify_cancel():
                try:
                    result = job.work()
                except BaseException as error:  # it is for whoever asked, not for this thread
                    job.future.set_exception(error)
                else:
                    job.future.set_result(result)
            with self._changing:
                self._free += job.urgency is Urgency.COMPARISON

    def _taken(self) -> _Job | None:
        with self._changing:
            if not self._waiting or (self._waiting[0].urgency is Urgency.COMPARISON and not self._free):
                return None
            job = heapq.heappop(self._waiting)
            self._free -= job.urgency is Urgency.COMPARISON
            return job
