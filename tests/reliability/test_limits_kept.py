"""``--max-tokens`` and ``--max-cost`` with all readings in flight at once: no call passes them, nothing is lost."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from referee.errors import BudgetExceeded
from referee.llm.door import Door
from referee.llm.models import open_models
from referee.prompts import RenderedPrompt
from referee.runs import Budget, silent
from tests.graphs.sections_paper import paper_text
from tests.support import FakeServer

from .disturbance import READERS, Observed, benchmark, repeated

SLOTS = {"calls.concurrency": 256}
PRICES = {"models.prices": {"fake": (3.0, 15.0)}}


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Observed:
    return Observed(monkeypatch)


@pytest.mark.parametrize(
    ("flag", "limits"),
    [
        ("max_tokens", [5_000, 15_000, 33_000, 60_000, 200_000]),
        ("max_cost", [0.01, 0.16, 0.31, 0.6, 5.0]),
    ],
)
def test_a_run_is_stopped_and_resumed_by_higher_and_higher_limits(
    folder: Path, observed: Observed, flag: str, limits: list[float]
) -> None:
    runs, script = benchmark("runs"), benchmark("script")
    paper, run = folder / "paper.md", folder / "run"
    paper.write_text(paper_text(READERS))
    with script.serving(spread_s=0.05) as server:
        quick = runs.quick(server.base_url, **SLOTS, **PRICES)
        assert runs.started(paper, folder / "undisturbed", quick).error == ""
        begun, paid = len(server.log), [0]
        for limit in limits:
            ended = runs.started(paper, run, quick, **{flag: limit})
            usage = runs.record(run).usage
            assert (usage.total_tokens if flag == "max_tokens" else usage.cost_usd) <= limit
            paid.append(len(runs.paid(run)))
            if not ended.error:
                break
            assert ended.error.startswith("BudgetExceeded")
            left = runs.record(run)
            assert left.status == "stopped"
            assert f"--{flag.replace('_', '-')} (it was {limit:,})" in left.error
        assert not ended.error, "the last limit is enough"
        assert repeated(server, begun) == []
    assert len(set(paid)) > 2, "the limits stopped it at different places"
    assert all(a <= b for a, b in pairwise(paid)), "finished work is kept"
    assert observed.most_at_once == READERS
    assert runs.comparable(run) == runs.comparable(folder / "undisturbed")


class Note(BaseModel):
    """A note."""

    text: str = Field(max_length=200)


def _asked(number: int) -> RenderedPrompt:
    return RenderedPrompt(id="test/note", version="v1", digest="d", system="You note.", user=f"Note {number}. " * 9)


@pytest.mark.parametrize("max_tokens", [300, 1_500, 5_000, 20_000])
@pytest.mark.parametrize("max_cost", [None, 0.004, 0.03])
async def test_many_calls_at_once(observed: Observed, max_tokens: int, max_cost: float | None) -> None:
    """Forty at once, then again the ones that were refused: the second time what was set aside has come back."""
    budget = Budget(max_cost, max_tokens)
    runs: Any = benchmark("runs")
    with FakeServer({"writer": {"text": "noted " * 20}}) as server:
        settings = runs.quick(server.base_url, **SLOTS, **PRICES)
        models = await open_models(settings, silent)
        door = Door(models, calls=settings.calls, budget=budget)
        refused = list(range(40))
        for _ in range(2):
            asked = [door.ask(_asked(n), Note, role="writer", max_output_tokens=100) for n in refused]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            refused = [n for n, answer in zip(refused, answers, strict=True) if isinstance(answer, BudgetExceeded)]
        await models.aclose()
        assert len(server.log.calls(endpoint="chat")) == 40 - len(refused)
        assert repeated(server) == []
    assert budget.spent.total_tokens <= max_tokens
    assert max_cost is None or (budget.spent.cost_usd or 0.0) <= max_cost
    assert budget.spent == door.ledger.usage()
    assert refused or max_tokens >= 5_000
    assert observed.most_at_once > 1 or max_tokens == 300
