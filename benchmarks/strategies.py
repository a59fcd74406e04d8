"""What each strategy costs on one paper: the table of docs/strategies.md.

    python benchmarks/strategies.py [--paper PATH] [--venue ID] [--strategy NAME ...] [--latency 1.0] [--runs 3]
                                    [--json FILE]

Calls, prompt tokens, and wall time over the longest chain of calls, all strategies in one run, one after the other.
The model is ``tests.support.FakeServer``, whose replies take a fixed time; each strategy is measured in a process of
its own, whose first review warms it up and is not counted. Limits on calls at once are lifted. What scripted replies
say decides how many points there are to check and refine, so calls that depend on them are those of this script.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from review_chain import longest_chain, spans
from review_processes import HERE, ROOT, CommandFailed, run_python
from review_table import in_seconds

import referee
from referee.graphs.strategies import STRATEGIES
from referee.llm.tokens import count_tokens
from referee.papers import load_paper
from tests.support import FakeServer
from tests.support.log import CallEntry

EXAMPLE = ROOT / "examples" / "paper.pdf"
CONTEXT_TOKENS = 128_000
# What a strategy cannot be run without.
OPTIONS: Mapping[str, dict[str, Any]] = {"aligned": {"target": "4"}}
_HEAD = (
    "strategy",
    "calls",
    "planned",
    "prompt tokens",
    "of the paper",
    "chain",
    "wall time",
    "min to max",
    "over chain",
    "added",
)


@dataclass(frozen=True)
class Reviewed:
    """One review: wall seconds, calls, the calls of its longest chain, and the tokens of its prompts and schemas."""

    seconds: float
    calls: int
    chain: int
    prompt_tokens: int


@dataclass(frozen=True)
class Measured:
    """The counted reviews of a strategy, and the calls that were planned for one."""

    strategy: str
    planned_calls: int
    reviews: tuple[Reviewed, ...]

    def ratio(self, latency_s: float) -> float:
        """Each review's wall time over its own chain, then the median."""
        return statistics.median(r.seconds / (r.chain * latency_s) for r in self.reviews)

    def added_s(self, latency_s: float) -> float:
        """What each review took beside the waiting of its own chain, then the median."""
        return statistics.median(r.seconds - r.chain * latency_s for r in self.reviews)


def main() -> int:
    """Measure, print the table, write the JSON; returns 1 where a review failed."""
    given = _arguments()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    before = os.getloadavg()[0]
    own_tokens = sum(count_tokens(section.text) for section in load_paper(given.paper).content)
    try:
        measured = [measure(given, name) for name in given.strategy]
    except CommandFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"referee {referee.__version__}, {given.paper.name} ({own_tokens:,} tokens) for {given.venue}; medians, "
        f"--latency {given.latency:g} --runs {given.runs}. {machine}, load {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after.\n"
    )
    print(table(measured, own_tokens, given.latency))
    if given.json:
        figures = {"latency_s": given.latency, "paper_tokens": own_tokens, "strategies": [asdict(m) for m in measured]}
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def measure(given: argparse.Namespace, strategy: str) -> Measured:
    """Review the paper by one strategy, once to warm up and then as often as is counted.

    Raises:
        CommandFailed: A review failed, or made no call.
    """
    with (
        tempfile.TemporaryDirectory(prefix="referee-benchmark-") as name,
        FakeServer(latency_s=given.latency, context_tokens=CONTEXT_TOKENS) as server,
    ):
        folder = Path(name)
        probe = [str(HERE / "strategies_probe.py"), str(given.paper), "--venue", given.venue, "--strategy", strategy]
        probe += ["--base-url", server.base_url, "--options", json.dumps(OPTIONS.get(strategy, {}))]
        told = run_python([*probe, "--runs", str(given.runs + 1), "--out", str(folder / "runs")], folder).json()
        log = list(server.log)
    return counted(strategy, told, log)


def counted(strategy: str, told: Mapping[str, Any], log: Sequence[CallEntry]) -> Measured:
    """What a process told beside the server's log; the first review is left away.

    Raises:
        CommandFailed: A review made no call, so there is no chain to measure it by.
    """
    reviews = []
    for review in told["reviews"][1:]:
        calls = [entry for entry in log if review["began_at"] <= entry.at <= review["ended_at"]]
        chain = len(longest_chain(spans(calls)))
        if not chain:
            raise CommandFailed(f"{strategy}: a review made no call, so there is no chain to measure it by.")
        reviews.append(Reviewed(review["seconds"], len(calls), chain, _prompt_tokens(calls)))
    return Measured(strategy, told["planned_calls"], tuple(reviews))


def _prompt_tokens(calls: Sequence[CallEntry]) -> int:
    requests = [call.request for call in calls if call.request is not None]
    messages = sum(count_tokens(message.text) for request in requests for message in request.messages)
    return messages + sum(count_tokens(json.dumps(r.schema)) for r in requests if r.schema is not None)


def table(measured: Sequence[Measured], paper_tokens: int, latency_s: float) -> str:
    """A line a strategy, as Markdown. Figures that differ between reviews stand with a slash."""
    rows = []
    for one in measured:
        seconds = [r.seconds for r in one.reviews]
        tokens = statistics.median(r.prompt_tokens for r in one.reviews)
        rows.append(
            (
                f"`{one.strategy}`",
                "/".join(map(str, sorted({r.calls for r in one.reviews}))),
                str(one.planned_calls),
                f"{tokens:,.0f}",
                f"{tokens / paper_tokens:.1f} x",
                "/".join(map(str, sorted({r.chain for r in one.reviews}))),
                in_seconds(statistics.median(seconds)),
                f"{in_seconds(min(seconds))} to {in_seconds(max(seconds))}",
                f"{one.ratio(latency_s):.2f}",
                in_seconds(one.added_s(latency_s)),
            )
        )
    widths = [max(map(len, column)) for column in zip(_HEAD, *rows, strict=True)]
    head, *body = (
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (_HEAD, *rows)
    )
    rule = "| " + " | ".join("-" * (width - 1) + (":" if column else "-") for column, width in enumerate(widths)) + " |"
    return "\n".join([head, rule, *body])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=Path, default=EXAMPLE)
    parser.add_argument("--venue", default="neurips-2025")
    parser.add_argument("--strategy", nargs="+", choices=list(STRATEGIES), default=list(STRATEGIES), metavar="NAME")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that every reply takes")
    parser.add_argument("--runs", type=int, default=3, help="reviews that are counted")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    given = parser.parse_args()
    if given.runs < 1 or given.latency <= 0:
        parser.error("--runs and --latency must be above 0")
    given.paper = given.paper.resolve()
    if not given.paper.is_file():
        parser.error(f"there is no {str(given.paper)!r}")
    return given


if __name__ == "__main__":
    sys.exit(main())
