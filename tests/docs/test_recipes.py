"""The recipe for a metric in CONTRIBUTING.md, followed in a copy of the package: one file, one line."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = r"<!-- recipe: {what} -->\n *```python\n(.*?) *```"
MANY = """
import json, sys
from referee.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["referee", *words]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, words
"""
REVIEW = (
    '{{"review_id": "{id}", "paper_id": "p1", "venue": "iclr-2024", "source": "{source}", "kind": "{kind}", '
    '"rating": 6, "review": "{text}"}}\n'
)


@pytest.mark.slow
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

    evaluate = ["eval", "set.jsonl", "--metrics", "questions", "--out", "e"]
    profile = ["profile", "set.jsonl", "--no-atomic", "--out", "p"]
    run(tmp_path, evaluate, profile)
    rows = list(csv.DictReader((tmp_path / "e" / "summary.csv").read_text().splitlines()))
    assert {row["mean"] for row in rows} == {"2.0", "0.0"}
    cells = list(csv.DictReader((tmp_path / "p" / "summary.csv").read_text().splitlines()))
    assert {cell["mean"] for cell in cells if cell["measure"] == "questions"} == {"2.0", "0.0"}


def run(folder: Path, *commands: list[str]) -> None:
    """Run commands one after the other in one process, which imports the copy once."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", MANY, json.dumps(commands)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
