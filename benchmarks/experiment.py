"""How long an experiment takes beside the waiting for its model: the figures of docs/experiments.md.

    python benchmarks/experiment.py [--papers 8] [--latency 2.0]

Two arms of the strategy ``single`` review short papers, and one judge rates each review by ``depth``: the longest chain
is two calls, whatever the number of papers. The model is ``tests.support.FakeServer``, whose replies take a fixed
time. A first experiment, which is not counted, imports everything.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee import api
from referee.settings import Settings, changed_settings
from tests.support import FakeServer

CHAIN = 2
PAPER = "# Lanterns {n}\n\n## 1 Method\n\nEach lantern of harbour {n} is counted twice by two clerks.\n"


@dataclass(frozen=True)
class Measured:
    """One experiment: its seconds, its calls, and how many of them were under way at once."""

    seconds: float
    calls: int
    peak: int


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=8)
    parser.add_argument("--latency", type=float, default=2.0)
    given = parser.parse_args()
    with _aside() as folder:
        measure(folder / "first", 1, 0.0, concurrency=8)
        everything = 2 * CHAIN * given.papers
        rows = {
            "no limit on calls at once": measure(folder / "a", given.papers, given.latency, concurrency=everything),
            "8 calls at once": measure(folder / "b", given.papers, given.latency, concurrency=8),
            "1 call at once": measure(folder / "c", given.papers, given.latency, concurrency=1),
        }
        tight = sum_of_tokens(folder / "a") * 2
        rows["a budget of twice what it takes"] = measure(
            folder / "d", given.papers, given.latency, concurrency=everything, max_tokens=tight
        )
    print(f"{given.papers} papers, replies after {given.latency:g} s, load {os.getloadavg()[0]:.1f}\n")
    print("| | calls | most at once | seconds | seconds over those of the chain |\n| --- | ---: | ---: | ---: | ---: |")
    for name, one in rows.items():
        ratio = one.seconds / (CHAIN * given.latency)
        print(f"| {name} | {one.calls} | {one.peak} | {one.seconds:.1f} | {ratio:.2f} |")


def measure(
    folder: Path, papers: int, latency_s: float, *, concurrency: int, max_tokens: int | None = None
) -> Measured:
    """Run an experiment of its own on so many papers."""
    folder.mkdir()
    for n in range(papers):
        (folder / f"p{n}.md").write_text(PAPER.format(n=n), encoding="utf-8")
    plan: dict[str, Any] = {
        "grid": {"models": ["a", "b"], "strategies": ["single"], "venues": ["iclr-2020"]},
        "papers": {"files": [str(folder / "p*.md")]},
        "measure": {"metrics": ["depth"], "judges": ["judge"]},
    }
    settings = changed_settings(Settings(), {"calls.concurrency": concurrency, "calls.cache": False})
    with FakeServer(latency_s=latency_s, context_tokens=32_000) as server:
        work = api.experiment(
            plan,
            store=folder / "store",
            options=api.RunOptions(
                base_url=server.base_url, out=folder / "run", max_tokens=max_tokens, settings=settings
            ),
        )
        started = time.perf_counter()
        asyncio.run(work)
        seconds = time.perf_counter() - started
        return Measured(seconds, len(server.log.calls(endpoint="chat")), server.log.peak_in_flight)


def sum_of_tokens(folder: Path) -> int:
    """What an experiment took."""
    from referee.schemas.experiment import ExperimentResult

    text = (folder / "run" / "summary.json").read_text(encoding="utf-8")
    return ExperimentResult.model_validate_json(text).paid.total_tokens


@contextmanager
def _aside() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="referee-benchmark-") as name:
        os.environ["REFEREE_CACHE_DIR"] = f"{name}/cache"
        yield Path(name)


if __name__ == "__main__":
    main()
