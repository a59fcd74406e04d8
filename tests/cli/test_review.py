"""``referee review`` as a user meets it, against a server on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee.schemas.review import Review
from referee.schemas.run import CallRecord, RunRecord
from referee.venues import load_venue
from tests.support import ChatRequest, FakeServer

from .command import Outcome, Referee


def on(server: FakeServer, *more: object) -> tuple[object, ...]:
    return ("--model", "fake", "--base-url", server.base_url, "--no-cache", "--strategy", "single", *more)


def backed(request: ChatRequest) -> dict[str, Any]:
    """A reply whose scores rest on a real and on a made-up quotation."""
    invented = "the moon is made of cheese and of nothing else at all"

    def raised(claim: str, quote: str) -> dict[str, Any]:
        empty = {"argument": "", "absent": [], "should_be": "", "would_settle": ""}
        kind = {"kind": "weakness", "severity": "material", "topic": "error"}
        return {**empty, **kind, "claim": claim, "evidence": [{"where": "Abstract", "quote": quote}]}

    def score(value: str, *numbers: int) -> dict[str, Any]:
        return {"reason": "the evidence says so", "points": list(numbers), "value": value}

    return request.instance(
        points=[raised("Says what it does.", request.quotation("submission")), raised("Invents.", invented)],
        summary='It is said that "pigs can fly over the tall green mountains" here.',
        quality=score("3: good", 1),
        significance=score("2: fair", 2),
        originality=score("2: fair", 2),
        rating=score("4: Borderline accept", 1, 2),
        ethical_concerns=["NO or VERY MINOR ethics concerns only"],
    )


def read(folder: Path) -> Review:
    return Review.model_validate_json((folder / "review.json").read_text())


def test_a_run_folder_holds_everything_and_the_terminal_says_the_rest(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    server.script.entries["writer"] = backed
    done = referee("review", paper, "--venue", "neurips-2025", "--out", "run", *on(server))

    assert done.code == 0, done.err
    run = workplace / "run"
    names = {p.name for p in run.iterdir() if not p.name.startswith(".")}
    assert names >= {
        "review.md",
        "fixes.md",
        "report.html",
        "review.json",
        "review.openreview.json",
        "trace.jsonl",
        "run.json",
    }
    assert "RESTRICTED" in done.err
    assert "Estimate: 1 call" in done.err
    assert "cost unknown" in done.err
    assert "Overall rating: 4: Borderline accept" in done.out
    assert "Written to run:\n  report.html " in done.out
    assert "\x1b" not in done.out + done.err

    review = read(run)
    assert review.rating == 4
    assert list(review.fields) == [field.name for field in load_venue("neurips-2025").fields]
    record = RunRecord.model_validate_json((run / "run.json").read_text())
    assert record.status == "finished"
    assert record.usage.calls == 1
    assert record.usage_by_role.keys() == {"writer"}
    (call,) = [CallRecord.model_validate_json(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    assert call.prompt == "review/single@v3"


def test_quotations_are_verified_and_scores_rest_on_them(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    server.script.entries["writer"] = backed
    referee("review", paper, "--venue", "neurips-2025", "--out", "run", *on(server))
    review = read(workplace / "run")

    first, second = review.points
    assert (first.number, first.heading, first.weight) == (1, "weakness", "material")
    assert first.evidence[0].section
    assert (second.unverified, second.evidence[0].status) == (True, "not_found")
    assert "No quotation was found for this." in str(review.fields["strengths_and_weaknesses"])
    assert any("pigs can fly" in d.quote for d in review.dropped)
    assert review.fields["summary"] == "It is said that pigs can fly over the tall green mountains here.", "no marks"
    assert review.fields["quality"] == 3
    assert review.fields["significance"] is None
    assert "no verified quotation" in review.nulls["significance"]
    assert {f.field for f in review.forced} >= {"significance", "originality"}
    (confidence,) = (score for score in review.scores if score.field == "confidence")
    assert (confidence.stated, confidence.value) == (None, review.fields["confidence"])
    assert confidence.reason.startswith("by rule: ")


def test_the_openreview_file_is_the_form_and_nothing_else(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    server.script.entries["writer"] = backed
    referee("review", paper, "--venue", "neurips-2025", "--out", "run", *on(server))
    flat = json.loads((workplace / "run" / "review.openreview.json").read_text())
    assert flat["rating"] == 4
    assert flat["significance"] == 2
    assert flat["ethical_concerns"] == ["NO or VERY MINOR ethics concerns only"]
    assert not {"code_of_conduct_acknowledgement", "final_justification"} & flat.keys()
    assert read(workplace / "run").attestations == (
        "code_of_conduct_acknowledgement",
        "responsible_reviewing_acknowledgement",
    )


@pytest.mark.parametrize("venue", ["neurips-2025", "iclr-2025", "arr"])
def test_every_venue_gives_a_whole_review(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer, venue: str
) -> None:
    done = referee("review", paper, "--venue", venue, "--out", "run", *on(server))
    assert done.code == 0, done.err
    review = read(workplace / "run")
    for name, value in review.fields.items():
        assert value is not None or review.nulls[name]


def test_a_finished_run_is_resumed_without_a_call(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    arguments = ("review", paper, "--venue", "arr", *on(server))
    referee(*arguments, "--out", "run")
    before = read(workplace / "run")
    done = referee(*arguments, "--resume", "run")
    assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) == 1
    assert read(workplace / "run").fields == before.fields


def test_the_cache_saves_the_second_run_its_call(
    referee: Referee, paper: Path, server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    for out in ("one", "two"):
        given = ("--venue", "arr", "--strategy", "single", "--model", "m", "--base-url", server.base_url)
        done = referee("review", paper, *given, "--out", out)
        assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) == 1
    assert "1 reused" in done.out


def test_a_budget_stops_before_the_call_and_the_run_goes_on_with_a_higher_one(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer
) -> None:
    arguments = ("review", paper, "--venue", "arr", *on(server))
    stopped = referee(*arguments, "--out", "run", "--max-tokens", 500)
    assert stopped.code == 3
    assert "--max-tokens" in stopped.err
    assert "--resume" in stopped.err
    assert server.log.calls(endpoint="chat") == []
    assert RunRecord.model_validate_json((workplace / "run" / "run.json").read_text()).status == "stopped"
    assert not (workplace / "run" / "review.json").exists()
    done = referee(*arguments, "--resume", "run", "--max-tokens", 100_000)
    assert done.code == 0, done.err


def test_what_was_cut_is_on_the_record(referee: Referee, paper: Path, workplace: Path) -> None:
    with FakeServer(context_tokens=32_000) as server:
        Path("referee.toml").write_text("[models]\ncontext_tokens = 16000\n")
        whole = Path("long.md")
        whole.write_text(paper.read_text() + "\n\n# 3 More\n\n" + "\n\n".join(["Many words stand here."] * 4000))
        refused = referee("review", whole, "--venue", "neurips-2025", "--out", "run", *on(server))
        assert (refused.code, len(server.log)) == (2, 0)
        done = referee("review", whole, "--venue", "neurips-2025", "--out", "run", "--yes", *on(server))
        assert done.code == 0, done.err
    review = read(workplace / "run")
    assert review.provenance is not None
    assert [cut.section for cut in review.provenance.cuts] == ["More"]
    assert "More" in (workplace / "run" / "review.md").read_text()


def keys_seen(done: Outcome, workplace: Path, key: str) -> list[str]:
    files = [str(p) for p in workplace.rglob("*") if p.is_file() and key.encode() in p.read_bytes()]
    return files + [name for name, text in (("out", done.out), ("err", done.err)) if key in text]


@pytest.mark.parametrize("accepted", [True, False])
def test_a_key_reaches_no_file_and_no_message(
    referee: Referee, paper: Path, workplace: Path, monkeypatch: pytest.MonkeyPatch, accepted: bool
) -> None:
    key = "very-secret-key-0123456789"
    monkeypatch.setenv("REFEREE_API_KEY", key)
    with FakeServer(expected_key=key if accepted else "another") as server:
        done = referee("-vv", "review", paper, "--venue", "arr", "--out", "run", *on(server))
    assert (done.code == 0) is accepted
    assert keys_seen(done, workplace, key) == []
