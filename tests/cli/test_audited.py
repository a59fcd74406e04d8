"""Strategy ``audited``: one draft, one audit and a last reading, each behind the draft's own request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.evidence.listing import in_list
from referee.schemas.review import Review
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer

from .command import Referee

EXAMPLE = Path(__file__).parents[2] / "examples" / "short.md"


@pytest.fixture(autouse=True)
def long_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "128000")


def raised(claim: str, severity: str = "material", kind: str = "weakness", **changes: Any) -> dict[str, Any]:
    empty = {"argument": "", "evidence": [], "absent": [], "should_be": "", "would_settle": ""}
    return {"kind": kind, "severity": severity, "topic": "design", "claim": claim, **empty, **changes}


def draft(request: ChatRequest) -> dict[str, Any]:
    claims = ("One seed.", "One data set.", "No control.", "The bound is loose.")
    words = {"where": "Abstract", "quote": request.quotation("submission")}
    slip = raised("A wrong word.", "small", "correction", evidence=[words], should_be="Other words.")
    rating = {"reason": "A wrong word.", "points": [5], "value": 3}
    return request.instance(points=[*map(raised, claims), slip], computations=[], rating=rating)


def change(point: int, what: str, **changes: Any) -> dict[str, Any]:
    empty = {"claim": "", "argument": "", "where": "", "quote": "", "repeats": 0, "against": 0}
    return {"point": point, "change": what, **empty, "severity": "small", "reason": "Read again.", **changes}


def is_audit(request: ChatRequest) -> bool:
    return "reply with three lists" in request.user


def reader(request: ChatRequest) -> dict[str, Any]:
    if not is_audit(request):
        return {"changes": [change(3, "delete", repeats=2), change(5, "lower")]}
    refuted = change(1, "refuted", quote=request.quotation("submission"), reason="Five seeds are named.")
    narrowed = change(2, "narrowed", claim="One data set in the main table.", severity="material")
    words = {"where": "Abstract", "quote": request.quotation("submission")}
    added = [raised("The leak decides.", "decides", evidence=[words]), raised("Equation 2 lacks a square.")]
    of_nothing = change(4, "repeats", severity="material")
    return {"changes": [refuted, narrowed, of_nothing], "first": [4, 3], "additions": added}


def run(
    referee: Referee,
    server: FakeServer,
    workplace: Path,
    *more: str,
    paper: Path = EXAMPLE,
    venue: str = "openreview-default",
) -> Review:
    done = referee(
        "review",
        paper,
        "--venue",
        venue,
        "--model",
        "fake",
        "--base-url",
        server.base_url,
        "--no-cache",
        "--yes",
        "--out",
        "run",
        *more,
    )
    assert done.code == 0, done.err
    return Review.model_validate_json((workplace / "run" / "review.json").read_text())


def test_points_are_struck_narrowed_added_joined_and_lowered(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    server.script.entries |= {"writer": draft, "checker": reader}
    review = run(referee, server, workplace)
    by_claim = {point.claim: point for point in review.points if point.source == "whole"}
    assert by_claim["One seed."].outcome == "struck"
    assert by_claim["One data set."].statement == "One data set in the main table."
    assert by_claim["The bound is loose."].check.verdict == "stands", "it was said to repeat no point"
    assert by_claim["The leak decides."].id == "p-A-1"
    assert [p.outcome for p in review.points].count("merged_into") == 1
    text = (workplace / "run" / "review.md").read_text()
    assert text.count("Another reading tried to refute the weaknesses and corrections") == 1
    assert "Not checked" not in text, "the last reading tested what the auditor added"
    printed = [p.claim for p in in_list(review)]
    assert printed.index("The bound is loose.") < printed.index("One data set."), "the auditor's order"
    (rating,) = (record for record in review.scores if record.field == "rating")
    assert set(rating.supported_by) == {"p-S-5", "p-A-1"}, "the rating rests on what the audit found to decide"
    assert "small" in {p.weight for p in in_list(review)}
    assert {reader.name for record in review.criteria for reader in record.readers} == {
        "the reviewer",
        "the auditor",
    }
    calls = [call.request for call in server.log.calls(endpoint="chat") if call.request is not None]
    assert len(calls) == 3
    assert "5. [correction, small] Abstract: " in calls[1].user
    assert all(call.user.startswith(calls[0].user) and call.system == calls[0].system for call in calls[1:])


def test_an_auditor_who_fails_leaves_a_gap_that_is_said(referee: Referee, server: FakeServer, workplace: Path) -> None:
    def lost(request: ChatRequest) -> Any:
        if is_audit(request):
            return "I will not."
        return {"changes": []}

    server.script.entries |= {"writer": draft, "checker": lost}
    review = run(referee, server, workplace)
    assert len(in_list(review)) == 5
    notes = " ".join(review.provenance.notes)
    assert "the audit failed, and the review stands without it" in notes
    assert {point.check.verdict for point in in_list(review)} == {"stands"}


def test_a_last_reading_that_deletes_everything_is_not_believed(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    def emptied(request: ChatRequest) -> Any:
        if is_audit(request):
            return {"changes": [], "first": [], "additions": []}
        quote = request.quotation("submission")
        return {"changes": [change(n, "delete", quote=quote) for n in (1, 2, 3, 4)]}

    server.script.entries |= {"writer": draft, "checker": emptied}
    review = run(referee, server, workplace)
    assert len(in_list(review)) == 5
    assert "4 of 5 points were refuted by one reading, which was not believed" in review.provenance.notes


def test_a_draft_without_points_is_not_audited(referee: Referee, server: FakeServer, workplace: Path) -> None:
    server.script.entries |= {"writer": lambda request: request.instance(points=[], computations=[])}
    review = run(referee, server, workplace)
    assert not in_list(review)
    assert len(server.log.calls(endpoint="chat")) == 1


def test_a_paper_that_no_window_holds_is_read_part_by_part(
    referee: Referee, server: FakeServer, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = workplace / "long.md"
    long.write_text(EXAMPLE.read_text() + "\n\n## More\n\n" + "Each of the sentences says the same thing. " * 1_000)
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "16000")
    where = ("--base-url", server.base_url, "--no-cache", "--yes", "--out", "long")
    done = referee("review", long, "--venue", "openreview-default", "--model", "fake", *where)
    assert done.code == 0, done.err
    assert "does not hold the paper: it is read part by part" in " ".join(done.err.split())
    review = Review.model_validate_json((workplace / "long" / "review.json").read_text())
    assert review.provenance is not None
    assert review.provenance.strategy == "sections"


PICTURES = """# A bound on the regret

## Abstract

We bound the regret of the method.

## 1 Method

The loss is

![](eq1.png)

and its gradient is

![](eq2.png)

as required.
"""


def test_equations_that_are_pictures_are_said_to_every_reader(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    (workplace / "pictures.md").write_text(PICTURES)
    server.script.entries |= {"writer": draft, "checker": reader}
    assert in_list(run(referee, server, workplace, paper=workplace / "pictures.md"))
    calls = [call.request for call in server.log.calls(endpoint="chat") if call.request is not None]
    assert len(calls) == 3
    assert all("pictures in the text, which may hold equations" in call.user for call in calls)
    assert all("(eq2.png)" in call.user for call in calls)


def test_a_form_of_scores_alone_keeps_every_point(referee: Referee, server: FakeServer, workplace: Path) -> None:
    form = load_venue("openreview-default")
    scores = form.model_copy(update={"fields": tuple(f for f in form.fields if f.kind == "score")})
    (workplace / "scores.json").write_text(scores.model_dump_json(exclude_none=True))
    server.script.entries |= {"writer": draft, "checker": reader}
    review = run(referee, server, workplace, venue="scores.json")
    assert list(review.fields) == ["rating", "confidence"]
    assert len(in_list(review)) == 5
    text = (workplace / "run" / "review.md").read_text()
    assert all(point.claim in text for point in in_list(review) if point.correction is None and not point.check)
    assert "1. [Main reason, decides] The leak decides." in text


def test_of_a_review_that_says_one_thing_twenty_times_one_point_is_left(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    def same(request: ChatRequest) -> dict[str, Any]:
        return request.instance(points=[raised("One seed.", "decides") for _ in range(20)], computations=[])

    def joins(request: ChatRequest) -> dict[str, Any]:
        if is_audit(request):
            return {"changes": [change(n, "repeats", repeats=1) for n in range(2, 21)], "first": [], "additions": []}
        return {"changes": []}

    server.script.entries |= {"writer": same, "checker": joins}
    review = run(referee, server, workplace)
    assert [point.claim for point in in_list(review)] == ["One seed."]
    assert [point.outcome for point in review.points].count("merged_into") == 19


def test_another_model_that_audits_is_named_in_the_disclosure(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    server.script.entries |= {"writer": draft, "checker": reader}
    review = run(referee, server, workplace, "--model-for", "checker=other")
    first = review.disclosure.split("\n\n")[0]
    assert "with the language models fake@" in first
    assert ", other@" in first
    assert review.provenance is not None
    assert len(set(review.provenance.notes)) == len(review.provenance.notes)


def test_a_draft_that_is_no_list_is_not_audited_and_says_so(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    review = run(referee, server, workplace, "--strategy", "audited", "--prompt", "review/single=v2")
    assert len(server.log.calls(endpoint="chat")) == 1
    assert review.provenance is not None
    assert "the draft is no list of points" in " ".join(review.provenance.notes)


@pytest.mark.parametrize(
    ("model", "variable"), [("openai:gpt-4o-mini", "OPENAI"), ("anthropic:claude-x", "ANTHROPIC")], ids=lambda one: one
)
def test_the_paper_is_read_from_the_providers_cache_by_all_but_the_first(
    referee: Referee, server: FakeServer, workplace: Path, monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    monkeypatch.setenv(f"{variable}_API_KEY", "sk-none")
    monkeypatch.setenv(f"{variable}_BASE_URL", server.base_url if variable == "OPENAI" else server.url)
    server.script.entries |= {"writer": draft, "checker": reader}
    done = referee("review", EXAMPLE, "--venue", "openreview-default", "--model", model, "--no-cache", "--yes")
    assert done.code == 0, done.err
    first, *later = server.log.calls()
    assert len(later) == 2
    assert first.cached_tokens == 0
    paper = len(EXAMPLE.read_text().split())
    assert all(call.cached_tokens > paper for call in later)
    assert bool(first.cache_write_tokens) == (variable == "ANTHROPIC")


def test_an_auditor_who_ranks_all_first_and_adds_a_hundred_is_cut_short(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    def many(request: ChatRequest) -> dict[str, Any]:
        if is_audit(request):
            added = [raised(f"Step {n} does not follow.") for n in range(100)]
            return {"changes": [], "first": [n % 5 + 1 for n in range(40)], "additions": added}
        return {"changes": []}

    server.script.entries |= {"writer": draft, "checker": many}
    review = run(referee, server, workplace)
    assert [point.id for point in review.points if point.id.startswith("p-A")] == [f"p-A-{n}" for n in range(1, 6)]
    assert len(in_list(review)) == 10
    assert review.provenance is not None
    assert "the auditor added 95 points more than the 5 that were taken" in review.provenance.notes
