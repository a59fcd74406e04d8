"""What an experiment paid itself, and the seal that opens a test split once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.errors import RunError
from referee.experiments.journal import Entry, Journal
from referee.experiments.looked_at import damaged_lines, looks, register_path
from referee.experiments.papers import Split
from referee.experiments.seal import Seal, Seals, results_digest
from referee.schemas.experiment import ExperimentResult, PaperValue
from referee.schemas.usage import Usage


def entry(event: str, folder: str, tokens: int, reason: str = "") -> Entry:
    usage = Usage(calls=1, input_tokens=tokens)
    return Entry.model_validate(
        {"event": event, "kind": "review", "paper": "p", "arm": "a", "folder": folder, "usage": usage, "reason": reason}
    )


def test_only_what_came_on_top_was_paid_here_also_where_the_process_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    journal = Journal(path, lambda folder: Usage(calls=1, input_tokens=50))
    for one in (entry("began", "x", 10), entry("finished", "x", 30), entry("reused", "y", 500), entry("began", "z", 5)):
        journal.append(one)
    assert journal.paid().input_tokens == 20 + 45
    path.write_bytes(path.read_bytes().replace(b'"finished"', b'"fin'))
    assert Journal(path).notes == ("1 line(s) of units.jsonl are damaged: what their units took is not counted",)


def test_the_last_try_decides_why_a_unit_failed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "units.jsonl")
    journal.append(entry("failed", "x", 0, "first"))
    journal.append(entry("failed", "x", 0, "second"))
    assert journal.reason("review", "p", "a") == "second"
    journal.append(entry("began", "x", 0))
    assert journal.reason("review", "p", "a") == "second"
    journal.append(entry("finished", "x", 0))
    assert journal.reason("review", "p", "a") == ""
    assert journal.reason("review", "q", "a") == ""


DIGEST = "d" * 64


def result(status: str = "scored") -> ExperimentResult:
    value = PaperValue.model_validate(
        {"paper": "p", "arm": "a", "metric": "m", "status": status, "value": 1.0 if status == "scored" else None}
    )
    return ExperimentResult(
        name="n",
        split="test",
        plan_digest=DIGEST,
        package_version="0",
        status="finished",
        seeds=(0,),
        metrics=("m",),
        arms=(),
        papers=(),
        values=(value,),
        cells=(),
        comparisons=(),
    )


def test_a_test_split_is_opened_once_and_an_unfinished_run_may_go_on(tmp_path: Path) -> None:
    seals, run, other = Seals(tmp_path / "seals"), tmp_path / "run", tmp_path / "other"
    run.mkdir()
    seals.require_unopened(DIGEST, run)
    seals.open("n", DIGEST, {"p": "1"}, ["m"], run)
    seals.require_unopened(DIGEST, run)
    with pytest.raises(RunError, match=r"seals/d{24}\.json"):
        seals.require_unopened(DIGEST, other)

    seals.close(result("failed"), run)
    seals.require_unopened(DIGEST, run)  # a failed pair may be tried again
    seals.close(result(), run)
    with pytest.raises(RunError, match="was opened on") as refused:
        seals.require_unopened(DIGEST, run)
    assert str(seals.file(DIGEST)) in refused.value.message
    assert (run / "seal.json").read_text() == seals.file(DIGEST).read_text()
    assert results_digest(result()) in seals.file(DIGEST).read_text()
    assert results_digest(result()) != results_digest(result("failed"))


def opened(store: Path, plan: str, split: Split, papers: dict[str, str], metrics: list[str]) -> Seals:
    """A run of a plan that opened these papers."""
    seals, run = Seals(store / "seals"), store / plan
    run.mkdir(parents=True)
    if split == "test":
        seals.open(plan, plan.ljust(64, "0"), papers, metrics, run)
    seals.note_look(plan, split, papers, metrics, run)
    return seals


def test_a_seal_says_who_looked_at_its_papers_before_by_their_digests(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    seals = Seals(here / "seals")
    assert seals.looked_at({"p": "1"}, ["m"], DIGEST) == ()
    opened(here, "tuning", "development", {"renamed": "1", "more": "7"}, ["m"])
    opened(there, "final", "test", {"p": "1", "q": "2"}, ["depth", "m"])
    opened(here, "same", "test", {"q": "2"}, ["m"])
    opened(here, "unlike", "test", {"x": "9"}, ["m"])
    told = [
        "1 of 2 TOLD, by the plan 'tuning' on DAY, as development papers",
        "1 of 2 TOLD, by the plan 'same' on DAY, as test papers, under the same metrics",
        "2 of 2 TOLD, by the plan 'final' on DAY, as test papers, under other metrics (depth, m), in another store "
        f"('{there}')",
    ]
    before = "files of the test split were looked at before"
    found = seals.looked_at({"p": "1", "q": "2"}, ["m"], DIGEST)
    assert sorted(re.sub(r"\d{4}-\d\d-\d\d", "DAY", one) for one in found) == sorted(
        one.replace("TOLD", before) for one in told
    )

    seals.open("now", DIGEST, {"p": "1", "q": "2"}, ["m"], here / "same")
    opened(here, "later", "test", {"p": "1"}, ["m"])
    assert seals.looked_at({"p": "1", "q": "2"}, ["m"], DIGEST) == found, "a resumed run says what was known at first"
    assert Seal.model_validate_json(seals.file(DIGEST).read_text()).looked_at == found


def test_the_register_keeps_a_line_a_run_and_says_how_many_are_damaged(tmp_path: Path) -> None:
    opened(tmp_path / "a", "one", "development", {"p": "1"}, ["m"])
    with register_path().open("a") as file:
        file.write('{"at": "2026\n')
    seals = opened(tmp_path / "b", "two", "development", {"p": "1"}, ["m"])
    seals.note_look("two", "development", {"p": "1"}, ["m"], tmp_path / "b" / "two")  # a resumed run
    assert [look.plan for look in looks()] == ["one", "two"]
    assert damaged_lines() == 1
    said = Seals(tmp_path / "other").looked_at({"p": "digest"}, ["depth"], "plan")
    assert any("1 line(s) of" in one and "earlier looks may be missing" in one for one in said)
    register_path().unlink()
    register_path().mkdir()
    with pytest.raises(RunError, match="cannot be read"):
        seals.looked_at({"p": "1"}, ["m"], DIGEST)


def test_a_seal_that_cannot_be_read_is_never_taken_for_none(tmp_path: Path) -> None:
    seals = Seals(tmp_path)
    seals.file(DIGEST).write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        seals.require_unopened(DIGEST, tmp_path / "run")
