"""One run of ``sections`` for ``bad_days.py``, what it left behind, and its review without what differs by chance."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee import RunOptions, review
from referee.errors import RefereeError
from referee.schemas.review import Review
from referee.schemas.run import CallRecord, RunRecord
from referee.settings import Settings, load_settings
from tests.support import ChatRequest, FakeServer

VENUE = "neurips-2025"
# So small that a table is made in minutes; the waits double from the first to the longest.
FIRST_WAIT_S, LONGEST_WAIT_S = 0.02, 0.2

Messages = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ended:
    """How one start of a run ended. ``error`` is empty where there is a review."""

    seconds: float
    error: str


def quick(base_url: str, **more: Any) -> Settings:
    """Settings of a run on the server: no cache, short waits."""
    given = {
        "review.strategy": "sections",
        "models.default": "fake",
        "models.base_url": base_url,
        "embedder": "embed",
        "calls.cache": False,
        "calls.retry_wait_s": FIRST_WAIT_S,
        "calls.retry_max_wait_s": LONGEST_WAIT_S,
    }
    return load_settings(given | more, env={})


def started(paper: Path, run: Path, settings: Settings, **more: Any) -> Ended:
    """Start a run in a folder, or go on with the one that is there, to its end."""
    began = time.perf_counter()
    try:
        asyncio.run(review(paper, venue=VENUE, options=RunOptions(settings=settings, **more).within(run)))
    except RefereeError as error:
        return Ended(time.perf_counter() - began, f"{type(error).__name__}: {error.message}")
    return Ended(time.perf_counter() - began, "")


def record(run: Path) -> RunRecord:
    """A run's ``run.json``."""
    return RunRecord.model_validate_json((run / "run.json").read_text(encoding="utf-8"))


def flushed(run: Path) -> list[CallRecord]:
    """The calls that are wholly on the disk; a last line that was cut off is none."""
    trace = run / "trace.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True) if trace.exists() else []
    return [CallRecord.model_validate_json(line) for line in lines if line.endswith(b"\n")]


def paid(run: Path) -> list[Messages]:
    """The messages of the calls whose replies are on the disk."""
    return [call.messages for call in flushed(run) if call.reply is not None]


def sent(server: FakeServer, since: int = 0) -> list[Messages]:
    """The messages of the chat calls that reached the server, from its ``since``-th call on."""
    asked = [entry.request for entry in list(server.log)[since:] if entry.endpoint == "chat"]
    return [messages_of(request) for request in asked if request is not None]


def messages_of(request: ChatRequest) -> Messages:
    """A request's messages as the ledger writes them."""
    return tuple((message.role, message.text) for message in request.messages)


def gaps(run: Path) -> list[str]:
    """What a finished review says has failed on the way."""
    found = Review.model_validate_json((run / "review.json").read_text(encoding="utf-8"))
    assert found.provenance is not None, "every review of a run has one"
    return [note for note in found.provenance.notes if "failed" in note or "could not be composed" in note]


def comparable(run: Path) -> dict[str, Any]:
    """The review without its ids and usage; calls are named by what was asked, because their order is chance."""
    data = json.loads((run / "review.json").read_text(encoding="utf-8"))
    asked = {call.call_id: call.request for call in flushed(run)}
    for point in data["points"]:
        point["call_id"] = asked[point["call_id"]] if point["call_id"] else ""
    for reader in (reader for criterion in data["criteria"] for reader in criterion["readers"]):
        reader["call_id"] = asked[reader["call_id"]] if reader["call_id"] else ""
    left_out = {"run_id", "usage"}
    data["provenance"] = {key: value for key, value in data["provenance"].items() if key not in left_out}
    # Of several digests of one prompt (its reply's schema differs from part to part) the last call's is kept.
    data["provenance"]["prompts"] = sorted(data["provenance"]["prompts"])
    return {key: value for key, value in data.items() if key != "review_id"}
