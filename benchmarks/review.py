"""What a review costs besides the model: the numbers behind docs/benchmarks.md.

    python benchmarks/review.py [--paper PATH ...] [--venue ID] [--strategy single] [--latency 1.0] [--runs 5]
                                [--json FILE]

Wall time of a whole review over the longest chain of its calls, time to its first call, processor time, prompt tokens,
parse seconds a page, peak memory, and the time until help is shown. The model is ``tests.support.FakeServer``, whose
replies take a fixed time; every measured process is started anew, and what is compared is measured in one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from review_chain import Span, fewest_waves, longest_chain, spans
from review_processes import ROOT, CommandFailed, Ended, run_probe, run_python
from review_table import Row, in_mib, in_seconds, markdown, timed_row

import referee
from referee.llm.tokens import count_tokens
from referee.papers import load_paper
from tests.support import FakeServer
from tests.support.log import CallEntry

EXAMPLE = ROOT / "examples" / "paper.pdf"
MORE_PAPERS = ROOT.parent / "shared" / "data" / "pdfs"
CONTEXT_TOKENS = 128_000
STARTS_A_RUN = 4
BARE = "`python -c pass`"
HELP: dict[str, list[str]] = {"`referee --help`": [], "`referee review --help`": ["review"]}


@dataclass(frozen=True)
class Reviewed:
    """One review: wall seconds, calls, the calls of its longest chain, and when each of its calls ran."""

    seconds: float
    calls: int
    chain: int
    ran: tuple[Span, ...] = ()


def main() -> int:
    """Measure, print the table, write the JSON; returns 1 where a measured command failed."""
    given = _arguments()
    rows: list[Row] = []
    figures: dict[str, Any] = {"settings": _settings(given), "machine": _machine()}
    try:
        with tempfile.TemporaryDirectory(prefix="referee-benchmark-") as name:
            for measure in (_reviews, _parsing, _starting):
                figures |= measure(given, Path(name), rows)
    except CommandFailed as error:
        print(error, file=sys.stderr)
        return 1
    figures["machine"]["load_after"] = os.getloadavg()[0]
    print(_heading(figures), markdown(rows), sep="\n\n")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", type=Path, nargs="+", help="all are parsed, the first is reviewed")
    parser.add_argument("--venue", default="neurips-2025")
    parser.add_argument("--strategy", default="audited")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that every reply takes")
    parser.add_argument("--slots", type=int, default=4, help="calls at once, beside no limit")
    parser.add_argument("--runs", type=int, default=5, help="times each thing is measured")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    given = parser.parse_args()
    if given.runs < 1 or given.latency <= 0:
        parser.error("--runs and --latency must be above 0")
    given.paper = [p.resolve() for p in given.paper or [EXAMPLE, *sorted(MORE_PAPERS.glob("*.pdf"))]]
    for place in [*given.paper, *([given.json.resolve().parent] if given.json else [])]:
        if not place.exists():
            parser.error(f"there is no {str(place)!r}")
    return given


def _reviews(given: argparse.Namespace, folder: Path, rows: list[Row]) -> dict[str, Any]:
    """Wall time, tokens and memory of whole reviews, in a process each and several in one process."""
    options = ["--venue", given.venue, "--strategy", given.strategy]
    with FakeServer(latency_s=given.latency, context_tokens=CONTEXT_TOKENS) as server:
        options += ["--base-url", server.base_url]
        cold: list[Reviewed] = []
        alone: list[Ended] = []
        first_calls = []
        for number in range(given.runs):
            before = len(server.log)
            command = [
                "-m",
                "referee",
                "review",
                str(given.paper[0]),
                *options,
                "--model",
                "fake",
                "--no-cache",
                "--yes",
            ]
            ended = run_python([*command, "--out", str(folder / f"cold-{number}")], folder)
            cold.append(_reviewed(ended.seconds, server.log.entries[before:]))
            alone.append(ended)
            first_calls.append(min((e.at for e in server.log.entries[before:]), default=inf) - ended.began_at)
        runs = ["--runs", str(given.runs + 1), "--out", str(folder)]
        ended = run_probe(["reviews", str(given.paper[0]), *options, *runs], folder)
        told, log = ended.json(), list(server.log)
    within = [[e for e in log if r["began_at"] <= e.at <= r["ended_at"]] for r in told["reviews"]]
    first, *warm = [_reviewed(r["seconds"], calls) for r, calls in zip(told["reviews"], within, strict=True)]
    rows += [
        _wall_row("review, in a process of its own", cold, given.latency),
        timed_row("... until its first call", first_calls, "after the command's start"),
        timed_row("... processor time in all", [e.cpu_seconds for e in alone]),
        _wall_row("review, first in a process, after `import referee`", [first], given.latency),
        _wall_row("review, later in the same process", warm, given.latency),
    ]
    if given.strategy != "single":
        rows += _limited_rows(warm[-1], _limited(given, folder), given.slots, given.latency)
    tokens = _tokens(given.paper[0], within[-1], told, rows)
    if given.strategy != "single":
        tokens |= _beside_single(given, folder, sum(tokens[kind] for kind in ("messages", "schemas")), rows)
    rows += [
        Row("peak memory, one review", in_mib(statistics.median(e.peak_bytes for e in alone))),
        Row(f"peak memory, {given.runs + 1} reviews in one process", in_mib(ended.peak_bytes)),
    ]
    wall = {"cold": [asdict(r) for r in cold], "first": [asdict(first)], "warm": [asdict(r) for r in warm]}
    return {
        "reviews": wall,
        "first_call_seconds": first_calls,
        "review_cpu_seconds": [e.cpu_seconds for e in alone],
        "tokens": tokens,
        "review_peak_bytes": {"one": [e.peak_bytes for e in alone], "several": ended.peak_bytes},
    }


def _reviewed(seconds: float, calls: list[CallEntry]) -> Reviewed:
    ran = spans(calls)
    return Reviewed(seconds, len(calls), len(longest_chain(ran)), tuple(ran))


def _wall_row(measure: str, reviews: list[Reviewed], latency_s: float) -> Row:
    """Each review over its own chain, then the median."""
    if not all(r.chain for r in reviews):
        raise CommandFailed(f"{measure}: a review made no call, so there is no chain to measure it by.")
    ratio = statistics.median(r.seconds / (r.chain * latency_s) for r in reviews)
    chains, calls = sorted({r.chain for r in reviews}), sorted({r.calls for r in reviews})
    beside = f"chain {'/'.join(map(str, chains))} of {'/'.join(map(str, calls))} x {in_seconds(latency_s)}"
    return timed_row(measure, [r.seconds for r in reviews], beside, ratio)


def _limited(given: argparse.Namespace, folder: Path) -> list[float]:
    """Wall seconds of reviews with few slots, later ones in a process."""
    with FakeServer(latency_s=given.latency, context_tokens=CONTEXT_TOKENS) as server:
        options = ["--venue", given.venue, "--strategy", given.strategy, "--base-url", server.base_url]
        runs = ["--runs", str(given.runs + 1), "--out", str(folder / "slots")]
        told = run_probe(["reviews", str(given.paper[0]), *options, *runs], folder, given.slots).json()
    return [review["seconds"] for review in told["reviews"][1:]]


def _limited_rows(free: Reviewed, seconds: list[float], slots: int, latency_s: float) -> list[Row]:
    """Reviews with few slots beside two bounds, which a review without a limit gives.

    They can end no sooner than their chain, nor than their work spread over the slots; where calls of equal length do
    not fill the slots evenly no schedule reaches that, and the shortest one stands beside them too.
    """
    usual, waves = statistics.median(seconds), fewest_waves(free.ran, slots)
    bound = f"max({free.calls} calls/{slots}, chain {free.chain}) x {in_seconds(latency_s)}"
    shortest = f"shortest schedule, {waves} x {in_seconds(latency_s)}"
    least = max(free.calls / slots, free.chain) * latency_s
    return [
        timed_row(f"... with {slots} calls at once", seconds, bound, usual / least),
        timed_row(f"... with {slots} calls at once", seconds, shortest, usual / (waves * latency_s)),
    ]


def _beside_single(given: argparse.Namespace, folder: Path, sent: int, rows: list[Row]) -> dict[str, int]:
    """The prompt tokens of strategy ``single`` on the same paper, and of one that sends all of it with each part."""
    with FakeServer(context_tokens=CONTEXT_TOKENS) as server:
        options = ["--venue", given.venue, "--strategy", "single", "--base-url", server.base_url]
        run_probe(["reviews", str(given.paper[0]), *options, "--out", str(folder / "single")], folder)
        requests = [entry.request for entry in server.log.entries if entry.request is not None]
    single = sum(count_tokens(message.text) for request in requests for message in request.messages)
    single += sum(count_tokens(json.dumps(r.schema)) for r in requests if r.schema is not None)
    rows.append(Row("... beside `single`", f"{sent:,}", beside=f"{single:,}", ratio=sent / single))
    return {"single": single}


def _tokens(paper: Path, calls: list[CallEntry], told: dict[str, Any], rows: list[Row]) -> dict[str, int]:
    """Tokens of one review's requests as they arrived, beside the paper's own and the estimate made before."""
    requests = [call.request for call in calls if call.request is not None]
    messages = sum(count_tokens(message.text) for request in requests for message in request.messages)
    schemas = sum(count_tokens(json.dumps(request.schema)) for request in requests if request.schema is not None)
    own = sum(count_tokens(section.text) for section in load_paper(paper).content)
    sent, planned = messages + schemas, told["planned_input_tokens"]
    whole = told["section_calls"] * own
    if whole:
        beside = f"{told['section_calls']} sections x {own:,} of the paper"
        rows.append(Row("prompt tokens sent", f"{sent:,}", beside=beside, ratio=sent / whole))
    rows += [
        Row("prompt tokens sent", f"{sent:,}", beside=f"{own:,} of the paper", ratio=sent / own),
        Row("... of them reply schemas", f"{schemas:,}", beside=f"{sent:,} sent", ratio=schemas / sent),
        Row("prompt tokens, estimated before", f"{planned:,}", beside=f"{sent:,} sent", ratio=planned / sent),
    ]
    return {"messages": messages, "schemas": schemas, "paper": own, "estimated": planned}


def _parsing(given: argparse.Namespace, folder: Path, rows: list[Row]) -> dict[str, Any]:
    """Seconds a page of every paper, each in a process of its own."""
    figures = []
    for paper in given.paper:
        ended = run_probe(["parse", str(paper), "--runs", str(given.runs)], folder)
        told = ended.json()
        each = [seconds / (told["pages"] or 1) for seconds in told["seconds"]]
        measure = f"parse {paper.name}, {'a page' if told['pages'] else 'in all'}"
        rows.append(timed_row(measure, each, f"{told['pages']} pages" if told["pages"] else ""))
        figures.append({"paper": paper.name, **told, "peak_bytes": ended.peak_bytes})
    once = run_probe(["parse", str(given.paper[0]), "--runs", "1"], folder).peak_bytes
    rows.append(Row(f"peak memory, parse {given.paper[0].name}", in_mib(once)))
    return {"parsing": figures, "parse_peak_bytes": once}


def _starting(given: argparse.Namespace, folder: Path, rows: list[Row]) -> dict[str, Any]:
    """Help beside the start of Python alone, in turns, and what it imports."""
    commands = {BARE: ["-c", "pass"]} | {name: ["-m", "referee", *words, "--help"] for name, words in HELP.items()}
    ended: dict[str, list[Ended]] = {name: [] for name in commands}
    for _ in range(STARTS_A_RUN * given.runs):
        for name, arguments in commands.items():
            ended[name].append(run_python(arguments, folder))
    seconds = {name: [e.seconds for e in them] for name, them in ended.items()}
    peaks = {name: statistics.median(e.peak_bytes for e in them) for name, them in ended.items()}
    usual, least = statistics.median(seconds[BARE]), peaks[BARE]
    heavy = {}
    for name, words in HELP.items():
        heavy[name] = run_probe(["imported", *words], folder).json()
        beside, ratio = f"{in_seconds(usual)} of {BARE}", statistics.median(seconds[name]) / usual
        rows += [
            timed_row(name, seconds[name], beside, ratio),
            timed_row("... processor time", [e.cpu_seconds for e in ended[name]]),
            Row("... heavy modules imported", ", ".join(heavy[name]) or "none"),
            Row("... peak memory", in_mib(peaks[name]), "", f"{in_mib(least)} of {BARE}", peaks[name] / least),
        ]
    return {"start": {"seconds": seconds, "peak_bytes": peaks, "heavy": heavy}}


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "papers": [paper.name for paper in given.paper],
        "venue": given.venue,
        "strategy": given.strategy,
        "latency_s": given.latency,
        "runs": given.runs,
        "version": referee.__version__,
    }


def _machine() -> dict[str, Any]:
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }


def _heading(figures: dict[str, Any]) -> str:
    settings, machine = figures["settings"], figures["machine"]
    return (
        f"referee {settings['version']}, strategy {settings['strategy']}, {settings['papers'][0]} for "
        f"{settings['venue']}; medians, --runs {settings['runs']}. {machine['system']} {machine['processor']}, "
        f"{machine['cores']} cores, Python {machine['python']}, load {machine['load_before']:.1f} before and "
        f"{machine['load_after']:.1f} after."
    )


if __name__ == "__main__":
    sys.exit(main())
