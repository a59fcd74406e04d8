"""``kill -9`` at any moment, then the same command with ``--resume``: no reply that was written down is paid again.

Each run makes three calls, because the server's first two replies do not fit and are repaired. ``REFEREE_KILLS`` sets
how many random moments are tried.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.schemas.review import Review
from tests.held import Held
from tests.support import FakeServer, Fault

from .processes import command, finished, wait_for
from .refusals import assert_finished, record, trace

KILLS = int(os.environ.get("REFEREE_KILLS", "4"))
REPLIES = 3
SEED = 9


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody killed: how long it took, what it wrote, and the server's digest of each of its requests."""

    seconds: float
    review: dict[str, Any]
    digests: dict[tuple[tuple[str, str], ...], str]


@dataclass(frozen=True)
class Bench:
    """A working folder with the model's reply, the review command, and how it goes when nobody kills it."""

    folder: Path
    paper: Path
    reply: dict[str, Any]
    undisturbed: Undisturbed

    def asked(self, server: FakeServer) -> tuple[object, ...]:
        return asked(self.paper, server)


def asked(paper: Path, server: FakeServer) -> tuple[object, ...]:
    given = ("--venue", "neurips-2025", "--strategy", "single", "--model", "fake", "--base-url", server.base_url)
    return ("review", paper, *given, "--no-cache")


@pytest.fixture(scope="module")
def bench(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The server says twice what does not fit, then always the reply of a first run."""
    folder, paper = tmp_path_factory.mktemp("kill"), examples / "short.md"
    with FakeServer(context_tokens=32_000) as server:
        done = finished(folder, *asked(paper, server), "--out", "first")
        assert done.returncode == 0, done.stderr
    (reply,) = [json.loads(call.reply or "") for call in trace(folder / "first")]
    return Bench(folder, paper, reply, run_undisturbed(folder, paper, reply))


def serving(script: Held) -> FakeServer:
    return FakeServer(script, faults=[Fault("wrong_schema", first=2)], context_tokens=32_000)


def run_undisturbed(folder: Path, paper: Path, reply: dict[str, Any]) -> Undisturbed:
    with serving(Held({"writer": reply}, first=REPLIES)) as server:
        started = time.monotonic()
        done = finished(folder, *asked(paper, server), "--out", "undisturbed")
        seconds = time.monotonic() - started
        assert done.returncode == 0, done.stderr
        calls, answers = list(server.log), trace(folder / "undisturbed")
    assert [call.outcome for call in calls] == ["wrong_schema", "wrong_schema", "ok"]
    digests = {answer.messages: call.digest for answer, call in zip(answers, calls, strict=True)}
    assert len(set(digests.values())) == 3
    return Undisturbed(seconds, comparable(folder / "undisturbed", server), digests)


def comparable(run: Path, server: FakeServer) -> dict[str, Any]:
    """A review without what differs from run to run: ids, the order of calls, usage, and the server's port."""
    address = server.base_url.removeprefix("http://").removesuffix("/v1")
    text = (run / "review.json").read_text().replace(address, "SERVER")
    text = re.sub(r'"c\d{4}"', '"call"', text)
    left_out = {"review_id": True, "provenance": {"run_id", "usage", "notes"}}
    return Review.model_validate_json(text).model_dump(exclude=left_out)


def flushed(run: Path, undisturbed: Undisturbed) -> set[str]:
    """The server's digests of the requests whose replies the run has written down; a line cut off is none."""
    if not (run / "trace.jsonl").exists():
        return set()
    whole = [line for line in (run / "trace.jsonl").read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    messages = [json.loads(line)["messages"] for line in whole]
    return {undisturbed.digests[tuple((role, text) for role, text in pairs)] for pairs in messages}


def assert_resumes(bench: Bench, server: FakeServer, name: str) -> int:
    """Go on with a killed run: nothing that was written down is asked again, and the review is the same.

    Returns how many replies had been written down before.
    """
    run = bench.folder / name
    kept, calls_before = flushed(run, bench.undisturbed), len(server.log)
    begun = (run / "run.json").exists()
    assert begun or not kept
    done = finished(bench.folder, *bench.asked(server), "--resume" if begun else "--out", name)
    assert done.returncode == 0, done.stderr
    asked_again = {call.digest for call in list(server.log)[calls_before:]} & kept
    assert not asked_again, f"{len(asked_again)} paid again"
    assert_finished(run)
    answered = [call.request for call in trace(run) if call.status == "answered"]
    assert len(answered) == len(set(answered))
    assert len(server.log) <= len(answered) + 1, "a kill loses one call at most"
    assert record(run).usage.calls == len(answered)
    assert comparable(run, server) == bench.undisturbed.review
    return len(kept)


@pytest.mark.slow
def test_killed_at_random_moments(bench: Bench) -> None:
    """The last reply is held until the kill, so that no run ends before it, however long the machine takes."""
    dice = random.Random(SEED)
    moments = [(number + dice.random()) / KILLS for number in range(KILLS)]
    kept = []
    for number, moment in enumerate(moments):
        held = Held({"writer": bench.reply}, first=REPLIES - 1)
        with serving(held) as server:
            with command(bench.folder, *bench.asked(server), "--out", f"random-{number}") as process:
                assert process.ended(moment * bench.undisturbed.seconds) is None, process.err.read_text()
                process.kill()
            held.go.set()
            kept.append(assert_resumes(bench, server, f"random-{number}"))
    shown = ", ".join(f"{moment:.2f}" for moment in moments)
    print(f"a life of {bench.undisturbed.seconds:.1f} s, ended at {shown} of it: replies kept {kept}")


@pytest.mark.slow
@pytest.mark.parametrize("replies", [1, 2, 3])
def test_killed_as_soon_as_a_reply_is_written_down(bench: Bench, replies: int) -> None:
    name = f"after-{replies}"
    file = bench.folder / name / "trace.jsonl"
    held = Held({"writer": bench.reply}, first=replies)
    with serving(held) as server:
        with command(bench.folder, *bench.asked(server), "--out", name) as process:
            wait_for(lambda: file.exists() and file.read_bytes().count(b"\n") >= replies)
            process.kill()
        held.go.set()
        assert assert_resumes(bench, server, name) == replies
        assert server.log.outcomes()["ok"] == 1
