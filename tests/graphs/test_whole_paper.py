"""The whole-paper plan end to end: what its calls share, what they do not see, and what becomes of each point."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from referee.agents.grouper import PROMPT as GROUP
from referee.api import review as review_paper
from referee.errors import BudgetExceeded, ModelError, RunError
from referee.schemas.review import Review
from referee.schemas.run import RunRecord
from referee.venues import load_venue
from tests.options import with_options
from tests.support import ChatRequest, FakeServer, Fault

from .sections_paper import CONCEDED, DROPOUT, PROMISE, SEEDED, TIED, TUNED, paper_text
from .sections_run import by_claim, quick_settings
from .sections_script import VENUE
from .test_chunked_bad_days import all_written
from .whole_script import (
    BOTH,
    SLIP,
    Raise,
    Ruling,
    WholeScene,
    long_paper,
    reader_of,
    run_whole,
    task_of,
    times_printed,
    whole_settings,
)

CONTEXT = 64_000
SEED, ALONE = "One seed stands behind every trial.", "Nobody knows the spread between seeds."
TIE, UNTUNED = "A tie is sold as a gain.", "The rivals were left untuned."
ASKED, MERIT = "Were other ports tried?", "The harbour corpus is new."
INVENTED = "We removed every third document by hand because its author had annoyed us in the past."
SUM = ("on 12 days of June, 31 days in all", "on 12 days of June, 29 days in all")
SCENE = WholeScene(
    points={
        "Method": [Raise(SEED, (("Method", SEEDED),), effect="headline", argument="ZANZIBAR")],
        "Results": [Raise(TIE, (("Abstract", TIED), ("Results", TIED)), kind="contradiction")],
        "Introduction": [Raise(UNTUNED, (("Introduction", PROMISE),))],
        "whole": [Raise(ALONE, (("Method", SEEDED),)), Raise(ASKED, polarity="question")],
    },
    corrections={"Results": [SUM]},
    merits={"whole": [MERIT]},
    same=[(SEED, ALONE)],
    tests={UNTUNED: Ruling(shown="no", words=TUNED)},
)


def chats(server: FakeServer) -> list[ChatRequest]:
    return [call.request for call in server.log.calls(endpoint="chat") if call.request is not None]


def prompts_of(server: FakeServer) -> dict[str, int]:
    names = [request.prompt_id.partition("@")[0].partition("/")[2] for request in chats(server)]
    return {name: names.count(name) for name in sorted(set(names))}


def notes_of(review: Review) -> str:
    assert review.provenance is not None
    return "\n".join(review.provenance.notes)


async def ran(scene: WholeScene, folder: Path, *faults: Fault, **more: Any) -> tuple[Review, FakeServer]:
    with FakeServer(scene.script(), faults=list(faults), context_tokens=CONTEXT) as server:
        return await run_whole(server, folder, **more), server


@pytest.mark.parametrize(("readings", "focus"), [("whole", 0), ("core", 2), ("all", 3)])
async def test_the_calls_are_readings_one_grouping_checks_and_the_prose(
    folder: Path, readings: str, focus: int
) -> None:
    review, server = await ran(SCENE, folder, readings=readings)
    calls = {"focus": focus, "whole": 1, "group": 1, "verify": 1, "amend": 1, "write": 1}
    if readings == "whole":
        calls = {"whole": 1, "verify": 1, "write": 1, "focus": 0, "group": 0, "amend": 0}
    assert prompts_of(server) == {name: count for name, count in sorted(calls.items()) if count}
    assert review.rating is None


async def test_every_call_begins_with_the_same_bytes_and_ends_with_its_task(folder: Path) -> None:
    _, server = await ran(SCENE, folder)
    asked = chats(server)
    beginnings = {(r.system, r.user.partition("</submission>")[0]) for r in asked}
    assert len(asked) == 8
    assert len(beginnings) == 1
    assert all(task_of(r).startswith("\n\nYour task: ") for r in asked)
    assert all(r.user.count("</submission>") == 1 for r in asked)
    system, prefix = beginnings.pop()
    assert re.search(r"never an\s+instruction", system)
    assert len(prefix) > len(long_paper())
    for sentence in (SEEDED, TIED, SLIP, CONCEDED):
        assert sentence in prefix


async def test_each_reader_has_a_part_of_its_own_and_one_has_the_whole(folder: Path) -> None:
    _, server = await ran(SCENE, folder)
    readers = sorted(reader_of(r) for r in chats(server) if r.prompt_id.startswith(("review/focus", "review/whole")))
    assert readers[-1] == "whole"
    assert [("Introduction" in r, "Method" in r, "Results" in r) for r in readers[:-1]] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


async def test_what_becomes_of_each_point(folder: Path) -> None:
    review, _ = await ran(SCENE, folder)
    seed, alone, tie = by_claim(review, SEED), by_claim(review, ALONE), by_claim(review, TIE)
    assert (alone.outcome, alone.merged_into, seed.merged_from) == ("merged_into", seed.id, (alone.id,))
    assert (seed.raised_severity, seed.severity, seed.outcome) == ("fatal", "major", "printed")
    assert "raised as fatal" in seed.reason
    assert (tie.kind, tie.outcome) == ("contradiction", "printed") or tie.kind == "unsupported"
    struck = by_claim(review, UNTUNED)
    assert struck.outcome == "struck"
    assert TUNED.rstrip(".") in struck.reason
    question = by_claim(review, ASKED)
    assert (question.polarity, question.field) == ("question", "questions")
    merit = by_claim(review, MERIT)
    assert (merit.outcome, merit.field, merit.check) == ("printed", BOTH, None)
    (slip,) = [p for p in review.points if p.correction is not None]
    assert (slip.outcome, slip.severity) == ("printed", "minor")
    text = str(review.fields[str(slip.field)])
    assert f"[Correction, checked] {slip.statement}" in text
    assert slip.field == BOTH
    assert str(review.fields[BOTH]).startswith("Main reasons:\n\n1. [Main reason, material, checked] ")
    assert UNTUNED not in str(review.fields)


async def test_everything_that_stands_is_printed_once_in_one_field(folder: Path) -> None:
    scene = WholeScene(
        points=SCENE.points,
        corrections=SCENE.corrections,
        merits=SCENE.merits,
    )
    review, _ = await ran(scene, folder)
    printed = [point for point in review.points if point.outcome == "printed"]
    assert len(printed) == 7
    for point in printed:
        assert times_printed(review, point) == {point.field: 1}, point.id
    assert review.fields["limitations"] is None


async def test_a_grave_correction_is_a_weakness_and_a_false_one_is_struck(folder: Path) -> None:
    false = ("The lamps were weighed on 17 days of the month of May", "The lamps were weighed on 18 days in May")
    scene = WholeScene(
        corrections={"Results": [SUM, false]},
        amended={
            SUM[0]: ("changed", "Results: 17 and 12 days are 29 days, not 31.", "correctness"),
            false[0]: ("not_shown", "", "detail"),
        },
    )
    review, server = await ran(scene, folder)
    grave, gone = sorted((p for p in review.points if p.correction), key=lambda p: p.id)
    assert (grave.outcome, grave.severity, grave.field) == ("printed", "major", BOTH)
    assert f"[Main reason, material, narrowed by the check] {grave.statement}" in str(review.fields[BOTH])
    assert grave.statement == "Results: 17 and 12 days are 29 days, not 31."
    assert (gone.outcome, gone.reason) == ("struck", "refuted by the check")
    assert "Correction" not in str(review.fields)
    assert "group" not in prompts_of(server)


async def test_what_remains_of_a_claim_is_printed_and_what_is_conceded_is_told(folder: Path) -> None:
    narrowed = "Of the trials on the harbour corpus one seed is behind each."
    scene = WholeScene(
        points={"Method": [Raise(SEED, (("Method", SEEDED),)), Raise(TIE, (("Results", TIED),))]},
        tests={SEED: Ruling(shown="partly", words=SEEDED, narrowed=narrowed), TIE: Ruling(conceded=True)},
    )
    review, server = await ran(scene, folder)
    assert f"narrowed by the check] {narrowed}" in str(review.fields[BOTH])
    assert "checked, the authors concede it] A tie is sold as a gain." in str(review.fields[BOTH])
    assert SEED not in str(review.fields)
    (composed,) = [r for r in chats(server) if r.prompt_id.startswith("review/write")]
    assert "conceded by the authors: A tie is sold as a gain." in task_of(composed)


async def test_a_work_from_memory_is_never_named_and_costs_a_point_nothing(folder: Path) -> None:
    known = Raise("The idea is that of an earlier lamp.", (("Method", SEEDED),), kind="novelty", work="Doe et al. 1999")
    review, server = await ran(WholeScene(points={"whole": [known]}), folder)
    assert by_claim(review, known.claim).polarity == "weakness"
    assert "Doe" not in str(review.fields)
    later = [r for r in chats(server) if not r.prompt_id.startswith(("review/focus", "review/whole"))]
    assert later
    assert not any("Doe" in r.user for r in later)


async def test_no_check_and_no_grouping_sees_an_author_an_outcome_or_a_reader(folder: Path) -> None:
    scene = WholeScene(
        points={**SCENE.points, "Experiments": [Raise("Dropout is off.", (("Method", DROPOUT),), effect="headline")]},
        corrections=SCENE.corrections,
        merits=SCENE.merits,
    )
    _, server = await ran(scene, folder)
    blind = [r for r in chats(server) if r.prompt_id.startswith((GROUP, "review/verify", "review/amend"))]
    assert len(blind) == 3
    for request in blind:
        shown = task_of(request).partition("\n<")[2]
        for told in ("ZANZIBAR", "fatal", "major", "headline", "p-F", "c-F", "m-W", "p-W", "[F1]", "private note"):
            assert told not in shown, (request.prompt_id, told)
        assert "accept" not in request.system.partition("what\n  a venue tends to accept")[2]
    first = blind[0].user
    assert first.count(SEED) == 1


def many(start: int, number: int, **more: Any) -> list[Raise]:
    """Claims of which no two are alike."""
    dice = random.Random(start)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(4 * number)]
    return [Raise(f"The {' '.join(words[4 * n : 4 * n + 4])} is off.", **more) for n in range(number)]


async def test_points_are_tested_in_few_batches_errors_first_and_the_rest_says_so(folder: Path) -> None:
    errors, whole = many(1, 12, kind="error", effect="style"), many(2, 20, kind="design")
    rest = {"Introduction": many(3, 12, kind="design"), "Results": many(4, 12, kind="design")}
    late = many(5, 12, kind="design", effect="sentence")
    scene = WholeScene(points={**rest, "Method": errors, "whole": whole, "Appendix": late})
    text = f"{long_paper()}\n## Appendix A Further lamps\n\n{_longer()}\n"
    review, server = await ran(scene, folder, text=text)
    assert prompts_of(server)["verify"] == 4
    assert len(review.points) == 68
    assert {point.outcome for point in review.points} == {"printed"}
    assert "4 points stand unchecked: 64 are as many as the checks hold" in notes_of(review)
    missed = [p for p in review.points if p.check is not None and p.check.verdict == "unchecked"]
    assert len(missed) == 4
    assert {(p.raised_severity, p.severity) for p in missed} == {("minor", "minor")}
    assert {by_claim(review, one.claim).severity for one in errors} == {"major"}


def _longer() -> str:
    return " ".join(sentence for sentence in paper_text(8).split("\n\n") if len(sentence) > 400)


@pytest.mark.parametrize("kind", ["prose", "empty", "refusal"])
async def test_a_reading_that_fails_is_a_gap_with_its_name(folder: Path, kind: str) -> None:
    class Deaf(WholeScene):
        def reading(self, request: ChatRequest) -> Any:
            return Fault(kind) if "Method" in reader_of(request) else super().reading(request)

    review, _ = await ran(Deaf(points=SCENE.points, merits=SCENE.merits), folder)
    assert "the reading of [s3] Method; [s9] Theory failed" in notes_of(review)
    assert SEED not in {point.claim for point in review.points}
    assert by_claim(review, TIE).outcome == "printed"
    assert review.fields["confidence"] is not None


@pytest.mark.parametrize("kind", ["prose", "empty"])
async def test_a_model_that_never_keeps_to_the_schema_ends_in_a_review_that_says_so(folder: Path, kind: str) -> None:
    review, _ = await ran(SCENE, folder, Fault(kind))
    assert review.points == ()
    assert set(review.fields.values()) == {None}
    assert "no reader gave a reply that could be used" in review.nulls[BOTH]
    assert notes_of(review).count("the reading of") == 4


async def test_a_model_that_cannot_be_reached_is_a_failure(folder: Path) -> None:
    with FakeServer(SCENE.script(), faults=[Fault("500")], context_tokens=CONTEXT) as server, pytest.raises(ModelError):
        await run_whole(server, folder)
    assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "failed"
    assert not (folder / "run" / "review.json").exists()


@pytest.mark.parametrize("kind", ["prose", "empty", "refusal", "500"])
async def test_a_grouping_or_check_that_fails_leaves_points_apart_and_unchecked(folder: Path, kind: str) -> None:
    review, _ = await ran(SCENE, folder, Fault(kind, role="checker"))
    assert "the grouping of points failed" in notes_of(review)
    assert {p.outcome for p in review.points} == {"printed"}
    for claim, severity in ((SEED, "fatal"), (ALONE, "major"), (UNTUNED, "major")):
        point = by_claim(review, claim)
        assert point.check is not None
        assert (point.check.verdict, point.severity) == ("unchecked", severity)
        assert "unchecked" in point.reason
    (slip,) = [p for p in review.points if p.correction is not None]
    assert f"[Correction, not checked] {slip.claim}" in str(review.fields[str(slip.field)])


@pytest.mark.parametrize("kind", ["prose", "empty", "refusal", "500"])
async def test_a_composition_that_fails_falls_back_to_the_list_of_points(folder: Path, kind: str) -> None:
    review, _ = await ran(SCENE, folder, Fault(kind, role="composer"))
    assert "summaries and scores could not be composed" in notes_of(review)
    assert review.rating is None
    for point in (p for p in review.points if p.outcome == "printed"):
        assert times_printed(review, point) == {point.field: 1}, point.id


@pytest.mark.parametrize("seed", range(6))
async def test_random_valid_replies_end_in_a_whole_review(folder: Path, seed: int) -> None:
    with FakeServer(seed=seed, context_tokens=CONTEXT) as server:
        review = await run_whole(server, folder)
    assert review.points
    assert all(point.outcome != "listed" for point in review.points)
    if review.provenance is not None:
        assert not any("PointsLost" in note for note in review.provenance.notes)


@pytest.mark.parametrize("venue", ["arr", "tmlr", "iclr-2024", "icml-2025-position", "corl-2021"])
async def test_random_valid_replies_on_other_forms(folder: Path, venue: str) -> None:
    with FakeServer(seed=11, context_tokens=CONTEXT) as server:
        review = await run_whole(server, folder, venue=venue, settings=whole_settings(**{"review.preset": "quick"}))
    assert list(review.fields) == [field.name for field in load_venue(venue).fields]
    assert all(value is not None or review.nulls[name] for name, value in review.fields.items())


async def test_empty_replies_end_in_a_nearly_empty_review(folder: Path) -> None:
    review, server = await ran(WholeScene(), folder)
    assert review.points == ()
    assert prompts_of(server) == {"focus": 3, "whole": 1, "write": 1}
    assert review.fields["summary"] == "The paper is about lanterns."
    assert review.nulls[BOTH] == "no point belongs here"


async def test_scores_rest_on_points_that_stand_and_confidence_on_a_rule(folder: Path) -> None:
    scene = WholeScene(points=SCENE.points, rating=3)
    review, _ = await ran(scene, folder)
    record = {score.field: score for score in review.scores}
    assert review.rating == 3
    (support,) = record["rating"].supported_by
    assert support in {p.id for p in review.points if p.outcome == "printed"}
    assert (record["confidence"].value, record["confidence"].stated) == (3, None)
    assert "all of the paper's text was read" in record["confidence"].reason


async def test_rules_find_what_arithmetic_shows_and_it_is_printed_as_a_correction(folder: Path) -> None:
    text = long_paper().replace(TIED, f"{TIED} The groups differ, t(28) = 0.50, p = .001.")
    review, _ = await ran(WholeScene(), folder, text=text)
    (rule,) = review.points
    assert (rule.source, rule.outcome) == ("rule", "printed")
    assert rule.statement in str(review.fields[str(rule.field)])


async def test_points_that_repeat_the_instructions_are_dropped(folder: Path) -> None:
    copied = "Raise every point that a demanding expert of the field would defend."
    review, _ = await ran(WholeScene(points={"Method": [Raise(copied, kind="design")]}), folder)
    (point,) = review.points
    assert point.outcome == "dropped"
    assert "repeats the reviewer's instructions" in point.reason


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [30_000, 40_000, 48_000])
async def test_a_budget_stops_the_run_and_a_higher_one_pays_nothing_twice(folder: Path, tokens: int) -> None:
    settings = whole_settings(**{"calls.concurrency": 1})
    with FakeServer(SCENE.script(), context_tokens=CONTEXT) as server:
        with pytest.raises(BudgetExceeded):
            await run_whole(server, folder, max_tokens=tokens, settings=settings)
        before = len(chats(server))
        assert 0 < before < 8
        assert RunRecord.model_validate_json((folder / "run" / "run.json").read_text()).status == "stopped"
        review = await run_whole(server, folder, resume=folder / "run", max_tokens=1_000_000, settings=settings)
        assert server.log.repeated() == []
        assert len(chats(server)) == 8
    assert by_claim(review, SEED).outcome == "printed"


@pytest.mark.parametrize("prompt", ["review/focus", "review/group", "review/verify", "review/amend", "review/write"])
async def test_a_run_that_died_before_a_task_is_resumed_without_paying_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    """The process dies before the call is sent: simulated by an exception that nobody handles."""
    from referee.llm import door

    real = door.Door.ask

    async def dying(self: Any, asked: Any, reply: Any, **more: Any) -> Any:
        if asked.id == prompt:
            await all_written(server, folder / "run" / "trace.jsonl")
            raise KeyError("the process dies here")
        return await real(self, asked, reply, **more)

    settings = whole_settings(**{"calls.concurrency": 1})
    with FakeServer(SCENE.script(), context_tokens=CONTEXT) as server:
        with monkeypatch.context() as patched:
            patched.setattr(door.Door, "ask", dying)
            with pytest.raises(KeyError):
                await run_whole(server, folder, settings=settings)
        review = await run_whole(server, folder, resume=folder / "run", settings=settings)
        assert server.log.repeated() == []
        assert prompts_of(server) == {"amend": 1, "focus": 3, "group": 1, "verify": 1, "whole": 1, "write": 1}
    assert by_claim(review, SEED).outcome == "printed"


async def test_a_finished_run_is_not_run_again(folder: Path) -> None:
    with FakeServer(SCENE.script(), context_tokens=CONTEXT) as server:
        first = await run_whole(server, folder)
        again = await run_whole(server, folder, resume=folder / "run")
        assert len(chats(server)) == 8
        with pytest.raises(RunError, match="another choice of readings"):
            await run_whole(server, folder, resume=folder / "run", readings="core")
    assert again.points == first.points


async def test_a_run_for_research_goes_without_check_rules_or_venue_on_the_whole_plan(folder: Path) -> None:
    text = long_paper().replace(TIED, f"{TIED} The groups differ, t(28) = 0.50, p = .001.")
    settings = whole_settings(**{"review.ablate": ["check", "rules", "venue"]})
    review, server = await ran(SCENE, folder, settings=settings, text=text)
    assert prompts_of(server) == {"focus": 3, "group": 1, "whole": 1, "write": 1}
    assert {p.source for p in review.points} == {"section", "whole"}
    assert by_claim(review, UNTUNED).outcome == "printed"
    assert by_claim(review, SEED).severity == "fatal"
    assert "its strategy went without" in notes_of(review)
    form = load_venue(VENUE)
    readings = [r for r in chats(server) if r.prompt_id.startswith(("review/focus", "review/whole"))]
    assert not any(form.guidelines[0].text in r.user for r in readings)


async def test_a_step_of_the_older_plan_or_a_quota_takes_the_run_there(folder: Path) -> None:
    for number, change in enumerate(({"review.ablate": ["cross"]}, {"review.quota": 5})):
        with FakeServer(context_tokens=CONTEXT) as server:
            (folder / "paper.md").write_text(paper_text(3))
            settings = whole_settings(**change)
            await review_paper(
                folder / "paper.md",
                **with_options(
                    venue=VENUE,
                    model="m",
                    base_url=server.base_url,
                    settings=settings,
                    out=folder / f"o{number}",
                ),
            )
            assert not {"focus", "whole", "write"} & set(prompts_of(server))
            assert {"compose"} <= set(prompts_of(server))


async def test_a_paper_longer_than_the_window_is_read_part_by_part_and_says_so(folder: Path) -> None:
    with FakeServer(context_tokens=16_000) as server:
        (folder / "paper.md").write_text(paper_text(3))
        review = await review_paper(
            folder / "paper.md",
            **with_options(
                venue=VENUE,
                model="m",
                base_url=server.base_url,
                settings=quick_settings(),
                out=folder / "run",
            ),
        )
        assert "section" in prompts_of(server)
        assert "whole" not in prompts_of(server)
    assert "leave no room to work in the context of 16,000 of m" in notes_of(review)
    assert "it is read part by part" in notes_of(review)


async def test_ids_of_sections_are_put_into_the_papers_own_words(folder: Path) -> None:
    raised = Raise("The claim of [s3] is off.", (("Method", SEEDED),), argument="See [s3].")
    review, _ = await ran(WholeScene(points={"Method": [raised]}), folder)
    (point,) = review.points
    assert "[s3]" not in f"{point.claim} {point.argument} {review.fields[BOTH]}"
