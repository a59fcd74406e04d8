"""Runs of ``sections`` for research: points asked for by number, what is refused, what a resumed run must keep."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from referee.errors import RunError, SettingsError
from referee.schemas.review import Review
from referee.settings import Ablation
from tests.support import ChatRequest, FakeServer
from tests.support.script import Script

from .sections_paper import SEEDED
from .sections_run import quick_settings, run_sections
from .sections_script import Raised, Scene, heading_of

# The reviewer part by part.
pytestmark = pytest.mark.slow


async def ran(scene: Scene, folder: Path, **more: Any) -> tuple[Review, FakeServer]:
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        return await run_sections(server, folder, **more), server


async def test_a_reader_who_is_asked_for_a_number_gives_it(folder: Path) -> None:
    """The scripted reviewer has one find, and fills up with what is asked for beside it."""
    seed = "Variation between seeds is unknown."

    class Filling(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            number = re.search(r"Raise (\d+) points", request.system)
            found = [Raised(seed, (("Method", SEEDED, "shows"),))] if heading_of(request) == "Method" else []
            more = [Raised(f"More of {n} is needed.", kind="clarity") for n in ("a", "b", "c", "d", "e", "f", "g", "h")]
            return {"points": [r.reply(request) for r in [*found, *more][: int(number[1]) if number else len(found)]]}

    review, _ = await ran(Filling(), folder)
    assert [point.claim for point in review.points] == [seed]

    settings = quick_settings(**{"review.quota": 10})
    review, _ = await ran(Filling(), folder, out="asked", settings=settings)
    assert len(review.points) == 12
    assert review.provenance is not None
    assert "its readers were asked for 10 points together" in review.provenance.notes[0]
    assert "asked for 10 points" in review.disclosure.split("\n\n")[0]


@pytest.mark.parametrize("step", get_args(Ablation))
async def test_of_random_valid_replies_no_point_is_lost_whatever_step_is_left_out(folder: Path, step: str) -> None:
    """Conservation is asserted on every run: raised = printed + listed + merged + struck + dropped."""
    with FakeServer(Script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder, sections=5, settings=quick_settings(**{"review.ablate": [step]}))
    assert len(review.points) > 1


async def test_a_run_is_resumed_with_the_same_steps_only(folder: Path) -> None:
    scene = Scene({"Method": [Raised("Seeds are hidden.", (("Method", SEEDED, "shows"),))]})

    def asking(*steps: str, quota: int | None = None) -> dict[str, Any]:
        return {"settings": quick_settings(**{"review.ablate": list(steps), "review.quota": quota})}

    with FakeServer(scene.script(), context_tokens=32_000) as server:
        await run_sections(server, folder, **asking("card"))
        for other in (asking("card", "rules"), asking()):
            with pytest.raises(RunError, match="was started with another set of steps taken out"):
                await run_sections(server, folder, resume=folder / "run", **other)
        with pytest.raises(RunError, match="started with another number of points asked for"):
            await run_sections(server, folder, resume=folder / "run", **asking("card", quota=5))
        again = await run_sections(server, folder, resume=folder / "run", **asking("card"))
    assert len(again.points) == 1


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"review.ablate": ["check", "blind-check"]}, "'blind-check' beside 'check'"),
        ({"review.ablate": ["example"], "review.quota": 5}, "'example' beside review.quota"),
        ({"review.ablate": ["venue"], "review.preset": "full"}, "'venue' takes the venue's guidelines out"),
        *(
            ({"review.strategy": name, "review.ablate": ["card"], "review.target": "6"}, f"'{name}' has no step 'card'")
            for name in ("single", "ensemble", "multi-agent", "progressive", "archetype", "aligned")
        ),
        ({"review.strategy": "single", "review.quota": 5}, "'single' has no prompt that review.quota"),
    ],
)
async def test_what_has_no_meaning_is_refused_before_any_call(
    folder: Path, settings: dict[str, Any], says: str
) -> None:
    with FakeServer(Scene().script(), context_tokens=32_000) as server:
        with pytest.raises(SettingsError, match=re.escape(says)):
            await run_sections(server, folder, settings=quick_settings(**settings), venue="iclr-2025")
        assert server.log.calls(endpoint="chat") == []


@pytest.mark.parametrize("step", ["blind-check", "check", "cross", "example", "quotation-check", "retrieval"])
async def test_the_lean_plan_refuses_to_leave_out_what_it_does_not_have(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr("referee.graphs.sections.strategy.is_lean", lambda job: True)
    with pytest.raises(SettingsError, match=f"'{step}' takes out a step that the lean plan"):
        await ran(Scene(), folder, settings=quick_settings(**{"review.ablate": ["card", step]}))


async def test_the_lean_plan_goes_without_the_steps_it_has(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.graphs.sections.strategy.is_lean", lambda job: True)
    steps = ["card", "merge", "rules", "score-from-points", "venue", "whole-section"]
    review, server = await ran(Scene(), folder, settings=quick_settings(**{"review.ablate": steps}))
    assert review.provenance is not None
    assert "merge (points that say the same were not merged)" in review.provenance.notes[0]
    assert {call.role for call in server.log.calls(endpoint="chat")} == {"writer", "composer"}
