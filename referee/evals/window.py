"""Some metrics' units through a bounded window: the units under way, and those that wait to be begun."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from referee.evals.case_store import CaseStore
from referee.evals.metric import Metric
from referee.evals.paper_context import PaperContext
from referee.evals.results import Finals
from referee.evals.unit import Unit
from referee.schemas.metric import MetricResult

Flight = asyncio.Task[MetricResult]


class Window:
    """Units paper by paper and review by review.

    Of one review the longest chains of calls begin first, so that the short ones fill the gaps: a metric with several
    prompts sends one after the other.

    Args:
        store: The reviews.
        metrics: What is measured.
        finals: Units that earlier starts have finished.
        open_context: Makes a paper's context.
        width: Most units under way at once.

    Attributes:
        flying: The units under way.
    """

    def __init__(
        self,
        store: CaseStore,
        metrics: Sequence[Metric],
        finals: Finals,
        open_context: Callable[[str], PaperContext],
        width: int,
    ) -> None:
        self.flying: dict[Flight, Unit] = {}
        self._store = store
        self._metrics = sorted(metrics, key=lambda metric: -len(metric.prompts))
        self._finals = finals
        self._open_context = open_context
        self._width = width
        self._again: deque[Unit] = deque()
        self._alone: Flight | None = None
        self._rooms: dict[str, PaperContext] = {}
        self._waiting = self._units()

    def fill(self, begin: Callable[[Unit], Flight], *, beside: int) -> None:
        """Begin units until the window is full or none is left.

        Args:
            begin: Begins one.
            beside: Units under way in other windows; a narrow window waits until there is none.
        """
        beside = beside if self._width == 1 else 0
        while beside + len(self.flying) < self._width and (unit := self._next()):
            task = begin(unit)
            self._alone = task if self._width == 1 else None
            self.flying[task] = unit

    def put_back(self, task: Flight) -> bool:
        """Let a unit wait again; False where it has been alone already."""
        if task is self._alone:
            return False
        self._again.append(self.flying.pop(task))
        return True

    def narrow(self) -> None:
        """From now on begin a unit only where no other is under way, here or beside."""
        self._width = 1

    async def leave(self, task: Flight) -> None:
        """A unit is finished; its paper's room is closed after the last."""
        room = self.flying.pop(task).room
        room.open_units -= 1
        if room.is_done:
            self._rooms.pop(room.paper_id, None)
            await room.aclose()

    async def aclose(self) -> None:
        """Let go of all contexts."""
        for room in self._rooms.values():
            await room.aclose()

    def _next(self) -> Unit | None:
        return self._again.popleft() if self._again else next(self._waiting, None)

    def _units(self) -> Iterator[Unit]:
        for paper_id in self._store.papers:
            room = self._rooms.setdefault(paper_id, self._open_context(paper_id))
            for case in self._store.cases(paper_id):
                for metric in self._metrics:
                    if not self._finals.has(case.case_id, metric.name):
                        room.open_units += 1
                        yield Unit(room, case, metric)
            room.complete = True
            if room.is_done:
                del self._rooms[paper_id]
