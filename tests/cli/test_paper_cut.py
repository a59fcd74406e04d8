"""A paper that a model's window does not hold: what every command says, records and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.data.predictions import Prediction, read_predictions
from referee.schemas.review import Review
from referee.schemas.run import RunRecord
from tests.support import FakeServer

from .arena_sets import row
from .command import Referee
from .experiment_sets import result, two_arms
from .processes import wait_for
from .refusals import assert_refused, on
from .terminal import Terminal

LINE = "tokens of the paper ("
MANY = "A model with a larger window reads all of it."


def body(n: int, sentences: int) -> str:
    """A paper of two sections, each of one long paragraph."""
    method = " ".join(f"Clerk {k} counts the lanterns of harbour {n} twice." for k in range(sentences))
    results = " ".join(f"Lantern {k} of harbour {n} burns for an hour." for k in range(sentences))
    return (
        f"# Lanterns {n}\n\n## Abstract\n\nWe count the lanterns of harbour {n}.\n\n"
        f"## 1 Method\n\n{method}\n\n## 2 Results\n\n{results}\n"
    )


CUT, TOO_LONG = 400, 3_000
"""Sentences a section: more than half of the one fits into the window of these tests, and little of the other."""


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "1")
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "14000")
    folder = workplace / "papers"
    folder.mkdir()
    for name, n, sentences in (("cut", 1, CUT), ("long", 2, TOO_LONG), ("short", 3, 5)):
        (folder / f"{name}.md").write_text(body(n, sentences))
    return workplace


def record(run: Path) -> RunRecord:
    return RunRecord.model_validate_json((run / "run.json").read_text())


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_review_begins_with_what_was_not_read(referee: Referee, place: Path, server: FakeServer) -> None:
    more = ("--strategy", "single", "--venue", "neurips-2025", "--out", "run")
    done = referee("review", "papers/cut.md", *on(server, *more))
    assert done.code == 0, done.err
    cut = Review.model_validate_json((place / "run" / "review.json").read_text()).provenance.cut  # type: ignore[union-attr]
    assert cut is not None
    assert 0.5 < cut.body_share < 1
    said = f"The model read {cut.tokens_kept:,} of {cut.tokens_total:,} tokens of the paper ({cut.share:.0%}); "
    assert " ".join(done.out.split()).startswith(said)
    assert done.err.index("The model will read") < done.err.index("Estimate")
    (_, first, *_) = (place / "run" / "review.md").read_text().split("\n\n")
    assert first.startswith(f"**{said}")
    assert said in (place / "run" / "report.html").read_text().split("<h1>")[0]
    assert said in (place / "run" / "fixes.md").read_text()
    assert record(place / "run").cuts.popitem()[1] == cut
    assert "tokens of this section are not shown]" in server.log.calls(endpoint="chat")[0].request.user  # type: ignore[union-attr]


def test_a_paper_that_is_read_whole_has_no_line(referee: Referee, place: Path, server: FakeServer) -> None:
    done = referee(
        "review", "papers/short.md", *on(server, "--strategy", "single", "--venue", "neurips-2025", "--out", "run")
    )
    assert done.code == 0, done.err
    assert LINE not in done.out + done.err
    assert record(place / "run").cuts == {}


def test_less_than_half_of_the_body_is_refused_before_a_call(referee: Referee, place: Path, server: FakeServer) -> None:
    given = ("review", "papers/long.md", *on(server, "--strategy", "single", "--venue", "neurips-2025"))
    done = referee(*given, "--out", "run")
    assert_refused(done, "'fake@127.0.0.1", "14,000 tokens", "'Lanterns 2'", "of the body", "--strategy sections")
    assert "paper.min_read" in done.err
    assert server.log.calls(endpoint="chat") == []
    assert not (place / "run").exists()
    agreed = referee(*given, "--out", "run", "--yes")
    assert agreed.code == 0, agreed.err
    assert agreed.out.startswith("The model read ")


def test_a_lower_share_can_be_set(
    referee: Referee, place: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_PAPER__MIN_READ", "0.05")
    more = ("--strategy", "single", "--venue", "neurips-2025")
    done = referee("review", "papers/long.md", *on(server, *more))
    assert done.code == 0, done.err
    assert done.out.startswith("The model read ")


@pytest.mark.slow
def test_somebody_at_a_terminal_is_asked_and_no_answer_is_a_no(place: Path, server: FakeServer) -> None:
    given = ("--strategy", "single", "--venue", "neurips-2025", "--out", "run")
    terminal = Terminal(place, ("review", "papers/long.md", *on(server, *given)))
    try:
        wait_for(lambda: "Review only what fits?" in terminal.shown)
        terminal.press(b"\n")
        wait_for(lambda: terminal.process.ended(0) is not None)
    finally:
        terminal.close()
    assert "of the body of the paper 'Lanterns 2'" in terminal.shown
    assert server.log.calls(endpoint="chat") == []


def test_an_arena_counts_what_was_cut_and_does_not_answer_for_what_was_not_read(
    referee: Referee, place: Path, server: FakeServer
) -> None:
    given = [row(n, markdown=body(n, sentences)) for n, sentences in enumerate((CUT, TOO_LONG, 5), start=1)]
    (place / "papers.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in given))
    more = ("--papers", "papers.jsonl", "--model", "m", "--base-url", server.base_url, "--out", "run")
    done = referee("arena", "run", *more)
    assert done.code == 0, done.err
    first, second, *_ = done.out.splitlines()
    assert first.startswith("The model read ")
    assert "of 1 of 3 papers (at least " in first
    assert first.endswith("1 paper was not read: less of the body fits into the model's window than paper.min_read.")
    assert second.endswith("3 papers: 2 answered, 1 failed.")
    cut, long, short = read_predictions(place / "run" / "predictions.jsonl")
    assert (cut.status, long.status, short.status) == ("answered", "failed", "answered")
    assert short.cut is None
    assert cut.cut is not None
    assert cut.cut.body_share > 0.5
    assert long.cut is not None
    assert long.cut.body_share < 0.5
    assert "of the body of the paper" in long.reason
    assert set(record(place / "run").cuts) == {"f1", "f2"}
    assert len(server.log.calls(endpoint="chat")) == 2


def test_predictions_of_before_still_load(place: Path) -> None:
    old = Prediction(paper_id="p", source="m", status="answered").model_dump(mode="json")
    del old["cut"]
    (place / "old.jsonl").write_text(json.dumps(old) + "\n")
    assert read_predictions(place / "old.jsonl")[0].cut is None


def test_anchors_say_what_was_cut_and_leave_out_what_was_not_read(
    referee: Referee, place: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "10000")
    more = ("--papers", "papers", "--models", "m", "--base-url", server.base_url, "--out", "run")
    done = referee("detect", "anchors", *more)
    assert done.code == 0, done.err
    first, second, *_ = done.out.splitlines()
    assert "of 1 of 3 papers" in first
    assert "1 paper was not read" in first
    assert second == "2 anchors: 2 written, 1 failed."
    cut, short = rows(place / "run" / "anchors.jsonl")
    assert (cut["paper_id"], short["cut"]) == ("cut", None)
    assert cut["cut"]["tokens_kept"] < cut["cut"]["tokens_total"]  # type: ignore[index]
    assert [name.split(",")[0] for name in record(place / "run").cuts] == ["cut", "long"]


@pytest.mark.parametrize("task", ["archetype", "edit"])
def test_generated_reviews_say_what_of_their_paper_was_cut(
    referee: Referee, place: Path, server: FakeServer, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_MODELS__CONTEXT_TOKENS", "14000" if task == "archetype" else "10000")
    humans = [
        {
            "review_id": f"h-{name}",
            "paper_id": name,
            "source": "human",
            "venue": "ICLR",
            "year": 2021,
            "review": "Fine.",
        }
        for name in ("cut", "long", "short")
    ]
    (place / "set.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in humans))
    more = ("--levels", "maximum", "--embedder", "e") if task == "edit" else ()
    on_server = ("--papers", "papers", "--model", "m", "--base-url", server.base_url, "--out", "run")
    done = referee("detect", "generate", "set.jsonl", "--task", task, *more, *on_server)
    assert done.code == 0, done.err
    first, second, *_ = done.out.splitlines()
    assert "of 1 of 3 papers" in first
    assert "1 paper was not read" in first
    assert second == f"2 reviews ({task}): 2 written, 1 failed."
    made = {str(one["paper_id"]): one["extra"] for one in rows(place / "run" / "generated.jsonl")}
    assert made["cut"]["cut"]["tokens_kept"] < made["cut"]["cut"]["tokens_total"]  # type: ignore[index]
    assert "cut" not in made["short"]  # type: ignore[operator]
    assert len(record(place / "run").cuts) == 2


@pytest.mark.slow
def test_an_experiment_says_what_was_cut_and_fails_what_was_not_read(
    referee: Referee, place: Path, server: FakeServer
) -> None:
    plan = two_arms("papers/*.md", metric="rating_error").replace('models = ["a", "b"]', 'models = ["a"]')
    (place / "plan.toml").write_text(plan.replace('metrics = ["rating_error"]', 'metrics = ["words"]'))
    done = referee("experiment", "plan.toml", "--base-url", server.base_url, "--out", "run")
    assert done.code == 0, done.err
    assert "of 1 of 3 papers" in done.out.splitlines()[0]
    assert "1 paper was not read" in done.out.splitlines()[0]
    found = result(place / "run")
    assert found.cut_line == done.out.splitlines()[0]
    assert len(found.cuts) == 2
    assert found.arms[0].units["failed"] == 1
    assert found.cut_line in (place / "run" / "summary.md").read_text()
    assert len(record(place / "run").cuts) == 2


@pytest.mark.slow
def test_a_judge_that_sees_passages_of_the_paper_says_so(referee: Referee, place: Path, server: FakeServer) -> None:
    one = {"review_id": "r", "paper_id": "long", "source": "x", "venue": "ICLR", "year": 2021, "review": "It is fine."}
    (place / "set.jsonl").write_text(json.dumps(one) + "\n")
    more = ("--papers", "papers", "--metrics", "assertions", "--judge", "j", "--base-url", server.base_url)
    done = referee("eval", "set.jsonl", *more, "--out", "run")
    assert done.code == 0, done.err
    (found,) = rows(place / "run" / "results.jsonl")
    cut = found["details"]["paper_cut"]  # type: ignore[index]
    said = f"The model read {cut['tokens_kept']:,} of {cut['tokens_total']:,} tokens of the paper ("
    assert done.out.startswith(said)
    assert said in (place / "run" / "summary.md").read_text().split("- Reviews:")[0]
