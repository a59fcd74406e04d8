"""A scripted panel: reviewers with their quotations, an area chair, rounds of reflection; and a run on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee import RunOptions
from referee.api import review
from referee.schemas.review import Review
from referee.settings import load_settings
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer, Fault, Script

from .sections_paper import PROMISE, SEEDED, TIED, TUNED, paper_text

VENUE = "neurips-2025"
INVENTED = "The authors removed every third document by hand because its writer had annoyed them in the past."
FOUND = {number: said.rstrip(".") for number, said in enumerate((PROMISE, SEEDED, TIED), start=1)}
OVERLOOKED = TUNED.rstrip(".")
DONE: dict[str, Any] = {"thoughts": "It holds.", "revised": None}


def number_of(request: ChatRequest) -> int:
    """Which reviewer is asked."""
    told = re.search(r"You are reviewer (\d+) of", request.system)
    assert told is not None
    return int(told.group(1))


def scored(request: ChatRequest, value: str, *ids: str) -> dict[str, Any]:
    """The rating with its evidence, the other scores of the form without any."""
    form = load_venue(VENUE)
    options = {f.name: f.options[0] for f in form.reviewer_fields if f.kind == "score"}
    scores = {n: {"reason": "r", "evidence": [], "value": f"{o.value:g}: {o.label}"} for n, o in options.items()}
    return {**scores, "rating": {"reason": "as the evidence shows", "evidence": list(ids), "value": value}}


def texts(said: str) -> dict[str, str]:
    """All text fields of the form empty but one."""
    empty = {f.name: "" for f in load_venue(VENUE).reviewer_fields if f.kind == "text"}
    return {**empty, "strengths_and_weaknesses": said}


def shown_ids(request: ChatRequest) -> list[str]:
    """The ids of evidence in the reviews that a prompt shows."""
    return [name for span in request.spans("review") for name in re.findall(r"^\[([RF]\d+-[EN]\d+)\]", span, re.M)]


@dataclass
class Panel:
    """What each role answers. ``faults`` are failing calls, by prompt; ``round_replies`` are taken in their order."""

    quotes: Mapping[int, str] = field(default_factory=lambda: dict(FOUND))
    ratings: Mapping[int, str] = field(default_factory=lambda: {1: "5: Accept", 2: "2: Reject", 3: "2: Reject"})
    keep: Callable[[list[str]], list[str]] = list
    round_replies: list[Any] = field(default_factory=lambda: [DONE])
    broken: frozenset[int] = frozenset()

    def member(self, request: ChatRequest) -> Any:
        number = number_of(request)
        if number in self.broken:
            return Fault("prose")
        item = {
            "claim": f"Claim of {number}.",
            "quote": self.quotes[number],
            "bears_on": "strengths_and_weaknesses",
        }
        return request.instance(
            quoted_evidence=[item], **texts(f"Said by {number}."), **scored(request, self.ratings[number], "E1")
        )

    def chair(self, request: ChatRequest) -> Any:
        kept = self.keep(shown_ids(request))
        merged = scored(request, "2: Reject", *kept[:1])
        return request.instance(kept=kept, **texts("Said by all."), **merged)

    def script(self) -> Script:
        return Script(
            {"review/ensemble": self.member, "review/chair": self.chair, "review/reflect": list(self.round_replies)},
            otherwise="fail",
        )


def revised(quote: str, said: str = "Said again.") -> Callable[[ChatRequest], Any]:
    """A round that rewrites the review and brings a claim of its own, on which the rating then rests."""

    def answer(request: ChatRequest) -> Any:
        whole = request.instance()["revised"] or {}
        item = {"claim": "Overlooked so far.", "quote": quote, "bears_on": "strengths_and_weaknesses"}
        form = {**whole, "ethical_concerns": ["NO or VERY MINOR ethics concerns only"]}
        changed = {**form, "quoted_evidence": [item], **texts(said), **scored(request, "3: Weak Reject", "N1")}
        return {"thoughts": "Something was overlooked.", "revised": changed}

    return answer


async def run_panel(
    server: FakeServer, folder: Path, *, out: str = "run", size: int = 3, reflections: int = 1, **more: Any
) -> Review:
    """One run on the made-up paper; every field of the form has a value or a reason."""
    (folder / "paper.md").write_text(paper_text(3), encoding="utf-8")
    settings = load_settings(
        {
            "review.strategy": "ensemble",
            "review.ensemble_size": size,
            "review.reflections": reflections,
            "calls.cache": False,
            "calls.retry_wait_s": 0.0,
            "calls.max_tries": 2,
            "calls.concurrency": 64,
            **more,
        }
    )
    options = RunOptions(base_url=server.base_url, out=folder / out, settings=settings)
    done = await review(folder / "paper.md", venue=VENUE, model="m", options=options)
    form = load_venue(VENUE)
    assert list(done.fields) == [f.name for f in form.fields]
    assert all(value is not None or done.nulls[name] for name, value in done.fields.items())
    return done


def coverage(review: Review) -> float:
    """Of the quotations of all reviewers that are in the paper, the share that the review rests on."""
    found = set(FOUND.values())
    return len(found & quotes(review)) / len(found)


def quotes(review: Review) -> set[str]:
    """The quotations of the list's points that are in the paper."""
    return {e.quote for point in review.points for e in point.evidence if point.number and e.status != "not_found"}


def notes_of(review: Review) -> str:
    assert review.provenance is not None
    return "\n".join(review.provenance.notes)
