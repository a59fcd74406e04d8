"""Live progress as server-sent events: what a job's lines say, or how far a run of another process has come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from referee.app.history import LIVE, WORDS, run_of
from referee.app.job_files import Line, lines_from
from referee.app.jobs import Jobs
from referee.runs.folder import TRACE

_LOOK_S = 0.3
_KEEP_ALIVE_S = 15.0


async def events_of(jobs: Jobs, name: str) -> AsyncIterator[str]:
    """What happens to a run until it is at rest: an event for each change, then ``rest``.

    Each browser reads the folder for itself, so that one that goes away disturbs nobody. A browser that comes back
    gets the newest line first; nothing that counts is only in the lines before.
    """
    line: Line | None = None
    at, said, quiet = 0, "", 0.0
    while not jobs.ending.is_set():
        run = run_of(jobs, name)
        if run is None or run.state not in LIVE:
            yield _event("rest", {"state": run.words if run else "gone"})
            return
        for end, newest in lines_from(jobs.folder(name), at):
            at, line = end, newest
        if run.state == "elsewhere":
            line = Line(said=WORDS[run.state], phrases=(_answered(jobs.root / name),))
        shown = (line or Line(said=WORDS[run.state])).model_dump(include={"said", "phrases", "done", "expected"})
        told = _event("line", {"state": run.words, **shown})
        if told != said:
            said, quiet = told, 0.0
            yield told
        elif quiet >= _KEEP_ALIVE_S:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_S)
        quiet += _LOOK_S


def _event(kind: str, value: dict[str, object]) -> str:
    return f"event: {kind}\ndata: {json.dumps(value)}\n\n"


def _answered(folder: Path) -> str:
    """Calls that a process of somebody else has put down so far."""
    try:
        with (folder / TRACE).open("rb") as file:
            count = sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))
    except FileNotFoundError:
        count = 0
    return f"{count:,} call{'' if count == 1 else 's'} answered"
