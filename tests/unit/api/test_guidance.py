"""When a run goes by refined steps: a preset says so, they are stored, or the venue is the user's own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.graphs import guidance
from referee.graphs.guidance import refinement_of
from referee.graphs.refinement.run import Refinement, stored_refinement
from referee.schemas.venue import VenueForm
from referee.settings import load_settings
from referee.venues import load_venue
from tests.graphs.refining_script import small_venue

SHIPPED, OWN = load_venue("neurips-2025"), small_venue("lanterns", "wells")
NOTHING = small_venue(shipped=("specific",))


def job(form: VenueForm, *, local: bool = False, **settings: Any) -> Any:
    writer = SimpleNamespace(spec=SimpleNamespace(is_local=local, id="m"), context_tokens=64_000)
    given = {f"review.{name}": value for name, value in {"strategy": "sections", **settings}.items()}
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
    asked = refines and preset == "full"
    assert (refinement_of(job(form, local=local, preset=preset, strategy="audited")) is not None) is asked


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
