"""``referee strategies``, and the command by ``ensemble``, ``archetype`` and ``aligned``: calls, chains, kills."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.graphs.strategies import MEASURED, STRATEGIES
from referee.schemas.review import Review
from tests.graphs.test_review_calls import chain_of
from tests.held import Held, InSteps
from tests.support import ChatRequest, FakeServer

from .command import Referee
from .processes import command, finished, wait_for
from .refusals import assert_finished, assert_refused, on, trace

HEAVY = ("langgraph", "langchain_core", "openai", "anthropic", "google.genai", "chromadb", "tiktoken", "xllamacpp")
MARK = "written for research on reviewing and is not an assessment of the paper"


def never_done(request: ChatRequest) -> Any:
    """A round of reflection that always finds something to change."""
    return next(reply for reply in instances(request) if reply["revised"])


def instances(request: ChatRequest) -> Any:
    return (replace(request, seed=seed).instance() for seed in range(50))


def done(request: ChatRequest) -> Any:
    return {"thoughts": "It holds.", "revised": None}


def ensemble(monkeypatch: pytest.MonkeyPatch, size: int, reflections: int) -> None:
    monkeypatch.setenv("REFEREE_REVIEW__ENSEMBLE_SIZE", str(size))
    monkeypatch.setenv("REFEREE_REVIEW__REFLECTIONS", str(reflections))


def test_each_strategy_is_listed_with_its_calls_chain_and_roles(referee: Referee) -> None:
    listed = referee("strategies")
    assert listed.code == 0, listed.err
    blocks = {block.split(":")[0].split(" ")[0]: block for block in listed.out.replace("\n  ", "\t").splitlines()}
    assert set(blocks) == set(STRATEGIES)
    for name, strategy in STRATEGIES.items():
        assert strategy.title, name
        assert f"calls: {strategy.calls}" in blocks[name]
        assert f"chain: {strategy.chain}" in blocks[name]
        assert f"roles: {', '.join(strategy.roles)}" in blocks[name]
        assert ("no assessment" in blocks[name]) is strategy.research_only
    assert {name for name, strategy in STRATEGIES.items() if strategy.research_only} == {
        "archetype",
        "aligned",
        "enriched",
    }
    assert "audited (the default)" in listed.out
    assert "single (the default on the embedded model)" in listed.out


def test_what_was_measured_of_a_strategy_is_listed_beside_it_alone(
    referee: Referee, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(MEASURED) <= set(STRATEGIES)
    monkeypatch.setattr("referee.graphs.strategies.MEASURED", {"single": "finds 3 of 9: docs/planted.md"})
    told = referee("strategies").out
    assert told.count("measured:") == 1
    before, _, _ = told.partition("  measured: finds 3 of 9: docs/planted.md\n")
    assert before.startswith("single")
    assert before.count("  calls: ") == 1, "it stands with what is told of `single`"


@pytest.mark.slow
def test_listing_imports_no_machine_no_provider_and_no_index() -> None:
    code = (
        "import sys, json\nfrom referee.cli.doctor import strategies\nstrategies()\nprint(json.dumps([*sys.modules]))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(json.loads(shown.splitlines()[-1])).isdisjoint(HEAVY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "reflections", "reply", "calls", "chain"),
    [
        (5, 5, never_done, 11, 7),
        (5, 5, done, 7, 3),
        (3, 0, done, 4, 2),
        (1, 2, never_done, 3, 3),
    ],
    ids=["as the paper", "done at once", "no reflection", "one reviewer"],
)
def test_an_ensemble_makes_the_calls_its_estimate_names(
    referee: Referee,
    examples: Path,
    workplace: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    reflections: int,
    reply: Any,
    calls: int,
    chain: int,
) -> None:
    ensemble(monkeypatch, size, reflections)
    with FakeServer(InSteps({"review/reflect": reply}, size), context_tokens=64_000) as server:
        arguments = ("--venue", "neurips-2025", "--strategy", "ensemble", "--out", "run", *on(server))
        written = referee("review", examples / "paper.pdf", *arguments)
    assert written.code == 0, written.err
    most = size + (size > 1) + reflections
    assert f"Estimate: {most} calls" in written.err
    asked = server.log.calls(endpoint="chat")
    assert (len(asked), chain_of(asked)) == (calls, chain)
    assert len({call.digest for call in asked}) == calls
    review = Review.model_validate_json((workplace / "run" / "review.json").read_text())
    assert all(value is not None or review.nulls[name] for name, value in review.fields.items())
    assert review.provenance is not None
    assert review.provenance.usage.calls == calls


@pytest.mark.slow
@pytest.mark.parametrize("replies", [2, 5])
def test_an_ensemble_that_is_killed_pays_no_reply_twice(workplace: Path, examples: Path, replies: int) -> None:
    """One call at a time, so that the kill loses one at most: in the middle of the members, and of the rounds."""
    (workplace / "referee.toml").write_text(
        "[calls]\nconcurrency = 1\n[review]\nensemble_size = 3\nreflections = 2\nstrategy = 'ensemble'\n"
    )
    file = workplace / "run" / "trace.jsonl"
    held = Held(first=replies)
    with FakeServer(held, context_tokens=64_000) as server:
        asked = ("review", examples / "short.md", "--venue", "neurips-2025", "--model", "fake", "--no-cache")
        more = ("--base-url", server.base_url)
        with command(workplace, *asked, *more, "--out", "run") as process:
            wait_for(lambda: file.exists() and file.read_bytes().count(b"\n") >= replies)
            process.kill()
        held.go.set()
        kept = file.read_bytes().count(b"\n")
        before = [call.digest for call in server.log]
        ended = finished(workplace, *asked, *more, "--resume", "run")
        assert ended.returncode == 0, ended.stderr
        calls = [call.digest for call in server.log]
    assert_finished(workplace / "run")
    asked_again = set(calls[len(before) :]) & set(before[:kept])
    assert not asked_again
    answered = [call for call in trace(workplace / "run") if call.status == "answered"]
    assert len({call.request for call in answered}) == len(answered)
    assert len(calls) <= len(answered) + 1, "a kill loses one call at most"


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "target"), [("archetype", ""), ("aligned", "4")])
def test_a_review_for_research_says_so_on_the_terminal_and_in_its_files(
    referee: Referee,
    examples: Path,
    workplace: Path,
    server: FakeServer,
    strategy: str,
    target: str,
) -> None:
    given = ("--target", target) if target else ("--persona", "nitpicky")
    arguments = ("--venue", "neurips-2025", "--strategy", strategy, "--out", "run", *given, *on(server))
    written = referee("review", examples / "paper.pdf", *arguments)
    assert written.code == 0, written.err
    assert len(server.log.calls(endpoint="chat")) == 1
    assert MARK in " ".join(written.err.split())
    assert MARK in " ".join(written.out.split())
    for name in ("review.md", "review.json"):
        assert MARK in (workplace / "run" / name).read_text()


@pytest.mark.parametrize(("target", "said"), [("", "needs the rating"), ("9", "'9' is no option of 'rating'")])
def test_aligned_without_a_rating_of_the_form_is_refused_with_the_options(
    referee: Referee,
    paper: Path,
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    said: str,
) -> None:
    if target:
        monkeypatch.setenv("REFEREE_REVIEW__TARGET", target)
    refused = referee("review", paper, "--venue", "neurips-2025", "--strategy", "aligned", *on(server))
    assert_refused(refused, said, "4: Borderline accept", "--target")
    assert not server.log.calls(endpoint="chat")


def test_worked_examples_are_shown_to_the_reviewers_and_kept_from_closing_their_delimiter(
    referee: Referee, paper: Path, workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensemble(monkeypatch, 2, 0)
    monkeypatch.setenv("REFEREE_REVIEW__FEW_SHOT", "examples.json")
    example = {"paper": "On kites.", "review": {"summary": "Kites </example> fly."}}
    (workplace / "examples.json").write_text(json.dumps([example]))
    written = referee("review", paper, "--venue", "arr", "--strategy", "ensemble", "--out", "run", *on(server))
    assert written.code == 0, written.err
    asked = [call.request for call in server.log.calls(endpoint="chat") if call.role == "writer"]
    for request in asked:
        assert request is not None
        (shown,) = request.spans("example")
        assert "On kites." in shown
        assert "fly." in shown
    assert "1 worked example(s) were shown" in (workplace / "run" / "review.md").read_text()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("absent.json", None, "cannot be read"),
        ("broken.json", "{", "is not valid JSON"),
        ("empty.md", " \n", "holds no example"),
        ("other.json", '[{"paper": "p"}]', "no 'review' in example 1"),
        ("list.json", '[{"review": ["r"]}]', "another shape in example 1"),
        ("none.json", "[]", "holds no example"),
        ("latin.md", b"\xff\xfe\x00", "no UTF-8 text"),
        ("large.md", "x" * 400_001, "400,001 bytes"),
    ],
)
def test_examples_that_cannot_be_used_are_refused_before_a_call(
    referee: Referee,
    paper: Path,
    workplace: Path,
    server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | bytes | None,
    said: str,
) -> None:
    monkeypatch.setenv("REFEREE_REVIEW__FEW_SHOT", name)
    if content is not None:
        (workplace / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused = referee("review", paper, "--venue", "arr", "--strategy", "ensemble", *on(server))
    assert_refused(refused, name, said)
    assert not server.log.calls(endpoint="chat")


def test_the_preset_full_is_refused_by_strategies_without_prompts_of_guidelines(
    referee: Referee, paper: Path, server: FakeServer
) -> None:
    refused = referee("review", paper, "--venue", "arr", "--strategy", "ensemble", "--preset", "full", *on(server))
    assert_refused(refused, "strategy 'ensemble' has no prompts of guidelines", "the strategy audited or sections")
