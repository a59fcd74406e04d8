"""A review that is killed as soon as enough replies are written down, and then resumed."""

from __future__ import annotations

import json
from pathlib import Path

from referee.schemas.review import Review
from tests.cli.processes import command, finished, wait_for
from tests.held import Held
from tests.support import FakeServer

from .sections_run import assert_complete, assert_conserved
from .sections_script import VENUE


def assert_killed_and_resumed(
    folder: Path,
    paper: str | Path,
    strategy: str,
    *more: str,
    replies: int,
    settings: str = "",
) -> None:
    """Nothing that was written down is paid again, and the review is whole.

    One call at a time, so that the kill loses one at most. ``settings`` are more of the file's.
    """
    (folder / "referee.toml").write_text(f"[calls]\nconcurrency = 1\n{settings}")
    trace = folder / "run" / "trace.jsonl"
    held = Held(first=replies)
    with FakeServer(held, context_tokens=32_000) as server:
        on = ("--model", "fake", "--base-url", server.base_url, "--no-cache", *more)
        asked = ("review", paper, "--venue", VENUE, "--strategy", strategy, *on)
        with command(folder, *asked, "--out", "run") as process:
            wait_for(lambda: trace.exists() and trace.read_bytes().count(b"\n") >= replies)
            process.kill()
        held.go.set()
        kept = trace.read_bytes().count(b"\n")
        before = [call.digest for call in server.log.calls(endpoint="chat")]
        done = finished(folder, *asked, "--resume", "run")
        assert done.returncode == 0, done.stderr
        calls = [call.digest for call in server.log.calls(endpoint="chat")]
    assert kept == replies
    assert len(calls) - len(set(calls)) <= 1, "a kill loses the one call under way at most"
    paid_again = set(calls[len(before) :]) & set(before[:kept])
    assert not paid_again
    review = Review.model_validate_json((folder / "run" / "review.json").read_text())
    assert_conserved(review)
    assert_complete(review)
    assert len({json.loads(line)["request"] for line in trace.read_text().splitlines()}) == len(set(calls))
