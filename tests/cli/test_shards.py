"""Shards of a run and their merge as a user meets them: joined, they hold what a run holds that was never parted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.api import merging
from referee.evals.results import read_results
from referee.runs.folder import read_record
from referee.schemas.run import RunRecord
from tests.needs import require
from tests.support import FakeServer

from .arena_sets import rated, row, write_rows
from .command import Outcome, Referee
from .detect_sets import Toys, reviews, saved
from .eval_sets import install, write_set
from .experiment_sets import two_arms, write_papers
from .refusals import assert_refused

PAPERS = 5
Run = Callable[..., Outcome]


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    """A set, papers and a plan; judges say the same of the same words, whoever asks."""
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    install(monkeypatch)
    Toys(monkeypatch)
    write_set(workplace / "set.jsonl", PAPERS, {"case_id": "no paper"})
    saved(workplace / "machine.jsonl", reviews(PAPERS, 1))
    write_rows(workplace / "rows.jsonl", [row(n) for n in range(1, PAPERS + 1)])
    write_papers(workplace / "papers", range(1, PAPERS + 1))
    (workplace / "plan.toml").write_text(two_arms("papers/*.md"))
    server.script.entries["judge"] = lambda asked: {"reason": "so", "score": sum(asked.user.encode()) % 4}
    server.script.entries["writer"] = lambda asked: rated(asked) if asked.model == "m" else asked.instance()
    return workplace


COMMANDS = {
    "eval": ("eval", "set.jsonl", "--metrics", "tone,words", "--judge", "m", "--compare", "gpt", "marg"),
    "detect score": ("detect", "score", "machine.jsonl", "--detectors", "loglik,s5"),
    "detect anchors": ("detect", "anchors", "--papers", "papers", "--models", "a,b"),
    "arena run": ("arena", "run", "--papers", "rows.jsonl", "--model", "m"),
    "experiment": ("experiment", "plan.toml"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_merged_shards_hold_what_a_whole_run_holds(
    referee: Referee, place: Path, server: FakeServer, command: str
) -> None:
    def run(name: str, *more: str) -> None:
        own_store = ("--store", f"store-{name}") if command == "experiment" else ()
        on = ("--base-url", server.base_url, "--no-cache", "--yes", *own_store)
        done = referee(*COMMANDS[command], *on, "--out", name, *more)
        assert done.code == 0, done.err

    run("whole")
    for number in (1, 2, 3):
        run(f"part{number}", "--shard", f"{number}/3")
    parts = ("part3", "part1", "part2")
    merged = referee("merge", *parts, "--out", "merged")
    assert merged.code == 0, merged.err
    assert merged.out.startswith(f"3 shards of `referee {command}`. Used: ")
    checked = referee("merge", *parts, "--check", "whole")
    assert checked.code == 0, checked.err
    whole, joined = read_record(place / "whole"), read_record(place / "merged")
    assert (joined.inputs, joined.status, joined.shard) == (whole.inputs, "finished", None)
    assert joined.merged == tuple(read_record(place / f"part{n}").run_id for n in (1, 2, 3))
    assert joined.usage.calls == whole.usage.calls
    assert joined.usage.output_tokens == whole.usage.output_tokens
    again = referee(*COMMANDS[command], "--base-url", server.base_url, "--resume", "merged", "--yes")
    assert again.code == 0, again.err


@pytest.fixture
def parts(referee: Referee, place: Path) -> Run:
    """Makes one shard of an evaluation without a judge."""

    def part(name: str, *more: object, metrics: str = "words") -> Outcome:
        return referee("eval", "set.jsonl", "--metrics", metrics, "--out", name, *more)

    return part


def test_a_difference_is_named_with_its_place(referee: Referee, place: Path, parts: Run) -> None:
    parts("whole")
    for number in (1, 2):
        parts(f"part{number}", "--shard", f"{number}/2")
    results = place / "part1" / "results.jsonl"
    one, *others = results.read_text().splitlines()
    results.write_text("\n".join([json.dumps(json.loads(one) | {"value": 99.0}), *others]) + "\n")
    done = referee("merge", "part1", "part2", "--check", "whole")
    assert_refused(done, "differ from 'whole'", "lines of results.jsonl", "summary.csv[", "mean is")
    assert not (place / "merged").exists()


def test_papers_keep_together_and_every_shard_of_any_number_has_its_own(place: Path, parts: Run) -> None:
    seen: list[str] = []
    for number in range(1, 8):
        parts(f"part{number}", "--shard", f"{number}/7")
        found = {result.paper_id: result.case_id for result in read_results(place / f"part{number}" / "results.jsonl")}
        seen += found
        shard = read_record(place / f"part{number}").shard
        assert shard is not None
        assert (shard.number, shard.of) == (number, 7)
    assert sorted(seen) == [f"p{n}" for n in range(PAPERS)]


BAD_SHARDS = {"0/4": "no part 0 of 4", "5/4": "no part 5 of 4", "1/0": "no part 1 of 0", "two": "not i/n"}


@pytest.mark.parametrize("shard", BAD_SHARDS)
def test_what_is_no_shard_is_refused(place: Path, parts: Run, shard: str) -> None:
    assert_refused(parts("run", "--shard", shard), repr(shard), BAD_SHARDS[shard], "--shard 2/8")
    assert not (place / "run").exists()


def test_shards_that_do_not_make_a_run_are_refused_and_named(referee: Referee, place: Path, parts: Run) -> None:
    parts("one", "--shard", "1/2")
    parts("two", "--shard", "2/2")
    parts("again", "--shard", "1/2")
    parts("other", "--shard", "2/2", metrics="words,xref")
    parts("thirds", "--shard", "2/3")
    parts("whole")
    (place / "used").mkdir()
    (place / "used" / "notes.txt").write_text("mine")

    def merged(*runs: str, out: str = "out") -> Outcome:
        return referee("merge", *runs, "--out", out)

    assert_refused(merged("one"), "2/2", "missing")
    assert_refused(merged("one", "two", "again"), "'one'", "'again'", "both shard 1/2")
    assert_refused(merged("one", "two", "one"), "'", "named twice")
    assert_refused(merged("one", "other"), "'one'", "'other'", "set of metrics")
    assert_refused(merged("one", "thirds"), "number of shards (2 and 3)")
    assert_refused(merged("one", "whole"), "'whole'", "a whole run")
    assert_refused(merged("one", "nowhere"), "'nowhere'", "no run")
    assert_refused(merged("one", "two", out="used"), "'used'", "not empty")
    assert_refused(referee("merge", "one", "two"), "--out", "--check")
    record = place / "two" / "run.json"
    record.write_text(record.read_text().replace('"finished"', '"stopped"'))
    assert_refused(merged("one", "two"), "shard 2/2", "not finished (stopped)", "--resume two")
    assert not (place / "out").exists()


def test_a_shard_is_resumed_as_what_it_is(parts: Run, referee: Referee) -> None:
    parts("one", "--shard", "1/2")
    done = referee("eval", "set.jsonl", "--metrics", "words", "--resume", "one", "--shard", "2/2")
    assert_refused(done, "another shard")
    assert referee("eval", "set.jsonl", "--metrics", "words", "--resume", "one", "--shard", "1/2").code == 0


def test_rows_as_parquet_are_the_rows_of_the_run(place: Path, parts: Run, referee: Referee) -> None:
    tables = require("pyarrow.parquet", "parquet")
    parts("whole", "--parquet", metrics="words,xref,rating")
    for number in (1, 2):
        parts(f"part{number}", "--shard", f"{number}/2", metrics="words,xref,rating")
    assert referee("merge", "part1", "part2", "--out", "merged", "--parquet").code == 0
    for folder in ("whole", "merged"):
        stored = {(one.case_id, one.metric): one for one in read_results(place / folder / "results.jsonl")}
        rows = tables.read_table(place / folder / "results.parquet").to_pylist()
        assert len(rows) == len(stored) == 4 * PAPERS * 3
        for unit in rows:
            one = stored[unit["case_id"], unit["metric"]]
            assert (unit["status"], unit["value"], unit["reason"]) == (one.status, one.value, one.reason)
            assert json.loads(unit["details"]) == one.details
        cases = tables.read_table(place / folder / "cases.parquet")
        assert sorted(cases["kind"].to_pylist()) == ["ai"] * 2 * PAPERS + ["human"] * 2 * PAPERS


HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "cut": lambda own: own[: len(own) // 2],
    "emptied": lambda own: b"",
    "deleted": lambda own: None,
    "a value that is none": lambda own: own.replace(b'"value":', b'"value":NaN,"value_":', 1),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_shard_whose_results_are_not_whole_is_named(referee: Referee, place: Path, parts: Run, harm: str) -> None:
    for number in (1, 2):
        parts(f"part{number}", "--shard", f"{number}/2")
    results = place / "part2" / "results.jsonl"
    left = HARMS[harm](results.read_bytes())
    results.unlink()
    if left is not None:
        results.write_bytes(left)
    done = referee("merge", "part1", "part2", "--out", "out")
    assert done.code == 2
    assert_refused(done, "'part2' is not whole", "results.jsonl holds", "make the shard again")
    assert not (place / "out").exists()


def test_a_shard_that_holds_results_of_another_is_named(referee: Referee, place: Path, parts: Run) -> None:
    for number in (1, 2):
        parts(f"part{number}", "--shard", f"{number}/2")
    own, other = (place / f"part{number}" / "results.jsonl" for number in (1, 2))
    own.write_bytes(own.read_bytes() + other.read_bytes())
    done = referee("merge", "part1", "part2", "--out", "out")
    assert_refused(done, "'part1' is not whole", "results of other reviews")
    assert not (place / "out").exists()


def test_of_two_merges_into_one_folder_the_second_is_refused(
    referee: Referee, place: Path, parts: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        parts(f"part{number}", "--shard", f"{number}/2")
    first = merging.join

    def overtaken(*given: Any, **named: Any) -> RunRecord:
        monkeypatch.setattr(merging, "join", first)
        merging.merge(["part1", "part2"], out="out")
        return first(*given, **named)

    monkeypatch.setattr(merging, "join", overtaken)
    done = referee("merge", "part1", "part2", "--out", "out")
    assert_refused(done, "'out' was written by another command")
    assert (place / "out" / "summary.json").is_file()
    assert not [file.name for file in place.iterdir() if file.name.endswith(".merging")]


JOINED = {
    "detect anchors": "anchors.jsonl",
    "arena run": "predictions.jsonl",
    "experiment": "evaluations/*/results.jsonl",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", JOINED)
def test_a_shard_of_any_command_whose_files_are_not_its_own_is_named(
    referee: Referee, place: Path, server: FakeServer, command: str
) -> None:
    for number in (1, 2):
        on = ("--base-url", server.base_url, "--no-cache", "--yes", "--shard", f"{number}/2")
        done = referee(*COMMANDS[command], *on, "--out", f"part{number}")
        assert done.code == 0, done.err
    own, other = (next((place / f"part{number}").glob(JOINED[command])) for number in (1, 2))
    name, whole = own.relative_to(place / "part1").as_posix(), own.read_bytes()
    for left, how in (
        (whole[: len(whole) // 2], "was changed"),
        (b"", "was changed"),
        (whole + other.read_bytes(), "was changed"),
        (None, "is missing"),
    ):
        own.unlink()
        if left is not None:
            own.write_bytes(left)
        done = referee("merge", "part1", "part2", "--out", "out")
        assert_refused(done, f"shard 'part1' is not whole: {name} {how}", "make the shard again")
        assert not (place / "out").exists()
        own.write_bytes(whole)
    assert referee("merge", "part1", "part2", "--out", "out").code == 0
    (place / "part1" / "part.json").write_text("{")
    done = referee("merge", "part1", "part2", "--out", "again")
    assert_refused(done, "shard 'part1' is not whole: part.json is missing or damaged")
