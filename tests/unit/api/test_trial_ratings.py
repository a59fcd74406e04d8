"""What arena and experiments make of the embedded model's reviews, which withhold their ratings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from referee.api.arena.reviews import prediction_of
from referee.api.experiments import job as experiments
from referee.data.submissions import Submission
from referee.evals.agreement import MapName
from referee.graphs.form_values import as_trial
from referee.schemas.usage import Usage
from referee.venues import load_venue
from tests.unit.reports.test_trial import written

FORM = load_venue("neurips-2025")


def test_the_arena_measures_what_the_embedded_model_chose_and_keeps_no_rating() -> None:
    submission = Submission("p1", "A paper", "NeurIPS", 2025, FORM, None)
    plain, review = written(FORM), as_trial(written(FORM), FORM)
    found = prediction_of(review, submission, MapName("m"), usage=Usage())
    other = prediction_of(plain, submission, MapName("m"), usage=Usage())
    assert (found.rating, found.kept_rating) == (plain.rating, None)
    assert (other.rating, other.kept_rating) == (plain.rating, plain.rating)
    assert found.scores == {name: value for name, value in other.scores.items() if name != "confidence"}
    assert found.confidence is None, "it follows from a rule, and is no choice of the model"


def test_an_experiment_says_which_arms_state_no_rating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "settings_of", lambda arm, settings: arm)
    monkeypatch.setattr(
        experiments, "check_models", lambda arm: {"writer": SimpleNamespace(is_local=arm.name == "small")}
    )
    arms = [
        SimpleNamespace(name=name, models=SimpleNamespace(temperature=0), strategy="single", prompts={})
        for name in ("small", "large")
    ]
    job: Any = SimpleNamespace(
        **{"arms": arms, "settings": None, "units": (), "judges": (), "metrics": (), "papers": {}, "references": {}},
        **{"looked_at": (), "planted": None, "left_out": (), "excluded": {}, "plan": SimpleNamespace(seeds=[0])},
    )
    assert list(experiments.notes_of(job)) == [
        "reviews by the embedded model state no rating, which some metrics need: small"
    ]
