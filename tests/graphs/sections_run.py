"""Running strategy ``sections`` against a scripted server, and what must hold of every review it ends in."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from referee.api import review
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from referee.settings import Settings, load_settings
from referee.venues import load_venue
from tests.options import with_options
from tests.support import FakeServer

from .sections_paper import paper_text
from .sections_script import VENUE

# Too small for the made-up paper with room to work, so that it is read part by part.
WINDOW = 16_000
RAISING = ("review/section", "review/cross")
OUTCOMES = ("printed", "listed", "merged_into", "struck", "dropped")


def quick_settings(**more: Any) -> Settings:
    """Settings without waits; the server embeds."""
    return load_settings(
        {
            "review.strategy": "sections",
            "embedder": "embed",
            "models.context_tokens": WINDOW,
            "calls.cache": False,
            "calls.retry_wait_s": 0.0,
            "calls.max_tries": 2,
            **more,
        }
    )


async def run_sections(
    server: FakeServer, folder: Path, *, sections: int = 3, out: str = "run", text: str = "", **more: Any
) -> Review:
    """One run on the made-up paper. What was raised is on the review: conservation is asserted on every run."""
    paper = folder / "paper.md"
    paper.write_text(text or paper_text(sections), encoding="utf-8")
    options: dict[str, Any] = {"venue": VENUE, "model": "m", "base_url": server.base_url, **more}
    options |= {} if "resume" in more else {"out": folder / out}
    done = await review(paper, **with_options(**{"settings": quick_settings(), **options}))
    assert_conserved(done)
    assert_nothing_lost(done, Path(more.get("resume", folder / out)))
    assert_complete(done)
    return done


def assert_conserved(review: Review) -> None:
    """Raised = printed + listed + merged + struck + dropped, recomputed from the points alone."""
    by_id = {point.id: point for point in review.points}
    assert len(by_id) == len(review.points), "a point stands there twice"
    counts = Counter(point.outcome for point in review.points)
    assert sum(counts[outcome] for outcome in OUTCOMES) == len(review.points)
    for point in review.points:
        assert point.outcome == "printed" or point.reason, point.id
        assert (point.outcome == "printed") == (point.field is not None), point.id
        assert (point.outcome == "merged_into") == (point.merged_into is not None), point.id
        if point.merged_into is not None:
            target = by_id[point.merged_into]
            assert point.id in target.merged_from
            assert {(e.quote, e.role) for e in point.evidence} <= {(e.quote, e.role) for e in target.evidence}
        if point.field is not None:
            assert printed_words(point) in str(review.fields[point.field])
    _assert_numbered_without_gaps(review.points)


def printed_words(point: ReviewPoint) -> str:
    """What the form must hold of a printed point: what the check left of its claim."""
    return point.statement.rstrip().rstrip(".")


def assert_nothing_lost(review: Review, run: Path) -> None:
    """As many points as the accepted replies of the run's trace hold, per call, beside those of rules and the form."""
    calls = [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    last = {call.base: call for call in calls if call.prompt.startswith(RAISING)}
    raised = sum(len(json.loads(call.reply)["points"]) for call in last.values() if call.reply is not None)
    assert raised == sum(point.source not in ("rule", "form") for point in review.points)


def _assert_numbered_without_gaps(points: tuple[ReviewPoint, ...]) -> None:
    """Ids are counted per origin as points are raised, so a lost point leaves a gap."""
    numbers: dict[str, set[int]] = {}
    for point in points:
        number = re.search(r"\d+$", point.id)
        assert number is not None, point.id
        origin = point.id[: number.start()]
        numbers.setdefault(origin, set()).add(int(number[0]))
    for origin, seen in numbers.items():
        assert seen == set(range(1, len(seen) + 1)), origin


def assert_complete(review: Review) -> None:
    """Every field of the form has a value, or is null with its reason."""
    form = load_venue(VENUE)
    assert list(review.fields) == [field.name for field in form.fields]
    for name, value in review.fields.items():
        assert value is not None or review.nulls[name], name


def by_claim(review: Review, claim: str) -> ReviewPoint:
    """The one point with that claim."""
    (point,) = (point for point in review.points if point.claim == claim)
    return point
