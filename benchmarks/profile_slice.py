"""A named slice of the shared review data, profiled with a judge: items, coverage and mathematics of ten reviews.

    python benchmarks/profile_slice.py [--data DIR] [--out DIR] [--judge MODEL] [--prepare] [PROFILE FLAGS ...]

The slice ``agents4science-ten`` has the five papers of Agents4Science 2025 that ``eval_slices.py`` measures, with one
human review each (the first) and one of the AI reviewer that wrote least about these papers. It is written as JSONL and
profiled by source with the embedded judge, by rules for comparison; what follows the known flags is passed on to the
judged run, as ``--base-url`` or ``--max-tokens``. A run folder that is there is resumed, and what the judge said in it
is not asked again. At the end stand the two coverage tables beside each other.
``--prepare`` writes the slice and prints the commands.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval_slices import ROOT, SHARED, agents_slice

NAME = "agents4science-ten"
KINDS = ("own", "chance", "volume")
Row = dict[str, Any]


def ten_reviews(data: Path) -> list[Row]:
    """One human review of each paper, and one of the AI reviewer whose reviews of these papers are shortest."""
    rows = agents_slice(data).rows
    written = Counter[str]()
    for row in rows:
        if row["source"] != "human":
            written[row["source"]] += len(row["text"])
    shortest = min(sorted(written), key=lambda name: written[name])
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row["source"] in ("human", shortest):
            first.setdefault((row["paper_id"], row["source"]), row)
    return list(first.values())


def write(rows: Sequence[Row], folder: Path) -> Path:
    """The slice as a JSONL."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{NAME}.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def command(file: Path, run: Path, judge: str = "", more: Sequence[str] = ()) -> list[str]:
    """``referee profile`` on the slice by a judge, or by rules; on with the run that is there."""
    where = ["--resume" if (run / "run.json").exists() else "--out", str(run)]
    judged = ["--judge", judge, "--yes", *more] if judge else []
    return ["profile", str(file), "--by", "source", *where, *judged]


def beside(ruled: Path, judged: Path) -> Iterator[str]:
    """Coverage by rules and by the judge, a line a measure."""
    numbers = [_numbers(run) for run in (ruled, judged)]
    yield f"{'':42}{'rules':>10}{'judge':>10}"
    for key in dict.fromkeys(key for found in numbers for key in found):
        yield f"{' '.join(key):42}" + "".join(f"{_shown(found.get(key)):>10}" for found in numbers)


def main() -> int:
    """Write the slice and profile it; returns the first exit code that is not 0."""
    given, more = _parser().parse_known_args()
    if not given.data.is_dir():
        print(f"the shared review data is not at {str(given.data)!r}; name its folder with --data", file=sys.stderr)
        return 2
    file = write(ten_reviews(given.data), given.out)
    runs = given.out / f"{NAME}-rules", given.out / f"{NAME}-judge"
    for run, judge in zip(runs, ("", given.judge), strict=True):
        words = command(file, run, judge, more)
        print("$", shlex.join(["referee", *words]), flush=True)
        if given.prepare:
            continue
        code = subprocess.run([sys.executable, "-m", "referee", *words], cwd=ROOT, check=False).returncode
        if code:
            return code
    if not given.prepare:
        print(*beside(*runs), sep="\n")
    return 0


def _numbers(run: Path) -> dict[tuple[str, ...], str]:
    with (run / "coverage.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["system"], row["polarity"], row["measure"], row["kind"]): row["value"]
            for row in csv.DictReader(file)
            if row["kind"] in KINDS
        }


def _shown(value: str | None) -> str:
    return f"{float(value):.3f}" if value else "none"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="the shared review data")
    parser.add_argument("--out", type=Path, default=Path("referee-slices"), help="slice and run folders go here")
    parser.add_argument("--judge", default="local", help="the judge's model")
    parser.add_argument("--prepare", action="store_true", help="write the slice and print the commands only")
    return parser


if __name__ == "__main__":
    sys.exit(main())
