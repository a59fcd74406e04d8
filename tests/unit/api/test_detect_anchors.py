"""Anchors: one review a paper and model, paid once, and what is declined is counted and never a row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.api.detection.anchors import Anchor, Anchors, detect_anchors
from referee.errors import BudgetExceeded, EvaluationError, RunError, SettingsError
from referee.schemas.estimate import WritingEstimate
from referee.settings import load_settings
from tests.support import ChatRequest, FakeServer, Fault, Script

TEXT = "# {title}\n\n## Abstract\n\nWe measure {title}.\n\n## 1 Method\n\n" + "The method measures one thing. " * 30


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("p1", "p2"):
        (folder / f"{name}.md").write_text(TEXT.format(title=f"Paper {name}"), encoding="utf-8")
    return folder


def rows_of(run: Path) -> list[Anchor]:
    return [Anchor.model_validate_json(line) for line in (run / "anchors.jsonl").read_text().splitlines()]


def reviewed(request: ChatRequest) -> Any:
    return {"review": f"Summary: it measures. By {request.model}.", "decision": "Reject"}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(Script({"detect/anchor": reviewed}), context_tokens=32_000) as running:
        yield running


def anchors(server: FakeServer, papers: Path, *, models: tuple[str, ...] = ("a", "b"), **options: Any) -> Anchors:
    settings = load_settings({"calls.max_tries": 1, "calls.cache": False, **options.pop("more", {})})
    given = RunOptions(base_url=server.base_url, settings=settings, **options)
    return asyncio.run(detect_anchors(papers, models=models, options=given))


def test_each_paper_is_reviewed_once_by_each_model_and_says_with_what(
    server: FakeServer, papers: Path, tmp_path: Path
) -> None:
    done = anchors(server, papers, out=tmp_path / "run", more={"models.temperature": 0.3})
    rows = rows_of(tmp_path / "run")
    assert tuple(rows) == tuple(sorted(done.anchors, key=lambda row: (row.paper_id, row.model)))
    assert [(row.paper_id, row.model.partition("@")[0]) for row in rows] == [
        ("p1", "a"), ("p1", "b"), ("p2", "a"), ("p2", "b"),
    ]  # fmt: skip
    assert {(row.decision, row.temperature, row.prompt) for row in rows} == {("Reject", 0.3, "detect/anchor@v1")}
    assert rows[0].paper_hash == rows[1].paper_hash != rows[2].paper_hash
    calls = [json.loads(line) for line in (tmp_path / "run" / "trace.jsonl").read_text().splitlines()]
    assert {call["prompt_digest"] for call in calls} == {row.prompt_digest for row in rows}
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (record["command"], record["status"], sorted(record["models"])) == (
        "detect anchors", "finished", ["anchor", "anchor-2"],
    )  # fmt: skip
    assert done.usage.calls == 4


def test_a_resumed_run_asks_only_for_what_is_missing(server: FakeServer, papers: Path, tmp_path: Path) -> None:
    server.script.entries["detect/anchor"] = lambda r: Fault("400") if "p2" in r.user else reviewed(r)
    first = anchors(server, papers, models=("a",), out=tmp_path / "run")
    assert (first.counts["written"], first.counts["refused"]) == (1, 1)
    server.script.entries["detect/anchor"] = reviewed
    before = len(server.log.calls(endpoint="chat"))
    again = anchors(server, papers, models=("a",), resume=tmp_path / "run")
    assert [row.paper_id for row in again.anchors] == ["p1", "p2"]
    assert len(server.log.calls(endpoint="chat")) == before + 1
    with pytest.raises(RunError, match="anchor"):
        anchors(server, papers, models=("b",), resume=tmp_path / "run")


def test_a_text_that_declines_is_no_anchor(server: FakeServer, papers: Path, tmp_path: Path) -> None:
    declined = {"review": "I'm sorry, but I cannot write reviews.", "decision": "Reject"}
    server.script.entries["detect/anchor"] = lambda r: declined if "Paper p1" in r.user else reviewed(r)
    done = anchors(server, papers, models=("a",), out=tmp_path / "run")
    assert ([row.paper_id for row in done.anchors], done.counts["refused"]) == (["p2"], 1)
    server.script.entries["detect/anchor"] = declined
    with pytest.raises(EvaluationError, match="declined"):
        anchors(server, papers, models=("a",), out=tmp_path / "none")


def test_the_estimate_comes_first_and_a_limit_ends_it(server: FakeServer, papers: Path, tmp_path: Path) -> None:
    seen: list[WritingEstimate] = []

    def refuse(plan: WritingEstimate) -> bool:
        seen.append(plan)
        return False

    with pytest.raises(RunError, match="not confirmed"):
        anchors(server, papers, out=tmp_path / "run", confirm=refuse)
    assert (seen[0].calls, seen[0].reviews, len(seen[0].models)) == (4, 4, 2)
    assert seen[0].input_tokens > 4 * 200
    assert server.log.calls(endpoint="chat") == []
    with pytest.raises(BudgetExceeded):
        anchors(server, papers, out=tmp_path / "limited", max_tokens=3_000, more={"calls.concurrency": 1})
    assert 1 <= len(rows_of(tmp_path / "limited")) < 4


@pytest.mark.parametrize(("models", "said"), [((), "no model"), (("", " "), "no model"), (("a", "a"), "twice")])
def test_models_are_named_and_each_once(server: FakeServer, papers: Path, models: tuple[str, ...], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        anchors(server, papers, models=models)


def test_a_row_with_several_ids_is_asked_once_and_found_by_each(server: FakeServer, tmp_path: Path) -> None:
    row = {"paper_id": "x", "forum_id": "y", "title": "T", "markdown": TEXT.format(title="Rows")}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = anchors(server, tmp_path / "rows.jsonl", models=("a",), out=tmp_path / "run")
    assert [row.paper_id for row in done.anchors] == ["x", "y"]
    assert done.usage.calls == 1
