"""Runs that are damaged and resumed, and what must hold for each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from referee.schemas.review import Review
from tests.cli.command import Outcome, Referee
from tests.cli.refusals import record, visible
from tests.support import FakeServer

SINGLE = ("--venue", "neurips-2025", "--strategy", "single")
SECTIONS = ("--venue", "corl-2024", "--strategy", "sections", "--embedder", "fake")
AUDITED = ("--venue", "neurips-2025", "--strategy", "audited")


def asked(paper: Path, server: FakeServer, *more: object, strategy: tuple[str, ...] = SINGLE) -> tuple[object, ...]:
    """The arguments of a review on the test server, without the cache of replies."""
    return ("review", paper, *strategy, "--model", "fake", "--base-url", server.base_url, "--no-cache", *more)


def digests(server: FakeServer) -> list[str]:
    """What the server was asked, in order."""
    return [entry.digest for entry in server.log.calls(endpoint="chat")]


def content(run: Path) -> dict[str, Any]:
    """A review without what differs from run to run: its own id, the calls' numbers, usage and notes.

    Nor the digests of prompts: where a prompt was sent with several schemas, they name that of the last call.
    """
    review = Review.model_validate_json(re.sub(r"\bc\d{4}\b", "CALL", (run / "review.json").read_text()))
    left_out: Any = {"review_id": True, "provenance": {"run_id", "usage", "notes", "prompts"}}
    return review.model_dump(exclude=left_out)


def assert_nothing_half_written(run: Path) -> None:
    """Whatever happened: ``run.json`` is whole, says no success, and there is no part of a review."""
    assert record(run).status != "finished"
    for name in visible(run):
        assert not name.endswith(".part")
    if (run / "review.json").exists():
        content(run)


def assert_refused_with(done: Outcome, *said: str) -> None:
    """Exit code 2, the thing, its cause and a next step, and no traceback."""
    assert done.code == 2, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    assert "\n  next: " in f"\n{done.err}"
    for part in said:
        assert part in done.err, done.err


def resumed(referee: Referee, arguments: tuple[object, ...], run: Path) -> Outcome:
    """The same command with ``--resume``."""
    return referee(*arguments, "--resume", run)
