"""Measures a review set: units through bounded windows, each result written down before the next is counted."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from referee.errors import EvaluationError, RunStopped
from referee.evals.case_store import CaseStore
from referee.evals.metric import Metric
from referee.evals.paper_context import PaperContext
from referee.evals.results import Finals, append_result
from referee.evals.unit import FATAL, EvalServices, Unit
from referee.runs.lines import JsonLines
from referee.runs.progress import Event
from referee.schemas.metric import MetricResult
from referee.schemas.usage import Usage


class Pace:
    """Counts steps and says now and then how long the rest will take."""

    def __init__(self, steps: int, *, clock: Callable[[], float] = time.monotonic, every_s: float = 1.0) -> None:
        self._left = steps
        self._done = 0
        self._clock = clock
        self._every_s = every_s
        self._started = clock()
        self._said = self._started

    def step(self, *, last: bool = False) -> str | None:
        """Count a step; a phrase as ``, about 3 min left``, or None where one was given a moment ago."""
        self._done += 1
        now = self._clock()
        if not last and now - self._said < self._every_s:
            return None
        self._said = now
        remaining = (self._left - self._done) * (now - self._started) / self._done
        return f", about {duration(remaining)} left" if remaining > 0 else ""


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as precisely as an estimate deserves."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


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
        services: What all units share.
        results: Where results go.
        finals: Units that earlier starts have finished.
        open_context: Makes a paper's context.
        concurrency: Calls that may be under way at once; this many units that ask no judge are begun.
        judged: Units that ask a judge and are begun beside them, ``UNITS_A_CALL`` for each call by default.
        usage: What the run has cost so far.
    """

    def __init__(
        self,
        store: CaseStore,
        metrics: Sequence[Metric],
        services: EvalServices,
        *,
        results: JsonLines,
        finals: Finals,
        open_context: Callable[[str], PaperContext],
        concurrency: int,
        judged: int | None = None,
        usage: Callable[[], Usage] = Usage,
    ) -> None:
        asking = [metric for metric in metrics if "judge" in metric.needs]
        others = [metric for metric in metrics if "judge" not in metric.needs]
        # Apart, so that reviews that wait for the embedder never keep calls from being made.
        self._windows = [
            Window(store, some, finals, open_context, width)
            for some, width in ((asking, judged or UNITS_A_CALL * concurrency), (others, concurrency))
            if some
        ]
        self._services = services
        self._results = results
        self._usage = usage
        self._in_waves, self._holding, self._done_before = judged is not None, False, 0
        self._landed: asyncio.Queue[Flight] = asyncio.Queue()
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
        try:
            while self._begun() or self._holding:
                if not any(window.flying for window in self._windows):
                    self._next_wave()
                    continue
                await self._settle(await self._landed.get())
                while not self._landed.empty():
                    await self._settle(self._landed.get_nowait())
            return self.tally
        finally:
            await self._end()

    def _begun(self) -> bool:
        """Begin what may begin; whether any unit is under way."""
        for window in () if self._holding else self._windows:
            beside = sum(len(other.flying) for other in self._windows if other is not window)
            window.fill(self._begin, beside=beside)
        return any(window.flying for window in self._windows)

    def _begin(self, unit: Unit) -> Flight:
        task = asyncio.create_task(unit.measure(self._services))
        task.add_done_callback(self._landed.put_nowait)
        return task

    async def _settle(self, task: Flight) -> None:
        window = next(window for window in self._windows if task in window.flying)
        unit, error = window.flying[task], task.exception()
        if isinstance(error, RunStopped) and window.put_back(task):
            self._make_room()
            return
        if isinstance(error, FATAL) or (error is not None and not isinstance(error, Exception)):
            raise error
        result = task.result() if error is None else unit.broken(error)
        append_result(self._results, result)
        self.tally.count(result)
        self._say_progress()
        self._look_for_life(result, unit)
        await window.leave(task)

    def _make_room(self) -> None:
        """Begin one unit at a time; where each would be a batch of its own, wait until those under way are done."""
        if self._in_waves:
            self._holding = True
        else:
            self._narrow()

    def _next_wave(self) -> None:
        """All that were under way are done: go on, one by one where the budget had no room for any of them."""
        self._holding = False
        if self.tally.done == self._done_before:
            self._narrow()
        self._done_before = self.tally.done

    def _narrow(self) -> None:
        for window in self._windows:
            window.narrow()

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
            self._services.progress(Event("stage", text, self._usage(), self.tally.done, self.tally.total))

    async def _end(self) -> None:
        """End what is under way, and let go of everything."""
        flying = [task for window in self._windows for task in window.flying]
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        await self._services.shared.aclose()
        for window in self._windows:
            await window.aclose()
