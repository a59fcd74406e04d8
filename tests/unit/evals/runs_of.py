"""Reviews, metrics and a runner for tests of the frame, without HTTP."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from referee.evals.case_store import CaseStore
from referee.evals.judging import Panel, silence, total_usage
from referee.evals.metric import Context, Metric, Need, Quantity, failed, scored
from referee.evals.paper_context import PaperContext
from referee.evals.results import RESULTS, finals_in
from referee.evals.runner import Runner, Tally
from referee.evals.unit import EvalServices
from referee.prompts import RenderedPrompt
from referee.runs.lines import JsonLines
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult


def case(
    case_id: str, paper_id: str = "p1", *, source: str = "human", text: str = "It is sound.", **more: Any
) -> ReviewCase:
    kind = "human" if source == "human" else "ai"
    return ReviewCase(case_id=case_id, paper_id=paper_id, source=source, kind=more.pop("kind", kind), text=text, **more)


def result(case_id: str, paper_id: str = "p1", *, value: float | None = 0.5, **more: Any) -> MetricResult:
    status = "scored" if value is not None else more.pop("status", "failed")
    reason = "" if value is not None else more.pop("reason", "it broke")
    fields = {"source": "s", "metric": "words", "version": "1", "status": status, "reason": reason, "value": value}
    return MetricResult.model_validate(fields | {"case_id": case_id, "paper_id": paper_id} | more)


def store_of(*cases: ReviewCase) -> CaseStore:
    store = CaseStore(io.BytesIO())
    for one in cases:
        assert store.add(one)
    return store


class Verdict(BaseModel):
    """What a judge says."""

    reason: str
    score: int


@dataclass
class Words(Quantity):
    """Counts words; ``breaks`` are raised for the reviews of these ids."""

    name: str = "words"
    version: str = "1"
    needs: frozenset[Need] = frozenset()
    prompts: tuple[str, ...] = ()
    breaks: Mapping[str, BaseException] = field(default_factory=dict)
    seen: list[tuple[str, Context]] = field(default_factory=list)

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        self.seen.append((case.case_id, context))
        if case.case_id in self.breaks:
            raise self.breaks[case.case_id]
        await asyncio.sleep(0)
        return scored(self, case, float(len(case.text.split())), details={"text": case.text})

    def rescore(self, stored: MetricResult) -> MetricResult:
        return stored.model_copy(update={"value": float(len(stored.details["text"].split()))})


@dataclass
class Judged(Quantity):
    """Asks the panel for a score."""

    name: str = "judged"
    version: str = "1"
    needs: frozenset[Need] = frozenset({"judge"})
    prompts: tuple[str, ...] = ()

    async def measure(self, case: ReviewCase, context: Context) -> MetricResult:
        assert context.panel is not None
        prompt = RenderedPrompt("my/tone", "v1", "0", "Judge.", f"<review>{case.text}</review>")
        said = await context.panel.ask(prompt, Verdict, max_output_tokens=50, unit=case.case_id)
        judges = [one.score(one.value.score if one.value else None) for one in said]
        if why := silence(said):
            return failed(self, case, why, judges=judges, usage=total_usage(said))
        values = [score.value for score in judges if score.value is not None]
        return scored(self, case, sum(values) / len(values), judges=judges, usage=total_usage(said))

    def rescore(self, stored: MetricResult) -> MetricResult:
        values = [score.value for score in stored.judges if score.value is not None]
        return stored.model_copy(update={"value": sum(values) / len(values)})


async def run(
    folder: Path,
    store: CaseStore,
    metrics: Sequence[Metric],
    means: EvalServices | None = None,
    *,
    concurrency: int = 4,
    room: Callable[[str], PaperContext] | None = None,
) -> Tally:
    """One start of a run over the store in the folder."""
    path = folder / RESULTS
    with JsonLines(path) as results:
        runner = Runner(
            store,
            metrics,
            means or EvalServices(),
            results=results,
            finals=finals_in(path, [metric.name for metric in metrics]),
            open_context=room or (lambda paper_id: PaperContext(paper_id, store, None, None, _no_index)),
            concurrency=concurrency,
        )
        return await runner.run()


def panel_of(door: Any, *, judges: int = 1, repeats: int = 1) -> Panel:
    roles = ("judge", *(f"judge-{number}" for number in range(2, judges + 1)))
    return Panel(door, roles, repeats, {role: f"model-{role}" for role in roles})


async def _no_index(paper: Any, embedder: Any) -> Any:
    raise AssertionError("no test here opens an index")
