"""``multi-agent``: calls and chains, what each step is there for, and points that are refined without being lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.agents.team import EXPERTS
from referee.schemas.review import Review
from tests.held import InSteps
from tests.support import ChatRequest, FakeServer
from tests.support.log import CallEntry

from .chunked_run import lean_plan, notes_of, run_chunked, short_chunks
from .chunked_script import Refined, TeamScene
from .sections_paper import PROMISE, SEEDED, TIED
from .sections_run import by_claim, quick_settings
from .sections_script import Raised
from .test_review_calls import chain_of

MACHINE = "referee.graphs.chunked.multi_agent"
SEED = "One seed alone stands behind every trial."
VAGUE = "The experiments are limited and should be extended."
SHARP = "Every encoder has one seed, so no spread between runs can be given."
TIE = "A tie is sold as a wide margin."
TUNING = "Only the lantern method is tuned."


def seeded(claim: str = SEED, **more: Any) -> Raised:
    return Raised(claim, (("Method", SEEDED, "shows"),), **more)


TIED_POINT = Raised(TIE, (("Results", TIED, "shows"),), kind="statistics")
TUNED_POINT = Raised(TUNING, (("Introduction", PROMISE, "shows"),), kind="comparison")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_chunks(monkeypatch)


async def ran(scene: TeamScene, folder: Path, **more: Any) -> tuple[Review, list[CallEntry]]:
    script = InSteps(scene.script(), *more.pop("steps", ()))
    settings = quick_settings(**{"calls.concurrency": 64})
    with FakeServer(script, context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "multi-agent", settings=settings, **more)
    return review, server.log.calls(endpoint="chat")


def chunks_of(calls: list[CallEntry]) -> int:
    """How many workers were asked: as many as chunks were shown to them."""
    return len({call.request.spans("section")[0] for call in calls if call.role == "writer"})


@pytest.mark.slow
@pytest.mark.parametrize("sections", [1, 3, 6])
async def test_the_calls_are_those_of_the_formula(folder: Path, sections: int) -> None:
    scene = TeamScene(points={"experiments": [seeded(), TIED_POINT], "clarity": [TUNED_POINT]})
    review, calls = await ran(scene, folder, sections=sections)
    chunks, points = chunks_of(calls), len(review.points)
    assert (chunks > 1) == (sections > 1)
    assert points == {1: 1, 3: 3, 6: 3}[sections]
    assert len(calls) == 6 * chunks + points + 10
    by_role = {role: sum(call.role == role for call in calls) for role in {call.role for call in calls}}
    assert by_role == {"supervisor": 9, "writer": 6 * chunks, "checker": points, "composer": 1}


async def test_seven_calls_wait_for_one_another_however_long_the_paper(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one team: teams do not wait for each other."""
    monkeypatch.setattr(f"{MACHINE}.EXPERTS", ("experiments",))
    scene = TeamScene(points={"experiments": [seeded()]})
    _, calls = await ran(scene, folder, sections=6, steps=(1, 8, 1, 8, 1, 1, 1))
    assert chunks_of(calls) == 8
    assert len(calls) == 21
    assert chain_of(calls) == 7


async def test_no_expert_sees_the_paper_and_each_worker_sees_one_chunk(folder: Path) -> None:
    _, calls = await ran(TeamScene(), folder)
    asked = [call.request for call in calls if call.prompt_id.startswith("review/expert-")]
    assert asked
    assert all(not request.spans("section") for request in asked)
    first = [request for request in asked if "This is turn 1" in request.user]
    assert all(SEEDED not in request.text for request in first)
    workers = [call.request for call in calls if call.role == "writer"]
    assert {len(request.spans("section")) for request in workers} == {1}
    assert sum(SEEDED in request.spans("section")[0] for request in workers) < len(workers)


@pytest.mark.slow
async def test_without_the_refinement_vague_comments_remain(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that moves: vague comments among the printed ones, 0 with the pass, 2 without."""
    vaguer = "The claims are too strong."
    scene = TeamScene(
        points={"experiments": [seeded(VAGUE)], "impact": [Raised(vaguer, TIED_POINT.quotes, kind="design")]},
        refined={
            VAGUE: Refined("sharpen", point=seeded(SHARP)),
            vaguer: Refined("drop", "it would fit any paper"),
        },
    )

    def vague(review: Review) -> int:
        return sum(point.claim in (VAGUE, vaguer) and point.outcome == "printed" for point in review.points)

    review, _ = await ran(scene, folder, out="with")
    assert vague(review) == 0
    assert by_claim(review, vaguer).outcome == "dropped"
    assert "it would fit any paper" in by_claim(review, vaguer).reason
    assert by_claim(review, SHARP).outcome == "printed"

    async def skipped(state: object, runtime: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(f"{MACHINE}.refine", skipped)
    review, _ = await ran(scene, folder, out="without")
    assert vague(review) == 2


@pytest.mark.slow
async def test_without_a_second_turn_what_only_a_further_question_brings_up_is_missed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = TeamScene(points={"experiments": [seeded(), TIED_POINT]})
    review, _ = await ran(scene, folder, out="with")
    assert {point.claim for point in review.points} == {SEED, TIE}
    monkeypatch.setattr("referee.agents.team.ROUNDS", 1)
    review, calls = await ran(scene, folder, out="without")
    assert {point.claim for point in review.points} == {SEED}
    assert len(calls) == 3 * chunks_of(calls) + 1 + 7


@pytest.mark.slow
async def test_without_the_other_experts_their_points_are_missed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = TeamScene(points={"experiments": [seeded()], "clarity": [TUNED_POINT], "impact": [TIED_POINT]})
    review, _ = await ran(scene, folder, out="with")
    assert len(review.points) == len(EXPERTS)
    monkeypatch.setattr(f"{MACHINE}.EXPERTS", ("experiments",))
    review, _ = await ran(scene, folder, out="without")
    assert [point.claim for point in review.points] == [SEED]


async def test_a_sharpened_comment_stays_on_record_and_is_no_graver(folder: Path) -> None:
    scene = TeamScene(
        points={"experiments": [seeded(VAGUE, severity="minor")]},
        refined={VAGUE: Refined("sharpen", "it has one seed", seeded(SHARP, severity="fatal"))},
    )
    review, _ = await ran(scene, folder)
    old, new = by_claim(review, VAGUE), by_claim(review, SHARP)
    assert (old.outcome, old.merged_into, new.merged_from) == ("merged_into", new.id, (old.id,))
    assert (new.raised_severity, new.severity) == ("fatal", "minor")
    assert "it has one seed" in new.reason
    assert VAGUE not in str(review.fields)
    assert SHARP in str(review.fields)


@pytest.mark.parametrize(
    ("point", "why"),
    [
        (Raised(SHARP, (("Method", "We removed every third document by hand.", "shows"),)), "quotes nothing"),
        (seeded(SHARP, polarity="strength"), "is a strength"),
    ],
)
async def test_a_new_wording_that_does_not_fit_is_dropped_and_the_comment_stands(
    folder: Path, point: Raised, why: str
) -> None:
    scene = TeamScene(points={"experiments": [seeded(VAGUE)]}, refined={VAGUE: Refined("sharpen", point=point)})
    review, _ = await ran(scene, folder)
    assert by_claim(review, VAGUE).outcome == "printed"
    assert by_claim(review, SHARP).outcome == "dropped"
    assert why in by_claim(review, SHARP).reason


@pytest.mark.parametrize("verdict", ["keep", "drop"])
async def test_a_wording_beside_another_verdict_is_not_lost(folder: Path, verdict: str) -> None:
    scene = TeamScene(points={"experiments": [seeded()]}, refined={SEED: Refined(verdict, point=seeded(SHARP))})
    review, _ = await ran(scene, folder)
    assert by_claim(review, SEED).outcome == ("printed" if verdict == "keep" else "dropped")
    assert by_claim(review, SHARP).outcome == "dropped"


async def test_points_of_two_experts_that_say_the_same_are_merged_by_code(folder: Path) -> None:
    again = SEED.replace("every trial", "every single trial")
    scene = TeamScene(points={"experiments": [seeded()], "clarity": [seeded(again)]})
    review, calls = await ran(scene, folder)
    assert sorted(point.outcome for point in review.points) == ["merged_into", "printed"]
    assert sum(call.role == "checker" for call in calls) == 1


async def test_a_lack_that_the_text_may_refute_is_asked(folder: Path) -> None:
    claim = "Dropout is never mentioned."
    lack = Raised(claim, kind="missing", terms=("dropout", "dropout layer"))
    review, _ = await ran(TeamScene(points={"clarity": [lack]}), folder)
    point = by_claim(review, claim)
    assert point.absence is not None
    assert point.absence.hits
    assert point.polarity == "question"


async def test_the_lean_plan_asks_each_worker_once_and_refines_by_ids(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_plan(monkeypatch)
    told = {SEEDED: Raised(SEED), TIED: Raised(VAGUE, kind="design")}
    review, calls = await ran(TeamScene(lean=told, vague=[VAGUE]), folder)
    roles = [call.role for call in calls]
    assert roles.count("writer") == chunks_of(calls) > 1
    assert len(calls) == chunks_of(calls) + 2
    assert by_claim(review, SEED).outcome == "printed"
    assert by_claim(review, VAGUE).outcome == "dropped"
    assert "vague" in by_claim(review, VAGUE).reason


async def test_on_the_lean_plan_without_the_sift_vague_comments_remain(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lean_plan(monkeypatch)

    class Silent(TeamScene):
        def sift(self, request: ChatRequest) -> dict[str, Any]:
            return {"comments": []}

    review, _ = await ran(Silent(lean={TIED: Raised(VAGUE, kind="design")}, vague=[VAGUE]), folder)
    assert by_claim(review, VAGUE).outcome == "printed"


async def test_a_paper_of_a_few_words_is_reviewed_by_teams_of_one(folder: Path) -> None:
    review, calls = await ran(TeamScene(), folder, sections=1)
    assert chunks_of(calls) == 1
    assert review.points == ()
    assert "cut into chunks" not in notes_of(review)
