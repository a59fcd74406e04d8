"""Ctrl-C and SIGTERM in the middle of ``referee eval``: with real processes, and a server that answers when let."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.evals.results import read_results
from tests.cli.eval_sets import write_set
from tests.cli.processes import forks
from tests.support import ChatRequest, FakeServer, Script

from .disturbance import repeated, wait_until

PAPERS = 3
REVIEWS = 4 * PAPERS
ANSWERED = 3
PATIENCE_S = 600.0
QUICK = "[calls]\nconcurrency = 4\nretry_wait_s = 0.02\nretry_max_wait_s = 0.2\n"
AT_ONCE = 4


@dataclass(frozen=True)
class Scene:
    """An evaluation of which a few reviews are answered, and that waits for more."""

    folder: Path
    server: FakeServer
    let: threading.Event
    child: Any
    argv: tuple[str, ...]

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def waits_for(self, condition: Callable[[], object]) -> None:
        wait_until(condition, self.folder / "log", PATIENCE_S)

    def stopped(self) -> None:
        assert self.child.ended() == 130, self.log
        assert "Traceback" not in self.log
        assert "interrupted: what was answered so far is kept" in self.log
        assert "continue with --resume run" in self.log
        record = json.loads((self.folder / "run" / "run.json").read_text())
        assert (record["status"], record["error"]) == ("stopped", "interrupted")
        assert not (self.folder / "run" / "summary.md").exists()

    def resumed(self) -> None:
        """The rest is measured, and each review once."""
        self.let.set()
        argv = ("eval", "set.jsonl", *self.argv, "--resume", "run")
        child = forks().start(argv, self.folder, out=self.folder / "log2", env=self.env)
        assert child.ended() == 0, (self.folder / "log2").read_text()
        results = list(read_results(self.folder / "run" / "results.jsonl"))
        assert len(results) == len({one.case_id for one in results}) == REVIEWS
        assert {one.status for one in results} == {"scored"}
        record = json.loads((self.folder / "run" / "run.json").read_text())
        assert record["status"] == "finished"

    @property
    def env(self) -> dict[str, str]:
        return {"REFEREE_CACHE_DIR": str(self.folder / "cache"), "REFEREE_CONFIG_DIR": str(self.folder / "config")}


@pytest.fixture
def scene(folder: Path) -> Iterator[Scene]:
    let, seen = threading.Event(), list[str]()

    async def when_let(request: ChatRequest) -> Any:
        seen.append(request.text)
        if len(seen) > ANSWERED:
            await asyncio.to_thread(let.wait, PATIENCE_S)
        return request.instance()

    write_set(folder / "set.jsonl", PAPERS)
    (folder / "config").mkdir()
    (folder / "referee.toml").write_text(QUICK)
    with FakeServer(Script({"*": when_let}), context_tokens=32_000) as server:
        argv = ("--metrics", "depth", "--judge", "fake", "--base-url", server.base_url, "--no-cache")
        started = Scene(folder, server, let, None, argv)
        child = forks().start(("eval", "set.jsonl", *argv, "--out", "run"), folder, out=folder / "log", env=started.env)
        started = Scene(folder, server, let, child, argv)
        started.waits_for(lambda: len(server.log.calls(endpoint="chat", outcome="pending")) == AT_ONCE)
        started.waits_for(lambda: _written(folder) == ANSWERED)
        yield started
        let.set()


def _written(folder: Path) -> int:
    results = folder / "run" / "results.jsonl"
    return len(results.read_text().splitlines()) if results.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_calls_under_way_are_answered_and_paid_once(scene: Scene, number: signal.Signals) -> None:
    scene.child.send(number)
    scene.waits_for(lambda: f"waiting for {AT_ONCE} calls under way" in scene.log)
    scene.let.set()
    scene.stopped()
    assert len(scene.server.log.calls(endpoint="chat")) == ANSWERED + AT_ONCE, "no other call was sent"
    scene.resumed()
    assert repeated(scene.server) == []
    assert len(scene.server.log.calls(endpoint="chat")) == REVIEWS


def test_twice_ends_at_once_and_keeps_what_was_written(scene: Scene) -> None:
    scene.child.send(signal.SIGINT)
    scene.waits_for(lambda: "Ctrl-C again stops at once" in scene.log)
    scene.child.send(signal.SIGINT)
    scene.stopped()
    assert _written(scene.folder) == ANSWERED
    scene.resumed()
    answered = [e for e in scene.server.log.calls(endpoint="chat") if e.outcome == "ok"]
    assert len(answered) == REVIEWS
