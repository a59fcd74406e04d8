"""``kill -9`` in the middle of an evaluation, then the same with ``--resume``: nothing is paid or counted twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from referee.evals.results import read_results
from tests.held import Held
from tests.support import FakeServer

from .eval_sets import write_set
from .processes import command, finished, wait_for


@pytest.mark.slow
@pytest.mark.parametrize("answered", [1, 9])
def test_a_killed_evaluation_goes_on_where_it_was(tmp_path: Path, answered: int) -> None:
    source = write_set(tmp_path / "set.jsonl", 4)
    held = Held(first=answered)
    with FakeServer(held, context_tokens=32_000) as server:
        asked = ("eval", source, "--metrics", "depth", "--judge", "fake", "--base-url", server.base_url, "--no-cache")
        with command(tmp_path, *asked, "--out", "run") as process:
            wait_for(lambda: len(server.log.calls(outcome="ok")) >= answered)
            process.kill()
        held.go.set()
        record = json.loads((tmp_path / "run" / "run.json").read_text())
        assert record["status"] == "running"
        trace = tmp_path / "run" / "trace.jsonl"
        written = {json.loads(line)["request"] for line in trace.read_text().splitlines()} if trace.exists() else set()
        done = finished(tmp_path, *asked, "--resume", "run")
        assert done.returncode == 0, done.stderr
        calls = Counter(call.digest for call in server.log)
    results = list(read_results(tmp_path / "run" / "results.jsonl"))
    assert sorted(one.case_id for one in results) == sorted(
        json.loads(line)["case_id"] for line in source.read_text().splitlines()
    )
    assert len(calls) == 16
    assert calls.total() - 16 <= 16 - len(written), "only calls that were not written down are made again"
    table = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert sum(cell["scored"] for cell in table["cells"]) == 16
    usage = table["metrics"]["depth"]["usage"]
    assert usage["calls"] == len(trace.read_text().splitlines()), "what the killed start paid is counted, and once"
    assert usage["reused_calls"] == 0
