"""The recipe for a metric in CONTRIBUTING.md, followed in a copy of the package: one file, one line."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = r"<!-- recipe: {what} -->\n *```python\n(.*?) *```"
REVIEW = (
    '{{"review_id": "{id}", "paper_id": "p1", "venue": "iclr-2024", "source": "{source}", "kind": "{kind}", '
    '"rating": 6, "review": "{text}"}}\n'
)


def test_a_metric_is_one_file_and_one_line(tmp_path: Path) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    package = tmp_path / "src" / "referee"
    shutil.copytree(ROOT / "referee", package, ignore=shutil.ignore_patterns("__pycache__"))
    name = "referee/evals/measures/questions.py"
    (file,) = re.findall(BLOCK.format(what=re.escape(name)), page, re.DOTALL)
    (package.parent / name).write_text(textwrap.dedent(file), encoding="utf-8")
    (line,) = re.findall(BLOCK.format(what='line after "measures.engagement"'), page, re.DOTALL)
    registry = package / "evals" / "registry.py"
    before, found, after = registry.read_text(encoding="utf-8").partition('"measures.engagement": ("mathematics",),\n')
    assert found
    registry.write_text(before + found + line + after, encoding="utf-8")
    asked = REVIEW.format(id="a", source="bot", kind="ai", text="Why? And how? Fine.")
    (tmp_path / "set.jsonl").write_text(asked + REVIEW.format(id="b", source="anna", kind="human", text="Fine."))

    run(tmp_path, "eval", "set.jsonl", "--metrics", "questions", "--out", "e")
    run(tmp_path, "profile", "set.jsonl", "--no-atomic", "--out", "p")
    rows = list(csv.DictReader((tmp_path / "e" / "summary.csv").read_text().splitlines()))
    assert {row["mean"] for row in rows} == {"2.0", "0.0"}
    cells = list(csv.DictReader((tmp_path / "p" / "summary.csv").read_text().splitlines()))
    assert {cell["mean"] for cell in cells if cell["measure"] == "questions"} == {"2.0", "0.0"}


def run(folder: Path, *words: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-m", "referee", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
