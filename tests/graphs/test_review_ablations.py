"""Each step of the machine earns its place: with it taken out, the same scripted run ends differently."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from referee.agents.mapper import PromptMap
from referee.schemas.review import Review
from referee.venues.prompts import general_prompts
from tests.support import ChatRequest, FakeServer

from .sections_paper import CLAIM, DROPOUT, PROMISE, SEEDED, TIED, TUNED, paper_text
from .sections_run import by_claim, quick_settings, run_sections
from .sections_script import REMEDY, Answers, Raised, Scene, heading_of, statements, with_own_rule

# The reviewer part by part.
pytestmark = pytest.mark.slow

MACHINE = "referee.graphs.sections.by_part"
INVENTED = "We removed every third document by hand because its author had annoyed us in the past."
NO_ASSESSMENT = "written for research on reviewing and is not an assessment of the paper"


async def ran(scene: Scene, folder: Path, out: str, **more: Any) -> tuple[Review, FakeServer]:
    with FakeServer(scene.script(), context_tokens=32_000) as server:
        return await run_sections(server, folder, out=out, **more), server


async def run_without(step: str, scene: Scene, folder: Path, **more: Any) -> tuple[Review, FakeServer]:
    """The run with one step taken out, which the review says in its notes and in its disclosure's first paragraph."""
    settings = quick_settings(**{"review.ablate": [step]})
    review, server = await ran(scene, folder, "without", settings=settings, **more)
    assert review.provenance is not None
    assert f"its strategy went without {step} (" in review.provenance.notes[0]
    assert NO_ASSESSMENT in review.provenance.notes[0]
    assert f"went without {step} (" in review.disclosure.split("\n\n")[0]
    return review, server


async def test_a_run_that_takes_every_step_is_not_marked(folder: Path) -> None:
    review, _ = await ran(Scene(), folder, "with")
    assert NO_ASSESSMENT not in review.disclosure
    assert review.provenance is not None
    assert not any(NO_ASSESSMENT in note for note in review.provenance.notes)


async def test_without_the_quotation_check_an_invented_quotation_is_believed(folder: Path) -> None:
    claim = "The corpus was cleaned by hand without any protocol."
    scene = Scene({"Method": [Raised(claim, (("Method", INVENTED, "shows"),))]})
    point = by_claim((await ran(scene, folder, "with"))[0], claim)
    assert (point.unverified, point.verified_quotes) == (True, 0)

    review, _ = await run_without("quotation-check", scene, folder)
    point = by_claim(review, claim)
    assert (point.unverified, point.verified_quotes) == (False, 1)
    assert "its quotations were not looked up" in point.reason
    assert INVENTED in str(review.fields)


async def test_without_the_card_what_needs_the_papers_claims_is_not_found(folder: Path) -> None:
    """The scripted reviewer raises the point only where the card holds what the abstract claims."""
    claim, other = "The wide margin of the abstract is a tie here.", "One seed carries every trial."

    class Comparing(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            points = {"Method": [Raised(other, (("Method", SEEDED, "shows"),), threatens=None, severity="fatal")]}
            if CLAIM in "".join(request.spans("card")):
                points["Results"] = [Raised(claim, (("Results", TIED, "shows"),))]
            return {"points": [raised.reply(request) for raised in points.get(heading_of(request), ())]}

    review, _ = await ran(Comparing(), folder, "with")
    assert {point.claim: point.severity for point in review.points} == {claim: "major", other: "fatal"}

    review, server = await run_without("card", Comparing(), folder)
    assert {point.claim: point.severity for point in review.points} == {other: "fatal"}
    for role in ("writer", "cross"):
        assert {s.strip() for c in server.log.calls(role=role) for s in c.request.spans("card")} == {"(none)"}
    (composer,) = server.log.calls(role="composer")
    assert CLAIM in composer.request.user


async def test_in_chunks_what_two_paragraphs_of_a_section_show_is_not_found(folder: Path) -> None:
    """The scripted reviewer raises the point only where it sees both sentences at once."""
    claim = "Dropout with one seed makes every trial a draw of luck."
    prose = [line for line in paper_text(8).split("\n\n") if len(line) > 400 and SEEDED not in line]
    text = "\n\n".join(["# Lanterns", f"## Abstract\n\n{CLAIM}", "## 1 Method", SEEDED, *prose, DROPOUT])

    class Joining(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            seen = "".join(request.spans("section"))
            raised = Raised(claim, (("Method", SEEDED, "shows"),))
            return {"points": [raised.reply(request)] if SEEDED in seen and DROPOUT in seen else []}

    review, server = await ran(Joining(), folder, "with", text=text)
    assert [point.claim for point in review.points] == [claim]
    assert len(server.log.calls(role="writer")) == 1

    review, server = await run_without("whole-section", Joining(), folder, text=text)
    assert review.points == ()
    parts = [span for call in server.log.calls(role="writer") for span in call.request.spans("section")]
    assert len(parts) >= 4
    assert max(len(part.split()) for part in parts) < 400


async def test_without_retrieval_what_another_section_answers_is_not_seen(folder: Path) -> None:
    """The scripted reviewer of the introduction raises the point only where a passage says that rivals were tuned."""
    claim = "Only one method is tuned, says the introduction, but the results tune all."

    class Comparing(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            raised = Raised(claim, (("Introduction", PROMISE, "shows"),))
            told = heading_of(request) == "Introduction" and TUNED in "".join(request.spans("passages"))
            return {"points": [raised.reply(request)] if told else []}

    review, _ = await ran(Comparing(), folder, "with")
    assert [point.claim for point in review.points] == [claim]

    review, server = await run_without("retrieval", Comparing(), folder)
    assert review.points == ()
    asked = server.log.calls(role="writer")
    assert {span.strip() for call in asked for span in call.request.spans("passages")} == {"(none)"}


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


async def test_without_the_venue_sections_are_read_by_general_guidance(folder: Path) -> None:
    """The scripted reviewer raises a point only where it is told of the venue's own rule; the form stays."""
    claim = "The limits of one seed are not admitted."

    class Obedient(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            raised = Raised(claim, (("Method", SEEDED, "shows"),))
            told = "[lantern-rule]" in request.user and heading_of(request) == "Method"
            return {"points": [raised.reply(request)] if told else []}

    form = with_own_rule("lantern-rule")
    scene = Obedient(mapped={"lantern-rule": ["Method"]})
    review, _ = await ran(scene, folder, "with", venue=form)
    assert [point.claim for point in review.points] == [claim]

    review, server = await run_without("venue", scene, folder, venue=form)
    assert (review.points, review.venue) == ((), form.id)
    assert server.log.calls(role="mapper") == []
    for call in server.log.calls(endpoint="chat"):
        assert not any(f"[{guideline.id}]" in call.request.user for guideline in form.guidelines)
    told = [call.request.user for role in ("cross", "composer") for call in server.log.calls(role=role)]
    assert all("[general-support]" in user for user in told)


async def test_without_rules_what_code_finds_is_missed(folder: Path) -> None:
    text = paper_text().replace(TIED, f"{TIED} The groups differ, t(28) = 0.50, p = .001.")
    review, _ = await ran(Scene(), folder, "with", text=text)
    assert [point.source for point in review.points] == ["rule"]
    review, _ = await run_without("rules", Scene(), folder, text=text)
    assert review.points == ()


async def test_without_the_cross_pass_the_contradiction_between_sections_is_missed(folder: Path) -> None:
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

    review, server = await run_without("cross", scene, folder)
    assert sorted((p.claim, p.outcome) for p in review.points) == [(again, "printed"), (seed, "printed")]
    assert server.log.calls(role="cross") == []


async def test_without_the_merge_by_code_points_are_lost_and_doubled_as_the_model_says(folder: Path) -> None:
    """Two finds that the model calls one become one; two of two readers that say the same stay two."""
    seed, again = "Variation between seeds is unknown.", "The variation between seeds is unknown."
    tie, promise = "A tie is sold as a gain.", "Rivals stay untuned here."
    scene = Scene(
        {
            "Introduction": [Raised(promise, (("Introduction", PROMISE, "shows"),), kind="comparison")],
            "Method": [Raised(seed, (("Method", SEEDED, "shows"),))],
            "Results": [
                Raised(tie, (("Results", TIED, "shows"),), kind="statistics"),
                Raised(again, (("Method", SEEDED, "shows"),)),
            ],
        },
        duplicates=[(tie, promise)],
    )
    review, _ = await ran(scene, folder, "with")
    assert sum(p.outcome == "merged_into" for p in review.points) == 2
    assert {by_claim(review, claim).outcome for claim in (seed, again)} == {"printed", "merged_into"}

    review, _ = await run_without("merge", scene, folder)
    (gone,) = (p for p in review.points if p.outcome == "merged_into")
    assert gone.claim in (tie, promise)
    assert {by_claim(review, claim).outcome for claim in (seed, again)} == {"printed"}


async def test_named_pairs_that_meet_are_merged_as_one(folder: Path) -> None:
    """A chain of named pairs is one group; a pair of a defect and a question is none."""
    claims = ["Seeds are hidden.", "A tie is sold as a gain.", "Rivals stay untuned here."]
    asked = "Were five seeds tried?"
    scene = Scene(
        {
            "Introduction": [Raised(claims[2], (("Introduction", PROMISE, "shows"),), kind="comparison")],
            "Method": [
                Raised(claims[0], (("Method", SEEDED, "shows"),)),
                Raised(asked, (("Method", DROPOUT, "shows"),), polarity="question"),
            ],
            "Results": [Raised(claims[1], (("Results", TIED, "shows"),), kind="statistics")],
        },
        duplicates=[(claims[0], claims[1]), (claims[1], claims[2]), (claims[0], asked)],
    )
    review, _ = await run_without("merge", scene, folder)
    outcomes = sorted(by_claim(review, claim).outcome for claim in claims)
    assert outcomes == ["merged_into", "merged_into", "printed"]
    assert by_claim(review, asked).outcome == "printed"


async def test_without_the_check_a_refuted_point_is_printed(folder: Path) -> None:
    claim = "The rivals were left untuned while the lantern method was tuned."
    raised = Raised(claim, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED)
    scene = Scene({"Introduction": [raised]}, tests={claim: Answers(refuted=TUNED)})
    assert by_claim((await ran(scene, folder, "with"))[0], claim).outcome == "struck"

    review, server = await run_without("check", scene, folder)
    point = by_claim(review, claim)
    assert point.check is not None
    assert (point.outcome, point.check.verdict) == ("printed", "unchecked")
    assert (point.raised_severity, point.severity) == ("major", "major")
    assert server.log.calls(role="checker") == []


async def test_a_check_that_is_not_blind_believes_its_author(folder: Path) -> None:
    """The scripted checker is a flatterer: it strikes only where no severity is in sight."""
    claim = "The rivals were left untuned while the lantern method was tuned."
    raised = Raised(claim, (("Introduction", PROMISE, "shows"),), refuted_by=TUNED, severity="fatal")

    class Flatterer(Scene):
        def checks(self, request: ChatRequest) -> dict[str, Any]:
            answers = super().checks(request)["answers"]
            grave = {alias for alias, _, more in statements(request) if "fatal" in more}
            return {"answers": [a | {"refuted": "none"} if a["statement"] in grave else a for a in answers]}

    scene = Flatterer({"Introduction": [raised]}, tests={claim: Answers(refuted=TUNED)})
    assert by_claim((await ran(scene, folder, "with"))[0], claim).outcome == "struck"

    review, server = await run_without("blind-check", scene, folder)
    assert by_claim(review, claim).outcome == "printed"
    (asked,) = server.log.calls(role="checker")
    for told in ("unsupported and fatal, with high confidence", CLAIM, REMEDY):
        assert told in asked.request.user


async def test_scores_from_the_paper_need_no_point(folder: Path) -> None:
    """Scores that no point backs: null as the strategy is, given where the composer sees the paper."""
    seed = "Variation between seeds is unknown."
    scene = Scene(
        {"Method": [Raised(seed, (("Method", SEEDED, "shows"),))]},
        scores={"significance": (3, lambda ids: []), "clarity": (4, lambda ids: []), "quality": (2, lambda ids: ids)},
    )
    review, server = await ran(scene, folder, "with")
    assert {name: review.fields[name] for name in scene.scores} == {"significance": None, "clarity": None, "quality": 2}
    assert DROPOUT not in "".join(call.request.text for call in server.log.calls(role="composer"))

    review, server = await run_without("score-from-points", scene, folder)
    assert {name: review.fields[name] for name in scene.scores} == {"significance": 3, "clarity": 4, "quality": 2}
    (asked,) = server.log.calls(role="composer")
    assert all(sentence in asked.request.user for sentence in (SEEDED, DROPOUT, TIED, TUNED))


async def test_without_worked_examples_what_they_teach_is_missed(folder: Path) -> None:
    """The scripted reviewer does as the good example does, where it is shown one."""
    claim = "The margin does not follow from the results."

    class Taught(Scene):
        def section(self, request: ChatRequest) -> dict[str, Any]:
            taught = "A good point:" in request.system and heading_of(request) == "Results"
            return {"points": [Raised(claim, (("Results", TIED, "shows"),)).reply(request)] if taught else []}

    assert len((await ran(Taught(), folder, "with"))[0].points) == 1
    assert (await run_without("example", Taught(), folder))[0].points == ()
