"""An execution whose reviews and measurements are made by functions of the test, and write what the real ones write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import BudgetExceeded, RefereeError
from referee.evals.results import append_result
from referee.experiments.execution import Execution, Makers
from referee.experiments.journal import Journal
from referee.experiments.limiters import ModelLimiters
from referee.experiments.results import experiment_result, made_of
from referee.experiments.review_set import case_id
from referee.experiments.schedule import execute
from referee.experiments.units import Unit, UnitStore
from referee.runs import Budget, Ledger, RunFolder, silent
from referee.runs.folder import RECORD, TRACE
from referee.runs.lines import JsonLines
from referee.schemas.experiment import ArmRecord, ExperimentResult, PaperRecord, PaperValue
from referee.schemas.metric import MetricResult
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from referee.schemas.usage import Usage
from referee.venues import load_venue

TOKENS = 100
FORM = load_venue("iclr-2020")


def units(papers: Sequence[str], arms: Sequence[str], seeds: Sequence[int] = (0,)) -> list[Unit]:
    return [
        Unit(paper, arm, seed, {"paper": paper, "arm": arm, "seed": str(seed), "model for writer": f"model of {arm}"})
        for paper in papers
        for arm in arms
        for seed in seeds
    ]


@dataclass
class Bench:
    """What the makers did, and what shall go wrong.

    ``failing`` raises for units; ``score`` gives a metric's value, None for a failure. ``width`` units are made at
    once, each in so many ``turns`` of the loop; a call keeps ``kept`` tokens of the budget while it is under way, and
    ``expected`` is what a paper is said to take.
    """

    folder: Path
    papers: Sequence[str]
    arms: Sequence[str]
    seeds: Sequence[int] = (0,)
    metrics: Sequence[str] = ("depth",)
    failing: Callable[[Unit], Exception | None] = lambda unit: None
    score: Callable[[Unit, str], float | None] = lambda unit, metric: 0.5
    max_tokens: int | None = None
    width: int = 1
    turns: Callable[[Unit], int] = lambda unit: 3
    kept: int = TOKENS
    expected: int = 0
    run_name: str = "run"
    made: list[Unit] = field(default_factory=list)
    under_way: list[Unit] = field(default_factory=list)
    most: int = 0
    judged: list[str] = field(default_factory=list)

    def execution(self) -> Execution:
        run = self.folder / self.run_name
        run.mkdir(exist_ok=True)
        journal = Journal(run / "units.jsonl")
        self.budget = Budget(max_tokens=self.max_tokens, spent=journal.paid())
        return Execution(
            folder=run,
            papers=self.papers,
            arms=self.arms,
            units=units(self.papers, self.arms, self.seeds),
            metrics=self.metrics,
            judges=("judge",),
            forms=dict.fromkeys(self.arms, FORM),
            references={},
            store=UnitStore(self.folder / "units"),
            journal=journal,
            makers=Makers(self._review, self._evaluate),
            budget=self.budget,
            limiters=ModelLimiters(self.width),
            expected={paper: Usage(input_tokens=self.expected) for paper in self.papers},
            progress=silent,
        )

    async def run(self) -> ExperimentResult:
        """Run it to its end, or to that of its budget, and compute what came out."""
        execution = self.execution()
        try:
            await execute(execution)
        except BudgetExceeded:
            return self.experiment_result(execution, "stopped")
        return self.experiment_result(execution, "finished")

    def experiment_result(self, execution: Execution, status: str) -> ExperimentResult:
        arms = tuple(ArmRecord(name=arm, strategy="single", venue="v", rounds=0) for arm in self.arms)
        pairs = tuple((b, a) for n, b in enumerate(self.arms) for a in self.arms[:n])
        papers = tuple(PaperRecord(name=paper, paper_id=paper) for paper in self.papers)
        planned = ExperimentResult(
            name="t",
            split="development",
            plan_digest="0" * 64,
            package_version="0",
            status="stopped",
            seeds=tuple(self.seeds),
            metrics=tuple(execution.metrics),
            arms=arms,
            papers=papers,
            values=(),
            cells=(),
            comparisons=(),
        )
        return experiment_result(made_of(execution), execution.folder, planned, pairs, status)

    async def _review(self, unit: Unit, folder: Path) -> None:
        there = (folder / RECORD).is_file()
        with _opened(folder, there) as run:
            await self._call(unit, run)
            self.made.append(unit)
            if problem := self.failing(unit):
                run.set_status("failed", error=str(problem))
                raise problem
            review = Review(
                review_id="r", paper_id=unit.paper, venue="iclr-2020", source="m", fields={"review": f"By {unit.arm}."}
            )
            run.write("review.json", review.model_dump_json())
            run.set_status("finished")

    async def _call(self, unit: Unit, run: RunFolder) -> None:
        try:
            reserved = self.budget.reserve(self.kept, None)
        except RefereeError:
            run.set_status("stopped")
            raise
        self.under_way.append(unit)
        self.most = max(self.most, len(self.under_way))
        for _ in range(self.turns(unit)):
            await asyncio.sleep(0)
        self.under_way.remove(unit)
        _pay(Ledger(run.path / TRACE))
        self.budget.settle(reserved, Usage(calls=1, input_tokens=TOKENS))

    async def _evaluate(self, paper: str, source: Path, folder: Path) -> None:
        self.judged.append(paper)
        folder.mkdir(parents=True, exist_ok=True)
        with JsonLines(folder / "results.jsonl") as file:
            for unit in units([paper], self.arms, self.seeds):
                for metric in self.metrics:
                    append_result(file, _result(unit, metric, self.score(unit, metric)))


def values(result: ExperimentResult, metric: str = "depth") -> dict[tuple[str, str], PaperValue]:
    return {(value.paper, value.arm): value for value in result.values if value.metric == metric}


def _opened(folder: Path, there: bool) -> RunFolder:
    if there:
        return RunFolder.resume(folder, inputs={}, settings={})
    return RunFolder.create(
        folder, command="review", inputs={}, settings={}, models={}, prompts={}, package_version="0"
    )


def _pay(ledger: Ledger) -> None:
    number = ledger.next_call_id()
    usage = Usage(calls=1, input_tokens=TOKENS)
    ledger.append(
        CallRecord(
            call_id=number,
            request=number,
            base=number,
            role="writer",
            prompt="p@v1",
            prompt_digest="0",
            model="m",
            status="answered",
            usage=usage,
            reply="{}",
        )
    )


def _result(unit: Unit, metric: str, value: float | None) -> MetricResult:
    scored = value is not None
    return MetricResult(
        case_id=case_id(unit),
        paper_id=unit.paper,
        source=unit.arm,
        metric=metric,
        version="1",
        status="scored" if scored else "failed",
        value=value,
        reason="" if scored else "the judge was mute",
    )
