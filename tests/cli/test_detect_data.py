"""``referee detect anchors`` and ``referee detect generate`` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from referee.cli.detect_data import add
from tests.support import FakeServer

from .command import Referee


@pytest.fixture
def place(workplace: Path, monkeypatch: pytest.MonkeyPatch, paper: Path) -> Path:
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(workplace / "cache"))
    app, group = typer.Typer(rich_markup_mode=None), typer.Typer(rich_markup_mode=None)
    add(group)
    app.add_typer(group, name="detect")
    monkeypatch.setattr("referee.cli.app.app", app)
    (workplace / "papers").mkdir()
    (workplace / "papers" / "p1.md").write_text(paper.read_text(encoding="utf-8"), encoding="utf-8")
    row = {"review_id": "h1", "paper_id": "p1", "source": "human", "venue": "ICLR", "year": 2021, "review": "Fine."}
    (workplace / "set.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return workplace


def test_anchors_are_estimated_written_and_counted(referee: Referee, place: Path, server: FakeServer) -> None:
    on = ("--base-url", server.base_url, "--out", "run")
    done = referee("detect", "anchors", "--papers", "papers", "--models", "a,b", *on)
    assert done.code == 0, done.err
    assert "2 reviews (anchors) by a@127.0.0.1" in done.err
    assert "Estimate: about 2 calls" in done.err
    assert done.out.startswith("2 anchors: 2 written.\nUsed: 2 calls")
    assert "Written to run: anchors.jsonl." in done.out
    assert len((place / "run" / "anchors.jsonl").read_text().splitlines()) == 2


def test_generated_reviews_are_estimated_written_and_counted(referee: Referee, place: Path, server: FakeServer) -> None:
    more = ("--levels", "minimum,moderate", "--embedder", "e", "--base-url", server.base_url, "--out", "run")
    done = referee("detect", "generate", "set.jsonl", "--task", "edit", "--model", "m", *more)
    assert done.code == 0, done.err
    assert "2 reviews (edit) by m@127.0.0.1" in done.err
    assert done.out.startswith("2 reviews (edit): 2 written.\nMean cosine with the original, by level (")
    assert "Written to run: generated.jsonl, dataset." in done.out


def test_a_dry_run_prints_prompts_and_leaves_nothing(referee: Referee, place: Path, server: FakeServer) -> None:
    more = ("--model", "m", "--base-url", server.base_url, "--dry-run")
    done = referee("detect", "generate", "set.jsonl", "--task", "bullets", *more)
    assert done.code == 0, done.err
    assert done.out.startswith("=== h1-bullets\n--- system\nYou condense a peer review")
    assert "--- user\n<review>\nFine." in done.out
    assert server.log.calls(endpoint="chat") == []
    assert not (place / "referee-runs").exists()


@pytest.mark.parametrize(
    ("command", "missing"),
    [(("generate", "set.jsonl", "--task", "edit"), "--model"), (("anchors", "--papers", "papers"), "--models")],
)
def test_without_a_model_nothing_is_asked(
    referee: Referee, place: Path, command: tuple[str, ...], missing: str
) -> None:
    done = referee("detect", *command)
    assert done.code == 2
    assert f"'{missing}'" in done.err
