"""When a run goes by refined steps: a preset says so, they are stored, or the venue is the user's own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.graphs.refinement.run import Refinement, stored_refinement
from referee.graphs.sections import guidance, strategy, whole_strategy
from referee.graphs.sections.guidance import refinement_of
from referee.schemas.venue import VenueForm
from referee.settings import load_settings
from referee.venues import load_venue
from tests.graphs.refining_script import small_venue

SHIPPED, OWN = load_venue("neurips-2025"), small_venue("lanterns", "wells")
NOTHING = small_venue(shipped=("specific",))


def job(form: VenueForm, *, local: bool = False, **settings: Any) -> Any:
    writer = SimpleNamespace(spec=SimpleNamespace(is_local=local, id="m"), context_tokens=64_000)
    given = {f"review.{name}": value for name, value in settings.items()}
    return SimpleNamespace(form=form, settings=load_settings(given), models={"writer": writer}, refined=None)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Rounds of which a refinement is stored; none at first."""
    rounds: set[int] = set()
    monkeypatch.setattr(
        guidance, "stored_refinement", lambda refinement, either: "held" if refinement.rounds in rounds else None
    )
    return rounds


@pytest.mark.parametrize(
    ("form", "preset", "local", "refines"),
    [
        (SHIPPED, None, False, False),
        (SHIPPED, "quick", False, False),
        (SHIPPED, "full", False, True),
        (SHIPPED, "full", True, True),
        (OWN, None, False, True),
        (OWN, None, True, False),
        (OWN, "quick", False, False),
        (OWN, "full", True, True),
        (NOTHING, None, False, False),
        (NOTHING, "full", False, False),
    ],
)
def test_what_a_run_refines_where_nothing_is_stored(
    stored: set[int], form: VenueForm, preset: str | None, local: bool, refines: bool
) -> None:
    assert (refinement_of(job(form, local=local, preset=preset)) is not None) is refines


def test_where_nothing_is_stored_no_key_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr("referee.graphs.refinement.run.refinement_key", None)
    settings = load_settings({"models.default": "openai:gpt-x"})
    assert stored_refinement(Refinement(SHIPPED, settings, 2), either=True) is None


@pytest.mark.parametrize("form", [SHIPPED, OWN])
@pytest.mark.parametrize("local", [False, True])
def test_what_is_stored_is_used_by_default_with_the_rounds_it_has(
    stored: set[int], form: VenueForm, local: bool
) -> None:
    stored |= {2, 5}
    chosen = refinement_of(job(form, local=local))
    assert chosen is not None
    assert chosen.rounds == 5
    asked = refinement_of(job(form, local=local, rounds=2))
    assert asked is not None
    assert asked.rounds == 2
    assert refinement_of(job(form, local=local, preset="quick")) is None


def test_full_takes_the_rounds_that_were_asked_for(stored: set[int]) -> None:
    stored |= {5}
    chosen = refinement_of(job(SHIPPED, preset="full", rounds=2))
    assert chosen is not None
    assert chosen.rounds == 2


def test_general_guidance_is_not_refined(stored: set[int]) -> None:
    stored |= {3}
    assert refinement_of(job(SHIPPED, ablate=["venue"])) is None


@pytest.mark.parametrize(
    ("settings", "local", "fits", "whole"),
    [
        ({}, False, True, True),
        ({}, False, False, False),
        ({}, True, True, False),
        ({"ablate": ["check", "quotation-check", "rules", "venue"]}, False, True, True),
        ({"ablate": ["check", "card"]}, False, True, False),
        ({"quota": 10}, False, True, False),
    ],
)
def test_which_plan_a_run_takes(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], local: bool, fits: bool, whole: bool
) -> None:
    monkeypatch.setattr(strategy, "fits", lambda job: fits)
    assert strategy.is_whole(job(SHIPPED, local=local, **settings)) is whole


def test_the_smallest_window_of_all_roles_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SimpleNamespace(fits=lambda tokens: tokens >= 30_000)
    monkeypatch.setattr(whole_strategy, "shared_paper", lambda job: shared)
    windows = {"writer": 64_000, "checker": 64_000, "composer": 64_000}
    models = {role: SimpleNamespace(context_tokens=most) for role, most in windows.items()}
    asked = SimpleNamespace(models=models, once=lambda make: make(None))
    assert whole_strategy.fits(asked)  # type: ignore[arg-type]
    asked.models["composer"].context_tokens = 29_000
    assert not whole_strategy.fits(asked)  # type: ignore[arg-type]
