"""What a model call costs besides its model, and whether that stays so in long runs: see docs/benchmarks.md.

    python benchmarks/calls.py [--calls 1000 10000] [--json FILE]

A server of ``referee.testing`` in a process of its own answers at once. Another process asks it through the door, in
a run folder, as ``referee eval`` does; a third asks it the same with LangChain's client alone. Printed are processor
time a call of both and their ratio, peak memory, and what a run that was killed after half of its calls needs to go on.
With ``--unsent 100000``, runs of that length are made beside it in which each call is answered in the client's place.
The command ends with 1 where a reply was paid twice, or the door takes more than twice what the client takes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calls_probe import SCRIPTED, SLOTS
from review_processes import CommandFailed, environment, run_python
from review_table import Row, in_mib, in_seconds, markdown

PROBE = Path(__file__).with_name("calls_probe.py")
BARE_CALLS = 1_000
MOST_RATIO = 2.0


def main() -> int:
    """Measure, print the table, write the JSON."""
    given = _arguments()
    try:
        with tempfile.TemporaryDirectory(prefix="referee-benchmark-") as name, serving(Path(name)) as base_url:
            figures = measured(base_url, given.calls, given.unsent, Path(name))
    except CommandFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(markdown(_rows(figures)))
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return int(figures["ratio"] > MOST_RATIO or figures["resumed"]["paid_twice"] > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000, 10_000], help="lengths of the runs")
    parser.add_argument("--unsent", type=int, nargs="*", default=[], help="also runs of so many that are not sent")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    return parser.parse_args()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A scripted server in a process of its own: its address."""
    script = folder / "script.json"
    script.write_text(json.dumps({"entries": {"*": SCRIPTED.model_dump()}}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.support.server", "--script", str(script), "--no-prompt-cache"]
    command += ["--context", "32000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(os.environ), text=True) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["base_url"]
        finally:
            server.terminate()


def measured(base_url: str, lengths: list[int], unsent: list[int], folder: Path) -> dict[str, Any]:
    """All figures; the bare client is measured before and after, and its lesser time counts.

    Of a run that is not sent, a second start says what it takes to go on with one that has all its replies.
    """
    aside = []
    for calls in unsent:
        run = "unsent", base_url, str(calls), str(folder / f"unsent-{calls}")
        aside.append({"first": _probed(folder, *run), "second": _probed(folder, *run)})
    bare = [_probed(folder, "bare", base_url, str(BARE_CALLS))]
    runs = [_probed(folder, "door", base_url, str(n), str(folder / f"run-{n}")) for n in lengths]
    bare.append(_probed(folder, "bare", base_url, str(BARE_CALLS)))
    bare_s = min(one["cpu_a_call_s"] for one in bare)
    resumed = _resumed(base_url, lengths[-1], folder)
    sizes = {str(path.name): path.stat().st_size for path in (folder / f"run-{lengths[-1]}").iterdir()}
    ratio = max(one["cpu_a_call_s"] for one in runs) / bare_s
    return {
        "bare": bare,
        "runs": runs,
        "bare_s": bare_s,
        "ratio": ratio,
        "resumed": resumed,
        "files": sizes,
        "unsent": aside,
    }


def _probed(folder: Path, *arguments: str) -> dict[str, Any]:
    ended = run_python([str(PROBE), *arguments], folder, SLOTS)
    return {**ended.json(), "peak_bytes": ended.peak_bytes, "load": os.getloadavg()[0]}


def _resumed(base_url: str, calls: int, folder: Path) -> dict[str, Any]:
    """A run that is killed after half of its calls, and gone on with."""
    run = folder / "killed"
    command = [sys.executable, str(PROBE), "door", base_url, str(calls), str(run)]
    with subprocess.Popen(command, cwd=folder, env=environment(os.environ, SLOTS), stdout=subprocess.DEVNULL) as begun:
        while _size(run) < _size(folder / f"run-{calls}") // 2 and begun.poll() is None:
            time.sleep(0.05)
        begun.send_signal(signal.SIGKILL)
    kept = sum(1 for _ in (run / "trace.jsonl").open("rb"))
    figures = _probed(folder, "door", base_url, str(calls), str(run))
    requests = [json.loads(line)["request"] for line in (run / "trace.jsonl").open("rb")]
    return {**figures, "kept": kept, "paid_twice": len(requests) - len(set(requests)), "lines": len(requests)}


def _size(run: Path) -> int:
    trace = run / "trace.jsonl"
    return trace.stat().st_size if trace.exists() else 0


def _rows(figures: dict[str, Any]) -> Iterator[Row]:
    bare, resumed = figures["bare_s"], figures["resumed"]
    yield Row("LangChain's client alone, processor time a call", in_seconds(bare))
    for run in figures["runs"]:
        name = f"{run['calls']:,} calls"
        cpu = run["cpu_a_call_s"]
        yield Row(f"{name}, processor time a call", in_seconds(cpu), beside="the client alone", ratio=cpu / bare)
        yield Row(f"{name}, peak memory", in_mib(run["peak_bytes"]))
    for both in figures["unsent"]:
        for start, run in both.items():
            name = f"{run['calls']:,} calls that are not sent, {start} start"
            yield Row(f"{name}, processor time a call", in_seconds(run["cpu_a_call_s"]))
            yield Row(f"{name}, until it asks", in_seconds(run["opened_s"]))
            yield Row(f"{name}, peak memory", in_mib(run["peak_bytes"]))
    name = f"killed after {resumed['kept']:,} of {resumed['calls']:,} calls"
    yield Row(f"{name}, until it asks again", in_seconds(resumed["opened_s"]))
    yield Row(f"{name}, whole second start", in_seconds(resumed["whole_s"]))
    yield Row(f"{name}, peak memory", in_mib(resumed["peak_bytes"]))
    yield Row(f"{name}, replies paid twice", str(resumed["paid_twice"]))
    for file, size in sorted(figures["files"].items()):
        yield Row(f"bytes of {file}", f"{size:,}")


if __name__ == "__main__":
    sys.exit(main())
