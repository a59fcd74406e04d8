from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from referee.errors import EvaluationError
from referee.evals.agreement.calibration import MapName, RatingPair, apply, check_fits, fit_rating_map
from referee.evals.agreement.scales import Scale
from referee.schemas.calibration import RatingMap

ICLR = Scale("iclr-2024", "rating", (1, 3, 5, 6, 8, 10), 6)
NAME = MapName("some-model", "v1", "abc")


def pairs(n: int, seed: int = 0, noise: float = 0.7) -> list[RatingPair]:
    """A model that rates two points too high and uses the upper half alone."""
    rng = np.random.default_rng(seed)
    human = np.clip(rng.normal(5, 1.6, size=n), 1, 10)
    predicted = np.clip(6 + (human - 4) / 2 + rng.normal(scale=noise, size=n), 1, 10).round()
    return [RatingPair(f"p{i}", float(p), float(h)) for i, (p, h) in enumerate(zip(predicted, human, strict=True))]


def test_a_map_takes_bias_and_compression_out_on_papers_it_has_not_seen() -> None:
    found = fit_rating_map(pairs(200), ICLR, NAME)
    assert found.mae_after.mean < found.mae_before.mean - 0.5
    assert found.change.high < 0
    assert found.mae_after.mean < found.mae_constant.mean
    fresh = pairs(300, seed=9)
    mapped = [apply(found, pair.predicted) for pair in fresh]
    error = np.mean([abs(m.value - pair.human) for m, pair in zip(mapped, fresh, strict=True)])
    assert error == pytest.approx(found.mae_after.mean, abs=0.2)
    inside = np.mean([m.low <= pair.human <= m.high for m, pair in zip(mapped, fresh, strict=True)])
    assert inside == pytest.approx(0.9, abs=0.05)


def test_ratings_that_say_nothing_map_to_the_constant_and_the_record_shows_it() -> None:
    rng = np.random.default_rng(0)
    blind = [pair._replace(predicted=float(rng.integers(6, 9))) for pair in pairs(200)]
    found = fit_rating_map(blind, ICLR, NAME)
    assert found.mae_after.mean == pytest.approx(found.mae_constant.mean, abs=0.05)


def test_the_errors_are_of_papers_left_out_of_the_fit() -> None:
    rng = np.random.default_rng(0)
    rows = [RatingPair(f"p{i}", float(p), float(h)) for i, (p, h) in enumerate(rng.uniform(1, 10, size=(150, 2)))]
    found = fit_rating_map(rows, ICLR, NAME)
    seen = np.mean([abs(apply(found, row.predicted).value - row.human) for row in rows])
    constant = float(np.mean([row.human for row in rows]))
    assert found.mae_after.mean > seen + 0.05
    assert found.mae_after.mean > found.mae_constant.mean
    assert found.mae_constant.mean > np.mean([abs(row.human - constant) for row in rows])


def test_the_knots_are_the_isotonic_means() -> None:
    rows = [RatingPair(f"p{i}", (5, 6, 8)[i % 3], (4.0, 7.0, 6.0)[i % 3]) for i in range(90)]
    found = fit_rating_map(rows, ICLR, NAME)
    assert [(k.predicted, k.mapped) for k in found.knots] == [(5, 4), (6, pytest.approx(6.5)), (8, pytest.approx(6.5))]
    assert [apply(found, x).value for x in (1, 5.5, 10)] == pytest.approx([4, 5.25, 6.5])
    assert apply(found, 6).offered == 6


def test_fewer_than_eighty_papers_are_refused_with_the_number_however_many_pairs() -> None:
    few = pairs(79)
    with pytest.raises(EvaluationError, match=r"80 papers.*not 79") as refused:
        fit_rating_map(few * 3, ICLR, NAME)
    assert "1 more" in refused.value.hint
    assert fit_rating_map(pairs(80), ICLR, NAME).papers == 80
    with pytest.raises(ValidationError):
        RatingMap.model_validate({**fit_rating_map(pairs(80), ICLR, NAME).model_dump(), "papers": 79})


def test_repeated_predictions_of_a_paper_stay_together_and_weigh_as_one() -> None:
    single = pairs(100)
    many = [pair for pair in single for _ in range(1 + 4 * (pair.paper_id == "p0"))]
    one, five = fit_rating_map(single, ICLR, NAME), fit_rating_map(many, ICLR, NAME)
    assert (five.papers, one.papers) == (100, 100)
    assert [k.mapped for k in five.knots] == pytest.approx([k.mapped for k in one.knots])
    assert five.mae_after.mean == pytest.approx(one.mae_after.mean)


def test_order_does_not_matter_and_the_seed_does() -> None:
    rows = pairs(100)
    found = fit_rating_map(rows, ICLR, NAME)
    turned = fit_rating_map(rows[::-1], ICLR, NAME)
    assert turned.mae_after.mean == pytest.approx(found.mae_after.mean)
    assert [k.mapped for k in turned.knots] == pytest.approx([k.mapped for k in found.knots])
    assert fit_rating_map(rows, ICLR, NAME, seed=1).mae_after != found.mae_after


def test_values_outside_the_scale_and_odd_folds_are_refused() -> None:
    with pytest.raises(EvaluationError, match=r"'odd'.*'iclr-2024'"):
        fit_rating_map([*pairs(100), RatingPair("odd", 11, 5)], ICLR, NAME)
    with pytest.raises(EvaluationError, match="folds"):
        fit_rating_map(pairs(100), ICLR, NAME, folds=1)


def test_the_range_stays_on_the_form() -> None:
    found = fit_rating_map(pairs(100), ICLR, NAME)
    for predicted in (-5, 1, 5, 10, 50):
        mapped = apply(found, predicted)
        assert 1 <= mapped.low <= mapped.value <= mapped.high <= 10
        assert mapped.offered in ICLR.allowed


@pytest.mark.parametrize(
    ("name", "form", "said"),
    [
        (MapName("other", "v1", "abc"), "iclr-2024", "model 'some-model', not 'other'"),
        (NAME, "iclr-2025", "form 'iclr-2024', not 'iclr-2025'"),
        (MapName("some-model", "v2", "abc"), "iclr-2024", "prompt version 'v1', not 'v2'"),
        (MapName("some-model", "v1", "xyz"), "iclr-2024", "prompt digest 'abc', not 'xyz'"),
    ],
)
def test_a_map_for_something_else_is_refused_by_name(name: MapName, form: str, said: str) -> None:
    found = fit_rating_map(pairs(80), ICLR, NAME)
    check_fits(found, NAME, "iclr-2024")
    with pytest.raises(EvaluationError, match=said):
        check_fits(found, name, form)


def test_it_is_stored_and_read_again_and_a_falling_one_is_refused() -> None:
    found = fit_rating_map(pairs(80), ICLR, NAME)
    assert RatingMap.model_validate_json(found.model_dump_json()) == found
    falling = {**found.model_dump(), "knots": [{"predicted": 5, "mapped": 6}, {"predicted": 6, "mapped": 5}]}
    with pytest.raises(ValidationError, match="falls"):
        RatingMap.model_validate(falling)
    with pytest.raises(ValidationError, match="rise"):
        RatingMap.model_validate({**found.model_dump(), "allowed": [3, 1]})
    with pytest.raises(ValidationError, match="bound"):
        RatingMap.model_validate({**found.model_dump(), "residual_low": 5, "residual_high": 1})
