"""``--batch`` as a user meets it: one batch a stage, kills at the worst moments, the ways on and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.evals.results import read_results
from referee.llm.batches.book import Book, open_batches
from referee.schemas.run import RunRecord
from tests.support import BatchPlan, FakeServer

from .arena_sets import row, write_rows
from .command import Referee
from .eval_sets import write_set
from .experiment_sets import two_arms, write_papers
from .processes import command, finished, wait_for

SETTINGS = """
[batches]
quiet_s = 0.3
poll_s = 0.1
[models.prices]
fake = [10.0, 20.0]
judge = [10.0, 20.0]
"""
Reached = Callable[[FakeServer, Path], bool]


def _noted(server: FakeServer, run: Path) -> bool:
    return bool(server.batches) and any(batch.id for batch in open_batches(run))


# Where the process is killed: what the server does until then, and how it is seen that it is time.
KILLS: dict[str, tuple[BatchPlan, Reached]] = {
    "before it is handed in": (
        BatchPlan(hold_upload_s=60),
        lambda server, run: bool(Book(run / "batches").batches) and not server.batches,
    ),
    "accepted and not noted": (
        BatchPlan(hold_s=60),
        lambda server, run: bool(server.batches) and [batch.id for batch in open_batches(run)] == [""],
    ),
    "while it waits": (BatchPlan(delay_s=3600), _noted),
    "while results are read": (
        BatchPlan(read_s=60),
        lambda server, run: any(batch.read for batch in server.batches),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", KILLS)
def test_a_killed_run_hands_in_nothing_twice(moment: str, tmp_path: Path) -> None:
    plan, reached = KILLS[moment]
    (tmp_path / "referee.toml").write_text(SETTINGS)
    source, run = write_set(tmp_path / "set.jsonl", 3), tmp_path / "run"
    with FakeServer(context_tokens=32_000, batches=plan) as server:
        asked = ("eval", source, "--metrics", "depth", "--judge", "fake", "--base-url", server.base_url, "--no-cache")
        with command(tmp_path, *asked, "--batch", "--out", "run") as process:
            wait_for(lambda: (run / "batches" / "book.jsonl").exists() and reached(server, run))
            process.kill()
        server.plan_batches(BatchPlan())
        done = finished(tmp_path, *asked, "--batch", "--resume", "run")
        assert done.returncode == 0, done.stderr
        assert sorted(server.submitted.values()) == [1] * 12
        assert not server.log.repeated()
        tokens = sum(call.input_tokens for call in server.log), sum(call.output_tokens for call in server.log)
    assert sorted(one.case_id for one in read_results(run / "results.jsonl")) == sorted(
        json.loads(line)["case_id"] for line in source.read_text().splitlines()
    )
    usage = RunRecord.model_validate_json((run / "run.json").read_text()).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (12, *tokens)
    assert usage.cost_usd == pytest.approx((tokens[0] * 10 + tokens[1] * 20) / 2e6)


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on_and_how_to_cancel(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text(SETTINGS)
    source, run = write_set(tmp_path / "set.jsonl", 2), tmp_path / "run"
    with FakeServer(context_tokens=32_000, batches=BatchPlan(delay_s=3600)) as server:
        asked = ("eval", source, "--metrics", "depth", "--judge", "fake", "--base-url", server.base_url, "--no-cache")
        with command(tmp_path, *asked, "--batch", "--out", "run") as process:
            wait_for(lambda: (run / "batches" / "book.jsonl").exists() and _noted(server, run))
            process.send(2)
            assert process.ended() == 130
            said = process.err.read_text()
        assert "1 batch(es) go on at the provider, and are paid for" in said
        assert "referee batches run --cancel" in said
        at_once = finished(tmp_path, *asked, "--resume", "run")
        assert at_once.returncode == 2
        assert "waits for 1 batch(es), whose calls would be paid twice" in at_once.stderr
        seen = finished(tmp_path, "batches", "run")
        assert "batch_000001" in seen.stdout
        assert seen.stdout.rstrip().endswith("8 call(s) open")
        cancelled = finished(tmp_path, "batches", "run", "--cancel")
        assert "8 call(s) cancelled, 4 answered" in cancelled.stdout, cancelled.stderr
        server.plan_batches(BatchPlan())
        done = finished(tmp_path, *asked, "--batch", "--resume", "run")
        assert done.returncode == 0, done.stderr
        assert [len(batch.calls) for batch in server.batches] == [8, 4]
        assert not server.log.repeated()


@pytest.fixture
def batching(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    (workplace / "referee.toml").write_text(SETTINGS)
    return FakeServer(context_tokens=32_000, batches=BatchPlan())


@pytest.mark.slow
def test_papers_of_an_arena_and_anchors_of_models_are_one_batch_for_each_model(
    referee: Referee, workplace: Path, batching: FakeServer
) -> None:
    write_rows(workplace / "papers.jsonl", [row(n) for n in range(1, 21)])
    with batching as server:
        on = ("--papers", "papers.jsonl", "--base-url", server.base_url, "--batch")
        run = referee("arena", "run", *on, "--model", "fake", "--out", "arena")
        assert run.code == 0, run.err
        assert [len(batch.calls) for batch in server.batches] == [20]
        assert "for half the price (at once: about $" in run.err
        assert "batches: 1 waiting, 0 done, 0 of 20 calls answered; 20 call(s) handed in" in run.err
        run = referee("detect", "anchors", *on, "--models", "fake,judge", "--out", "anchors")
        assert run.code == 0, run.err
        assert [len(batch.calls) for batch in server.batches] == [20, 20, 20]
    assert not open_batches(workplace / "arena")


@pytest.mark.slow
def test_an_experiment_goes_stage_by_stage(referee: Referee, workplace: Path, batching: FakeServer) -> None:
    write_papers(workplace / "papers", [1, 2, 3])
    plan = workplace / "plan.toml"
    plan.write_text(two_arms("papers/*.md", "depth"))
    with batching as server:
        on = ("--base-url", server.base_url, "--batch", "--no-cache")
        run = referee("experiment", plan, *on, "--out", "run")
        assert run.code == 0, run.err
        stages = [(next(iter(batch.calls.values()))["model"], len(batch.calls)) for batch in server.batches]
        assert sorted(stages[:2]) == [("a", 3), ("b", 3)]
        assert stages[2:] == [("judge", 6)]


def test_a_budget_lets_as_many_calls_into_a_batch_as_it_has_room_for(
    referee: Referee, workplace: Path, batching: FakeServer
) -> None:
    """Calls set aside more than they take: what finds no room goes with a later batch, not each with its own."""
    source = write_set(workplace / "set.jsonl", 8)
    asked = ("eval", source, "--metrics", "depth", "--judge", "fake", "--batch", "--no-cache")
    with batching as server:
        run = referee(*asked, "--base-url", server.base_url, "--out", "run", "--max-tokens", 40_000)
        sizes = [len(batch.calls) for batch in server.batches]
        usage = RunRecord.model_validate_json((workplace / "run" / "run.json").read_text()).usage
    assert usage.total_tokens <= 40_000
    assert run.code == 0, (run.err, sizes)
    assert sum(sizes) == 32
    assert 1 < len(sizes) <= 6, sizes


@pytest.mark.slow
def test_a_review_of_several_steps_waits_once_for_each(
    referee: Referee, workplace: Path, batching: FakeServer, paper: Path
) -> None:
    with batching as server:
        on = ("--model", "fake", "--embedder", "fake", "--base-url", server.base_url)
        run = referee(
            "review", paper, "--venue", "neurips-2025", "--strategy", "sections", *on, "--batch", "--out", "run"
        )
        assert run.code == 0, run.err
        calls = len(server.log.calls(endpoint="chat"))
        assert 1 < len(server.batches) < calls
        assert sum(len(batch.calls) for batch in server.batches) == calls
