"""What ``review.py`` measures inside a process of its own; every command prints one line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from referee.api import ReviewEstimate

# A name stands for the module and all below it; a star for all that begin so.
HEAVY = (
    "langgraph",
    "langchain*",
    "openai",
    "anthropic",
    "google.genai",
    "chromadb",
    "rustypaper",
    "pypdfium2",
    "numpy",
    "tiktoken",
    "xllamacpp",
)


def heavy_among(modules: list[str]) -> list[str]:
    """Which of ``HEAVY`` are among the names of imported modules."""
    return [heavy for heavy in HEAVY if any(_is_of(module, heavy) for module in modules)]


def _is_of(module: str, heavy: str) -> bool:
    if heavy.endswith("*"):
        return module.startswith(heavy[:-1])
    return module == heavy or module.startswith(f"{heavy}.")


def imported(command: list[str]) -> list[str]:
    """The heavy modules that the help of a command (of the command line itself, if empty) imports."""
    from referee.cli import main

    sys.argv = ["referee", *command, "--help"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    return heavy_among(list(sys.modules))


def parse(paper: Path, runs: int) -> dict[str, Any]:
    """Seconds of each time a paper is read, and its pages (null where the file has none)."""
    from referee.papers import load_paper

    load_paper(paper)  # the libraries are imported here, and this time is not counted
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        read = load_paper(paper)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "pages": _pages(paper) if read.format == "pdf" else None}


def _pages(paper: Path) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(paper)
    pages = len(document)
    document.close()
    return pages


def timed_reviews(
    paper: Path, runs: int, out: Path, base_url: str, **asked: Any
) -> tuple[list[dict[str, float]], ReviewEstimate]:
    """Review a paper several times in one process: when each began and ended, and what was planned for the last."""
    from referee import RunOptions, review

    plans: list[ReviewEstimate] = []

    def confirm(plan: ReviewEstimate) -> bool:
        plans.append(plan)
        return True

    times = []
    for number in range(runs):
        began_at, began = time.time(), time.perf_counter()
        folder = out / f"warm-{number}"
        options = RunOptions(base_url=base_url, out=folder, cache=False, confirm=confirm)
        work = review(paper, **asked, model="fake", options=options)
        asyncio.run(work)
        times.append({"seconds": time.perf_counter() - began, "began_at": began_at, "ended_at": time.time()})
    return times, plans[-1]


def reviews(paper: Path, venue: str, strategy: str, base_url: str, runs: int, out: Path) -> dict[str, Any]:
    """When each of some reviews began and ended, and the estimate of the last."""
    times, plan = timed_reviews(paper, runs, out, venue=venue, strategy=strategy, base_url=base_url)
    trace = (out / f"warm-{runs - 1}" / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(line)["prompt"] for line in trace]
    return {
        "reviews": times,
        "planned_input_tokens": plan.input_tokens,
        "section_calls": sum(prompt.startswith("review/section") for prompt in prompts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("imported")
    one.set_defaults(measure=imported)
    one.add_argument("command", nargs="*")
    two = commands.add_parser("parse")
    two.set_defaults(measure=parse)
    two.add_argument("paper", type=Path)
    two.add_argument("--runs", type=int, default=1)
    three = commands.add_parser("reviews")
    three.set_defaults(measure=reviews)
    three.add_argument("paper", type=Path)
    for name in ("--venue", "--strategy", "--base-url"):
        three.add_argument(name, required=True)
    three.add_argument("--runs", type=int, default=1)
    three.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args())
    print(json.dumps(given.pop("measure")(**given)))


if __name__ == "__main__":
    main()
