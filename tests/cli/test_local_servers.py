"""Servers on this machine as a user meets them: found by ``doctor`` and ``review``, used by a short name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import FakeServer
from tests.unit.llm.test_local_servers import SHOW, TAGS

from .command import Referee

PAPER = """# Counting lanterns

## Abstract

We count lanterns on the harbour corpus with one encoder, and report the mean of five seeds.

## Method

Every encoder is trained on the harbour corpus with one fixed seed, and nothing else is tuned at all.
"""


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """An Ollama at its usual port, as far as this process knows; nobody is at the others."""
    with FakeServer(pages={"/api/tags": TAGS, "/api/show": SHOW}) as server:
        port = int(server.url.rpartition(":")[2])
        monkeypatch.setattr("referee.llm.nearby.PORTS", {"ollama": port, "vllm": 9})
        monkeypatch.setattr("referee.llm.providers.ollama.OLLAMA.usual_address", server.url)
        yield server


def test_doctor_lists_models_with_their_context_and_the_options(
    referee: Referee, ollama: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = referee("doctor").out
    assert "model server: ollama" in said
    assert "qwen3:8b (131,072 tokens): --model ollama:qwen3:8b" in said
    monkeypatch.setattr("referee.llm.nearby.PORTS", {"ollama": 9})
    said = referee("doctor").out
    assert "none at 127.0.0.1 (ollama 9)" in said
    with FakeServer(pages={"/api/tags": {"models": []}}) as empty:
        monkeypatch.setattr("referee.llm.nearby.PORTS", {"ollama": int(empty.url.rpartition(":")[2])})
        said = referee("doctor").out
    assert "lists no model" in said
    assert "fix: ollama pull" in said


def test_a_review_by_a_model_of_this_machine_costs_nothing(
    referee: Referee, ollama: FakeServer, workplace: Path
) -> None:
    (workplace / "paper.md").write_text(PAPER, encoding="utf-8")
    more = ("--strategy", "single", "--max-cost", "0.01", "--no-cache", "--out", "run")
    done = referee("review", "paper.md", "--venue", "iclr-2025", "--model", "ollama:qwen3:8b", *more)
    assert done.code == 0, done.err
    assert "$0.0000" in done.out
    made = json.loads((workplace / "run" / "review.json").read_text(encoding="utf-8"))
    assert made["source"].startswith("qwen3:8b@127.0.0.1:")
    assert "asked for a context of 49,152 tokens" in done.err + done.out + json.dumps(made["provenance"])


def test_who_names_no_model_is_told_what_runs_here(
    referee: Referee, ollama: FakeServer, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "paper.md").write_text(PAPER, encoding="utf-8")
    asked = ("review", "paper.md", "--venue", "iclr-2025", "--max-tokens", "1", "--out", "run")
    told = "A model server runs here (ollama). To use it: --model ollama:qwen3:8b"
    assert told in referee(*asked).err
    assert told not in referee(*asked, "--model", "openai:x").err
    monkeypatch.setenv("REFEREE_MODELS__DEFAULT", "ollama:qwen3:8b")
    assert told not in referee(*asked).err
