"""Strategies ``archetype`` and ``aligned``: what the prompt gives is what moves, and every output says that it did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee import RunOptions
from referee.agents.single_reviewer import PERSONAS
from referee.api import review
from referee.errors import RunError, SettingsError
from referee.graphs.single import research
from referee.reports.disclosure import notice
from referee.schemas.review import Review
from referee.settings import load_settings
from referee.venues import list_venues, load_venue
from tests.support import ChatRequest, FakeServer, Script

from .ensemble_script import FOUND, scored, texts
from .sections_paper import paper_text

VENUE = "neurips-2025"
MARK = "written for research on reviewing and is not an assessment of the paper"


async def run_one(server: FakeServer, folder: Path, strategy: str, *, venue: str = VENUE, **more: Any) -> Review:
    (folder / "paper.md").write_text(paper_text(3), encoding="utf-8")
    given = {"out": folder / more.pop("out", "run")} if "resume" not in more else {"resume": more.pop("resume")}
    settings = load_settings({"review.strategy": strategy, "calls.cache": False, **more})
    options = RunOptions(base_url=server.base_url, settings=settings, **given)
    return await review(folder / "paper.md", venue=venue, model="m", options=options)


def obedient(request: ChatRequest) -> Any:
    """A reviewer who lists every slip where it is told to be nitpicky, and one point otherwise."""
    slips = FOUND.values() if "nitpicky" in request.system else list(FOUND.values())[:1]
    items = [{"claim": "A slip.", "quote": quote, "bears_on": "questions"} for quote in slips]
    return request.instance(quoted_evidence=items, **texts("Said."), **scored(request, "4: Borderline accept", "E1"))


async def test_without_the_persona_the_points_it_asks_for_are_not_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(Script({"review/archetype": obedient}), context_tokens=32_000) as server:
        review = await run_one(server, folder, "archetype", out="with", **{"review.persona": "nitpicky"})
    assert sum(bool(point.evidence) for point in review.points) == 3

    monkeypatch.setattr(research, "persona_text", lambda persona: "A reviewer.")
    with FakeServer(Script({"review/archetype": obedient}), context_tokens=32_000) as server:
        review = await run_one(server, folder, "archetype", out="without", **{"review.persona": "nitpicky"})
    assert sum(bool(point.evidence) for point in review.points) == 1


async def test_without_the_given_rating_the_review_states_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Share of reviews that state the given rating: one with the step, none without."""
    given = {"review.target": "2: Reject"}

    def own(request: ChatRequest) -> Any:
        rating = "4: Borderline accept" if "4: Borderline accept" in str(request.schema) else "2: Reject"
        item = {"claim": "C.", "quote": FOUND[1], "bears_on": "questions"}
        return request.instance(quoted_evidence=[item], **texts("Said."), **scored(request, rating, "E1"))

    with FakeServer(Script({"review/aligned": own}), context_tokens=32_000) as server:
        assert (await run_one(server, folder, "aligned", out="with", **given)).rating == 2
    (call,) = server.log.calls(endpoint="chat")
    assert call.request is not None
    assert "The overall rating (rating) is 2: Reject" in call.request.system

    monkeypatch.setattr(research, "narrowed_form", lambda form, option: form)
    with FakeServer(Script({"review/aligned": own}), context_tokens=32_000) as server:
        assert (await run_one(server, folder, "aligned", out="without", **given)).rating == 4


@pytest.mark.parametrize(
    ("strategy", "more"), [("archetype", {}), ("aligned", {"review.target": "4"}), ("enriched", {"review.target": "4"})]
)
async def test_the_mark_is_wherever_somebody_may_meet_the_review(
    folder: Path, strategy: str, more: dict[str, Any]
) -> None:
    with FakeServer(context_tokens=32_000) as server:
        review = await run_one(server, folder, strategy, **more)
    assert len(server.log.calls(endpoint="chat")) == 1
    assert MARK in review.disclosure
    assert review.provenance is not None
    assert MARK in review.provenance.notes[0]
    page = (folder / "run" / "review.md").read_text()
    assert MARK in page.split("\n## ")[0], "at the top, before the first field"
    assert MARK in notice(review)


@pytest.mark.parametrize("target", ["4", " 4 ", "Borderline accept", "borderline ACCEPT", "4: Borderline accept"])
def test_a_target_is_named_by_its_value_or_its_label(target: str) -> None:
    assert research.target_option(load_venue(VENUE), target).value == 4


@pytest.mark.parametrize("target", [None, "", "  ", "7", "0", "excellent", "4.5", "nan"])
def test_a_target_that_is_no_option_is_refused_with_the_options(target: str | None) -> None:
    with pytest.raises(SettingsError) as refused:
        research.target_option(load_venue(VENUE), target)
    assert "4: Borderline accept" in str(refused.value.hint)


@pytest.mark.parametrize("form", list_venues(), ids=lambda form: form.id)
def test_every_venue_narrows_to_each_of_its_ratings_or_says_that_it_has_none(form: Any) -> None:
    if form.overall is None:
        with pytest.raises(SettingsError, match="no overall rating"):
            research.target_option(form, "1")
        return
    for option in form.field(form.overall).options:
        assert research.target_option(form, f"{option.value:g}") == option
        narrow = research.narrowed_form(form, option)
        assert narrow.field(form.overall).options == (option,)
        assert [f.name for f in narrow.fields] == [f.name for f in form.fields]


def test_personas_are_drawn_uniformly_and_the_same_each_time() -> None:
    """4,000 papers: each persona a quarter, within five standard deviations (27 papers each)."""
    drawn = [research.drawn_persona(f"paper-{number}") for number in range(4_000)]
    assert drawn[:50] == [research.drawn_persona(f"paper-{number}") for number in range(50)]
    assert all(abs(drawn.count(persona) - 1_000) < 137 for persona in PERSONAS)


async def test_a_run_is_not_resumed_with_another_persona_or_target(folder: Path) -> None:
    with FakeServer(context_tokens=32_000) as server:
        await run_one(server, folder, "archetype", **{"review.persona": "balanced"})
        with pytest.raises(RunError, match="persona"):
            await run_one(server, folder, "archetype", resume=folder / "run", **{"review.persona": "nitpicky"})
        await run_one(server, folder, "aligned", out="to", **{"review.target": "4"})
        with pytest.raises(RunError, match="rating to agree with"):
            await run_one(server, folder, "aligned", resume=folder / "to", **{"review.target": "5"})


async def test_a_given_rating_that_nothing_backs_is_null_all_the_same(folder: Path) -> None:
    def bare(request: ChatRequest) -> Any:
        return request.instance(quoted_evidence=[], **texts("Said."), **scored(request, "2: Reject"))

    with FakeServer(Script({"review/aligned": bare}), context_tokens=32_000) as server:
        review = await run_one(server, folder, "aligned", **{"review.target": "2"})
    assert review.rating is None
    assert "no verified quotation" in review.nulls["rating"]
    assert ("rating", 2) in [(forced.field, forced.value) for forced in review.forced]


def test_settings_take_a_number_as_a_target_and_refuse_an_unknown_persona(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text("[review]\ntarget = 4\n")
    assert load_settings(file=tmp_path / "referee.toml", env={}).review.target == "4"
    with pytest.raises(SettingsError, match="persona"):
        load_settings({"review.persona": "grumpy"}, env={})


def test_the_personas_of_the_settings_are_those_there_are() -> None:
    assert {load_settings({"review.persona": p}, env={}).review.persona for p in PERSONAS} == set(PERSONAS)
