"""One short review measured by the embedded model: no key, no server, the smallest judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.evals.results import read_results
from tests.needs import smallest_chat as smallest_chat

from .command import Referee
from .eval_sets import review

pytestmark = pytest.mark.local_model

PAPER = """# Counting Whales from Boats

## Survey

The survey counted 412 whales from three boats within nine days. Each boat kept to a lane of its own.

## Limits

Night passages were not observed, so that the count is a lower bound.
"""


def test_a_short_review_is_measured_without_key_or_server(
    referee: Referee, workplace: Path, smallest_chat: str
) -> None:
    (workplace / "papers").mkdir()
    (workplace / "papers" / "p1.md").write_text(PAPER, encoding="utf-8")
    text = "The survey counted 412 whales from three boats. The weakness is that night passages were not observed."
    boxes = {"weaknesses": "- Night passages were not observed, so that the count is too low."}
    row = review("r1", "p1", "human", text, fields=boxes)
    (workplace / "set.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    given = ("--papers", "papers", "--metrics", "usefulness", "--judge", f"local:{smallest_chat}")
    done = referee("eval", "set.jsonl", *given, "--no-cache", "--out", "run")

    assert done.code == 0, done.err
    assert "the embedded model is a small judge" in done.err
    (result,) = read_results(workplace / "run" / "results.jsonl")
    assert (result.metric, result.status) == ("usefulness", "scored"), result.reason
    assert result.value is not None
    assert 1 <= result.value <= 5
    record = json.loads((workplace / "run" / "run.json").read_text())
    assert record["usage"]["calls"] == 1
    assert referee("rescore", "run").code == 0
