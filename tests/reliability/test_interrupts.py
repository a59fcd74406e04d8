"""Ctrl-C and SIGTERM with several calls under way: with real processes, and a server that answers when it is let."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import forks
from tests.graphs.sections_paper import paper_text
from tests.support import ChatRequest, FakeServer, Script

from .disturbance import READERS, WAITING, benchmark, repeated, wait_until

PATIENCE_S = 600.0


@dataclass(frozen=True)
class Scene:
    """A run that waits for replies that the server gives when it is let."""

    folder: Path
    server: FakeServer
    let: threading.Event
    child: Any
    log: Path

    def waits_for(self, condition: Callable[[], object]) -> None:
        wait_until(condition, self.log, PATIENCE_S)

    def said(self, words: str) -> bool:
        return words in self.log.read_text()

    def stopped(self, kept: int) -> None:
        """It ended as a stopped run, in order, with so many replies on the disk."""
        runs = benchmark("runs")
        assert self.child.ended() == 130, self.log.read_text()
        said = self.log.read_text()
        assert "Traceback" not in said
        assert "Exception" not in said
        assert "interrupted: what was answered so far is kept" in said
        assert "continue with --resume run" in said
        left = runs.record(self.folder / "run")
        assert (left.status, left.error) == ("stopped", "interrupted")
        assert len(runs.paid(self.folder / "run")) == kept
        assert left.usage.calls == kept

    def resumed(self) -> None:
        """It goes on where it stopped: what is on the disk is not asked again."""
        runs, since = benchmark("runs"), len(self.server.log)
        self.let.set()
        kept = set(runs.paid(self.folder / "run"))
        quick = runs.quick(self.server.base_url)
        assert runs.started(self.folder / "paper.md", self.folder / "run", quick).error == ""
        assert not kept.intersection(runs.sent(self.server, since))
        assert len(runs.sent(self.server, since)) == len(runs.paid(self.folder / "run")) - len(kept)


@contextmanager
def _begun(
    folder: Path, *, before: int, waiting: int, at_once: int = READERS, stop_after_s: float = 2 * PATIENCE_S
) -> Iterator[Scene]:
    """A run whose first ``before`` calls are answered at once, and all others when they are let."""
    let, plain, asked = threading.Event(), benchmark("script").script(), count(1)

    async def when_let(request: ChatRequest) -> Any:
        if next(asked) <= before:
            return request.instance()
        await asyncio.to_thread(let.wait, PATIENCE_S)
        return await plain.answer(request)

    (folder / "paper.md").write_text(paper_text(READERS))
    with FakeServer(Script({"*": when_let}), context_tokens=32_000) as server:
        on = ("--model", "fake", "--embedder", "embed", "--base-url", server.base_url, "--no-cache", "--out", "run")
        argv = ("review", "paper.md", "--venue", "neurips-2025", "--strategy", "sections", *on)
        env = {
            "REFEREE_CACHE_DIR": str(folder / "cache"),
            "REFEREE_CALLS__CONCURRENCY": str(at_once),
            "REFEREE_CALLS__STOP_AFTER_S": str(stop_after_s),
        }
        child = forks().start(argv, folder, out=folder / "log", env=env)
        started = Scene(folder, server, let, child, folder / "log")
        started.waits_for(lambda: len(_waiting(server)) == waiting)
        started.waits_for(lambda: len(benchmark("runs").paid(folder / "run")) == before)
        yield started
        let.set()


@pytest.fixture
def scene(folder: Path) -> Iterator[Scene]:
    """One reader has answered; the others are waited for together."""
    with _begun(folder, before=1, waiting=WAITING) as begun:
        yield begun


@pytest.fixture
def one_at_a_time(folder: Path) -> Iterator[Scene]:
    """One reader is waited for, and the others wait for their turn."""
    with _begun(folder, before=0, waiting=1, at_once=1) as begun:
        yield begun


def _waiting(server: FakeServer) -> list[Any]:
    return server.log.calls(endpoint="chat", outcome="pending")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_once_calls_under_way_are_answered_and_kept(scene: Scene, number: signal.Signals) -> None:
    scene.child.send(number)
    scene.waits_for(lambda: scene.said(f"waiting for {WAITING} calls under way"))
    assert scene.child.ended(0) is None
    scene.let.set()
    scene.stopped(kept=1 + WAITING)
    assert len(scene.server.log.calls(endpoint="chat")) == 1 + WAITING, "no other call was sent"
    scene.resumed()
    assert repeated(scene.server) == []


def test_calls_that_wait_for_their_turn_are_not_sent_after_a_stop(one_at_a_time: Scene) -> None:
    one_at_a_time.child.send(signal.SIGINT)
    one_at_a_time.waits_for(lambda: one_at_a_time.said("stopping: waiting for"))
    assert one_at_a_time.child.ended(0) is None
    one_at_a_time.let.set()
    one_at_a_time.stopped(kept=1)
    assert len(one_at_a_time.server.log.calls(endpoint="chat")) == 1, "no other call was sent"
    one_at_a_time.resumed()
    assert repeated(one_at_a_time.server) == []


def test_twice_ends_at_once(scene: Scene) -> None:
    scene.child.send(signal.SIGINT)
    scene.waits_for(lambda: scene.said("Ctrl-C again stops at once"))
    scene.child.send(signal.SIGINT)
    scene.stopped(kept=1)
    assert scene.said(f"{WAITING} calls under way were dropped, to be sent again")
    scene.resumed()


def test_sigterm_does_not_wait_longer_than_the_settings_say(folder: Path) -> None:
    with _begun(folder, before=1, waiting=WAITING, stop_after_s=5.0) as scene:
        scene.child.send(signal.SIGTERM)
        assert scene.child.ended(30.0) == 130, "the server would answer after ten minutes"
        scene.stopped(kept=1)
        assert scene.said(f"waiting for {WAITING} calls under way, 3.5 s at most")
        assert scene.said(f"{WAITING} calls under way were dropped, to be sent again")
        scene.resumed()


def test_a_second_sigterm_asks_for_nothing_more(scene: Scene) -> None:
    for _ in range(2):
        scene.child.send(signal.SIGTERM)
        scene.waits_for(lambda: scene.said("waiting for"))
    assert scene.child.ended(0.2) is None
    scene.let.set()
    scene.stopped(kept=1 + WAITING)


@pytest.mark.parametrize("pause_s", [0.02, 0.1])
@pytest.mark.parametrize("presses", [2, 8])
def test_impatience_leaves_no_traceback(scene: Scene, pause_s: float, presses: int) -> None:
    code = None
    for _ in range(presses):
        if code is None:
            with suppress(ProcessLookupError):  # it ended just now, and says so in a moment
                scene.child.send(signal.SIGINT)
            code = scene.child.ended(pause_s)
    assert (scene.child.ended() if code is None else code) == 130
    said = scene.log.read_text()
    assert "Traceback" not in said
    assert "Exception" not in said
    assert "interrupted" in said
    scene.resumed()
