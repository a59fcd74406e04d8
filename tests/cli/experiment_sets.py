"""Papers and plans for ``referee experiment`` on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from referee.schemas.experiment import ExperimentResult

_PLAN = """
[grid]
strategies = ["single"]
venues = ["iclr-2020"]
models = ["a", "b"]

[papers]
files = ["{files}"]

[measure]
metrics = ["{metric}"]
judges = ["judge"]
"""
_PAPER = """# Lanterns {n}

## Abstract

We count the lanterns of harbour {n}.

## 1 Method

Each lantern of harbour {n} is counted twice by two clerks who do not speak to each other.

## 2 Results

There are {n} lanterns in the harbour, and the two clerks agree on each of them.
"""


def two_arms(files: str, metric: str = "tone") -> str:
    """A plan of two models, a and b, on the papers of a pattern, and one judge."""
    return _PLAN.format(files=files, metric=metric)


def write_papers(folder: Path, numbers: Iterable[int]) -> None:
    """Short papers that differ, as ``p1.md``."""
    folder.mkdir(exist_ok=True)
    for n in numbers:
        (folder / f"p{n}.md").write_text(_PAPER.format(n=n))


def result(folder: Path) -> ExperimentResult:
    """What a run wrote down."""
    return ExperimentResult.model_validate_json((folder / "summary.json").read_text())
