"""``kill -9`` in the middle of the machine, then ``--resume``: what was written down is not paid again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.schemas.review import Review
from tests.cli.processes import command, finished, server_process, wait_for

from .sections_paper import paper_text
from .sections_run import assert_complete, assert_conserved
from .sections_script import VENUE


@pytest.mark.parametrize("replies", [4])
def test_killed_as_soon_as_a_reply_is_written_down(folder: Path, replies: int) -> None:
    """One call at a time, so that the kill loses one at most."""
    (folder / "paper.md").write_text(paper_text(3))
    (folder / "referee.toml").write_text("[calls]\nconcurrency = 1\n")
    trace = folder / "run" / "trace.jsonl"
    with server_process(folder, "server", ("--context", 32_000, "--latency", 0.2)) as server:
        asked = ("review", "paper.md", "--venue", VENUE, "--strategy", "sections", "--model", "fake", "--no-cache")
        more = ("--base-url", server.base_url, "--embedder", "embed")
        with command(folder, *asked, *more, "--out", "run") as process:
            wait_for(lambda: trace.exists() and trace.read_bytes().count(b"\n") >= replies)
            process.kill()
            process.wait()
        kept = trace.read_bytes().count(b"\n")
        before = [call for call in server.answered() if call["endpoint"] == "chat"]
        done = finished(folder, *asked, *more, "--resume", "run")
        assert done.returncode == 0, done.stderr
        calls = [call["digest"] for call in server.answered() if call["endpoint"] == "chat"]
    assert kept >= replies
    assert len(calls) - len(set(calls)) <= 1, "a kill loses the one call under way at most"
    paid_again = set(calls[len(before) :]) & {call["digest"] for call in before[:kept]}
    assert not paid_again
    review = Review.model_validate_json((folder / "run" / "review.json").read_text())
    assert_conserved(review)
    assert_complete(review)
    assert len({json.loads(line)["request"] for line in trace.read_text().splitlines()}) == len(set(calls))
