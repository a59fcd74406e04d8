"""Units of an experiment side by side: models opened once, one limit over all, samples in the cache, a dry run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.api.experiments import models as experiment_models
from referee.llm import models as llm_models
from referee.llm.models import Models
from referee.runs import Progress
from referee.settings import Settings
from tests.held import happened
from tests.support import ChatRequest, FakeServer

from .command import Outcome, Referee
from .eval_sets import install, review
from .experiment_sets import result, write_papers

Run = Callable[..., Outcome]

PAPERS = 4
PLAN = """
[[arms]]
name = "cold"

[[arms]]
name = "warm"
settings = { "models.temperature" = 0.5 }

[common]
strategy = "single"
venue = "iclr-2020"
model = "a"

[papers]
files = ["p*.md"]

[measure]
metrics = ["tone"]
judges = ["a"]
"""


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Short papers, and two arms and a judge that are one model."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    install(monkeypatch)
    write_papers(workplace, range(PAPERS))
    (workplace / "plan.toml").write_text(PLAN)
    return workplace


@pytest.fixture
def run(place: Path, referee: Referee, server: FakeServer) -> Run:
    server.script.entries["judge"] = {"reason": "so", "score": 3}

    def experiment(*arguments: object) -> Outcome:
        return referee("experiment", "plan.toml", "--base-url", server.base_url, *arguments)

    return experiment


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...] | None]:
    """What was opened, in order: the judges, None for the models of an arm."""
    seen: list[tuple[str, ...] | None] = []
    really = experiment_models.open_models

    async def watched(settings: Settings, progress: Progress, *, judges: Sequence[str] | None = None) -> Models:
        seen.append(None if judges is None else tuple(judges))
        return await really(settings, progress, judges=judges)

    monkeypatch.setattr(experiment_models, "open_models", watched)
    return seen


def once(server: FakeServer, together: int) -> Callable[[ChatRequest], Awaitable[Any]]:
    """Answers as soon as so many calls have been under way together, and a moment later, in which more could come."""

    async def answer(request: ChatRequest) -> Any:
        await happened(lambda: server.log.peak_in_flight >= together)
        await asyncio.sleep(0.1)
        return request.instance()

    return answer


@pytest.mark.slow
def test_models_are_opened_once_and_all_units_are_under_way_together(
    run: Run, place: Path, server: FakeServer, opened: list[tuple[str, ...] | None]
) -> None:
    server.script.entries["writer"] = once(server, 2 * PAPERS)
    done = run("--out", "run")
    assert done.code == 0, done.err
    assert len(server.log.calls(role="writer")) == len(server.log.calls(role="judge")) == 2 * PAPERS
    assert server.log.peak_in_flight == 2 * PAPERS
    assert opened == [None, None, ("a",)]  # two arms of two temperatures, then the judge
    assert result(place / "run").comparisons[0].n_pairs == PAPERS


def test_a_model_s_limit_holds_over_all_arms_and_judges(
    run: Run, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CALLS__CONCURRENCY", "3")
    server.script.entries["writer"] = once(server, 3)
    assert run("--out", "run").code == 0
    assert server.log.peak_in_flight == 3
    assert len(server.log.calls(endpoint="chat")) == 4 * PAPERS


@pytest.mark.slow
def test_under_a_budget_the_calls_of_all_units_keep_within_it(run: Run, place: Path, server: FakeServer) -> None:
    assert run("--out", "whole", "--store", "a", "--no-cache").code == 0
    tokens = result(place / "whole").paid.total_tokens
    limit = 3 * tokens
    done = run("--out", "run", "--store", "b", "--no-cache", "--max-tokens", limit)
    assert done.code == 0, done.err
    assert result(place / "run").paid.total_tokens == tokens


@pytest.mark.slow
def test_samples_of_all_seeds_are_found_in_the_cache(run: Run, place: Path, server: FakeServer) -> None:
    (place / "plan.toml").write_text("seeds = [0, 1, 2]\n" + PLAN)
    assert run("--out", "run", "--arm", "warm").code == 0
    assert len({call.digest for call in server.log.calls(role="writer")}) == PAPERS  # providers are not sent the seed
    assert len(server.log.calls(role="writer")) == 3 * PAPERS
    before = len(server.log.calls(endpoint="chat"))
    done = run("--out", "again", "--arm", "warm", "--store", "elsewhere")
    assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) == before
    found = result(place / "again")
    assert found.paid.calls == 0
    assert found.arms[0].usage.reused_calls == 3 * PAPERS
    assert found.values == result(place / "run").values


def test_a_dry_run_opens_no_judge(run: Run, opened: list[tuple[str, ...] | None]) -> None:
    done = run("--dry-run")
    assert done.code == 0, done.err
    assert opened == [None, None]


def test_a_dry_run_does_not_load_the_embedded_model(
    run: Run, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(llm_models, "_open_local")
    done = run("--dry-run", "--model", "local", "--judge", "local")
    assert done.code == 0, done.err
    assert "measuring (judges: local:qwen-1.5b)" in done.out
    assert "judge 'local' also writes reviews: models prefer their own" in done.out
    assert f"about {4 * PAPERS} calls" in done.out
    assert "about $0.0000" in done.out
    assert len(server.log) == 0


@pytest.mark.slow
def test_one_embedder_serves_all_measurements(
    run: Run, place: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[str] = []
    really = experiment_models.opened_embedder

    async def watched(settings: Settings, progress: Progress) -> Any:
        times.append(settings.embedder)
        return await really(settings, progress)

    monkeypatch.setattr(experiment_models, "opened_embedder", watched)
    human = [review(f"h{n}", f"p{n}", "human", f"Reviewer {n} finds harbour {n} sound.") for n in range(PAPERS)]
    (place / "human.jsonl").write_text("\n".join(map(json.dumps, human)))
    given = ("--metrics", "semantic_similarity", "--references", "human.jsonl", "--embedder", "e")
    done = run("--out", "run", *given)
    assert done.code == 0, done.err
    assert times == ["e"]
    assert len(server.log.calls(endpoint="embeddings")) >= PAPERS
    assert result(place / "run").comparisons[0].n_pairs == PAPERS
    assert run("--dry-run", *given, "--store", "elsewhere").code == 0
    assert times == ["e"]


def test_a_judge_without_a_price_is_refused_before_anything_is_paid(run: Run, place: Path, server: FakeServer) -> None:
    (place / "referee.toml").write_text("[models.prices]\na = [1.0, 1.0]\n")
    done = run("--out", "run", "--max-cost", "5", "--judge", "other")
    assert done.code == 2
    assert "the price of 'other@" in done.err
    assert not (place / "run").exists()
    assert server.log.calls(endpoint="chat") == []


def test_the_plan_for_the_embedded_model_asks_for_few_calls(
    workplace: Path, referee: Referee, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.delattr(llm_models, "_open_local")
    done = referee("experiment", examples / "plans" / "embedded.toml", "--dry-run")
    assert done.code == 0, done.err
    assert "9 reviews of 3 papers by 3 arms" in done.out
    assert "single, 0 rounds: 3 reviews, about 3 calls" in done.out
    assert "sections, 0 rounds: 3 reviews, about 9 calls" in done.out
    assert "sections, 1 round: 3 reviews, about 25 calls" in done.out
    assert "Estimate: about 55 calls" in done.out
    assert "left out of the grid: single, 1 round" in done.out
