"""Known errors as a user meets them: a set is loaded, its papers are reviewed, the reviews measured."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests import known_sets as sets
from tests.support import ChatRequest, FakeServer

from .command import Referee


def judge(request: ChatRequest) -> dict[str, Any]:
    """Finds Lemma 3 where a point names it."""
    about = "Lemma 3" in request.user.split("<defect>")[1].split("</defect>")[0]
    points = re.findall(r"(?m)^\[(p\d+)\] (.*)$", request.user)
    return {
        name: {
            "reason": "so",
            "verdict": "same" if about and "Lemma 3" in text else "other",
            "place": "same",
            "quote": text,
        }
        for name, text in points
    }


@pytest.mark.slow
def test_a_set_is_loaded_and_reviews_of_its_papers_are_measured_in_tables_apart(
    referee: Referee, server: FakeServer, workplace: Path
) -> None:
    server.script.entries["eval/known-defect"] = judge
    loaded = referee("data", "load", "spot", sets.spot(workplace / "copy"), "--out", "known")
    assert loaded.out == (
        "spot: 2 paper(s), 3 known error(s), 0 review(s).\n"
        "1 paper(s) have no text in the set: --papers FOLDER adds yours, named by id.\n"
        "Written to known: set.json, errors.jsonl, papers/.\n"
    )
    points = [f"Claim {n} is not supported by a run." for n in range(5)]
    by_digest = json.loads(Path("known/set.json").read_text())["papers"][0]["sha256"]
    reviews = [
        {"case_id": name, "paper_id": paper, "source": "sys", "kind": "ai", "text": f"Weaknesses:\n- {text}\n"}
        for name, paper, text in (
            ("r1", "10.1/a", "\n- ".join([*points, "Lemma 3 fails for n = 1, it seems."])),
            ("r2", by_digest, "Lemma 3 fails for n = 1, it seems."),
            ("r3", "elsewhere", "Lemma 3 fails for n = 1, it seems."),
        )
    ]
    given = ("--judge", "m", "--base-url", server.base_url, "--no-cache", "--yes")
    source = sets.rows(workplace / "reviews.jsonl", *reviews)
    refused = referee("eval", source, "--known", "known", *given)
    assert "no metric uses --known" in refused.err
    done = referee("eval", source, "--known", "known", "--metrics", "words,known_recall", *given, "--out", "run")
    assert done.code == 0, done.err
    shown = [line for line in done.out.splitlines() if line.startswith(("| system", "Counted by"))]
    assert [re.sub(" +", " ", line) for line in shown] == [
        "| system | words |",
        "Counted by a judge in both orders, the first 5 points:",
        "| system | known_recall_5 |",
        "Counted by a judge in both orders, the first 10 points:",
        "| system | known_recall_10 |",
        "Counted by the rule of the set's authors:",
        "| system | known_recall_published |",
    ]
    summary = Path("run/summary.md").read_text()
    assert "known errors: 3 of 2 papers of 'spot', which holds 2 of the 3 reviewed papers" in summary
    tables = [line for line in summary.splitlines() if line.startswith("|")]
    assert not any(line.count("known_recall_") > 1 for line in tables)
    cells = {row["metric"]: row for row in csv.DictReader(Path("run/summary.csv").read_text().splitlines())}
    assert [cells[f"known_recall_{name}"]["mean"] for name in ("5", "10", "published")] == ["0.25", "0.5", "0.5"]
    assert cells["words"]["counted_by"] == ""
    assert len({cell["counted_by"] for cell in cells.values()}) == 4
    # Both orders of two errors, once for r1 and once for r2; the published rule asks nothing anew.
    assert len(server.log.calls(endpoint="chat")) == 8
    assert referee("rescore", "run").code == 0
    assert Path("run/rescored/summary.csv").read_text() == Path("run/summary.csv").read_text()
    Path("other").mkdir()
    referee("data", "load", "reviewcritique", sets.critique(workplace / "labels"), "--out", "other/known")
    resumed = referee(
        "eval", source, "--known", "other/known", "--metrics", "words,known_recall", *given, "--resume", "run"
    )
    assert "was started with another set of known errors" in resumed.err


def test_without_known_errors_the_reason_names_the_flag(referee: Referee, server: FakeServer, workplace: Path) -> None:
    row = {"case_id": "r1", "paper_id": "p", "source": "sys", "kind": "ai", "text": "It is wrong."}
    source = sets.rows(workplace / "reviews.jsonl", row)
    done = referee("eval", source, "--metrics", "known_recall_5", "--judge", "m", "--base-url", server.base_url)
    assert "give what `referee data load` wrote with --known" in done.out
    wrong = referee(
        "eval", source, "--metrics", "known_recall_5", "--known", ".", "--judge", "m", "--base-url", server.base_url
    )
    assert "holds no known errors" in wrong.err
