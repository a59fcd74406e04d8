"""Strategy ``ensemble`` end to end: what a merged review rests on, and what each step adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.agents.meta_reviewer import MergedReview
from referee.errors import BudgetExceeded, ReplyInvalid
from referee.evidence.listing import lead_of
from referee.schemas.review import Review
from referee.schemas.run import RunRecord
from tests.support import FakeServer, Fault

from .ensemble_script import (
    DONE,
    FOUND,
    INVENTED,
    OVERLOOKED,
    Panel,
    coverage,
    notes_of,
    quotes,
    revised,
    run_panel,
    texts,
)


def ids(review: Review) -> list[str]:
    """The ids of the list's points that reviewers and reflections gave quotations for."""
    return sorted(point.id for point in review.points if point.number and point.id.startswith(("R", "F")))


def said(review: Review) -> str:
    """What the box says before its points."""
    return lead_of("strengths_and_weaknesses", review)


async def test_the_merged_review_rests_on_the_members_own_evidence(folder: Path) -> None:
    with FakeServer(Panel().script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert ids(review) == ["R1-E1", "R2-E1", "R3-E1"]
    assert quotes(review) == set(FOUND.values())
    assert (review.rating, said(review)) == (2, "Said by all.")
    rating = next(score for score in review.scores if score.field == "rating")
    assert (*rating.supported_by, *rating.opposed_by) == ("R1-E1",)
    assert server.log.outcomes() == {"ok": 5}


async def test_scores_are_not_averaged_and_what_was_stated_is_a_note(folder: Path) -> None:
    """Five, two and two average to three; the chair chose two, from evidence."""
    with FakeServer(Panel().script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert review.rating == 2
    assert "overall ratings the reviewers stated: 5, 2, 2; they are not averaged" in notes_of(review)


async def test_a_score_that_cites_nothing_is_null(folder: Path) -> None:
    with FakeServer(Panel(keep=lambda ids: []).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert review.rating is None
    assert "no verified quotation" in review.nulls["rating"]
    assert not quotes(review)
    assert "took up 0 of the reviewers' 3 verified quotations" in notes_of(review)


async def test_an_invented_quotation_never_reaches_the_chair(folder: Path) -> None:
    panel = Panel(quotes={**FOUND, 2: INVENTED})
    with FakeServer(panel.script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert ids(review) == ["R1-E1", "R3-E1"]
    assert [d.id for d in review.dropped] == ["R2-E1"]
    (chair,) = [call.request for call in server.log.calls(endpoint="chat") if call.role == "composer"]
    assert chair is not None
    assert INVENTED not in chair.user


async def test_without_the_area_chair_evidence_coverage_falls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(Panel().script(), context_tokens=32_000) as server:
        assert coverage(await run_panel(server, folder, out="with")) == 1.0

    async def first_taken(members: Any, *_: object, **__: object) -> MergedReview:
        first = members[0]
        kept = tuple(e.id for e in first.evidence)
        own = {"texts": first.texts, "scores": first.scores, "choices": first.choices}
        return MergedReview(**own, kept=kept, notes=(), call_id="none")

    monkeypatch.setattr("referee.graphs.ensemble.machine.merge_reviews", first_taken)
    with FakeServer(Panel().script(), context_tokens=32_000) as server:
        assert coverage(await run_panel(server, folder, out="without")) == pytest.approx(1 / 3)


async def test_without_reflection_what_all_overlooked_stays_out(folder: Path) -> None:
    panel = Panel(round_replies=[revised(OVERLOOKED), DONE])
    with FakeServer(panel.script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder, out="with", reflections=2)
    (added,) = [p for p in review.points if p.id.startswith("F")]
    assert (added.id, added.evidence[0].quote) == ("F1-N1", OVERLOOKED)
    assert said(review) == "Said again."
    rating = next(score for score in review.scores if score.field == "rating")
    assert (*rating.supported_by, *rating.opposed_by) == ("F1-N1",)
    assert coverage(review) == 1.0, "a reflection takes no evidence away"

    with FakeServer(Panel(round_replies=[]).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder, out="without", reflections=0)
    assert quotes(review) == set(FOUND.values())
    assert len(server.log.calls(endpoint="chat")) == 4


async def test_a_reflections_own_quotation_is_looked_up(folder: Path) -> None:
    with FakeServer(Panel(round_replies=[revised(INVENTED)]).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert [d.id for d in review.dropped] == ["F1-N1"]
    assert review.rating is None
    assert review.nulls["rating"] == "no verified quotation of the paper supports it"


async def test_rounds_end_early_when_nothing_is_left_to_change(folder: Path) -> None:
    with FakeServer(Panel(round_replies=[revised(OVERLOOKED), DONE]).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder, reflections=5)
    assert len(server.log.calls(endpoint="chat")) == 3 + 1 + 2
    assert "round 2 of 5: nothing left to change" in notes_of(review)


async def test_a_member_that_fails_does_not_lose_the_others(folder: Path) -> None:
    with FakeServer(Panel(broken=frozenset({2})).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert ids(review) == ["R1-E1", "R3-E1"]
    assert "reviewer 2 failed: " in notes_of(review)
    assert "the reviewers stated: 5, 2;" in notes_of(review)


async def test_one_review_that_stands_alone_needs_no_chair(folder: Path) -> None:
    with FakeServer(Panel(broken=frozenset({1, 3})).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert said(review) == "Said by 2."
    assert quotes(review) == {FOUND[2]}
    assert not server.log.calls(role="composer")


@pytest.mark.parametrize("kind", ["prose", "empty", "refusal"])
async def test_a_chair_that_talks_nonsense_leaves_the_first_review(folder: Path, kind: str) -> None:
    faults = [Fault(kind, role="composer")]
    with FakeServer(Panel().script(), faults=faults, context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert said(review) == "Said by 1."
    assert ids(review) == ["R1-E1"]
    assert "the area chair failed, so that this is the review of reviewer 1" in notes_of(review)


async def test_a_reflection_that_talks_nonsense_leaves_the_review_as_it_was(folder: Path) -> None:
    with FakeServer(Panel(round_replies=[Fault("prose")] * 3).script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder, reflections=4)
    assert said(review) == "Said by all."
    assert "reflection, round 1 of 4, failed and left the review as it was" in notes_of(review)


async def test_members_who_all_fail_end_the_run(folder: Path) -> None:
    panel = Panel(broken=frozenset({1, 2, 3}))
    with FakeServer(panel.script(), context_tokens=32_000) as server, pytest.raises(ReplyInvalid):
        await run_panel(server, folder)
    record = RunRecord.model_validate_json((folder / "run" / "run.json").read_text())
    assert record.status == "failed"
    assert not (folder / "run" / "review.json").exists()


async def test_a_budget_that_is_used_up_stops_the_run_instead_of_leaving_a_gap(folder: Path) -> None:
    with FakeServer(Panel().script(), context_tokens=32_000) as server, pytest.raises(BudgetExceeded):
        await run_panel(server, folder, **{"budget.max_tokens": 25_000})


async def test_replies_without_anything_in_them_end_in_a_nearly_empty_review(folder: Path) -> None:
    class Silent(Panel):
        def member(self, request: Any) -> Any:
            return {**super().member(request), "quoted_evidence": [], **texts("")}

        def chair(self, request: Any) -> Any:
            return {**super().chair(request), **texts("")}

    with FakeServer(Silent().script(), context_tokens=32_000) as server:
        review = await run_panel(server, folder)
    assert not quotes(review)
    assert review.rating is None
    judged = [score for score in review.scores if score.field != "confidence"]
    assert all(score.value is None and score.null_reason for score in judged)
    assert review.nulls["strengths_and_weaknesses"] == "the reviewer had nothing to say here"


@pytest.mark.parametrize("seed", range(3))
async def test_random_valid_replies_end_in_a_whole_review(folder: Path, seed: int) -> None:
    with FakeServer(seed=seed, context_tokens=32_000) as server:
        review = await run_panel(server, folder, size=2, reflections=2)
    known = set(ids(review))
    assert all(set(score.supported_by + score.opposed_by) <= known for score in review.scores)
    judged = [score for score in review.scores if score.value is not None and score.field != "confidence"]
    assert all(score.supported_by + score.opposed_by for score in judged)


async def test_equal_prompts_at_a_temperature_are_still_asked_once_for_each_reviewer(folder: Path) -> None:
    """With sampling the members share their prompt: only the sample's number keeps them out of each other's cache."""
    with FakeServer(context_tokens=32_000) as server:
        cached = {"models.temperature": 0.7, "calls.cache": True}
        await run_panel(server, folder, size=3, reflections=0, **cached)
    asked = [call for call in server.log.calls(endpoint="chat") if "review/ensemble" in call.prompt_id]
    assert len(asked) == 3
    assert len({call.request.system for call in asked if call.request is not None}) == 1


async def test_texts_that_do_not_fit_the_chair_are_shortened_and_said(folder: Path) -> None:
    class Wordy(Panel):
        def member(self, request: Any) -> Any:
            long = " ".join(f"Word {number}." for number in range(170))
            reply = super().member(request)
            return reply if isinstance(reply, Fault) else {**reply, **dict.fromkeys(texts(""), long)}

    numbers = range(1, 13)
    panel = Wordy(quotes=dict.fromkeys(numbers, FOUND[1]), ratings=dict.fromkeys(numbers, "2: Reject"))
    with FakeServer(panel.script(), context_tokens=16_000) as server:
        review = await run_panel(server, folder, size=12)
    assert "the area chair saw the reviewers' texts shortened to" in notes_of(review)
    assert len(ids(review)) == 12
