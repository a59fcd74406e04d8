"""What an evaluation costs besides its judge: the figures on `referee eval` in docs/benchmarks.md.

    python benchmarks/eval.py [--reviews 200] [--latency 1.0] [--slots 32] [--metrics A,B] [--json FILE]

Real reviews of ICLR 2026, each with a Markdown paper made of its title and abstract, are measured by `referee eval` in
a process of its own, whose cache holds the embedding model and no index. The judge is ``tests.support.FakeServer``,
whose replies take a fixed time. Printed are the use of the allowed concurrency, the calls and tokens of a review by
metric, peak memory, and the processor's share.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from review_chain import Span, spans
from review_processes import ROOT, CommandFailed, run_python
from review_table import Row, in_mib, in_seconds, markdown

from referee.llm.catalogue import CACHE_VARIABLE, model_path
from tests.support import FakeServer
from tests.support.log import OK, CallEntry

REVIEWS = ROOT.parent / "shared" / "data" / "papers" / "iclr2026_abstract_reviews_rebuttals.jsonl"
METRICS = "constructiveness,adherence,topic_coverage,semantic_similarity,depth,factual_correctness"


def main() -> int:
    """Measure, print the tables, write the JSON; returns 1 where the measured command failed."""
    given = _arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="referee-benchmark-") as name:
            figures = measured(given, Path(name))
    except CommandFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(_heading(given), markdown(_rows(figures)), by_prompt(figures), sep="\n\n")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=200)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that every reply takes")
    parser.add_argument("--slots", type=int, default=32, help="calls that are allowed at once")
    parser.add_argument("--metrics", default=METRICS)
    parser.add_argument("--data", type=Path, default=REVIEWS)
    parser.add_argument("--json", type=Path, help="also write all figures here")
    given = parser.parse_args()
    if not given.data.is_file():
        parser.error(f"there is no {str(given.data)!r}")
    return given


def write_inputs(data: Path, wanted: int, folder: Path) -> tuple[Path, Path, int]:
    """The first papers with ``wanted`` reviews between them, as a review set and a folder of papers."""
    reviews, papers = folder / "reviews.jsonl", folder / "papers"
    papers.mkdir()
    written = 0
    with data.open(encoding="utf-8") as rows, reviews.open("w", encoding="utf-8") as out:
        for row in map(json.loads, rows):
            if written >= wanted:
                break
            row["reviews"] = row["reviews"][: wanted - written]
            written += len(row["reviews"])
            out.write(json.dumps(row) + "\n")
            title, abstract = row["title"], row["abstract"]
            text = f"# {title}\n\n## Abstract\n\n{abstract}\n\n## Results in short\n\n{abstract}\n"
            (papers / f"{row['forum_id']}.md").write_text(text, encoding="utf-8")
    return reviews, papers, written


def cache_without_index(folder: Path) -> Path:
    """A cache of the command's own: the embedding model stays where it is, and every paper has to be indexed."""
    cache = folder / "cache"
    cache.mkdir()
    if fetched := model_path("minilm"):
        (cache / "models").symlink_to(fetched.parent, target_is_directory=True)
    return cache


def measured(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One evaluation; every figure of it."""
    reviews, papers, count = write_inputs(given.data, given.reviews, folder)
    os.environ[CACHE_VARIABLE] = str(cache_without_index(folder))
    with FakeServer(latency_s=given.latency) as server:
        command = ["-m", "referee", "eval", str(reviews), "--papers", str(papers), "--metrics", given.metrics]
        command += ["--base-url", server.base_url, "--judge", "fake", "--no-cache", "--yes"]
        before = os.times()
        ended = run_python([*command, "--out", str(folder / "run")], folder, given.slots)
        after = os.times()
        calls = [entry for entry in server.log if entry.outcome == OK]
        peak = server.log.peak_in_flight
    waits = spans(calls)
    if not waits:
        raise CommandFailed(f"no call was made by {given.metrics}: there is nothing to measure")
    results = [json.loads(line) for line in (folder / "run" / "results.jsonl").open(encoding="utf-8")]
    return {
        "reviews": count,
        "latency_s": given.latency,
        "slots": given.slots,
        "seconds": ended.seconds,
        "calls": len(calls),
        "peak_in_flight": peak,
        "use": use_of(waits, given.slots),
        "use_whole": sum(wait.finished_s - wait.started_s for wait in waits) / given.slots / ended.seconds,
        "processor_s": after.children_user + after.children_system - before.children_user - before.children_system,
        "peak_bytes": ended.peak_bytes,
        "load_after": os.getloadavg()[0],
        "statuses": dict(Counter(f"{result['metric']}: {result['status']}" for result in results)),
        "prompts": _by_prompt(calls),
    }


def use_of(waits: Sequence[Span], slots: int) -> float:
    """Seconds in which calls were under way, over what ``slots`` allow between the first call and the last."""
    began, ended = min(wait.started_s for wait in waits), max(wait.finished_s for wait in waits)
    return sum(wait.finished_s - wait.started_s for wait in waits) / (slots * (ended - began))


def _by_prompt(calls: Sequence[CallEntry]) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for call in calls:
        sums = table.setdefault(call.prompt_id or call.endpoint, {"calls": 0, "words_in": 0, "words_out": 0})
        sums["calls"] += 1
        sums["words_in"] += call.input_tokens
        sums["words_out"] += call.output_tokens
    return dict(sorted(table.items()))


def _heading(given: argparse.Namespace) -> str:
    return f"{given.reviews} reviews, replies after {given.latency:g} s, {given.slots} at once; {given.metrics}"


def _rows(figures: dict[str, Any]) -> list[Row]:
    perfect = figures["calls"] * figures["latency_s"] / figures["slots"]
    return [
        Row("wall time", in_seconds(figures["seconds"]), beside=f"{in_seconds(perfect)} of waiting at least",
            ratio=figures["seconds"] / perfect),
        Row("use of the slots, first call to last", f"{figures['use']:.2f}"),
        Row("use of the slots, whole command", f"{figures['use_whole']:.2f}"),
        Row("most calls at once", str(figures["peak_in_flight"])),
        Row("calls", f"{figures['calls']:,}", beside=f"{figures['reviews']} reviews",
            ratio=figures["calls"] / figures["reviews"]),
        Row("processor time", in_seconds(figures["processor_s"]), beside=f"{figures['calls']:,} calls",
            ratio=figures["processor_s"] / figures["calls"]),
        Row("peak memory", in_mib(figures["peak_bytes"])),
    ]  # fmt: skip


def by_prompt(figures: dict[str, Any]) -> str:
    """Calls and words of a review by prompt."""
    lines = ["| prompt | calls a review | words in a call | words out a call |", "| --- | ---: | ---: | ---: |"]
    for prompt, sums in figures["prompts"].items():
        calls = sums["calls"]
        lines.append(
            f"| {prompt} | {calls / figures['reviews']:.2f} | {sums['words_in'] / calls:,.0f} "
            f"| {sums['words_out'] / calls:,.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
