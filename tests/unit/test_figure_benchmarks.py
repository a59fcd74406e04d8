"""What is published of figures and of abstracts is what the kept judgements say."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FIGURES, LITERATURE = ROOT / "benchmarks" / "figures", ROOT / "benchmarks" / "literature"


def listed(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_the_table_of_planted_figure_errors_is_that_of_the_judgements() -> None:
    errors = {one["id"]: one["paper"] for one in listed(FIGURES / "errors.toml")["error"]}
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    by_strategy: dict[str, list[str]] = {}
    for run in listed(FIGURES / "printed.toml")["run"]:
        planted = [name for name, paper in errors.items() if paper in run["papers"]]
        assert set(run["printed"]) <= set(planted)
        by_strategy.setdefault(run["strategy"], []).append(f"{len(set(run['printed']))} of {len(planted)}")
    for strategy, counts in by_strategy.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{strategy}`")]
        assert row.endswith(f"| {' | '.join(counts)} |")


def test_the_answers_about_figures_are_kept() -> None:
    lines = (FIGURES / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    read = [one for one in map(json.loads, lines) if one["prompt"] == "figures/read"]
    assert {one["paper"] for one in read} == set(listed(FIGURES / "errors.toml")["papers"])
    assert all(one["pictures"] and one["answer"]["remarks"] for one in read)


def test_every_work_is_labelled() -> None:
    works = [json.loads(line) for line in (LITERATURE / "works.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {work["title"] for work in works} == set(listed(LITERATURE / "labels.toml")["bearing"])
