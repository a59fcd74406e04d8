"""What an experiment paid itself, and the seal that opens a test split once."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import RunError
from referee.experiments.journal import Entry, Journal
from referee.experiments.seal import Seals, results_digest
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
    with path.open("a") as file:
        file.write('{"event": "fini')
    assert Journal(path, lambda folder: Usage(input_tokens=50)).paid().input_tokens == 20 + 45


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
    seals.open("n", DIGEST, {"p": "1"}, run)
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


def test_papers_that_another_plan_has_opened_are_known(tmp_path: Path) -> None:
    seals = Seals(tmp_path / "seals")
    (tmp_path / "run").mkdir()
    assert seals.opened_before({"p": "1"}, DIGEST) == ""
    seals.open("first", DIGEST, {"p": "1"}, tmp_path / "run")
    assert seals.opened_before({"renamed": "1"}, "e" * 64) == "first"
    assert seals.opened_before({"q": "2"}, "e" * 64) == ""
    assert seals.opened_before({"p": "1"}, DIGEST) == ""


def test_a_seal_that_cannot_be_read_is_never_taken_for_none(tmp_path: Path) -> None:
    seals = Seals(tmp_path)
    seals.file(DIGEST).write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        seals.require_unopened(DIGEST, tmp_path / "run")
