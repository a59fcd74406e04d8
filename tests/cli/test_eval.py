"""``referee eval`` as a user meets it, against a server on this machine."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from referee.cli.app import app
from referee.evals.results import read_results
from referee.schemas.run import RunRecord
from tests.support import ChatRequest, FakeServer, Fault

from .command import Outcome, Referee
from .eval_sets import install, review, write_set

Eval = Callable[..., Outcome]


@pytest.fixture
def evaluate(referee: Referee, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Eval:
    install(monkeypatch)
    server.script.entries["judge"] = lambda request: {"reason": "so", "score": 4 if "gpt" in request.user else 2}

    def run(source: Path, *more: object, metrics: str = "tone") -> Outcome:
        judge = () if "--judge" in more else ("--judge", "m")
        given = ("--metrics", metrics, "--base-url", server.base_url, "--no-cache", *judge)
        return referee("eval", source, *given, *more)

    return run


def record(folder: Path) -> RunRecord:
    return RunRecord.model_validate_json((folder / "run.json").read_text())


def cells(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    data = json.loads((folder / "summary.json").read_text())
    return {(cell["system"], cell["metric"]): cell for cell in data["cells"]}


def test_a_run_folder_holds_every_judgement_and_the_terminal_says_the_rest(
    evaluate: Eval, workplace: Path, server: FakeServer
) -> None:
    done = evaluate(write_set(workplace / "set.jsonl"), "--out", "run", "--paper-table")
    assert done.code == 0, done.err
    run = workplace / "run"
    names = {path.name for path in run.iterdir() if not path.name.startswith(".")}
    assert names == {
        "cases.jsonl", "report.html", "results.jsonl", "run.json", "summary.csv", "summary.json", "summary.md",
        "trace.jsonl",
    }  # fmt: skip
    assert "16 reviews of 4 papers; judges: m@127.0.0.1" in done.err
    assert "tone: 16 reviews, about 16 calls" in done.err
    assert "Estimate: about 16 calls" in done.err
    assert "cost unknown" in done.err
    assert "16 of 16 units" in done.err
    assert "| gpt    | 4.0000 ± 0.0000 ‡ |" in done.out
    assert "16 units scored, 0 not applicable, 0 failed" in done.out
    assert "\x1b" not in done.out + done.err
    assert len(server.log.calls(endpoint="chat")) == 16
    kept = record(run)
    assert (kept.command, kept.status, kept.usage.calls, list(kept.models)) == ("eval", "finished", 16, ["judge"])
    assert cells(run)["gpt", "tone"]["mean"] == 4
    assert cells(run)["marg", "tone"]["nearest_to_expert"]
    assert {row["metric"] for row in csv.DictReader((run / "summary.csv").read_text().splitlines())} == {"tone"}
    assert "Sakana GPT-4o" in (run / "summary.md").read_text()


def test_bad_rows_go_to_a_file_with_their_line_and_the_rest_goes_on(evaluate: Eval, workplace: Path) -> None:
    double = json.dumps(review("p0-gpt", "p0", "gpt", "gpt finds p0 sound."))
    done = evaluate(write_set(workplace / "set.jsonl", 1, "{broken", double), "--out", "run")
    assert done.code == 0, done.err
    rejected = [json.loads(line) for line in (workplace / "run" / "rejected.jsonl").read_text().splitlines()]
    assert [(row["line"], Path(row["file"]).name) for row in rejected] == [(5, "set.jsonl"), (6, "set.jsonl")]
    assert "duplicate" in rejected[1]["reason"]
    assert "2 row(s) could not be used" in done.err


def test_an_empty_review_is_not_applicable_and_a_failure_is_no_number(
    evaluate: Eval, workplace: Path, server: FakeServer
) -> None:
    def judge(request: ChatRequest) -> Any:
        return "not even JSON" if "marg" in request.user else {"reason": "so", "score": 3}

    server.script.entries["judge"] = judge
    done = evaluate(write_set(workplace / "set.jsonl", 2, review("e", "p9", "gpt", "")), "--out", "run")
    assert done.code == 0, done.err
    marg, gpt = cells(workplace / "run")["marg", "tone"], cells(workplace / "run")["gpt", "tone"]
    assert (marg["mean"], marg["failed"], marg["scored"]) == (None, 2, 0)
    assert (gpt["scored"], gpt["not_applicable"], gpt["failed"]) == (2, 1, 0)
    assert "2 unit(s) failed; --resume run tries them again." in done.out
    assert "gave no valid reply" in done.out
    assert "2 unit(s) failed" in record(workplace / "run").error


def test_a_resumed_run_does_only_what_failed(evaluate: Eval, workplace: Path, server: FakeServer) -> None:
    source = write_set(workplace / "set.jsonl", 2)
    server.script.entries["judge"] = lambda request: (
        Fault("400") if "marg" in request.user else {"reason": "so", "score": 3}
    )
    assert evaluate(source, "--out", "run").code == 0
    before = len(server.log.calls(endpoint="chat"))
    server.script.entries["judge"] = {"reason": "so", "score": 5}
    done = evaluate(source, "--resume", "run")
    assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) - before == 2
    assert cells(workplace / "run")["marg", "tone"]["mean"] == 5
    assert cells(workplace / "run")["gpt", "tone"]["mean"] == 3
    assert record(workplace / "run").error == ""


def test_a_run_of_which_all_fails_ends_as_an_error(evaluate: Eval, workplace: Path, server: FakeServer) -> None:
    server.script.entries["judge"] = Fault("400")
    done = evaluate(write_set(workplace / "set.jsonl", 1), "--out", "run")
    assert done.code == 2
    assert "all 4 units that could be measured failed" in done.err
    assert "continue with --resume run" in done.err
    assert record(workplace / "run").status == "failed"


def test_a_budget_stops_the_run_and_a_higher_one_ends_it(evaluate: Eval, workplace: Path, server: FakeServer) -> None:
    source = write_set(workplace / "set.jsonl", 3)
    done = evaluate(source, "--out", "run", "--max-tokens", 300)
    assert done.code == 3, done.err
    assert "--max-tokens" in done.err
    stopped = record(workplace / "run")
    assert (stopped.status, stopped.usage.total_tokens <= 300) == ("stopped", True)
    finished = sum(1 for _ in read_results(workplace / "run" / "results.jsonl"))
    assert 0 < finished < 12
    done = evaluate(source, "--resume", "run", "--max-tokens", 100_000)
    assert done.code == 0, done.err
    assert len(server.log.calls(endpoint="chat")) == 12, "no call is paid twice"


def test_a_panel_agrees_or_not_and_repeats_vary(evaluate: Eval, workplace: Path, server: FakeServer) -> None:
    server.script.entries["judge"] = [{"reason": "so", "score": n % 3} for n in range(16)]
    server.script.entries["judge-2"] = [{"reason": "so", "score": n % 5} for n in range(16)]
    source = write_set(workplace / "set.jsonl", 2)
    done = evaluate(source, "--out", "run", "--judge", "a", "--judge", "b", "--repeats", 2)
    assert done.code == 0, done.err
    assert "each asked 2 times" in done.err
    assert "at temperature 0 repeats hardly differ" in done.err
    gpt = cells(workplace / "run")["Expert", "tone"]
    assert gpt["alpha"] is not None
    assert gpt["repeat_sd"] > 0
    one = next(read_results(workplace / "run" / "results.jsonl"))
    assert [(score.judge.partition("@")[0], score.repeat) for score in one.judges] == [
        ("a", 0), ("a", 1), ("b", 0), ("b", 1),
    ]  # fmt: skip
    assert "## Judges" in (workplace / "run" / "summary.md").read_text()


def test_a_judge_of_a_panel_that_never_answers_is_said(evaluate: Eval, workplace: Path, server: FakeServer) -> None:
    server.script.entries["judge-2"] = "not even JSON"
    done = evaluate(write_set(workplace / "set.jsonl", 2), "--out", "run", "--judge", "a", "--judge", "b")
    assert done.code == 0, done.err
    said = "answered nothing (tone: judged 0 of 8)"
    assert said in done.out
    assert said in record(workplace / "run").error
    assert said in (workplace / "run" / "summary.md").read_text()
    assert "judged 0 of 2)" in next(line for line in done.out.splitlines() if line.startswith("| gpt"))


def test_a_paper_that_is_not_there_is_said_before_and_after(evaluate: Eval, workplace: Path, paper: Path) -> None:
    source = write_set(workplace / "set.jsonl", 2)
    done = evaluate(source, "--out", "none", metrics="sections")
    assert (done.code, "give the papers with --papers" in done.out) == (0, True)
    (workplace / "papers").mkdir()
    (workplace / "papers" / "p0.md").write_text(paper.read_text())
    done = evaluate(source, "--out", "one", "--papers", "papers", metrics="sections")
    assert done.code == 0, done.err
    assert "1 of 2 reviewed papers are not in 'papers', the first: 'p1'; it holds, for one, 'p0'" in done.err
    assert "no paper in '…' has the id '…'" in done.out
    gpt = cells(workplace / "one")["gpt", "sections"]
    assert (gpt["scored"], gpt["not_applicable"], gpt["failed"]) == (1, 1, 0)


def test_two_systems_are_compared_paper_by_paper(evaluate: Eval, workplace: Path) -> None:
    source = write_set(workplace / "set.jsonl", 5)
    done = evaluate(source, "--out", "run", "--compare", "gpt", "marg")
    assert done.code == 0, done.err
    (found,) = json.loads((workplace / "run" / "summary.json").read_text())["comparison"]["differences"]
    assert (found["mean"], found["papers"]) == (2.0, 5)
    assert "## gpt less marg" in (workplace / "run" / "summary.md").read_text()


def test_a_metric_is_correlated_with_the_others(evaluate: Eval, workplace: Path, referee: Referee) -> None:
    source = write_set(workplace / "set.jsonl", 5)
    done = evaluate(source, "--out", "run", "--metrics", "words,xref,characters", "--correlate", "words")
    assert done.code == 0, done.err
    assert "## What goes with words" in (workplace / "run" / "summary.md").read_text()
    lines = (workplace / "run" / "correlations.csv").read_text().splitlines()
    assert lines[0] == "system,quantity,with,rho,low,high,reviews,papers"
    assert {line.split(",")[2] for line in lines[1:]} == {"xref", "characters"}
    assert (workplace / "run" / "by_references.csv").read_text().startswith("system,quantity,references,reviews")
    again = referee("rescore", "run", "--correlate", "characters")
    assert again.code == 0, again.err
    assert "## What goes with characters" in (workplace / "run" / "rescored" / "summary.md").read_text()


def test_a_judge_that_wrote_the_reviews_is_pointed_out(evaluate: Eval, workplace: Path) -> None:
    done = evaluate(write_set(workplace / "set.jsonl", 1), "--out", "run", "--judge", "marg-2024-06-01")
    assert "seems to be the system 'marg': models prefer their own reviews" in done.err


def test_several_venues_are_pointed_out_and_kept_apart(evaluate: Eval, workplace: Path) -> None:
    more = [review(f"v{n}", f"q{n}", "gpt", "Sound.", venue="iclr-2020") for n in range(3)]
    source = write_set(workplace / "set.jsonl", 1, *more)
    done = evaluate(source, "--out", "run", "--group-by", "venue")
    assert "the reviews are of several venues: none named (4), iclr-2020 (3)" in done.err
    assert "iclr-2020: gpt" in done.out
    assert "no venue: Expert" in done.out


@pytest.mark.parametrize(
    ("more", "said", "next_step"),
    [
        (("--metrics", "tonne"), "there is no metric 'tonne'", "Did you mean 'tone'?"),
        (("--judge", "m", "--judge", "m"), "is named twice", "use --repeats"),
        (("--group-by", "sorce"), "no review has a column 'sorce'", "Did you mean 'source'?"),
        (("--compare", "gpt", "mark"), "there is no row 'mark'", "Did you mean 'marg'?"),
        (("--correlate", "fre"), "'fre' is not among tone", "--metrics"),
        (("--venue", "iclr-2O20"), "venue 'iclr-2O20' is unknown", "iclr-2020"),
        (("--papers", "nowhere"), "there is no 'nowhere'", "folder of papers"),
        (("--layout", "casse"), "casse", "cases"),
        (("--mapping", "map.toml"), "map.toml", ""),
    ],
)
def test_what_cannot_be_meant_is_refused_before_a_call(
    evaluate: Eval, workplace: Path, server: FakeServer, more: tuple[str, ...], said: str, next_step: str
) -> None:
    done = evaluate(write_set(workplace / "set.jsonl", 1), "--out", "run", *more)
    assert done.code == 2
    assert said in done.err
    assert next_step in done.err
    assert "Traceback" not in done.err
    assert not server.log.calls(endpoint="chat")
    assert not (workplace / "run").exists()


def test_a_set_without_a_usable_review_is_refused(evaluate: Eval, workplace: Path) -> None:
    (workplace / "empty.jsonl").write_text("")
    done = evaluate(workplace / "empty.jsonl", "--out", "run")
    assert done.code == 2
    assert done.err
    assert not (workplace / "run").exists()
    assert evaluate(workplace / "gone.jsonl", "--out", "run").code == 2


def test_another_set_does_not_resume_a_run(evaluate: Eval, workplace: Path) -> None:
    source = write_set(workplace / "set.jsonl", 1)
    assert evaluate(source, "--out", "run").code == 0
    write_set(workplace / "set.jsonl", 2)
    done = evaluate(source, "--resume", "run")
    assert (done.code, "another set of reviews" in done.err) == (2, True)
    write_set(workplace / "set.jsonl", 1)
    done = evaluate(source, "--resume", "run", "--judge", "other", "--repeats", 3)
    assert "another judge and another number of repeats" in done.err


def test_numbers_are_computed_anew_without_a_call(
    evaluate: Eval, referee: Referee, workplace: Path, server: FakeServer
) -> None:
    evaluate(write_set(workplace / "set.jsonl", 3), "--out", "run", "--judge", "a", "--judge", "b", "--repeats", 2)
    calls = len(server.log.calls())
    stored = workplace / "run" / "results.jsonl"
    before = stored.read_bytes()
    changed = [json.loads(line) for line in before.splitlines()]
    changed[0]["value"] = 99.0
    stored.write_text("".join(json.dumps(line) + "\n" for line in changed))
    done = referee("rescore", "run", "--compare", "gpt", "marg", "--paper-table")
    assert done.code == 0, done.err
    assert len(server.log.calls()) == calls
    assert cells(workplace / "run" / "rescored") == cells(workplace / "run")
    text = (workplace / "run" / "rescored" / "summary.md").read_text()
    assert "of 12 units 1 changed" in text
    assert "Judges: a@127.0.0.1" in text
    assert "each asked 2 times" in text
    assert (workplace / "run" / "rescored" / "results.jsonl").read_bytes() == before
    assert referee("rescore", "run").code == 0, "a second time replaces the first"


def test_only_an_evaluation_can_be_rescored(evaluate: Eval, referee: Referee, workplace: Path) -> None:
    done = referee("rescore", workplace)
    assert (done.code, "holds no run" in done.err) == (2, True)
    evaluate(write_set(workplace / "set.jsonl", 1), "--out", "run")
    kept = workplace / "run" / "run.json"
    kept.write_text(kept.read_text().replace('"command": "eval"', '"command": "review"'))
    done = referee("rescore", "run")
    assert (done.code, "not one of `referee eval`" in done.err) == (2, True)


def test_every_flag_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs" / "eval.md").read_text(encoding="utf-8")
    root: Any = get_command(app)
    commands = [root.commands[name] for name in ("eval", "rescore")]
    flags = {flag for command in commands for part in command.params for flag in part.opts if flag.startswith("--")}
    described = set(re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE))
    assert flags - {"--help"} == described
