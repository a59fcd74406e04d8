"""Runs of the strategy ``sections`` on a server of this machine, and what must hold for each."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.evidence import check_conservation
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer
from tests.support.log import CallEntry

from .command import Outcome, Referee

# Too small for any paper with room to work.
WINDOW = 20_000


def reviewed(
    referee: Referee,
    server: FakeServer,
    paper: Path,
    venue: str,
    out: Path,
    *more: object,
    strategy: str = "sections",
) -> Outcome:
    """Run ``referee review`` with the server as model and embedder, ``sections`` part by part."""
    if strategy == "sections":
        part_by_part()
    on = ("--model", "fake", "--embedder", "fake", "--base-url", server.base_url, "--no-cache")
    return referee("review", paper, "--venue", venue, "--strategy", strategy, "--out", out, *on, *more)


def part_by_part() -> None:
    """Settings of this folder by which no paper is read whole."""
    Path("referee.toml").write_text(f"[models]\ncontext_tokens = {WINDOW}\n", encoding="utf-8")


def quoting(request: ChatRequest) -> Any:
    """A random valid reply of some points, quotations cut from the section that was sent; the first is plain."""
    replies = (replace(request, seed=seed).instance() for seed in range(50))
    reply, rng = next(reply for reply in replies if len(reply["points"]) > 1), request.rng()
    for point in reply["points"]:
        for quotation in point["evidence"]:
            quotation["quote"] = request.quotation("section", rng) or quotation["quote"]
    plain = {"polarity": "weakness", "kind": "design", "absence": None, "checkable": "paper", "severity": "major"}
    reply["points"][0] |= plain
    return reply


def ruling(*, refuted: bool) -> Callable[[ChatRequest], Any]:
    """A checker that answers each statement once: all refuted by the first words shown for it, or all standing."""

    def answer(request: ChatRequest) -> Any:
        shown = re.findall(r'<(?:quotation|passage) id="((?:c\d+q|p)\d+)"', request.user)
        statements = re.findall(r'<statement id="(c\d+)"', request.user)
        tested = {"finding": "as it stands", "coherent": True, "shown": "yes", "in_scope": True, "matters": True}
        own = {name: next((w for w in shown if w.startswith(("p", f"{name}q"))), "none") for name in statements}
        named = own if refuted else dict.fromkeys(statements, "none")
        return {"answers": [{"statement": s, **tested, "refuted": named[s], "conceded": "none"} for s in statements]}

    return answer


def one_line(text: str) -> str:
    """The text without its line breaks and runs of blanks."""
    return " ".join(text.split())


def sound(out: Path) -> Review:
    """The review in a run folder, after seeing that its form is whole and that no point is lost.

    What was raised is taken from the models' replies in the trace and from the ids of rules, which count on.
    """
    review = Review.model_validate_json((out / "review.json").read_text())
    fields = {name: [p.id for p in review.points if p.field == name] for name in review.fields}
    check_conservation([p.id for p in review.points], review.points)
    assert all(bool(p.field) == (p.outcome == "printed") for p in review.points)
    assert list(review.fields) == [field.name for field in load_venue(review.venue).fields]
    assert all(value is not None or review.nulls[name] for name, value in review.fields.items())
    for name, ids in fields.items():
        assert not ids or one_line(str(review.fields[name]))
    _all_raised_are_kept(out, review)
    return review


def _all_raised_are_kept(out: Path, review: Review) -> None:
    """As many points of a call as its last valid reply holds; rules count from one without a gap."""
    lines = (out / "trace.jsonl").read_text().splitlines()
    calls = {record.call_id: record for record in map(CallRecord.model_validate_json, lines)}
    by_call: dict[str, list[str]] = {}
    for point in review.points:
        by_call.setdefault(point.call_id, []).append(point.id)
    rules = by_call.pop("", [])
    assert sorted(rules, key=lambda name: int(name[2:])) == [f"r-{n}" for n in range(1, len(rules) + 1)]
    raising = [r for r in calls.values() if r.role in ("writer", "cross") and r.reply is not None]
    for record in raising:
        try:
            raised = len(json.loads(record.reply or "")["points"])
        except (ValueError, KeyError, TypeError):
            assert record.call_id not in by_call
            continue
        repaired = any(later.base == record.base and later.repair_round > record.repair_round for later in raising)
        assert len(by_call.get(record.call_id, [])) == (0 if repaired else raised)


def comparable(text: str) -> str:
    """One line without control characters, and with what prompts make of an angle bracket that could open a tag."""
    seen = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cs"))
    return one_line(re.sub("[‹<\uff1c\ufe64]", "<", seen))


def sections_sent(log: Iterable[CallEntry]) -> str:
    """All the text of sections that readers were sent, on one line."""
    asked = [entry.request for entry in log if entry.role == "writer" and entry.request is not None]
    return comparable("\n".join(span for request in asked for span in request.spans("section")))
