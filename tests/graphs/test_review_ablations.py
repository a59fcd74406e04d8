"""Each step of the machine earns its place: with it taken out, the same scripted run ends differently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.agents.mapper import PromptMap
from referee.schemas.point import ReviewPoint
from referee.schemas.review import Review
from referee.testing import ChatRequest, FakeServer
from referee.venues.prompts import general_prompts

from .sections_paper import CLAIM, PROMISE, SEEDED, TIED, TUNED
from .sections_run import by_claim, run_sections
from .sections_script import Answers, Raised, Scene, heading_of, statements, with_own_rule

MACHINE = "referee.graphs.review"
INVENTED = "We removed every third document by hand because its author had annoyed us in the past."


async def ran(scene: Scene, folder: Path, out: str, **more: Any) -> tuple[Review, FakeServer]:
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        return await run_sections(server, folder, out=out, **more), server


async def test_without_the_quotation_check_an_invented_quotation_is_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "The corpus was cleaned by hand without any protocol."
    scene = Scene({"Method": [Raised(claim, (("Method", INVENTED, "shows"),))]})
    point = by_claim((await ran(scene, folder, "with"))[0], claim)
    assert (point.unverified, point.severity, point.verified_quotes) == (True, "minor", 0)

    def believing(points: Iterable[ReviewPoint], context: object) -> list[ReviewPoint]:
        return [
            point.model_copy(
                update={"evidence": tuple(e.model_copy(update={"status": "exact"}) for e in point.evidence)}
            )
            for point in points
        ]

    monkeypatch.setattr(f"{MACHINE}.verified", believing)
    review, _ = await ran(scene, folder, "without")
    point = by_claim(review, claim)
    assert (point.unverified, point.severity, point.verified_quotes) == (False, "major", 1)
    assert INVENTED in str(review.fields)


async def test_without_the_map_sections_are_not_read_for_what_the_venue_asks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scripted reviewer raises a point only in the section where it is told of the venue's own rule."""
    claim = "The limits of one seed are not admitted."

    class Obedient(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            told = "[lantern-rule]" in request.user
            raised = Raised(claim, (("Method", SEEDED, "shows"),))
            return {"points": [raised.reply(request)] if told and heading_of(request) == "Method" else []}

    form = with_own_rule("lantern-rule")
    scene = Obedient(mapped={"lantern-rule": ["Method"]})

    review, server = await ran(scene, folder, "with", venue=form)
    assert [point.claim for point in review.points] == [claim]
    assert len(server.log.calls(role="mapper")) == 1
    told = [heading_of(c.request) for c in server.log.calls(role="writer") if "[lantern-rule]" in c.request.user]
    assert told == ["Method"]

    async def unmapped(prompts: object, parts: Iterable[Any], **more: object) -> PromptMap:
        general = {prompt.id: prompt for prompt in general_prompts()}
        return PromptMap({part.id: tuple(general) for part in parts}, (), general, ())

    monkeypatch.setattr(f"{MACHINE}.map_prompts", unmapped)
    review, _ = await ran(scene, folder, "without", venue=form)
    assert review.points == ()


async def test_the_map_gives_each_kind_of_section_its_own_steps(folder: Path) -> None:
    _, server = await ran(Scene(), folder, "run", sections=8)
    steps = {
        heading_of(call.request): call.request.user.partition("About the text:")[0]
        for call in server.log.calls(role="writer")
    }
    assert len(steps) == 8
    assert len(set(steps.values())) > 3
    assert "[originality]" in steps["Related Work"]
    assert "[reproducibility-checklist]" not in steps["Related Work"]


async def test_without_the_cross_pass_the_contradiction_between_sections_is_missed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = "The abstract claims a wide margin, the results report a tie."
    both = (("Abstract", CLAIM, "shows"), ("Results", TIED, "contradicts"))
    seed, again = "Variation between seeds is unknown.", "One seed only: its spread stays in the dark."
    scene = Scene(
        {
            "Method": [Raised(seed, (("Method", SEEDED, "shows"),))],
            "Results": [Raised(again, (("Results", TIED, "shows"),))],
        },
        cross=[Raised(claim, both, kind="contradiction", severity="fatal")],
        duplicates=[(seed, again)],
    )
    review, _ = await ran(scene, folder, "with")
    assert by_claim(review, claim).outcome == "printed"
    assert sorted(point.outcome for point in review.points) == ["merged_into", "printed", "printed"]

    async def skipped(state: object, runtime: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(f"{MACHINE}.cross", skipped)
    review, _ = await ran(scene, folder, "without")
    assert sorted((p.claim, p.outcome) for p in review.points) == [(again, "printed"), (seed, "printed")]


async def test_without_the_check_a_refuted_point_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = "The rivals were left untuned while the lantern method was tuned."
    raised = Raised(claim, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)
    scene = Scene({"Introduction": [raised]}, tests={claim: Answers(refuted=TUNED)})
    assert by_claim((await ran(scene, folder, "with"))[0], claim).outcome == "struck"

    async def unasked(*_: object, **__: object) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(f"{MACHINE}.check_points", unasked)
    point = by_claim((await ran(scene, folder, "without"))[0], claim)
    assert (point.outcome, point.check) == ("printed", None)


async def test_a_check_that_is_not_blind_believes_its_author(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted checker is a flatterer: it strikes only where no severity is in sight."""
    claim = "The rivals were left untuned while the lantern method was tuned."
    raised = Raised(claim, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED, severity="fatal")

    class Flatterer(Scene):
        def checks(self, request: ChatRequest) -> dict[str, Any]:
            answers = super().checks(request)["answers"]
            grave = {alias for alias, said, _ in statements(request) if "fatal" in said}
            return {"answers": [a | {"refuted": "none"} if a["statement"] in grave else a for a in answers]}

    scene = Flatterer({"Introduction": [raised]}, tests={claim: Answers(refuted=TUNED)})
    assert by_claim((await ran(scene, folder, "with"))[0], claim).outcome == "struck"

    from referee.agents import check_cases

    shown = check_cases._statement

    def telling(case: Any) -> str:
        claimed = case.point.model_copy(update={"claim": f"{case.point.claim} ({case.point.severity})"})
        return shown(replace(case, point=claimed))

    monkeypatch.setattr(check_cases, "_statement", telling)
    assert by_claim((await ran(scene, folder, "without"))[0], claim).outcome == "printed"
