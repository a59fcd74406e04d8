"""Measures a review set: units through bounded windows, each result written down before the next is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.errors import BudgetExceeded, EvaluationError
from referee.evals.case_store import CaseStore
from referee.evals.metric import Metric
from referee.evals.pace import Pace
from referee.evals.paper_context import PaperContext
from referee.evals.results import Finals, ResultsFile
from referee.evals.unit import FATAL, EvalServices, Unit
from referee.evals.window import Flight, Window
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
        open_context: Makes a paper's context.
        concurrency: Calls that may be under way at once; ``UNITS_A_CALL`` times as many units that ask a judge are
            begun, and beside them this many that ask none.
        usage: What the run has cost so far.
    """

    def __init__(
        self,
        store: CaseStore,
        metrics: Sequence[Metric],
        means: EvalServices,
        *,
        results: ResultsFile,
        finals: Finals,
        open_context: Callable[[str], PaperContext],
        concurrency: int,
        usage: Callable[[], Usage] = Usage,
    ) -> None:
        judged = [metric for metric in metrics if "judge" in metric.needs]
        others = [metric for metric in metrics if "judge" not in metric.needs]
        # Apart, so that reviews that wait for the embedder never keep calls from being made.
        self._windows = [
            Window(store, some, finals, open_context, width)
            for some, width in ((judged, UNITS_A_CALL * concurrency), (others, concurrency))
            if some
        ]
        self._means = means
        self._results = results
        self._usage = usage
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
            while True:
                for window in self._windows:
                    beside = sum(len(other.flying) for other in self._windows if other is not window)
                    window.fill(lambda unit: asyncio.create_task(unit.measure(self._means)), beside=beside)
                flying = {task: window for window in self._windows for task in window.flying}
                if not flying:
                    return self.tally
                finished, _ = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
                for task in finished:
                    await self._settle(flying[task], task)
        finally:
            await self._end()

    async def _settle(self, window: Window, task: Flight) -> None:
        unit, error = window.flying[task], task.exception()
        if isinstance(error, BudgetExceeded) and window.put_back(task):
            for every in self._windows:
                every.narrow()
            return
        if isinstance(error, FATAL) or (error is not None and not isinstance(error, Exception)):
            raise error
        result = task.result() if error is None else unit.broken(error)
        self._results.append(result)
        self.tally.count(result)
        self._say_progress()
        self._look_for_life(result, unit)
        await window.leave(task)

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
        flying = [task for window in self._windows for task in window.flying]
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        await self._means.shared.aclose()
        for window in self._windows:
            await window.aclose()
