"""Mistyped commands, options and choices: each answer offers the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import Referee

MISTYPED = {
    "command": (("reveiw",), "review"),
    "command of a group": (("arena", "scor"), "score"),
    "option": (("review", "--venu", "x"), "--venue"),
    "venue": (("venue", "show", "icrl-2025"), "'iclr-2025'"),
    "format": (("data", "convert", "set.jsonl", "--out", "x", "--to", "parqet"), "'parquet'"),
    "metric": (("eval", "set.jsonl", "--metrics", "deph"), "'depth'"),
    "detector": (("detect", "score", "set.jsonl", "--detectors", "ancor"), "'anchor'"),
    "kind of error": (("plant", "paper.md", "--kinds", "number_changd"), "Did you mean"),
    "set of errors": (("data", "load", "spto", "x", "--out", "y"), "'spot'"),
    "layout": (("profile", "set.jsonl", "--layout", "openreveiw"), "'openreview"),
    "task": (("detect", "generate", "set.jsonl", "--task", "enrichd", "--model", "local"), "'enriched'"),
    "provider": (("review", "paper.md", "--venue", "arr", "--model", "opnai:x"), "'openai:x'"),
    "strategy": (("review", "paper.md", "--venue", "arr", "--strategy", "sectons"), "'sections'"),
}
WORDED_BY_TYPER = ("command", "command of a group", "option")


@pytest.mark.parametrize("kind", MISTYPED)
def test_the_nearest_name_is_offered(referee: Referee, workplace: Path, paper: Path, kind: str) -> None:
    (workplace / "paper.md").write_bytes(paper.read_bytes())
    (workplace / "set.jsonl").write_text('{"paper_id": "a", "text": "A review."}\n')
    arguments, meant = MISTYPED[kind]
    done = referee(*arguments)
    assert done.code == 2, done.err
    assert meant in done.err
    if kind not in WORDED_BY_TYPER:
        assert "Did you mean" in done.err
