"""A run by several processes."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from pathlib import Path

from referee.evals.results import read_results
from referee.runs.folder import read_record
from tests.cli.eval_sets import write_set
from tests.cli.processes import command, ended, finished, wait_for
from tests.held import Held
from tests.support import FakeServer

PAPERS, METRIC = 6, "depth"
UNITS = 4 * PAPERS
CONCURRENCY = 3
# Of some 24 x 900: too few for a shard of 12 to be nearly done.
LIMIT = 5_000


def asked(folder: Path, server: FakeServer) -> tuple[object, ...]:
    source = write_set(folder / "set.jsonl", PAPERS)
    return "eval", source, "--metrics", METRIC, "--judge", "fake", "--base-url", server.base_url, "--no-cache", "--yes"


def calls_of(shard: Path) -> int:
    """How many calls a shard has written down."""
    trace = shard / "trace.jsonl"
    return trace.read_bytes().count(b"\n") if trace.is_file() else 0


def worker(shard: Path) -> int:
    """The process that works on a shard."""
    found = re.match(r"pid (\d+)", (shard / ".lock").read_text())
    assert found
    return int(found[1])


def test_workers_keep_one_limit_and_a_killed_one_loses_only_what_it_had_in_flight(folder: Path) -> None:
    (folder / "referee.toml").write_text(f"[calls]\nconcurrency = {CONCURRENCY}\n")
    held = Held()
    held.go.set()
    with FakeServer(held, context_tokens=32_000) as server:
        arguments = asked(folder, server)
        limited = finished(folder, *arguments, "--out", "run", "--processes", "2", "--max-tokens", str(LIMIT))
        assert limited.returncode == 3, limited.stderr
        assert "a higher limit" in limited.stderr
        shards = [folder / "run" / "shards" / f"{number}-of-2" for number in (1, 2)]
        assert 0 < sum(read_record(shard).usage.total_tokens for shard in shards) <= LIMIT
        assert read_record(folder / "run").status == "stopped"
        assert max(call.in_flight for call in server.log) <= CONCURRENCY
        before = calls_of(shards[0])
        held.until = lambda: calls_of(shards[0]) > before
        held.go.clear()
        with command(folder, *arguments, "--resume", "run", "--max-tokens", "1000000") as process:
            wait_for(held.until)
            os.kill(worker(shards[0]), signal.SIGKILL)
            held.go.set()
            done = ended(process)
        assert done.returncode == 0, done.stderr
        assert "shard 1/2: its process was killed; it is started again" in done.stderr
        calls = Counter(call.digest for call in server.log)
    assert len(calls) == UNITS
    assert calls.total() - UNITS <= CONCURRENCY, "only what was in flight is asked again"
    results = list(read_results(folder / "run" / "results.jsonl"))
    assert sorted((one.case_id, one.status) for one in results) == sorted(
        (json.loads(line)["case_id"], "scored") for line in (folder / "set.jsonl").read_text().splitlines()
    )
    record = read_record(folder / "run")
    assert (record.status, record.workers, record.usage.calls) == ("finished", 2, UNITS)
