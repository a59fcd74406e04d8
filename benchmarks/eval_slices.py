"""Named slices of the shared review data for the embedded model, measured by ``referee eval``.

    python benchmarks/eval_slices.py [--slice elife|agents4science|all] [--data DIR] [--out DIR] [--judge MODEL]
                                     [--prepare] [EVAL FLAGS ...]

``elife`` is the shortest article of the shared eLife set whose reviewers' own texts are there, with those texts; it is
checked for facts. ``agents4science`` are the five papers of Agents4Science 2025 with most human reviews (one has two,
the others one), with all their reviews, AI and human. Slices are written as JSONL and run with the embedded judge and
embedder; what follows the known flags is passed on, as ``--base-url`` or ``--max-tokens``. A run folder that is there
is resumed.
``--prepare`` writes the slices and prints the commands.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
ELIFE = "papers/elife_fulltext_reviews.jsonl"
AGENTS = "paired/agents4science2025_reviews.jsonl"
PAPERS_OF_AGENTS = 5
LETTER = "letter"

Row = dict[str, Any]


@dataclass(frozen=True)
class Slice:
    """Reviews, the metrics that are measured on them, and whether the file holds the papers too."""

    name: str
    rows: list[Row]
    metrics: tuple[str, ...]
    has_papers: bool

    def write(self, folder: Path) -> Path:
        """Write the slice as JSONL; a file that holds the same is left as it is."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.name}.jsonl"
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows), encoding="utf-8")
        return file

    def command(self, folder: Path, judge: str, more: list[str]) -> list[str]:
        """``referee eval`` on the slice, or on with the run that is there."""
        file, run = folder / f"{self.name}.jsonl", folder / f"{self.name}-run"
        where = ["--resume" if (run / "run.json").exists() else "--out", str(run)]
        papers = ["--papers", str(file)] if self.has_papers else []
        embedder = [] if "--embedder" in more else ["--embedder", "local"]
        metrics = ["--metrics", ",".join(self.metrics)]
        return ["eval", str(file), *papers, *metrics, "--judge", judge, *embedder, *where, "--yes", *more]


def elife_slice(data: Path) -> Slice:
    """One eLife article with its reviewers' texts."""
    reviewed = [row for row in _rows(data / ELIFE) if any(r["reviewer"] != LETTER for r in row["reviews"])]
    shortest = min(reviewed, key=lambda row: sum(len(section["text"]) for section in row["sections"]))
    return Slice("elife", [shortest], ("constructiveness", "depth", "factual_correctness"), True)


def agents_slice(data: Path) -> Slice:
    """Five papers of Agents4Science with human reviews, those with most of them first, and all their reviews."""
    rows = list(_rows(data / AGENTS))
    humans = Counter(row["paper_id"] for row in rows if row["source"] == "human")
    chosen = [paper for paper, _ in humans.most_common(PAPERS_OF_AGENTS)]
    metrics = ("constructiveness", "depth", "adherence", "topic_coverage", "semantic_similarity")
    return Slice("agents4science", [row for row in rows if row["paper_id"] in chosen], metrics, False)


SLICES = {"elife": elife_slice, "agents4science": agents_slice}


def main() -> int:
    """Write the slices and measure them; returns the first exit code that is not 0."""
    given, more = _parser().parse_known_args()
    if not given.data.is_dir():
        print(f"the shared review data is not at {str(given.data)!r}; name its folder with --data", file=sys.stderr)
        return 2
    for name in SLICES if given.slice == "all" else (given.slice,):
        one = SLICES[name](given.data)
        one.write(given.out)
        command = [sys.executable, "-m", "referee", *one.command(given.out, given.judge, more)]
        print("$", shlex.join(["referee", *command[3:]]), flush=True)
        if given.prepare:
            continue
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code:
            return code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slice", choices=[*SLICES, "all"], default="all")
    parser.add_argument("--data", type=Path, default=SHARED, help="the shared review data")
    parser.add_argument("--out", type=Path, default=Path("referee-slices"), help="slices and run folders go here")
    parser.add_argument("--judge", default="local", help="the judge's model")
    parser.add_argument("--prepare", action="store_true", help="write the slices and print the commands only")
    return parser


def _rows(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


if __name__ == "__main__":
    sys.exit(main())
