"""The metric that docs/eval.md shows, installed as a package of its own and found by its entry point."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .command import Referee
from .eval_sets import write_set

PAGE = Path(__file__).parents[2] / "docs" / "eval.md"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The page's class and its entry point as an installer leaves them: modules, and metadata beside them."""
    page = PAGE.read_text(encoding="utf-8").partition("## A metric of your own")[2]
    code, points = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)[:2]
    site = tmp_path / "site"
    (site / "my_package").mkdir(parents=True)
    (site / "my_package" / "__init__.py").touch()
    (site / "my_package" / "questions.py").write_text(code.partition("\nmetric = ")[0])
    about = site / "my_package-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    group, line = re.findall(r'entry-points\."([\w.]+)"\]\n(.*)', points)[0]
    (about / "entry_points.txt").write_text(f"[{group}]\n{line.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(site)
    yield site
    for name in ("my_package", "my_package.questions"):
        sys.modules.pop(name, None)


def test_the_documented_metric_is_found_by_its_entry_point_and_measures(
    installed: Path, referee: Referee, workplace: Path
) -> None:
    done = referee("eval", write_set(workplace / "set.jsonl", 2), "--metrics", "questions", "--out", "run")
    assert done.code == 0, done.err
    rows = list(csv.DictReader((workplace / "run" / "summary.csv").read_text().splitlines()))
    assert {(row["metric"], row["scored"]) for row in rows} == {("questions", "2"), ("questions", "4")}
    assert referee("rescore", "run").code == 0
    wrong = referee("eval", workplace / "set.jsonl", "--metrics", "qestions", "--out", "other")
    assert (wrong.code, "Did you mean 'questions'?" in wrong.err) == (2, True)
