"""What a scripted model says to each task of the whole-paper plan, a paper of several parts, and runs on it."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.agents.form_reply import offered
from referee.api import review
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.schemas.run import CallRecord
from referee.venues import load_venue
from tests.options import with_options
from tests.support import ChatRequest, FakeServer
from tests.support.script import Script

from .sections_paper import _prose, paper_text
from .sections_run import OUTCOMES, assert_complete, printed_words, quick_settings
from .sections_script import VENUE

SLIP = "The lamps were weighed on 17 days of the month of May and on 12 days of June, 31 days in all."
LONGER = ("Method", "Theory", "Results", "Experiments")
_SECTION = re.compile(r"^#+ \[(s\d+)\] (?:[\d.]+ )?(.*?)(?: \(page \d+\))?$", re.MULTILINE)
_STATEMENT = re.compile(r"^\[(a\d+)\] (.*)$", re.MULTILINE)
_ITEM = re.compile(r"^\[(a\d+)\] \w+(?: \([^)]*\))?: (.*)$", re.MULTILINE)
_POINT = re.compile(r"^\[(b\d+)\] ([^:]*): (.*)$", re.MULTILINE)
BOTH = "strengths_and_weaknesses"


def long_paper() -> str:
    """Markdown of eight sections whose method and experiments are long enough to be read by a call of their own."""
    dice = random.Random(3)
    blocks = []
    for block in paper_text(8).rstrip().split("\n\n"):
        heading = blocks[-1].rpartition(" ")[2] if blocks else ""
        more = [_prose("", dice) for _ in range(2)] if heading in LONGER and not block.startswith("#") else []
        slip = [SLIP] if heading == "Results" and more else []
        blocks.append(" ".join([block, *slip, *more]))
    return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class Raise:
    """A point as a reader raises it; ``quotes`` are (heading, words)."""

    claim: str
    quotes: tuple[tuple[str, str], ...] = ()
    polarity: str = "weakness"
    kind: str = "unsupported"
    effect: str = "claim"
    argument: str = "Chance could explain it as well."
    work: str = ""


@dataclass(frozen=True)
class Ruling:
    """What the check says of a claim; the default is that the paper shows it."""

    shown: str = "yes"
    words: str = ""
    narrowed: str = ""
    conceded: bool = False
    in_scope: bool = True
    effect: str = "claim"


@dataclass
class WholeScene:
    """Points, corrections and merits by kind of reader: a heading of the part that is read, or ``whole``.

    ``same`` are groups of claims that the grouping names. ``tests`` are answers of the check by claim, ``amended`` by
    the correction's printed words: verdict, wording, what it bears on.
    """

    points: Mapping[str, Sequence[Raise]] = field(default_factory=dict)
    corrections: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    merits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    same: Sequence[Sequence[str]] = ()
    tests: Mapping[str, Ruling] = field(default_factory=dict)
    amended: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    rating: int | None = None

    def script(self) -> Script:
        """The script for a server; nothing is left to chance."""
        return Script(
            {
                "review/focus": self.reading,
                "review/whole": self.reading,
                "review/group": self.groups,
                "review/verify": self.verdicts,
                "review/amend": self.amendments,
                "review/write": self.written,
            },
            otherwise="fail",
        )

    def reading(self, request: ChatRequest) -> Any:
        places = {heading: name for name, heading in _SECTION.findall(request.user)}
        reader = reader_of(request)
        first = next(iter(places.values()))

        def of(kind: Mapping[str, Sequence[Any]]) -> list[Any]:
            return [item for key, items in kind.items() if key in reader for item in items]

        return {
            "reading": "A private note on lanterns.",
            "points": [_raised(one, places, first) for one in of(self.points)],
            "corrections": [
                {"place": "Results", "printed": a, "should_be": b, "why": "they add up", "section_id": first}
                for a, b in of(self.corrections)
            ],
            "merits": [{"claim": claim, "section_id": first, "quote": ""} for claim in of(self.merits)],
        }

    def groups(self, request: ChatRequest) -> Any:
        ids = {claim: name for name, claim in _ITEM.findall(task_of(request))}
        named = [[ids[claim] for claim in group if claim in ids] for group in self.same]
        return {"groups": [{"ids": group} for group in named if len(group) > 1]}

    def verdicts(self, request: ChatRequest) -> Any:
        return {"verdicts": [self._verdict(name, claim) for name, claim in _STATEMENT.findall(task_of(request))]}

    def _verdict(self, name: str, claim: str) -> dict[str, Any]:
        test = self.tests.get(claim, Ruling())
        return {
            "id": name,
            "words": test.words,
            "place": "",
            "shown": test.shown,
            "true_if_narrowed": test.narrowed,
            "conceded": test.conceded,
            "in_scope": test.in_scope,
            "effect": test.effect,
        }

    def amendments(self, request: ChatRequest) -> Any:
        lines = []
        for name, line in _STATEMENT.findall(task_of(request)):
            said = next((said for printed, said in self.amended.items() if printed in line), ("shown", "", "detail"))
            lines.append(dict(zip(("id", "verdict", "wording", "bears_on"), (name, *said), strict=True)))
        return {"amendments": lines}

    def written(self, request: ChatRequest) -> Any:
        """Each point a paragraph of its own words in its box: merits and weaknesses in one, questions in theirs."""
        form = load_venue(VENUE)
        reply: dict[str, Any] = {f.name: [] for f in form.reviewer_fields if f.kind == "text"}
        reply["summary"] = [{"text": "The paper is about lanterns.", "points": [], "weight": "opening"}]
        points = _POINT.findall(task_of(request))
        for name, head, claim in points:
            box = "questions" if head.startswith("question") else BOTH
            weight = "decides" if "bears on a claim" in head else "other"
            reply[box].append({"text": f"In prose: {claim}", "points": [name], "weight": weight})
        for one in form.reviewer_fields:
            if one.kind == "score":
                value = self.rating if one.name == "rating" else None
                option = next((text for text, known in offered(one).items() if known == value), "open")
                supports = [name for name, _, _ in points[:1]]
                reply[one.name] = {"reason": "the points", "supports": supports, "opposes": [], "value": option}
            elif one.kind in ("choice", "flag"):
                reply[one.name] = [] if one.kind == "flag" else next(iter(offered(one)))
        return reply


def _raised(one: Raise, places: Mapping[str, str], first: str) -> dict[str, Any]:
    return {
        "claim": one.claim,
        "argument": one.argument,
        "polarity": one.polarity,
        "kind": one.kind,
        "evidence": [{"section_id": places.get(h, first), "quote": words, "role": "shows"} for h, words in one.quotes],
        "effect": one.effect,
        "settled_by": "five more lamps",
        "remedy": "experiment",
        "work_to_look_up": one.work,
    }


def reader_of(request: ChatRequest) -> str:
    """The headings of the part that a reader has, or ``whole``."""
    if request.prompt_id.startswith("review/whole"):
        return "whole"
    return task_of(request).partition("Yours is\n")[2].partition("\n")[0]


def task_of(request: ChatRequest) -> str:
    """What stands behind the paper."""
    return request.user.partition("</submission>")[2]


async def run_whole(
    server: FakeServer, folder: Path, *, out: str = "run", text: str = "", readings: str = "all", **more: Any
) -> Review:
    """One run on the made-up paper, of which nothing may be lost, printed twice or left empty without a reason."""
    paper = folder / "paper.md"
    paper.write_text(text or long_paper(), encoding="utf-8")
    settings = more.pop("settings", None) or whole_settings(readings)
    options: dict[str, Any] = {"venue": VENUE, "model": "m", "base_url": server.base_url, **more}
    options |= {} if "resume" in more else {"out": folder / out}
    done = await review(paper, **with_options(**{"settings": settings, **options}))
    assert_whole(done, Path(more.get("resume", folder / out)))
    return done


def whole_settings(readings: str = "all", **more: Any) -> Any:
    """Settings without waits, with the window that the server names."""
    return quick_settings(**{"models.context_tokens": None, "review.readings": readings, **more})


def assert_whole(review: Review, run: Path) -> None:
    """Conserved, complete, nothing raised lost, and each printed point once in the text of exactly one field."""
    by_id = {point.id: point for point in review.points}
    assert len(by_id) == len(review.points), "a point stands there twice"
    counts = Counter(point.outcome for point in review.points)
    assert sum(counts[outcome] for outcome in OUTCOMES) == len(review.points)
    for point in review.points:
        assert point.outcome == "printed" or point.reason, point.id
        assert (point.outcome == "printed") == (point.field is not None), point.id
        assert (point.outcome == "merged_into") == (point.merged_into is not None), point.id
        assert point.merged_into is None or point.id in by_id[point.merged_into].merged_from
    if list(review.fields) == [field.name for field in load_venue(VENUE).fields]:
        assert_complete(review)
    assert raised_in(run) == Counter(_origin(p) for p in review.points if p.source not in ("rule", "literature"))


def raised_in(run: Path) -> Counter[str]:
    """How many items the accepted replies of the run's trace raised, by part and kind."""
    calls = [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    last = {call.base: call for call in calls if call.prompt.startswith(("review/focus", "review/whole"))}
    raised: Counter[str] = Counter()
    for call in last.values():
        try:
            reply = json.loads(call.reply or "")
            sizes = {kind: len(reply[kind]) for kind in ("points", "corrections", "merits")}
        except (ValueError, KeyError, TypeError):
            continue
        for kind, size in sizes.items():
            raised[f"{kind[0]} {call.call_id}"] += size
    return +raised


def _origin(point: ReviewPoint) -> str:
    return f"{point.id[0]} {point.call_id}"


def times_printed(review: Review, point: ReviewPoint) -> dict[str, int]:
    """How often the form says a point, by field."""
    counts = {name: str(text).count(printed_words(point)) for name, text in review.fields.items()}
    return {name: count for name, count in counts.items() if count}
