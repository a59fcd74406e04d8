"""``benchmarks/foreign_papers.py``: the labels are whole; papers are compared with them. No figure is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Load = Callable[[str], ModuleType]

PAPER = """# On *short* papers

## Abstract

We read one two three four five six seven words of a short pa\u00adper.

## 1 Introduction

Text.

### 1.1 Aims

Text.

## Acknowledgements

Thanks.

## References

1. A. Author. A title. 2020.
2. B. Author. Another title. 2021.
"""


def label(path: Path, module: ModuleType, **changes: Any) -> dict[str, Any]:
    """A label that agrees with PAPER, but for the changes."""
    right: dict[str, Any] = {"name": "short", "in_thirty": True, "kind": "markdown", "file": path.name}
    right |= {"sha256": module.digest(path), "title": "Another", "titles_also": ["On short papers"]}
    right |= {"abstract": {"first": "We read one two three four", "last": "seven words of a short paper"}}
    right |= {"abstracts_also": [], "sections": 3, "references": 2, "references_numbered": True, "line_numbers": None}
    return right | changes


def test_a_paper_that_is_read_as_labelled_agrees_and_each_difference_is_seen(load: Load, tmp_path: Path) -> None:
    module, file = load("foreign_papers"), tmp_path / "short.md"
    file.write_text(PAPER, encoding="utf-8")
    keys = ("read", "title", "abstract", "sections_within_one", "references")
    row = module.compared(label(file, module), tmp_path)
    assert [row[key] for key in keys] == [True] * 5
    wrong = {"titles_also": [], "abstract": None, "sections": 5, "references": 3}
    row = module.compared(label(file, module, **wrong), tmp_path)
    assert [row[key] for key in keys] == [True, False, False, False, False]
    assert module.summed([row])["titles"] == "0 of 1"


def test_a_missing_a_changed_and_an_unreadable_file_are_said_and_count_as_not_read(load: Load, tmp_path: Path) -> None:
    module, file = load("foreign_papers"), tmp_path / "short.md"
    file.write_text(PAPER, encoding="utf-8")
    assert "no file" in module.compared(label(file, module, file="other.md"), tmp_path)["remark"]
    assert "digest" in module.compared(label(file, module, sha256="0" * 64), tmp_path)["remark"]
    file.write_bytes(b"%PDF-1.7 broken")
    row = module.compared(label(file, module), tmp_path)
    assert row["remark"].startswith("not read: ")
    assert not row["read"]


def test_the_labels_are_thirty_papers_of_eight_kinds_and_each_review_copy_has_a_plain_one(load: Load) -> None:
    labels = json.loads(load("foreign_papers").LABELS.read_text(encoding="utf-8"))
    papers = labels["papers"]
    thirty = [one for one in papers if one["in_thirty"]]
    assert len(thirty) == 30
    assert len({one["kind"] for one in thirty}) >= 8
    assert len({one["name"] for one in papers}) == len({one["sha256"] for one in papers}) == len(papers)
    assert all(len(one["commit"]) == 40 for one in papers)
    numbered = {one["name"] for one in papers if one["line_numbers"]}
    assert numbered == {one["review"] for one in labels["pairs"]}
