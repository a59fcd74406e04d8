"""``multi-agent`` and ``progressive`` when replies are nonsense, calls fail, budgets end and processes die."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.errors import BudgetExceeded, ReplyInvalid, SettingsError
from referee.schemas.review import Review
from referee.schemas.run import RunRecord
from tests.support import ChatRequest, FakeServer, Fault

from .chunked_run import lean_plan, notes_of, run_chunked, short_chunks
from .chunked_script import PassageScene, TeamScene
from .killed_run import assert_killed_and_resumed
from .sections_paper import PROMISE, SEEDED, TIED
from .sections_run import assert_complete, assert_conserved, by_claim, quick_settings
from .sections_script import VENUE, Raised

STRATEGIES = ("multi-agent", "progressive")
EXAMPLE = Path(__file__).parents[2] / "examples" / "paper.pdf"
SEED, TIE = "One seed alone stands behind every trial.", "A tie is sold as a wide margin."
ONE, TWO = (
    Raised(SEED, (("Method", SEEDED, "shows"),)),
    Raised(TIE, (("Results", TIED, "shows"),), kind="statistics"),
)
TEAMS = TeamScene(points={"experiments": [ONE], "clarity": [TWO]})
PASSAGES = PassageScene(points={SEEDED: [ONE], TIED: [TWO]})
SCENES = {"multi-agent": TEAMS, "progressive": PASSAGES}
ROLES = {
    "multi-agent": ("supervisor", "writer", "checker", "composer"),
    "progressive": ("writer", "cross", "composer"),
}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_chunks(monkeypatch)


def server_of(strategy: str, *faults: Fault) -> FakeServer:
    return FakeServer(SCENES[strategy].script(), faults=list(faults), context_tokens=32_000)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(2))
async def test_random_valid_replies_end_in_a_whole_review(folder: Path, strategy: str, seed: int) -> None:
    with FakeServer(seed=seed, context_tokens=32_000) as server:
        review = await run_chunked(server, folder, strategy, sections=2)
    assert all("unverified" in point.reason for point in review.points if point.unverified)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_random_valid_replies_on_the_lean_plan_too(
    folder: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_plan(monkeypatch)
    with FakeServer(seed=3, context_tokens=32_000) as server:
        await run_chunked(server, folder, strategy, sections=2)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_empty_replies_end_in_a_nearly_empty_review(folder: Path, strategy: str) -> None:
    scene = TeamScene() if strategy == "multi-agent" else PassageScene()
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_chunked(server, folder, strategy)
    assert review.points == ()
    assert review.rating is None
    assert review.nulls["strengths_and_weaknesses"] == "no point belongs here"


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["prose", "empty"])
async def test_nonsense_of_all_readers_ends_the_run_with_its_reason(folder: Path, strategy: str, kind: str) -> None:
    with server_of(strategy, Fault(kind, role="writer")) as server, pytest.raises(ReplyInvalid):
        await run_chunked(server, folder, strategy)
    assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "failed"
    assert not (folder / "run" / "review.json").exists()


async def test_nonsense_of_one_worker_is_named_and_leaves_the_others_alone(folder: Path) -> None:
    class Deaf(TeamScene):
        def answer(self, request: ChatRequest) -> Any:
            mine = SEEDED in " ".join(request.spans("section")[0].split())
            return "what a lovely day" if mine else super().answer(request)

    scene = Deaf(points=TEAMS.points)
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "multi-agent")
    assert [point.claim for point in review.points] == [TIE]
    assert "answer 1 of K" in notes_of(review)


async def test_nonsense_instead_of_a_message_is_replaced_by_a_standing_question(folder: Path) -> None:
    script = TeamScene(points={"experiments": [ONE]}, facts={SEEDED: "bears on experiments"}).script()
    script.entries["review/expert-experiments"] = "let us talk about the weather"
    with FakeServer(script, context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "multi-agent")
    assert by_claim(review, SEED).outcome == "printed"
    assert "message 1 of the expert for experiments failed" in notes_of(review)


async def test_a_team_that_writes_no_points_is_named_and_leaves_the_others_alone(folder: Path) -> None:
    class Mute(TeamScene):
        def gathered(self, request: ChatRequest) -> Any:
            mute = "You are the expert for experiments" in request.system
            return "no idea" if mute else super().gathered(request)

    with FakeServer(Mute(points=TEAMS.points).script(), context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "multi-agent")
    assert [point.claim for point in review.points] == [TIE]
    assert "the team for experiments failed" in notes_of(review)


@pytest.mark.parametrize("lean", [True, False])
async def test_nonsense_of_the_refinement_leaves_the_comments_as_they_are(
    folder: Path, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, role = TEAMS, "checker"
    if lean:
        lean_plan(monkeypatch)
        scene, role = TeamScene(lean={SEEDED: Raised(SEED), TIED: Raised(TIE, kind="statistics")}), "supervisor"
    with FakeServer(scene.script(), faults=[Fault("prose", role=role)], context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "multi-agent")
    assert {by_claim(review, SEED).outcome, by_claim(review, TIE).outcome} == {"printed"}
    assert ("the refinement failed" if lean else "was not refined") in notes_of(review)


async def test_a_passage_that_fails_is_named_and_the_summary_lives_on(folder: Path) -> None:
    class Blind(PassageScene):
        def passage(self, request: ChatRequest) -> Any:
            mine = SEEDED in " ".join(request.spans("section")[0].split())
            return Fault("500") if mine else super().passage(request)

    with FakeServer(Blind(points=PASSAGES.points, keeps=(PROMISE,)).script(), context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "progressive")
    assert [point.claim for point in review.points] == [TIE]
    assert "the reading of K" in notes_of(review)
    last = [call.request for call in server.log.calls(role="writer")][-1]
    assert PROMISE in " ".join(last.spans("summary")[0].split())


async def test_nonsense_of_the_consolidation_leaves_the_points_apart(folder: Path) -> None:
    with server_of("progressive", Fault("prose", role="cross")) as server:
        review = await run_chunked(server, folder, "progressive")
    assert [point.outcome for point in review.points] == ["printed", "printed"]
    assert "the consolidation failed" in notes_of(review)


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_nonsense_of_the_composer_leaves_scores_null_and_the_points_in_place(folder: Path, strategy: str) -> None:
    with server_of(strategy, Fault("prose", role="composer")) as server:
        review = await run_chunked(server, folder, strategy)
    assert by_claim(review, SEED).outcome == "printed"
    assert review.rating is None


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "tokens"), [("multi-agent", 20_000), ("progressive", 7_000)])
async def test_a_budget_stops_the_run_and_a_higher_one_pays_nothing_twice(
    folder: Path, strategy: str, tokens: int
) -> None:
    # The whole runs take 26,744 and 7,837 tokens: fewer than that stop them, however few calls are under way at once.
    with server_of(strategy) as server:
        with pytest.raises(BudgetExceeded):
            await run_chunked(server, folder, strategy, max_tokens=tokens)
        before = len(server.log.calls(endpoint="chat"))
        assert before > 0
        assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "stopped"
        review = await run_chunked(server, folder, strategy, resume=folder / "run", max_tokens=10_000_000)
        assert server.log.repeated() == []
        assert len(server.log.calls(endpoint="chat")) > before
    assert {by_claim(review, SEED).outcome, by_claim(review, TIE).outcome} == {"printed"}


async def all_written(server: FakeServer, trace: Path) -> None:
    """Wait until no call is under way and what was answered is written down: a death loses calls under way."""
    quiet = 0
    while quiet < 20:
        written = trace.read_bytes().count(b"\n") if trace.exists() else 0
        answered = len(server.log.calls(endpoint="chat", outcome="ok"))
        quiet = 0 if server.log.in_flight or written < answered else quiet + 1
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(("strategy", "role"), [(name, role) for name, roles in ROLES.items() for role in roles])
async def test_a_run_that_died_before_a_role_was_asked_is_resumed_without_paying_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, role: str
) -> None:
    from referee.llm import door

    real = door.Door.ask

    async def dying(self: Any, prompt: Any, reply: Any, **more: Any) -> Any:
        if more["role"] == role:
            await all_written(server, folder / "run" / "trace.jsonl")
            raise KeyError("the process dies here")
        return await real(self, prompt, reply, **more)

    with server_of(strategy) as server:
        with monkeypatch.context() as patched:
            patched.setattr(door.Door, "ask", dying)
            with pytest.raises(KeyError):
                await run_chunked(server, folder, strategy)
        review = await run_chunked(server, folder, strategy, resume=folder / "run")
        assert server.log.repeated() == []
    assert len(review.points) == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_preset_of_sections_is_refused(folder: Path, strategy: str) -> None:
    with server_of(strategy) as server, pytest.raises(SettingsError, match=f"'{strategy}' has no prompts of guide"):
        await run_chunked(server, folder, strategy, settings=quick_settings(), preset="full")


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "chunks"), [("multi-agent", 2), ("progressive", 5)])
def test_the_whole_command_on_the_example_paper(
    folder: Path, strategy: str, chunks: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Random valid replies; the calls are those of the formula for the points that stood before the refinement."""
    monkeypatch.undo()
    monkeypatch.setenv("REFEREE_CACHE_DIR", str(folder / "cache"))
    monkeypatch.chdir(folder)
    asked = ["referee", "review", str(EXAMPLE), "--venue", VENUE, "--strategy", strategy, "--model", "m", "--no-cache"]
    with FakeServer(seed=1, context_tokens=32_000) as server:
        monkeypatch.setattr(sys, "argv", [*asked, "--base-url", server.base_url, "--out", "run"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code, capsys.readouterr().err
    calls = server.log.calls(endpoint="chat")
    by_role = {role: sum(call.role == role for call in calls) for role in {call.role for call in calls}}
    composed = by_role.pop("composer")
    assert composed in (1, 2)
    if strategy == "multi-agent":
        refined = by_role.pop("checker")
        assert by_role == {"supervisor": 9, "writer": 6 * chunks}
        assert 0 < refined <= 36
    else:
        assert by_role == {"writer": chunks, "cross": 1}
    review = Review.model_validate_json((folder / "run" / "review.json").read_text())
    assert_conserved(review)
    assert_complete(review)
    assert review.provenance is not None
    assert review.provenance.strategy == strategy
    assert (folder / "run" / "review.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "replies"), [("multi-agent", 9), ("progressive", 3)])
def test_a_killed_run_is_resumed_and_nothing_written_down_is_paid_again(
    folder: Path, strategy: str, replies: int
) -> None:
    assert_killed_and_resumed(folder, EXAMPLE, strategy, replies=replies)
