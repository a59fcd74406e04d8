"""``referee arena`` as a user meets it, against a server on this machine."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.data import read_cases
from referee.data.predictions import Prediction, read_predictions
from referee.schemas.review import Review
from referee.schemas.run import RunRecord
from tests.support import ChatRequest, FakeServer, Fault

from .arena_sets import MARKDOWN, SECRET, rated, row, write_rows
from .command import Outcome, Referee

Run = Callable[..., Outcome]


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    monkeypatch.setenv("REFEREE_CALLS__MAX_TRIES", "1")
    write_rows(workplace / "papers.jsonl", [row(1), row(2), row(3)])
    return workplace


@pytest.fixture
def arena(place: Path, referee: Referee, server: FakeServer) -> Run:
    server.script.entries["writer"] = rated

    def run(*arguments: object, papers: str = "papers.jsonl", model: str = "m") -> Outcome:
        given = ("--papers", papers, "--model", model, "--base-url", server.base_url, *arguments)
        return referee("arena", "run", *given)

    return run


def predictions(folder: Path) -> list[Prediction]:
    return read_predictions(folder / "predictions.jsonl")


def record(folder: Path) -> RunRecord:
    return RunRecord.model_validate_json((folder / "run.json").read_text())


def asked(server: FakeServer) -> list[str]:
    return [call.request.user for call in server.log.calls(endpoint="chat") if call.request is not None]


@pytest.mark.slow
def test_each_paper_is_filled_into_its_own_form_and_human_reviews_are_never_shown(
    arena: Run, place: Path, server: FakeServer
) -> None:
    rows = [row(1), row(2, "NeurIPS", 2025), row(3, "Moonshots", 2031), row(4, markdown=""), row(5, "", None)]
    write_rows(place / "mixed.jsonl", [*rows, {"title": "no id", "markdown": "x"}])
    done = arena("--out", "run", papers="mixed.jsonl")
    assert done.code == 0, done.err
    assert "2 papers on their own forms: iclr-2024 (1), neurips-2025 (1)." in done.err
    assert "skipped, 1: the form of 'Moonshots 2031' is unknown" in done.err
    assert "skipped, 1: the row holds no full text" in done.err
    found = predictions(place / "run")
    assert [(one.paper_id, one.venue, one.status) for one in found] == [
        ("f1", "iclr-2024", "answered"),
        ("f2", "neurips-2025", "answered"),
        ("f3", "Moonshots", "skipped"),
        ("f4", "iclr-2024", "skipped"),
        ("f5", None, "skipped"),
        ("line 6", None, "skipped"),
    ]
    assert (found[0].rating, found[0].kept_rating) == (6, 6)
    assert {"soundness", "presentation", "contribution", "rating", "confidence"} == set(found[0].scores)
    assert "strengths" in found[0].fields
    assert found[0].prompt == "single: review/single@v3"
    prompts = asked(server)
    assert len(prompts) == 2
    assert all("Lanterns" in prompt and SECRET not in prompt for prompt in prompts)
    review = Review.model_validate_json((place / "run" / "reviews" / "f1" / "review.json").read_text())
    assert (review.venue, review.rating) == ("iclr-2024", 6)
    assert record(place / "run").usage.calls == 2
    assert record(place / "run" / "reviews" / "f1").command == "review"


@pytest.mark.slow
def test_the_predictions_are_a_review_set_too(arena: Run, place: Path) -> None:
    write_rows(place / "mixed.jsonl", [row(1), row(3, "Moonshots", 2031)])
    arena("--out", "run", papers="mixed.jsonl")
    answered, skipped = read_cases(place / "run" / "predictions.jsonl")
    assert (answered.paper_id, answered.venue, answered.kind, answered.rating) == ("f1", "iclr-2024", "ai", 6)
    assert (skipped.text, skipped.rating, skipped.extra["status"]) == ("", None, "skipped")


def test_what_failed_is_asked_again_and_nothing_else(arena: Run, place: Path, server: FakeServer) -> None:
    gone = [True]

    def writer(request: ChatRequest) -> Any:
        return Fault("503") if gone[0] and "harbour 2" in request.user else rated(request)

    server.script.entries["writer"] = writer
    first = arena("--out", "run")
    assert first.code == 0, first.err
    assert "2 answered, 1 failed" in first.out.replace("3 papers: ", "")
    assert [one.status for one in predictions(place / "run")] == ["answered", "failed", "answered"]
    assert "tries them again" in record(place / "run").error
    gone[0] = False
    before = len(asked(server))
    again = arena("--resume", "run")
    assert again.code == 0, again.err
    assert "2 are answered already" in again.err
    assert len(asked(server)) == before + 1
    assert [one.status for one in predictions(place / "run")] == ["answered"] * 3
    idle = arena("--resume", "run")
    assert "Estimate: no call." in idle.err
    assert len(asked(server)) == before + 1
    write_rows(place / "papers.jsonl", [row(1), row(2)])
    other = arena("--resume", "run")
    assert other.code == 2
    assert "another set of papers" in other.err


@pytest.mark.slow
def test_an_invalid_reply_is_counted_and_no_result(arena: Run, place: Path, server: FakeServer) -> None:
    server.script.entries["writer"] = lambda r: "no form at all" if "harbour 2" in r.user else rated(r)
    done = arena("--out", "run")
    assert done.code == 0, done.err
    assert "2 answered, 1 invalid" in done.out
    second = predictions(place / "run")[1]
    assert (second.status, second.rating, second.text) == ("invalid", None, "")
    assert second.reason
    assert second.usage.calls == 3  # the repairs were paid

    server.script.entries["writer"] = "no form at all"
    none = arena("--out", "none", "--no-cache")
    assert none.code == 2
    assert "none of the 3 papers got a valid answer" in none.err
    assert record(place / "none").status == "failed"
    assert {one.status for one in predictions(place / "none")} == {"invalid"}


@pytest.mark.slow
@pytest.mark.parametrize("alone", [True, False])
def test_a_budget_holds_over_the_whole_run(
    arena: Run, place: Path, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    arena("--out", "free", "--no-cache")
    used = record(place / "free").usage
    if alone:
        monkeypatch.setenv("REFEREE_CALLS__CONCURRENCY", "1")
    stopped = arena("--out", "run", "--no-cache", "--max-tokens", used.total_tokens // 3 + 9_000)
    assert stopped.code == 3, stopped.err
    assert "--resume run" in stopped.err
    found = predictions(place / "run")
    assert 0 < len(found) < 3
    assert record(place / "run").status == "stopped"
    done = arena("--resume", "run", "--no-cache", "--max-tokens", 10**6)
    assert done.code == 0, done.err
    assert record(place / "run").usage.calls == 3


@pytest.mark.slow
def test_a_model_that_never_answers_ends_the_run(arena: Run, place: Path, server: FakeServer) -> None:
    write_rows(place / "papers.jsonl", [row(n) for n in range(1, 31)])
    server.script.entries["writer"] = Fault("503")
    done = arena("--out", "run")
    assert done.code == 2
    assert "--resume run" in done.err
    assert len(asked(server)) < 20
    assert record(place / "run").status == "failed"


@pytest.mark.slow
def test_files_in_a_folder_need_a_venue(arena: Run, place: Path) -> None:
    (place / "folder").mkdir()
    (place / "folder" / "p1.md").write_text(MARKDOWN.format(n=7))
    (place / "folder" / "p2.pdf").write_bytes(b"%PDF-1.7 no more than this")
    refused = arena(papers="folder")
    assert refused.code == 2
    assert "none of the 2 papers in 'folder' can be reviewed" in refused.err
    assert "--venue" in refused.err
    done = arena("--venue", "iclr-2024", "--out", "run", papers="folder")
    assert done.code == 0, done.err
    assert [(one.paper_id, one.status) for one in predictions(place / "run")] == [("p1", "answered"), ("p2", "failed")]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(1), row(1)], "two rows for paper 'f1'"),
        ([], "holds no paper"),
        ([row(1, "Moonshots", 1999)], "none of the 1 papers"),
        ([row(1, markdown=None)], "the row holds no full text"),
    ],
)
def test_papers_that_cannot_be_reviewed_are_refused_before_a_call(
    arena: Run, place: Path, server: FakeServer, rows: list[dict[str, Any]], says: str
) -> None:
    write_rows(place / "bad.jsonl", rows)
    done = arena("--out", "run", papers="bad.jsonl")
    assert done.code == 2
    assert says in done.err
    assert not (place / "run").exists()
    assert asked(server) == []
    assert "there is no 'missing.jsonl'" in arena(papers="missing.jsonl").err


@pytest.mark.slow
@pytest.mark.drawn
def test_a_run_is_scored_against_the_human_reviews_of_its_papers(arena: Run, place: Path, referee: Referee) -> None:
    arena("--out", "run")
    done = referee("arena", "score", "run", "--human", "papers.jsonl", "--out", "score")
    assert done.code == 0, done.err
    assert "floor: one human reviewer" in done.out
    rows = list(csv.DictReader((place / "score" / "arena.csv").read_text().splitlines()))
    found = {(one["model"].partition("@")[0], one["form"], one["axis"]): one for one in rows}
    assert float(found["m", "iclr-2024", "mae"]["value"]) == 0.5  # 6 against the mean of 5 and 6
    assert float(found["m", "iclr-2024", "bias"]["value"]) == 0.5
    assert found["m", "summary", "rouge-l"]["n"] == "3"
    usage = record(place / "run").usage
    paid = {axis: float(found["m", "all", axis]["value"]) for axis in ("calls", "input tokens", "output tokens")}
    assert list(paid.values()) == [usage.calls, usage.input_tokens, usage.output_tokens]
    assert "Tokens and cost:" in done.out
    assert float(found["floor: one human reviewer", "iclr-2024", "mae"]["value"]) == 1.0
    data = json.loads((place / "score" / "arena.json").read_text())
    assert len(data["numbers"]) == len(rows)
    assert {"arena.md", "report.html", "models.md", "models.csv", "papers.csv", "plots.csv", "plots"} <= {
        p.name for p in (place / "score").iterdir()
    }
    assert "m@127" in (place / "score" / "arena.md").read_text()


def test_invalid_replies_stand_beside_the_errors(arena: Run, place: Path, referee: Referee, server: FakeServer) -> None:
    server.script.entries["writer"] = lambda r: "no form at all" if "harbour 2" in r.user else rated(r)
    arena("--out", "run")
    done = referee("arena", "score", "run", "--human", "papers.jsonl", "--no-texts", "--out", "score")
    assert done.code == 0, done.err
    line = next(line for line in done.out.splitlines() if line.startswith("| m@127"))
    assert [cell.strip() for cell in line.split("|")[2:4]] == ["2", "1"]
    assert "invalid: " in done.out
    middle = referee("arena", "score", "run", "--human", "papers.jsonl", "--no-texts", "--impute", "midpoint")
    assert "| 3      | 1       |" in middle.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("missing",), "there is no 'missing'"),
        (("papers.jsonl",), "holds no AI review"),
        (("ai.jsonl",), "none is of a predicted paper"),
        (("ai.jsonl", "--by", "colour"), "has a column 'colour'"),
        (("ai.jsonl", "--impute", "mean"), "--impute 'mean'"),
        (("ai.jsonl", "--rated-on", "iclr-1900"), "'iclr-1900'"),
        (("ai.jsonl", "--human", "scales.jsonl"), "no values of 'rating' of the form 'neurips-2025'"),
        (("other.jsonl", "--human", "papers.jsonl"), "--compare-scales"),
    ],
)
def test_sets_that_cannot_be_scored_are_refused(
    place: Path, referee: Referee, arguments: tuple[str, ...], says: str
) -> None:
    ai = {"paper_id": "p", "source": "ai:x", "venue": "NeurIPS", "year": 2025, "text": "Good.", "rating": 4}
    write_rows(place / "ai.jsonl", [ai])
    write_rows(place / "scales.jsonl", [ai | {"source": "human", "review_id": str(n), "rating": n} for n in (7, 8)])
    write_rows(place / "other.jsonl", [ai | {"paper_id": "f1", "year": 2024}])
    done = referee("arena", "score", *arguments, "--no-texts")
    assert done.code == 2, done.out
    assert says in done.err
    assert "next:" in done.err


def test_a_set_in_no_known_layout_is_scored_by_a_mapping(place: Path, referee: Referee) -> None:
    odd = [{"sub": f"f{n}", "who": "gpt", "comment": "Good.", "mark": 5, "conf": "ICLR", "yr": 2024} for n in (1, 2)]
    write_rows(place / "odd.jsonl", odd)
    asked = ("arena", "score", "odd.jsonl", "--human", "papers.jsonl", "--no-texts")
    refused = referee(*asked)
    assert refused.code == 2
    assert "--mapping FILE" in refused.err
    assert referee("arena", "score", "odd.jsonl", "--write-mapping", "suggested.toml").code == 0
    assert "[case]" in (place / "suggested.toml").read_text()
    (place / "map.toml").write_text(
        '[case]\npaper_id = "sub"\nsource = "who"\ntext = "comment"\nrating = "mark"\nvenue = "conf"\nyear = "yr"\n'
        '[kinds]\ngpt = "ai"\n'
    )
    done = referee(*asked, "--mapping", "map.toml", "--out", "s")
    assert done.code == 0, done.err
    rows_ = csv.DictReader((place / "s" / "arena.csv").read_text().splitlines())
    found = {(r["model"], r["form"], r["axis"]): r["value"] for r in rows_}
    assert float(found["gpt", "iclr-2024", "mae"]) == 0.5
    assert "map.toml" in (place / "s" / "arena.md").read_text()
    assert "'missing.toml' cannot be read" in referee(*asked, "--mapping", "missing.toml").err


def test_predictions_by_the_documented_keys_are_read_whatever_the_file_is_called(place: Path, referee: Referee) -> None:
    told = {"venue": "iclr-2024", "source": "gpt", "status": "answered", "rating": 5, "text": "Good.", "fields": {}}
    write_rows(place / "mine.jsonl", [{"paper_id": f"f{n}", **told} for n in (1, 2)])
    done = referee("arena", "score", "mine.jsonl", "--human", "papers.jsonl", "--no-texts", "--out", "s")
    assert done.code == 0, done.err
    assert "| gpt " in done.out
    write_rows(place / "review.jsonl", [{"paper_id": "f1", "source": "gpt", "text": "Good.", "rating": 5}])
    lost = referee("arena", "score", "review.jsonl", "--human", "papers.jsonl", "--no-texts")
    assert lost.code == 2
    assert "Of 1 review(s) the data do not say who wrote them" in lost.err
    assert '"kind": "ai"' in lost.err


@pytest.mark.slow
def test_odd_ratings_are_read_or_counted(place: Path, referee: Referee) -> None:
    def rows(venue: str, *ratings: object, source: str = "human", year: int = 2024) -> list[dict[str, Any]]:
        base = {"source": source, "venue": venue, "year": year, "text": "Good."}
        return [
            base
            | {
                "paper_id": f"{venue}{n // 2 if source == 'human' else n}",
                "review_id": f"{source}{venue}{n}",
                "rating": r,
            }
            for n, r in enumerate(ratings)
        ]

    human = [*rows("ICLR", "6: marginally above the acceptance threshold", "8", 3, None, 5, 5, None, None)]
    human += rows("Harbour", "3 good", 5, 2)
    predicted = rows("ICLR", "5: marginally below the acceptance threshold", 6, None, 12, source="ai:x")
    predicted += rows("Harbour", 4, 4, source="ai:x")
    write_rows(place / "h.jsonl", human)
    write_rows(place / "p.jsonl", predicted)
    done = referee("arena", "score", "p.jsonl", "--human", "h.jsonl", "--out", "s")
    assert done.code == 0, done.err
    rows_ = csv.DictReader((place / "s" / "arena.csv").read_text().splitlines())
    found = {(r["form"], r["axis"]): r["value"] for r in rows_ if r["model"] == "x"}
    assert float(found["iclr-2024", "mae"]) == 2.0  # 5 against 7; nothing else has both sides
    assert found["all", "invalid: the review states no rating"] == "1"
    assert found["all", "too few human ratings"] == "3"
    assert float(found["Harbour", "mae"]) == 0.0
    assert "Note: the form 'Harbour' is unknown" in done.out


def test_ratings_on_another_form_are_compared_by_rank_alone(place: Path, referee: Referee) -> None:
    ai = [
        {"paper_id": f"f{n}", "source": "ai:x", "venue": "NeurIPS", "year": 2024, "text": "Good.", "rating": 3 + n}
        for n in (1, 2, 3)
    ]
    write_rows(place / "other.jsonl", ai)
    done = referee("arena", "score", "other.jsonl", "--human", "papers.jsonl", "--compare-scales", "--no-texts")
    assert done.code == 0, done.err
    assert "On another scale:" in done.out
    assert "| x     | iclr-2024" in done.out


@pytest.mark.slow
def test_six_known_systems_on_iclr_2022_beside_the_floors(place: Path, referee: Referee, shared_data: Path) -> None:
    source = shared_data / "ai_only" / "iclr2022_ai_scientist_reviews.jsonl"
    done = referee("arena", "score", source, "--by", "config", "--out", "s")
    assert done.code == 0, done.err
    rows_ = list(csv.DictReader((place / "s" / "arena.csv").read_text().splitlines()))
    maes = {r["model"]: float(r["value"]) for r in rows_ if (r["form"], r["axis"]) == ("iclr-2022", "mae")}
    papers = list(csv.DictReader((place / "s" / "papers.csv").read_text().splitlines()))
    assert len(maes) == 6 + 3
    for model in set(maes) - {name for name in maes if name.startswith("floor")}:
        own = [abs(float(p["predicted"]) - float(p["mean_human"])) for p in papers if p["model"] == model]
        assert len(own) == 228
        assert maes[model] == pytest.approx(sum(own) / 228)
    assert min(maes, key=lambda name: maes[name]) == "floor: one constant a form"
    assert max(maes, key=lambda name: maes[name]) == "floor: chance"
    refused = referee("arena", "score", source, "--by", "config", "--rated-on", "neurips-2022")
    assert refused.code == 2
    assert "'iclr-2022' by people and on 'neurips-2022'" in refused.err
