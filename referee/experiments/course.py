"""The course of an experiment: paper by paper all reviews, then their measurement, as far as a budget reaches.

A unit that fails takes its paper out of every comparison, so the paper's other reviews are still made (a resumed run
needs only the one that failed) and none of them is judged before all are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import (
    BudgetExceeded,
    DataError,
    EvaluationError,
    ModelError,
    ModelUnavailable,
    PromptError,
    RetrievalError,
)
from referee.evals.results import RESULTS, read_results
from referee.experiments.journal import Entry, Journal
from referee.experiments.order import blocks
from referee.experiments.review_set import case_id, write_set
from referee.experiments.units import Unit, UnitStore, folder_usage
from referee.runs import Event, Progress
from referee.schemas.case import ReviewCase
from referee.schemas.review import Review
from referee.schemas.usage import Usage
from referee.schemas.venue import VenueForm

SETS, EVALUATIONS = "sets", "evaluations"
SILENT_AFTER = 3
"""Units in a row that a model leaves unanswered before its other units are given up without a call."""

_OF_THE_UNIT = (ModelError, RetrievalError, PromptError, DataError, EvaluationError)


@dataclass(frozen=True)
class Allowance:
    """The limits of one run folder, with what it has spent already counted in; None is no limit."""

    max_cost: float | None = None
    max_tokens: int | None = None


MakeReview = Callable[[Unit, Path, Allowance], Awaitable[object]]
"""Makes the unit's review in that folder, or goes on with the run that lies there."""

MakeEvaluation = Callable[[str, Path, Path, Allowance], Awaitable[object]]
"""Measures a paper's review set (paper, set, run folder), or goes on with the run that lies there."""


@dataclass(frozen=True)
class Makers:
    """The two things an experiment is made of; ``experiments`` stands below those who can do them."""

    review: MakeReview
    evaluate: MakeEvaluation


@dataclass
class Course:
    """One run of one split.

    Attributes:
        folder: The experiment's run folder.
        papers: Names in the order they are taken.
        arms: Names in the order of the plan.
        units: All units of the split.
        metrics: Names of what is measured.
        forms: The venue's form by arm.
        references: The human reviews by paper.
        store: Where finished units lie.
        journal: What was paid.
        makers: Who makes reviews and measurements.
        limits: Of the whole experiment, over all its starts.
        progress: Told about each unit.
    """

    folder: Path
    papers: Sequence[str]
    arms: Sequence[str]
    units: Sequence[Unit]
    metrics: Sequence[str]
    forms: Mapping[str, VenueForm]
    references: Mapping[str, tuple[ReviewCase, ...]]
    store: UnitStore
    journal: Journal
    makers: Makers
    limits: Allowance
    progress: Progress
    _silent: Counter[tuple[str, ...]] = field(default_factory=Counter, init=False)

    async def run(self) -> None:
        """Make what is not there yet.

        Raises:
            BudgetExceeded: The next call could pass a limit; what is finished stays.
            RunError: A folder is in use or can no longer be written.
            SettingsError: A setting or key is not usable.
        """
        done = 0
        for paper, units in blocks(self.units, self.papers, self.arms):
            for unit in units:
                done += 1
                await self._reviewed(unit, f"{done} of {len(self.units)}")
            reviews = {unit: review for unit in units if (review := self.store.review(unit)) is not None}
            if len(reviews) == len(units):
                await self._evaluated(paper, reviews)

    def evaluation(self, paper: str) -> Path:
        """The run folder of a paper's measurement."""
        return self.folder / EVALUATIONS / paper

    async def _reviewed(self, unit: Unit, place: str) -> None:
        if unit.problem:
            self._note("failed", unit, reason=unit.problem)
            return
        if self.store.review(unit) is not None:
            if not any(entry.folder == str(self.store.folder(unit)) for entry in self.journal.entries):
                self._note("reused", unit)
            return
        if self._silent[unit.models] >= SILENT_AFTER:
            names = ", ".join(unit.models)
            self._note("failed", unit, reason=f"not asked: {names} left {SILENT_AFTER} units in a row unanswered")
            return
        self.progress(Event("stage", f"review {place}: {unit.label}"))
        folder = self.store.begin(unit)
        allowance = self._allowance(folder)
        self._note("began", unit)
        try:
            await self.makers.review(unit, folder, allowance)
        except BudgetExceeded:
            raise
        except _OF_THE_UNIT as error:
            self._silent[unit.models] = self._silent[unit.models] + 1 if isinstance(error, ModelUnavailable) else 0
            self._note("failed", unit, reason=error.message)
            self.progress(Event("note", f"{unit.label} failed: {error.message}"))
            return
        self._silent[unit.models] = 0
        self._note("finished", unit)

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
                    "folder": str(folder),
                    "usage": folder_usage(folder),
                    "reason": reason,
                }
            )
        )

    async def _evaluated(self, paper: str, reviews: Mapping[Unit, Review]) -> None:
        folder = self.evaluation(paper)
        if self._is_measured(folder, paper, reviews):
            return
        self.progress(Event("stage", f"measuring the {len(reviews)} reviews of paper {paper!r}"))
        source = self.folder / SETS / f"{paper}.jsonl"
        write_set(source, reviews, self.forms, self.references.get(paper, ()))
        allowance = self._allowance(folder)
        began = Entry(event="began", kind="evaluation", paper=paper, folder=str(folder), usage=folder_usage(folder))
        self.journal.append(began)
        reason = ""
        try:
            await self.makers.evaluate(paper, source, folder, allowance)
        except BudgetExceeded:
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

    def _allowance(self, folder: Path) -> Allowance:
        """What is left of the whole, as the limit of a folder whose own spending counts against it.

        Raises:
            BudgetExceeded: Nothing is left.
        """
        paid, there = self.journal.paid(), folder_usage(folder)
        if self.limits.max_tokens is not None and paid.total_tokens >= self.limits.max_tokens:
            raise _spent(f"{paid.total_tokens:,} tokens", f"--max-tokens (it was {self.limits.max_tokens:,})", paid)
        if self.limits.max_cost is not None and (paid.cost_usd or 0.0) >= self.limits.max_cost > 0:
            raise _spent(f"${paid.cost_usd or 0.0:.4f}", f"--max-cost (it was {self.limits.max_cost:g})", paid)
        cost, tokens = self.limits.max_cost, self.limits.max_tokens
        return Allowance(
            None if cost is None else cost - (paid.cost_usd or 0.0) + (there.cost_usd or 0.0),
            None if tokens is None else tokens - paid.total_tokens + there.total_tokens,
        )


def _spent(spent: str, limit: str, paid: Usage) -> BudgetExceeded:
    return BudgetExceeded(
        f"{spent} of the experiment's budget are spent; no other call was sent.",
        hint=f"Resume it with a higher {limit}.",
        usage=paid.model_dump(),
    )
