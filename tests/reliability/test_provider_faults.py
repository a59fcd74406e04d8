"""A provider that fails: a run gets through, or says what failed, keeps what it has, and ends when it is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import Fault, FaultPlan

from .disturbance import benchmark, repeated


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_a_run_gets_through(paper: Path, folder: Path, rate: float) -> None:
    outcome = benchmark("faults").disturbed(paper, _made(folder), rate=rate, runs=2, seed=3)
    assert outcome.runs == outcome.whole == 2
    assert (outcome.failed, outcome.unnamed, outcome.lost, outcome.paid_again) == (0, 0, 0, 0)


def test_a_run_without_retries_and_repairs_says_what_failed(paper: Path, folder: Path) -> None:
    """Four calls in ten go wrong, each is tried once: there are gaps and errors, all of them named."""
    weak = {"calls__max_tries": 1, "calls__repair_rounds": 0}
    outcome = benchmark("faults").disturbed(paper, _made(folder), rate=0.4, runs=3, seed=1, **weak)
    assert outcome.runs == 3
    assert outcome.with_gaps + outcome.failed > 0
    assert (outcome.unnamed, outcome.lost, outcome.paid_again) == (0, 0, 0)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("429", first_tries=2, retry_after_s=0.01),
        Fault("429", first_tries=2),
        Fault("500", first_tries=2),
        Fault("timeout", first_tries=1),
        Fault("drop", first_tries=2),
        Fault("partial", first_tries=2),
        Fault("truncated", first=1, role="writer"),
        Fault("empty", first=1, role="writer"),
        Fault("wrong_schema", first=1, role="writer"),
        Fault("truncated", first=1, role="checker"),
        Fault("empty", first=1, role="checker"),
        Fault("wrong_schema", first=1, role="checker"),
        Fault("slow", seconds=0.05),
    ],
    ids=lambda fault: "-".join(filter(None, (fault.kind, fault.role))),
)
def test_each_fault(paper: Path, folder: Path, fault: Fault) -> None:
    """On every call, or (of the reply) on the first of a role, be it the one that goes ahead of all others."""
    runs, script = benchmark("runs"), benchmark("script")
    with script.serving(FaultPlan([fault])) as server:
        quick = runs.quick(server.base_url, **{"calls.timeout_s": 1.0 if fault.kind == "timeout" else 10.0})
        assert runs.started(paper, folder / "run", quick).error == ""
        assert server.log.outcomes()[fault.kind] > 0
        assert repeated(server) == []
    assert runs.gaps(folder / "run") == []


def test_a_provider_that_stays_down_is_named_and_the_run_goes_on_later(paper: Path, folder: Path) -> None:
    runs, script = benchmark("runs"), benchmark("script")
    faults = FaultPlan([Fault("500", role="writer", first=4)])
    with script.serving(faults) as server:
        quick = runs.quick(server.base_url, **{"calls.max_tries": 2})
        down = runs.started(paper, folder / "run", quick)
        assert "HTTP 500" in down.error
        assert "ModelUnavailable" in down.error
        left = runs.record(folder / "run")
        assert left.status == "failed"
        assert "HTTP 500" in left.error
        assert runs.started(paper, folder / "run", quick).error == ""
        assert repeated(server) == []
    assert runs.record(folder / "run").status == "finished"


def _made(folder: Path) -> Path:
    (folder / "runs").mkdir()
    return folder / "runs"
