"""``progressive``: a chain of calls by design, what the summary carries, and a consolidation that loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.agents.passage_reviewer import PassageBrief, PassageReply, review_passage
from referee.schemas.review import Review
from tests.support import FakeServer
from tests.support.log import CallEntry

from .chunked_run import lean_plan, run_chunked, short_chunks
from .chunked_script import PassageScene
from .sections_paper import PROMISE, SEEDED, TIED, TUNED
from .sections_run import by_claim, quick_settings
from .sections_script import Raised
from .test_review_calls import chain_of

MACHINE = "referee.graphs.chunked.progressive"
SEED = "One seed alone stands behind every trial."
AGAIN = "The spread of the results over seeds stays unknown."
FAR = "The rivals were tuned after all, against what the introduction announces."
FAR_POINT = Raised(FAR, (("Introduction", PROMISE, "shows"), ("Results", TUNED, "contradicts")), kind="contradiction")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    short_chunks(monkeypatch)


async def ran(scene: PassageScene, folder: Path, **more: Any) -> tuple[Review, list[CallEntry]]:
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_chunked(server, folder, "progressive", settings=quick_settings(), **more)
    return review, server.log.calls(endpoint="chat")


def passages_of(calls: list[CallEntry]) -> int:
    return sum(call.role == "writer" for call in calls)


@pytest.mark.parametrize("sections", [1, 3, 6])
async def test_the_calls_are_those_of_the_formula_and_wait_for_one_another(folder: Path, sections: int) -> None:
    scene = PassageScene(points={PROMISE: [Raised(SEED), Raised(AGAIN, kind="statistics")]})
    _, calls = await ran(scene, folder, sections=sections)
    assert (passages_of(calls) > 1) == (sections > 1)
    assert len(calls) == passages_of(calls) + 2
    assert chain_of(calls) == len(calls)


async def test_no_consolidation_is_asked_for_a_single_point(folder: Path) -> None:
    _, calls = await ran(PassageScene(points={SEEDED: [Raised(SEED, (("Method", SEEDED, "shows"),))]}), folder)
    assert len(calls) == passages_of(calls) + 1


async def test_a_passage_is_shown_with_the_summary_of_those_before_and_with_no_earlier_text(folder: Path) -> None:
    _, calls = await ran(PassageScene(), folder)
    requests = [call.request for call in calls if call.role == "writer"]
    assert requests[0].spans("summary")[0].strip() == "(this is the beginning)"
    last = requests[-1]
    assert PROMISE in " ".join(last.spans("summary")[0].split())
    assert PROMISE not in " ".join(last.spans("section")[0].split())
    assert "passage 2 of" in requests[1].user


async def test_without_the_running_summary_a_far_definition_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that moves: finds that need an earlier passage, 1 with the summary, 0 without."""
    scene = PassageScene(points={TUNED: [FAR_POINT]}, needs={FAR: PROMISE})
    review, _ = await ran(scene, folder, out="with")
    point = by_claim(review, FAR)
    assert (point.outcome, point.kind, point.verified_quotes) == ("printed", "contradiction", 2)

    async def forgetful(brief: PassageBrief, **more: Any) -> PassageReply:
        reply = await review_passage(brief, **more)
        return PassageReply(reply.points, "", reply.notes)

    monkeypatch.setattr(f"{MACHINE}.review_passage", forgetful)
    review, _ = await ran(scene, folder, out="without")
    assert review.points == ()


async def test_without_the_consolidation_one_fault_is_printed_twice_and_with_it_none_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers: printed points 2 without, 1 with; points on the record 2 in both."""
    scene = PassageScene(
        points={
            SEEDED: [Raised(SEED, (("Method", SEEDED, "shows"),))],
            TIED: [Raised(AGAIN, (("Results", TIED, "shows"),))],
        },
        duplicates=[(SEED, AGAIN)],
    )

    def counts(review: Review) -> tuple[int, int]:
        return len(review.points), sum(point.outcome == "printed" for point in review.points)

    review, _ = await ran(scene, folder, out="with")
    assert counts(review) == (2, 1)
    (kept,) = (point for point in review.points if point.outcome == "printed")
    assert {f"{evidence.quote}." for evidence in kept.evidence} == {SEEDED, TIED}
    assert kept.claim in (SEED, AGAIN), "merging moves, it never rewrites"

    async def skipped(state: object, runtime: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(f"{MACHINE}.consolidate", skipped)
    review, _ = await ran(scene, folder, out="without")
    assert counts(review) == (2, 2)


@pytest.mark.parametrize("one_passage", [True, False])
async def test_a_named_pair_is_merged_unless_one_reply_raised_both(folder: Path, one_passage: bool) -> None:
    other = "A tie is sold as a wide margin."
    seed = Raised(SEED, (("Method", SEEDED, "shows"),))
    tie = Raised(other, (("Results", TIED, "shows"),), kind="statistics")
    points = {SEEDED: [seed, tie]} if one_passage else {SEEDED: [seed], TIED: [tie]}
    review, _ = await ran(PassageScene(points=points, duplicates=[(SEED, other)]), folder)
    outcomes = sorted(point.outcome for point in review.points)
    assert outcomes == (["printed", "printed"] if one_passage else ["merged_into", "printed"])


async def test_the_lean_plan_reads_and_composes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lean_plan(monkeypatch)
    scene = PassageScene(lean={SEEDED: Raised(SEED), TIED: Raised(AGAIN, kind="statistics")})
    review, calls = await ran(scene, folder)
    assert len(calls) == passages_of(calls) + 1
    assert {call.prompt_id for call in calls} == {"review/passage-lean@v1", "review/compose@v1"}
    assert {point.outcome for point in review.points} == {"printed"}
    assert {point.claim for point in review.points} == {SEED, AGAIN}
