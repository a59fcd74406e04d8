"""Measures a review set: units through a bounded window, each result written down before the next is counted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from referee.errors import BudgetExceeded, EvaluationError
from referee.evals.case_store import CaseStore
from referee.evals.metric import Metric
from referee.evals.pace import Pace
from referee.evals.results import Finals, ResultsFile
from referee.evals.rooms import Room
from referee.evals.unit import FATAL, Means, Unit
from referee.runs.progress import Event
from referee.schemas.metric import MetricResult
from referee.schemas.usage import Usage

# Units wait for each other (for a review's topics) and between their calls: more are under way than calls are allowed.
UNITS_A_CALL = 3

# With so many judged units failed and none ever answered, the judge is not there.
HOPELESS = 40


@dataclass
class Tally:
    """How the units of this start ended; ``before`` were done in earlier starts."""

    total: int
    before: int = 0
    scored: int = 0
    not_applicable: int = 0
    failed: int = 0

    @property
    def done(self) -> int:
        """Units that need no more work in this start."""
        return self.before + self.scored + self.not_applicable + self.failed

    def count(self, result: MetricResult) -> None:
        """Count one result."""
        setattr(self, result.status, getattr(self, result.status) + 1)


class Runner:
    """One run over a review set.

    Args:
        store: The reviews.
        metrics: What is measured.
        means: What all units share.
        results: Where results go.
        finals: Units that earlier starts have finished.
        open_room: Makes a paper's room.
        concurrency: Calls that may be under way at once; the window holds ``UNITS_A_CALL`` times as many units.
        usage: What the run has cost so far.
    """

    def __init__(
        self,
        store: CaseStore,
        metrics: Sequence[Metric],
        means: Means,
        *,
        results: ResultsFile,
        finals: Finals,
        open_room: Callable[[str], Room],
        concurrency: int,
        usage: Callable[[], Usage] = Usage,
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._means = means
        self._results = results
        self._finals = finals
        self._open_room = open_room
        self._usage = usage
        self._width = UNITS_A_CALL * concurrency
        self._again: deque[Unit] = deque()
        self._flying: dict[asyncio.Task[MetricResult], Unit] = {}
        self._alone: asyncio.Task[MetricResult] | None = None
        self._rooms: dict[str, Room] = {}
        self._answered = False
        self._in_vain = 0
        self.tally = Tally(total=len(store) * len(metrics), before=len(finals))
        self._pace = Pace(self.tally.total - self.tally.before)

    async def run(self) -> Tally:
        """Measure all units that are not done.

        A unit that meets the end of the budget while others are under way is put back, and tried once more when it is
        alone: what those had reserved may be free by then.

        Raises:
            BudgetExceeded: No further call fits into the budget; what was answered is kept.
            EvaluationError: No judge has answered anything.
            OSError: The run's own files cannot be written.
        """
        waiting = self._waiting()
        try:
            while True:
                while len(self._flying) < self._width and (unit := self._next(waiting)):
                    self._begin(unit)
                if not self._flying:
                    return self.tally
                finished, _ = await asyncio.wait(self._flying, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    await self._settle(self._flying.pop(task), task)
        finally:
            await self._end()

    def _waiting(self) -> Iterator[Unit]:
        for paper_id in self._store.papers:
            room = self._rooms.setdefault(paper_id, self._open_room(paper_id))
            for case in self._store.cases(paper_id):
                for metric in self._metrics:
                    if not self._finals.has(case.case_id, metric.name):
                        room.open_units += 1
                        yield Unit(room, case, metric)
            room.complete = True
            if room.is_done:
                del self._rooms[paper_id]

    def _begin(self, unit: Unit) -> None:
        task = asyncio.create_task(unit.measure(self._means))
        self._alone = task if self._width == 1 and not self._flying else None
        self._flying[task] = unit

    def _next(self, waiting: Iterator[Unit]) -> Unit | None:
        return self._again.popleft() if self._again else next(waiting, None)

    async def _settle(self, unit: Unit, task: asyncio.Task[MetricResult]) -> None:
        error = task.exception()
        if isinstance(error, BudgetExceeded) and task is not self._alone:
            self._width = 1
            self._again.append(unit)
            return
        if isinstance(error, FATAL) or (error is not None and not isinstance(error, Exception)):
            raise error
        result = task.result() if error is None else unit.broken(error)
        self._results.append(result)
        self.tally.count(result)
        self._say_progress()
        self._look_for_life(result, unit)
        unit.room.open_units -= 1
        if unit.room.is_done:
            self._rooms.pop(unit.room.paper_id, None)
            await unit.room.aclose()

    def _look_for_life(self, result: MetricResult, unit: Unit) -> None:
        """Stop early where every judged unit fails: a wrong name or a dead server is no property of the reviews."""
        if "judge" not in unit.metric.needs or self._answered:
            return
        self._answered = result.status == "scored" or result.usage.calls + result.usage.reused_calls > 0
        self._in_vain += result.status == "failed" and not self._answered
        if self._in_vain >= HOPELESS:
            raise EvaluationError(
                f"the first {HOPELESS} judged units failed and no judge has answered yet; the last: {result.reason}",
                hint="See that the judge can be reached and is called by its right name, then resume the run.",
                ids={"case": result.case_id, "metric": result.metric},
            )

    def _say_progress(self) -> None:
        left = self._pace.step(last=self.tally.done == self.tally.total)
        if left is not None:
            failed = f", {self.tally.failed} failed" if self.tally.failed else ""
            text = f"{self.tally.done:,} of {self.tally.total:,} units{failed}{left}"
            self._means.progress(Event("stage", text, self._usage(), self.tally.done, self.tally.total))

    async def _end(self) -> None:
        """End what is under way, and let go of everything."""
        for task in self._flying:
            task.cancel()
        await asyncio.gather(*self._flying, return_exceptions=True)
        await self._means.shared.aclose()
        for room in self._rooms.values():
            await room.aclose()
