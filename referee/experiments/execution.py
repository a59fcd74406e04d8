"""An experiment under way: each unit's review and each paper's measurement, made or found, and written down.

A unit that fails takes its paper out of every comparison, so the paper's other reviews are still made (a resumed run
needs only the one that failed) and none of them is judged before all are there. What is made when: ``schedule``.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import (
    DataError,
    EvaluationError,
    ModelError,
    ModelUnavailable,
    PromptError,
    RetrievalError,
    RunStopped,
)
from referee.evals.results import RESULTS, read_results
from referee.experiments.journal import Entry, Journal
from referee.experiments.limiters import ModelLimiters, Rank
from referee.experiments.review_set import case_id, write_set
from referee.experiments.units import Unit, UnitStore, claimed, folder_usage, wait_for_others
from referee.runs import Budget, Event, Progress
from referee.schemas.case import ReviewCase
from referee.schemas.review import Review
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

SETS, EVALUATIONS = "sets", "evaluations"
SILENT_AFTER = 3
"""Units in a row that a model leaves unanswered before its other units are given up without a call."""

_OF_THE_UNIT = (ModelError, RetrievalError, PromptError, DataError, EvaluationError)


MakeReview = Callable[[Unit, Path], Awaitable[object]]
"""Makes the unit's review in that folder, or goes on with the run that lies there."""

MakeEvaluation = Callable[[str, Path, Path], Awaitable[object]]
"""Measures a paper's review set (paper, set, run folder), or goes on with the run that lies there."""


@dataclass(frozen=True)
class Makers:
    """The two things an experiment is made of; ``experiments`` stands below those who can do them."""

    review: MakeReview
    evaluate: MakeEvaluation


@dataclass
class Execution:
    """One run of one split.

    Attributes:
        folder: The experiment's run folder.
        papers: Names in the order they are taken.
        arms: Names in the order of the plan.
        units: All units of the split.
        metrics: Names of what is measured.
        judges: Ids of the judging models.
        forms: The venue's form by arm.
        references: The human reviews by paper.
        store: Where finished units lie.
        journal: What was paid.
        makers: Who makes reviews and measurements, within the budget.
        budget: Of the whole experiment, over all its starts.
        limiters: What is made at once.
        expected: What each paper's reviews and their measurement will take, by estimate.
        progress: Told about each unit.
        failure: What ends the run and is no matter of one unit; nothing new is begun after it.
    """

    folder: Path
    papers: Sequence[str]
    arms: Sequence[str]
    units: Sequence[Unit]
    metrics: Sequence[str]
    judges: Sequence[str]
    forms: Mapping[str, VenueForm]
    references: Mapping[str, tuple[ReviewCase, ...]]
    store: UnitStore
    journal: Journal
    makers: Makers
    budget: Budget
    limiters: ModelLimiters
    expected: Mapping[str, Usage]
    progress: Progress
    failure: Exception | None = field(default=None, init=False)
    _silent: Counter[tuple[str, ...]] = field(default_factory=Counter, init=False)
    _first: dict[str, asyncio.Lock] = field(default_factory=dict, init=False)
    _shared: set[str] = field(default_factory=set, init=False)
    _begun: int = field(default=0, init=False)

    def evaluation(self, paper: str) -> Path:
        """The run folder of a paper's measurement."""
        return self.folder / EVALUATIONS / paper

    async def review(self, unit: Unit, rank: Rank) -> None:
        """Make the unit unless it is there, once its turn has come; nothing after a failure of the whole.

        Raises:
            BudgetExceeded: The next call could pass a limit.
            RefereeError: What is no matter of this unit alone.
        """
        if unit.problem:
            self._note("failed", unit, reason=unit.problem)
            return
        waited = False
        while self.failure is None:
            async with self._after_first(unit), self.limiters.of(unit.models).slot(rank):
                if self.failure is not None or self._is_settled(unit):
                    return
                folder = self.store.begin(unit)
                with ExitStack() as claims:
                    if all(claims.enter_context(claimed(file)) for file in self._claims(unit)):
                        await self._made(unit, folder)
                        return
            if not waited:
                waited = True
                self.progress(Event("note", f"{unit.label}: another experiment is making it; it is waited for"))
            await wait_for_others()

    def _claims(self, unit: Unit) -> Iterator[Path]:
        yield self.store.claim(unit.digest)
        if unit.shared_work and unit.shared_work not in self._shared:
            yield self.store.claim(unit.shared_work)

    def _is_settled(self, unit: Unit) -> bool:
        """Whether nothing is left to do: the review is there, or its model is given up."""
        if self.store.review(unit) is not None:
            self._seen_shared(unit)
            if not any(entry.folder == str(self.store.folder(unit)) for entry in self.journal.entries):
                self._note("reused", unit)
            return True
        if self._silent[unit.models] >= SILENT_AFTER:
            names = ", ".join(unit.models)
            self._note("failed", unit, reason=f"not asked: {names} left {SILENT_AFTER} units in a row unanswered")
            return True
        return False

    async def _made(self, unit: Unit, folder: Path) -> None:
        if self._is_settled(unit):  # another process may have finished it just before the claim
            return
        self._begun += 1
        self.progress(Event("stage", f"review {self._begun} ({len(self.units)} in all): {unit.label}"))
        self._note("began", unit)
        try:
            await self.makers.review(unit, folder)
        except RunStopped:
            raise
        except _OF_THE_UNIT as error:
            self._silent[unit.models] = self._silent[unit.models] + 1 if isinstance(error, ModelUnavailable) else 0
            self._note("failed", unit, reason=error.message)
            self.progress(Event("note", f"{unit.label} failed: {error.message}"))
            return
        self._silent[unit.models] = 0
        self._seen_shared(unit)
        self._note("finished", unit)

    @asynccontextmanager
    async def _after_first(self, unit: Unit) -> AsyncIterator[None]:
        """Of units that share work (refined prompts), the first makes it alone, and the others find it."""
        key = unit.shared_work
        if not key or key in self._shared:
            yield
            return
        async with self._first.setdefault(key, asyncio.Lock()):
            if key not in self._shared:
                yield
                return
        yield

    def _seen_shared(self, unit: Unit) -> None:
        if unit.shared_work:
            self._shared.add(unit.shared_work)

    def _note(self, event: str, unit: Unit, *, reason: str = "") -> None:
        folder = self.store.folder(unit)
        self.journal.append(
            Entry.model_validate(
                {
                    "event": event,
                    "kind": "review",
                    "paper": unit.paper,
                    "arm": unit.arm,
                    "seed": unit.seed,
                    "twin": unit.twin,
                    "folder": str(folder),
                    "usage": folder_usage(folder),
                    "reason": reason,
                }
            )
        )

    async def evaluate(self, paper: str, units: Sequence[Unit], rank: Rank) -> None:
        """Measure the paper's reviews, if all of them are there and have not been measured.

        Raises:
            BudgetExceeded: The next call could pass a limit.
            RefereeError: What is no matter of this paper alone.
        """
        reviews = {unit: review for unit in units if (review := self.store.review(unit)) is not None}
        if len(reviews) < len(units) or self._is_measured(self.evaluation(paper), paper, reviews):
            return
        async with self.limiters.of(self.judges).slot(rank):
            if self.failure is None:
                await self._measured(paper, reviews)

    async def _measured(self, paper: str, reviews: Mapping[Unit, Review]) -> None:
        folder, source = self.evaluation(paper), self.folder / SETS / f"{paper}.jsonl"
        self.progress(Event("stage", f"measuring the {len(reviews)} reviews of paper {paper!r}"))
        write_set(source, reviews, self.forms, self.references.get(paper, ()), self.store.file)
        began = Entry(event="began", kind="evaluation", paper=paper, folder=str(folder), usage=folder_usage(folder))
        self.journal.append(began)
        reason = ""
        try:
            await self.makers.evaluate(paper, source, folder)
        except RunStopped:
            raise
        except _OF_THE_UNIT as error:
            reason = error.message
            self.progress(Event("note", f"measuring paper {paper!r} failed: {reason}"))
        event = {"event": "failed" if reason else "finished", "reason": reason, "usage": folder_usage(folder)}
        self.journal.append(began.model_copy(update=event))

    def _is_measured(self, folder: Path, paper: str, units: Iterable[Unit]) -> bool:
        """Whether every unit and every human review has its result, none of them a failure."""
        results = list(read_results(folder / RESULTS))
        cases = {*map(case_id, units), *(case.case_id for case in self.references.get(paper, ()))}
        there = {(result.case_id, result.metric) for result in results if result.status != "failed"}
        return all((case, metric) in there for case in cases for metric in self.metrics)
