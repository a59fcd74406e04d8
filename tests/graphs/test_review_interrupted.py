"""A section that fails, a budget that stops, a resumed run, and a check that strikes too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.errors import BudgetExceeded, ModelError
from referee.schemas.run import RunRecord
from tests.support import ChatRequest, FakeServer, Fault

from .sections_paper import SEEDED, TIED, TUNED
from .sections_run import by_claim, run_sections
from .sections_script import Answers, Raised, Scene, heading_of
from .test_review_calls import busy

# The reviewer part by part.
pytestmark = pytest.mark.slow

SEED, TIE = "The spread over seeds is hidden.", "A tie is sold as a gain."
POINTS = {
    "Method": [Raised(SEED, (("Method", SEEDED, "shows"),))],
    "Results": [Raised(TIE, (("Results", TIED, "shows"),), kind="statistics")],
}


class Failing(Scene):
    """The reading of one section always ends in an error of the server."""

    def section(self, request: ChatRequest) -> Any:
        return Fault("500") if heading_of(request) == "Method" else super().section(request)


async def test_a_failing_section_is_named_and_leaves_the_others_points(folder: Path) -> None:
    with FakeServer(Failing(POINTS).script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
    assert [point.claim for point in review.points] == [TIE]
    assert review.provenance is not None
    (note,) = [note for note in review.provenance.notes if "failed" in note]
    assert "Method" in note


async def test_a_budget_stops_the_run_and_a_higher_one_pays_nothing_twice(folder: Path) -> None:
    with FakeServer(Scene(POINTS).script(), context_tokens=32_000) as server:
        with pytest.raises(BudgetExceeded):
            await run_sections(server, folder, max_tokens=12_000)
        before = len(server.log.calls(endpoint="chat"))
        assert 0 < before < 6
        assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "stopped"
        review = await run_sections(server, folder, resume=folder / "run", max_tokens=1_000_000)
        assert server.log.repeated() == []
    assert {by_claim(review, SEED).outcome, by_claim(review, TIE).outcome} == {"printed"}


@pytest.mark.parametrize("role", ["writer", "cross", "checker", "composer"])
async def test_a_run_that_a_node_ended_is_resumed_without_paying_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """The process dies before the role's call is sent: simulated by an exception that nobody handles."""
    from referee.llm import door

    real = door.Door.ask

    async def dying(self: Any, prompt: Any, reply: Any, **more: Any) -> Any:
        if more["role"] == role:
            raise KeyError("the process dies here")
        return await real(self, prompt, reply, **more)

    with FakeServer(Scene(POINTS).script(), context_tokens=32_000) as server:
        with monkeypatch.context() as patched:
            patched.setattr(door.Door, "ask", dying)
            with pytest.raises(KeyError):
                await run_sections(server, folder)
        review = await run_sections(server, folder, resume=folder / "run")
        assert server.log.repeated() == []
        assert len(server.log.calls(endpoint="chat")) == 6
    assert len(review.points) == 2


async def test_a_model_that_is_down_for_the_composer_still_gives_a_review(folder: Path) -> None:
    with FakeServer(Scene(POINTS).script(), faults=[Fault("500", role="composer")], context_tokens=32_000) as server:
        review = await run_sections(server, folder)
    assert by_claim(review, SEED).outcome == "printed"
    assert review.rating is None


async def test_a_model_that_is_down_for_all_ends_in_its_error(folder: Path) -> None:
    with FakeServer(faults=[Fault("500")], context_tokens=32_000) as server, pytest.raises(ModelError):
        await run_sections(server, folder)


class Striking(Scene):
    """The checker refutes the first so many statements it is shown, each by the words quoted for it."""

    left = 0

    def checks(self, request: ChatRequest) -> dict[str, Any]:
        answers = super().checks(request)["answers"]
        for answer in answers:
            self.left -= 1
            if self.left >= 0:
                answer["refuted"] = f"{answer['statement']}q1"
        return {"answers": answers}


@pytest.mark.parametrize(("strikes", "warned"), [(1000, True), (0, True), (5, False)])
async def test_a_check_that_strikes_all_or_nothing_of_many_points_is_doubted(
    folder: Path, strikes: int, warned: bool
) -> None:
    scene = Striking(busy(4).sections)
    scene.left = strikes
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder, sections=4)
    struck = sum(point.outcome == "struck" for point in review.points)
    assert (struck > 20) if strikes > 100 else (struck == strikes)
    assert review.provenance is not None
    said = [note for note in review.provenance.notes if "warning: the check struck" in note]
    assert bool(said) is warned


async def test_few_points_give_no_such_warning(folder: Path) -> None:
    scene = Scene(POINTS, tests={SEED: Answers(refuted=TUNED)})
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder)
    assert review.provenance is not None
    assert not any("warning" in note for note in review.provenance.notes)
