"""What a refused command must look like, whatever was wrong."""

from __future__ import annotations

from pathlib import Path

from referee.schemas.run import CallRecord, RunRecord
from tests.support import FakeServer

from .command import Outcome


def on(server: FakeServer, *more: object) -> tuple[object, ...]:
    """The options that send a review to a server on this machine."""
    return ("--model", "fake", "--base-url", server.base_url, "--no-cache", *more)


def assert_refused(done: Outcome, *said: str) -> None:
    """Exit code 2, an error that says all of this, a next step, nothing on stdout and no traceback.

    What the command line's library refuses itself is in its own words, which name the help.
    """
    assert done.code == 2, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    lines = done.err.splitlines()
    ours = any(line.startswith("error: ") for line in lines) and any(line.startswith("  next: ") for line in lines)
    usage = "referee review --help" in done.err
    assert ours or usage, done.err
    for part in said:
        assert part in done.err, done.err


def visible(folder: Path) -> set[str]:
    """Everything under a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def record(run: Path) -> RunRecord:
    """A run's ``run.json``."""
    return RunRecord.model_validate_json((run / "run.json").read_text())


def trace(run: Path) -> list[CallRecord]:
    """A run's calls."""
    return [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]


def assert_failed_run(run: Path, said: str) -> None:
    """The folder says how the run ended, keeps its calls, and holds no review and no unfinished file."""
    left = record(run)
    assert left.status == "failed"
    assert said in left.error
    assert trace(run)[-1].status == "failed"
    assert not [name for name in visible(run) if name.startswith("review.") or name.endswith(".part")]


def assert_finished(run: Path) -> None:
    """The folder holds a whole review."""
    assert record(run).status == "finished"
    assert {"review.json", "review.md", "review.openreview.json"} <= visible(run)
    assert not [name for name in visible(run) if name.endswith(".part")]
