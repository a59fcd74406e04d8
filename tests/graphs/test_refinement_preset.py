"""``review --preset full``: refined first, in the same run; the reviewers are then given the refined steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.api import ReviewEstimate, refine_prompts
from referee.errors import RunError, SettingsError
from referee.schemas.run import RunRecord
from referee.venues.refined import RefinedPrompts, list_refined
from tests.support import ChatRequest, FakeServer
from tests.support.script import Script

from .refining_script import Refining, small_venue
from .sections_run import quick_settings, run_sections
from .sections_script import Scene

FORM = small_venue("lanterns", shipped=("quality", "clarity"))
MARK = "Write down what look"


def script() -> Script:
    scene = Scene().script().entries
    return Script({**Refining().script().entries, **scene})


def shown(server: FakeServer) -> list[ChatRequest]:
    """What the reviewers of sections were asked."""
    return [c.request for c in server.log if c.request is not None and c.prompt_id.startswith("review/section")]


def refining(server: FakeServer) -> int:
    return sum(call.prompt_id.startswith("refinement/") for call in server.log)


async def test_reviewers_are_given_the_refined_steps_and_the_record_names_them(folder: Path) -> None:
    """Without refinement the mark of the revised steps would be in no prompt."""
    with FakeServer(script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder, venue=FORM, preset="full", rounds=2)
        assert 1 + 3 * 2 * 2 < refining(server) <= 1 + 3 * 2 * 2 + 3 * (2 + 1)
        assert shown(server)
        assert all(MARK in request.user for request in shown(server))
    (refined,) = list_refined(FORM.id)
    assert review.provenance is not None
    digests = refined.digests()
    assert len(digests) == 3
    assert digests.items() <= review.provenance.prompts.items()
    assert "refinement/criticise@v1" in review.provenance.prompts
    assert any("prompts refined for this run: 6 revisions" in note for note in review.provenance.notes)
    run = RunRecord.model_validate_json((folder / "run" / "run.json").read_text())
    assert digests.items() <= run.prompts.items()
    assert run.inputs["refinement of the prompts"] == refined.key


@pytest.mark.parametrize("preset", [None, "quick"])
async def test_quick_takes_the_steps_that_ship(folder: Path, preset: str | None) -> None:
    with FakeServer(script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder, venue=FORM, preset=preset)
        assert refining(server) == 0
        assert not any(MARK in request.user for request in shown(server))
    assert review.provenance is not None
    assert not any(name.startswith("refined/") for name in review.provenance.prompts)


@pytest.mark.parametrize("until_stable", [False, True])
async def test_what_was_refined_earlier_costs_no_call(folder: Path, until_stable: bool) -> None:
    with FakeServer(script(), context_tokens=32_000) as server:
        options = RunOptions(base_url=server.base_url, settings=quick_settings())
        await refine_prompts(FORM, model="m", rounds=1, until_stable=until_stable, options=options)
        paid = refining(server)
        review = await run_sections(server, folder, venue=FORM, preset="full", rounds=1)
        assert refining(server) == paid
        assert all(MARK in request.user for request in shown(server))
    assert review.provenance is not None
    assert any(note.startswith("prompts refined on") for note in review.provenance.notes)


async def test_the_estimate_shows_both_presets(folder: Path) -> None:
    plans: list[ReviewEstimate] = []

    def refuse(plan: ReviewEstimate) -> bool:
        plans.append(plan)
        return False

    with FakeServer(script(), context_tokens=32_000) as server:
        for preset in (None, "full"):
            with pytest.raises(RunError, match="not confirmed"):
                await run_sections(server, folder, venue=FORM, preset=preset, confirm=refuse)
    quick, full = plans
    assert (quick.preset, full.preset) == ("quick", "full")
    assert quick.other is not None
    assert full.other is not None
    assert (quick.other.calls, full.other.calls) == (full.calls, quick.calls)
    assert full.calls - quick.calls == 1 + 3 * 2 * 3 + 3 * (3 + 1)
    assert full.input_tokens > quick.input_tokens
    assert "supervisor" in full.models


async def test_a_resumed_run_goes_by_the_steps_it_began_with(folder: Path) -> None:
    with FakeServer(script(), context_tokens=32_000) as server:
        await run_sections(server, folder, venue=FORM, preset="full", rounds=1)
        answered = len(server.log)
        pinned = folder / "run" / "refined_prompts.json"
        await run_sections(server, folder, venue=FORM, preset="full", rounds=1, resume=folder / "run")
        assert len(server.log) == answered
        with pytest.raises(RunError, match="another preset"):
            await run_sections(server, folder, venue=FORM, preset="quick", resume=folder / "run")
        with pytest.raises(RunError, match="refinement of the prompts"):
            await run_sections(server, folder, venue=FORM, preset="full", rounds=2, resume=folder / "run")
        other = RefinedPrompts.model_validate_json(pinned.read_text())
        first = other.guidelines[0].model_copy(update={"versions": other.guidelines[0].versions[:1]})
        pinned.write_text(other.model_copy(update={"guidelines": (first, *other.guidelines[1:])}).model_dump_json())
        with pytest.raises(RunError, match="does not hold the prompts that the run began with"):
            await run_sections(server, folder, venue=FORM, preset="full", rounds=1, resume=folder / "run")


async def test_a_venue_without_guidelines_for_sections_is_reviewed_and_says_so(folder: Path) -> None:
    with FakeServer(script(), context_tokens=32_000) as server:
        review = await run_sections(server, folder, venue=small_venue(shipped=("specific",)), preset="full")
        assert refining(server) == 0
    assert review.provenance is not None
    assert "the venue has no guideline whose prompt could be refined" in review.provenance.notes


async def test_a_single_review_has_nothing_to_refine(folder: Path) -> None:
    changed: Any = quick_settings(**{"review.strategy": "single"})
    with (
        FakeServer(script(), context_tokens=32_000) as server,
        pytest.raises(SettingsError, match="no prompts of guidelines"),
    ):
        await run_sections(server, folder, venue=FORM, preset="full", settings=changed)


async def test_the_run_folder_holds_what_was_used(folder: Path) -> None:
    with FakeServer(script(), context_tokens=32_000) as server:
        await run_sections(server, folder, venue=FORM, preset="full", rounds=1)
    held = json.loads((folder / "run" / "refined_prompts.json").read_text())
    assert [guideline["guideline_id"] for guideline in held["guidelines"]] == ["quality", "clarity", "lanterns"]
