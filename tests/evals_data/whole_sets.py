"""Whole review sets measured in one process: the real runner, rooms and door, and a judge that is a function."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from referee.data import RejectedSink, read_cases
from referee.evals.case_store import CaseStore
from referee.evals.forms import Forms
from referee.evals.judging import Panel
from referee.evals.paper_context import PaperContext, PaperStore
from referee.evals.registry import find_metrics
from referee.evals.results import RESULTS, read_results
from referee.evals.unit import EvalServices
from referee.llm.completions import Completion
from referee.llm.door import Door
from referee.llm.limits import Limits
from referee.llm.models import Model, Models
from referee.llm.providers.protocol import WireRequest
from referee.llm.spec import ModelSpec
from referee.llm.tokens import count_tokens
from referee.retrieval import open_retriever
from referee.schemas.case import ReviewCase
from referee.schemas.metric import MetricResult
from referee.settings import CallSettings
from referee.testing import HashEmbedder
from tests.unit.evals.runs_of import run, store_of

from .content_judge import SAYS

Says = Callable[[str], Any]


@dataclass
class ContentWire:
    """Stands for a provider; ``asked`` are prompt and user message of each call, ``traffic`` all words of it."""

    says: Mapping[str, Says]
    asked: list[tuple[str, str]] = field(default_factory=list)
    traffic: list[tuple[str, str, str]] = field(default_factory=list)

    async def send(self, request: WireRequest) -> Completion:
        prompt, user = request.prompt.partition("@")[0], request.messages[1][1]
        self.asked.append((prompt, user))
        said = self.says[prompt](user)
        words = sum(len(text.split()) for _, text in request.messages)
        text = said if isinstance(said, str) else json.dumps(said)
        self.traffic.append((prompt, "\n".join(message for _, message in request.messages), text))
        return Completion(text, words, len(text.split()))


@dataclass(frozen=True, repr=False)
class Ran:
    """A set that was measured: its reviews, what came out by review and metric, and what the judge was asked."""

    cases: tuple[ReviewCase, ...]
    store: CaseStore
    results: Mapping[tuple[str, str], MetricResult]
    asked: Sequence[tuple[str, str]]
    traffic: Sequence[tuple[str, str, str]]

    def of(self, metric: str) -> list[MetricResult]:
        """One metric's results, in the order of the reviews."""
        return [self.results[case.case_id, metric] for case in self.cases]

    def prompts(self, prompt: str) -> list[str]:
        """The user messages of one prompt."""
        return [user for name, user in self.asked if name == prompt]

    def humans(self, case: ReviewCase) -> set[str]:
        """The ids of the other human reviews of the paper."""
        found = (other for other in self.cases if other.paper_id == case.paper_id and other.kind == "human")
        return {other.case_id for other in found} - {case.case_id}

    def cost(self, *prompts: str, reviews: int) -> tuple[float, float, float]:
        """Calls, tokens in and tokens out a review; tokens from some 400 calls or all, schemas apart."""
        own = [(given, said) for prompt, given, said in self.traffic if prompt in prompts]
        some = own[:: max(1, len(own) // 400)]
        tokens_in, tokens_out = (fmean(count_tokens(text) for text in texts) for texts in zip(*some, strict=True))
        calls = len(own) / reviews
        return calls, calls * tokens_in, calls * tokens_out

    def statuses(self, metric: str) -> tuple[int, int, int]:
        """How many are scored, not applicable, failed."""
        found = [result.status for result in self.of(metric)]
        return found.count("scored"), found.count("not_applicable"), found.count("failed")


def documented(metric: str) -> tuple[float, ...]:
    """A metric's row in the table of docs/eval.md: calls, tokens in and tokens out a review."""
    page = (Path(__file__).parents[2] / "docs" / "eval.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{metric}` \|[^|]+\| ([\d.]+) \| ([\d,]+) \| ([\d,]+) \|$", page, re.MULTILINE)
    return tuple(float(cell.replace(",", "")) for cell in row)


def read(path: Path, folder: Path) -> list[ReviewCase]:
    """A shared set, whole: no row of it is left out."""
    with RejectedSink(folder / "rejected.jsonl") as sink:
        cases = list(read_cases(path, rejected=sink))
    assert sink.count == 0
    return cases


def measure(cases: Iterable[ReviewCase], metrics: Sequence[str], folder: Path, **more: Any) -> Ran:
    """The same, for fixtures."""
    return asyncio.run(measured(cases, metrics, folder, **more))


async def measured(
    cases: Iterable[ReviewCase],
    metrics: Sequence[str],
    folder: Path,
    *,
    shelf: PaperStore | None = None,
    says: Mapping[str, Says] = SAYS,
) -> Ran:
    """Measure a set as ``referee eval`` does, without HTTP.

    Every stored result gives itself again without a call.
    """
    kept, wire, embedder = tuple(cases), ContentWire(says), HashEmbedder(256)
    store, chosen = store_of(*kept), find_metrics(metrics)
    means = EvalServices(
        panel=_panel(wire), embedder=embedder, forms=Forms(), papers="the shelf" if shelf is not None else ""
    )
    await run(
        folder,
        store,
        chosen,
        means,
        concurrency=8,
        room=lambda paper_id: PaperContext(paper_id, store, shelf, embedder, open_retriever),
    )
    results = {(one.case_id, one.metric): one for one in read_results(folder / RESULTS)}
    assert len(results) == len(kept) * len(metrics)
    by_name = {metric.name: metric for metric in chosen}
    spoiled = ((one, one.model_copy(update={"judges": ()})) for one in results.values())
    assert all(by_name[one.metric].rescore(copy) == one for one, copy in spoiled if one.status == "scored")
    return Ran(kept, store, results, wire.asked, wire.traffic)


def _panel(wire: Any) -> Panel:
    model = Model(
        spec=ModelSpec("openai", "content"),
        wire=wire,
        limits=Limits(8, None, None),
        context_tokens=32_000,
        prices={},
        count=lambda text: len(text.split()),
        temperature=0.0,
    )
    door = Door(Models({"judge": model}), calls=CallSettings(max_tries=1, retry_wait_s=0))
    return Panel(door, ("judge",), 1, door.models.ids())
