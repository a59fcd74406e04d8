"""Running ``multi-agent`` and ``progressive`` against a scripted server, and what must hold of every review."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.api import review
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from tests.options import with_options
from tests.support import FakeServer

from .sections_paper import paper_text
from .sections_run import assert_complete, assert_conserved, quick_settings
from .sections_script import VENUE

RAISING = ("review/team-gather", "review/team-refine", "review/team-worker-lean", "review/passage")
STRATEGIES = "referee.graphs.chunked.strategy"


async def run_chunked(
    server: FakeServer, folder: Path, strategy: str, *, sections: int = 3, out: str = "run", **more: Any
) -> Review:
    """One run on the made-up paper; conservation is asserted on every run."""
    paper = folder / "paper.md"
    paper.write_text(paper_text(sections), encoding="utf-8")
    settings = more.pop("settings", quick_settings())
    options: dict[str, Any] = {"venue": VENUE, "model": "m", "base_url": server.base_url, "strategy": strategy, **more}
    options |= {} if "resume" in more else {"out": folder / out}
    done = await review(paper, **with_options(**{"settings": settings, **options}))
    assert_conserved(done)
    assert_complete(done)
    assert_all_raised(done, Path(more.get("resume", folder / out)))
    return done


def assert_all_raised(review: Review, run: Path) -> None:
    """As many points as the accepted replies of the run's trace hold; the others come from rules."""
    calls = [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    last = {call.base: call for call in calls if call.prompt.startswith(RAISING)}
    raised = sum(len(json.loads(call.reply)["points"]) for call in last.values() if call.reply is not None)
    assert raised == sum(point.source != "rule" for point in review.points)


def short_chunks(monkeypatch: pytest.MonkeyPatch, tokens: int = 450) -> None:
    """Chunks so short that each section of the made-up paper falls into one or two of its own."""
    for strategy in ("MultiAgent", "Progressive"):
        monkeypatch.setattr(f"{STRATEGIES}.{strategy}.chunk_tokens", tokens)
        monkeypatch.setattr(f"{STRATEGIES}.{strategy}.lean_chunk_tokens", tokens)


def lean_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan of the embedded model, on the scripted server."""
    monkeypatch.setattr(f"{STRATEGIES}.is_lean", lambda job: True)


def notes_of(review: Review) -> str:
    """What was said on the way, as one text."""
    assert review.provenance is not None
    return "\n".join(review.provenance.notes)
