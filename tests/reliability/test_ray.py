"""Shards on a Ray cluster of this machine: two workers, one of them killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.evals.results import read_results
from referee.runs.folder import read_record
from tests.cli.eval_sets import write_set
from tests.cli.processes import wait_for
from tests.held import Held
from tests.needs import require
from tests.support import FakeServer

require("ray", "ray")

PAPERS, CONCURRENCY = 6, 2
UNITS = 4 * PAPERS
CLI = (sys.executable, "-m", "referee")


_HEAD = """
import ray, sys
from tests.needs import require
head = ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False)
print(head.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a cluster with two workers, which ends with the process that began it."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
    with subprocess.Popen(
        [sys.executable, "-c", _HEAD],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as head:
        assert head.stdout is not None
        yield head.stdout.readline().strip()


def test_a_killed_worker_is_replaced_and_the_run_goes_on_without_ray(folder: Path, cluster: str) -> None:
    (folder / "referee.toml").write_text(f"[calls]\nconcurrency = {CONCURRENCY}\n")
    source = write_set(folder / "set.jsonl", PAPERS)
    held = Held()
    held.go.set()
    with FakeServer(held, context_tokens=32_000) as server:
        asked = ("eval", str(source), "--metrics", "depth", "--judge", "fake", "--base-url", server.base_url)
        on_ray = ("--processes", "2", "--engine", "ray", "--address", cluster, "--max-tokens", "5000")
        limited = subprocess.run(
            [*CLI, *asked, "--no-cache", "--out", "run", *on_ray], check=False, capture_output=True, text=True
        )
        assert limited.returncode == 3, limited.stderr
        shards = [folder / "run" / "shards" / f"{number}-of-2" for number in (1, 2)]
        assert 0 < sum(read_record(shard).usage.total_tokens for shard in shards) <= 5_000
        again = ("--no-cache", "--resume", "run", "--engine", "ray", "--address", cluster, "--max-tokens", "1000000")
        lines = (shards[0] / "trace.jsonl").read_text().count("\n")
        held.until = lambda: (shards[0] / "trace.jsonl").read_text().count("\n") > lines
        held.go.clear()
        with subprocess.Popen([*CLI, *asked, *again], stderr=subprocess.PIPE, text=True) as process:
            wait_for(held.until)
            found = re.match(r"pid (\d+)", (shards[0] / ".lock").read_text())
            assert found
            os.kill(int(found[1]), signal.SIGKILL)
            held.go.set()
            said = process.communicate(timeout=300)[1]
        assert process.returncode == 0, said
        assert "its process was killed" in said
        calls = Counter(call.digest for call in server.log)
        assert max(call.in_flight for call in server.log) <= 2 * CONCURRENCY
        finished = subprocess.run([*CLI, *asked, "--resume", "run"], check=False, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
    assert len(calls) == UNITS
    assert calls.total() - UNITS <= CONCURRENCY, "only what was in flight is asked again"
    results = list(read_results(folder / "run" / "results.jsonl"))
    assert Counter(one.status for one in results) == {"scored": UNITS}


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nowhere", "127.0.0.1:99999"])
def test_a_cluster_that_does_not_answer_is_named_within_seconds(folder: Path, address: str) -> None:
    from referee.errors import RunError
    from referee.runs.engines import RayEngine

    with pytest.raises(RunError, match=re.escape(repr(address))) as failure:
        RayEngine(address)
    assert "--address HOST:PORT" in failure.value.hint
