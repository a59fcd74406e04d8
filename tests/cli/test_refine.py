"""``referee venue refine``, ``show --prompts``, ``diff-prompts`` and ``review --preset`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.venues.refined import prompts_dir
from tests.support import FakeServer

from .command import Outcome, Referee

VENUE = "corl-2024"


@pytest.fixture
def refined(referee: Referee, server: FakeServer) -> Outcome:
    """The outcome of one refinement in one round; what it made is stored."""
    done = referee("venue", "refine", VENUE, "--model", "fake", "--base-url", server.base_url, "--rounds", 1)
    assert done.code == 0, done.err
    return done


def test_it_says_what_it_will_cost_and_what_came_of_each_guideline(refined: Outcome) -> None:
    assert "Estimate: at most 12 calls" in refined.err
    assert "claims-supported: v" in refined.out
    assert "3 guidelines, 1 round at most" in refined.out
    assert "Used: " in refined.out
    assert f"referee venue show {VENUE} --prompts --history" in refined.out


def test_a_second_time_makes_no_call_and_says_so(refined: Outcome, referee: Referee, server: FakeServer) -> None:
    before = len(server.log)
    asked = ("venue", "refine", VENUE, "--model", "fake", "--base-url", server.base_url, "--rounds", 1)
    again = referee(*asked)
    assert again.code == 0
    assert "no call was made" in again.out
    assert len(server.log) == before
    assert len(list(Path("referee-runs").iterdir())) == 1
    assert referee(*asked, "--no-cache").code == 0
    assert len(server.log) == before + 12, "--no-cache refines anew"


def test_show_prints_steps_and_history(refined: Outcome, referee: Referee) -> None:
    shown = referee("venue", "show", VENUE, "--prompts")
    assert shown.code == 0
    assert "refined with fake@" in shown.out
    assert "round 1, criticism" not in shown.out
    told = referee("venue", "show", VENUE, "--prompts", "--history", "--model", "fake")
    assert "v0: steps that ship with referee" in told.out
    assert "round 1, criticism" in told.out
    assert '"versions"' in referee("venue", "show", VENUE, "--prompts", "--json").out


def test_show_without_refinement_prints_what_ships(referee: Referee) -> None:
    shown = referee("venue", "show", VENUE, "--prompts")
    assert shown.code == 0
    assert "not refined" in shown.out
    assert "1. List the claims" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", VENUE, "--prompts", "--history"), "not refined yet"),
        (("show", VENUE, "--prompts", "--model", "gpt-x"), "not refined yet"),
        (("show", VENUE, "--history"), "goes with --prompts"),
        (("diff-prompts", VENUE, "v0", "v1"), "not refined yet"),
        (("diff-prompts", "nowhere-2026", "v0", "v1"), "nowhere-2026"),
        (("refine", "nowhere-2026"), "nowhere-2026"),
    ],
)
def test_what_is_not_there_is_named(referee: Referee, arguments: tuple[str, ...], said: str) -> None:
    done = referee("venue", *arguments)
    assert done.code == 2
    assert said in done.err
    assert "next:" in done.err
    assert done.out == ""


def test_diff_shows_lines_and_points_and_names_what_there_is(refined: Outcome, referee: Referee) -> None:
    shown = referee("venue", "diff-prompts", VENUE, "v0", "v1")
    assert shown.code == 0
    assert shown.out.count("points covered:") == 3
    assert referee("venue", "diff-prompts", VENUE).out == shown.out, "first and last are the default"
    same = referee("venue", "diff-prompts", VENUE, "v1")
    assert "v1 -> v1" in same.out
    unknown = referee("venue", "diff-prompts", VENUE, "v0", "v7")
    assert unknown.code == 2
    assert "There are: v0, v1." in unknown.err
    model = referee("venue", "diff-prompts", VENUE, "v0", "v1", "--model", "gpt-x")
    assert "There are refined prompts of: fake@" in model.err


@pytest.mark.slow
def test_a_review_shows_both_presets_and_takes_what_was_refined(
    refined: Outcome, referee: Referee, server: FakeServer, paper: Path
) -> None:
    asked = ("review", paper, "--venue", VENUE, "--model", "fake", "--base-url", server.base_url, "--embedder", "fake")
    quick = referee(*asked, "--out", "quick", "--preset", "quick")
    assert quick.code == 0, quick.err
    assert "Estimate (preset quick): " in quick.err
    assert "With --preset full: " in quick.err
    assert not (Path("quick") / "refined_prompts.json").exists()
    before = len([call for call in server.log if call.prompt_id.startswith("refinement/")])
    for out, flags in (("stored", ()), ("full", ("--preset", "full", "--rounds", 1))):
        full = referee(*asked, "--out", out, *flags)
        assert full.code == 0, full.err
        assert "Estimate (preset full): " in full.err
        assert len([call for call in server.log if call.prompt_id.startswith("refinement/")]) == before
        assert "no call is made for them" in full.err
        assert (Path(out) / "refined_prompts.json").is_file()


def test_rounds_without_refinement_are_refused(referee: Referee, paper: Path) -> None:
    done = referee("review", paper, "--venue", VENUE, "--rounds", 2)
    assert done.code == 2
    assert "--rounds 2 goes with --preset full" in done.err


def test_an_unknown_preset_is_refused(referee: Referee, paper: Path) -> None:
    done = referee("review", paper, "--venue", VENUE, "--preset", "fast")
    assert done.code == 2
    assert "'review.preset' has an unusable value 'fast'" in done.err


def test_steps_edited_in_the_store_are_those_of_the_next_review(
    refined: Outcome, referee: Referee, server: FakeServer, paper: Path
) -> None:
    (file,) = prompts_dir().glob("*/*.json")
    data = json.loads(file.read_text())
    steps = data["guidelines"][0]["versions"][-1]["steps"]
    steps[0] = "Look for lanterns that nobody counted."
    file.write_text(json.dumps(data))
    on = ("--model", "fake", "--embedder", "fake", "--base-url", server.base_url, "--no-cache", "--yes")
    more = ("--preset", "full", "--rounds", 1, "--out", "run")
    done = referee("review", paper, "--venue", VENUE, *on, *more)
    assert done.code == 0, done.err
    asked = [entry.request for entry in server.log if entry.request is not None]
    assert any("Look for lanterns that nobody counted." in m.text for call in asked for m in call.messages)
    record = json.loads(Path("run/run.json").read_text())
    name = data["guidelines"][0]["guideline_id"]
    assert [one for one in record["prompts"] if one.startswith(f"refined/{VENUE}/{name}@") and one.endswith("-edited")]


def test_a_pause_after_each_round(referee: Referee, server: FakeServer) -> None:
    asked = ("venue", "refine", VENUE, "--model", "fake", "--base-url", server.base_url, "--rounds", 2)
    paused = referee(*asked, "--pause", "--out", "run")
    assert paused.code == 3
    assert "paused after round 1 of 2" in paused.err
    assert "## claims-supported\n1. " in Path("run/steps.v1.md").read_text()
    done = referee(*asked, "--resume", "run")
    assert done.code == 0, done.err
    refused = referee(*asked[:-2], "--objective", "coverage", "--pause")
    assert "--pause does not go with --objective" in refused.err
