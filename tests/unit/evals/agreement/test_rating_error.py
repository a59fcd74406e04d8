from __future__ import annotations

import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.rated import RatedPaper
from referee.evals.agreement.rating_error import (
    NO_PREDICTION,
    OUT_OF_RANGE,
    floors,
    leave_one_out,
    pooled,
    rating_error,
    with_targets,
)
from referee.evals.agreement.scales import Scale

ICLR = Scale("iclr-2024", "rating", (1, 3, 5, 6, 8, 10), 6)


def papers(*rows: tuple[tuple[float, ...], float | None]) -> list[RatedPaper]:
    return [RatedPaper(f"p{i}", ICLR.form, human, predicted) for i, (human, predicted) in enumerate(rows)]


FIXTURE = papers(((6, 6, 8), 6), ((3, 5), 6), ((5, 6, 6, 7), 7))


def test_the_specification_s_papers() -> None:
    found = rating_error(with_targets(FIXTURE, ICLR))
    assert found.mae.mean == pytest.approx(1.222222, abs=1e-6)
    assert found.bias.mean == pytest.approx(0.777778, abs=1e-6)
    assert found.nmae == pytest.approx(1.222222 / 9, abs=1e-6)
    assert found.mae.low is not None
    assert found.mae.high is not None
    assert found.mae.low <= 1.222222 <= found.mae.high


def test_invalid_predictions_are_counted_by_reason_and_left_out() -> None:
    odd = [
        *FIXTURE,
        *papers(((6, 6), None), ((6, 6), 11), ((6, 6), 0), ((6,), 6), ((), None)),
        RatedPaper("text", ICLR.form, (6, 6), None, reason="no JSON"),
    ]
    found = with_targets(odd, ICLR)
    assert found.invalid == {NO_PREDICTION: 1, OUT_OF_RANGE: 2, "no JSON": 1}
    assert found.few_reviews == 2
    assert rating_error(found).mae.mean == pytest.approx(1.222222, abs=1e-6)


def test_the_midpoint_stands_in_only_when_asked_and_is_still_counted() -> None:
    odd = papers(((5, 6), None), ((5, 6), 8))
    assert with_targets(odd, ICLR).predictions == [8]
    found = with_targets(odd, ICLR, impute="midpoint")
    assert (found.predictions, [row.imputed for row in found.scored]) == ([5.5, 8], [True, False])
    assert found.invalid == {NO_PREDICTION: 1}


def test_a_prediction_off_the_grid_but_in_range_is_valid() -> None:
    assert with_targets(papers(((5, 6), 7)), ICLR).predictions == [7]


def test_a_prediction_on_another_scale_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"'iclr-2024'.*'neurips-2024'"):
        with_targets([RatedPaper("p", "iclr-2024", (6, 6), 6, other_form="neurips-2024")], ICLR)


def test_no_paper_gives_a_reason_and_no_number() -> None:
    found = rating_error(with_targets([], ICLR))
    assert (found.mae.mean, found.bias.mean, found.nmae) == (None, None, None)
    assert found.reason


def test_the_pooled_error_is_the_unweighted_mean_of_venues() -> None:
    assert pooled([0.9, None, 0.5, 0.7]) == pytest.approx(0.7)
    assert pooled([None]) is None


def test_one_review_against_the_mean_of_the_others() -> None:
    assert leave_one_out((3, 5)) == 2
    assert leave_one_out((6, 6, 8)) == pytest.approx((1 + 1 + 2) / 3)


def test_floors_by_hand() -> None:
    found = floors(papers(((3, 5), None), ((6, 6, 8), 6)), ICLR)
    targets = (4, 20 / 3)
    assert found.constant_value == pytest.approx(sum(targets) / 2)
    assert found.constant_mae == pytest.approx((20 / 3 - 4) / 2)
    expected = [abs(value - target) for target in targets for value in ICLR.allowed]
    assert found.random_mae == pytest.approx(sum(expected) / len(expected))
    assert found.random_bias == pytest.approx(5.5 - sum(targets) / 2)
    assert found.human_mae.mean == pytest.approx((2 + 4 / 3) / 2)
    assert floors([], ICLR).constant_mae is None
