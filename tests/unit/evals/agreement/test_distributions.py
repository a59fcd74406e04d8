from __future__ import annotations

import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.distributions import NO_RATINGS, Histogram, apart, compare_scales, from_median, histogram
from referee.evals.agreement.rated import RatedPaper
from referee.evals.agreement.scales import Scale

CONFIDENCE = Scale("iclr-2025", "confidence", (1, 2, 3, 4, 5))
ICLR = Scale("iclr-2024", "rating", (1, 3, 5, 6, 8, 10), 6)
TEN = Scale("neurips-2024", "rating", tuple(range(1, 11)), 6)


def counted(scale: Scale, *values: float | None) -> Histogram:
    return histogram((scale, value) for value in values)


def test_the_specification_s_confidences() -> None:
    human = Histogram(CONFIDENCE, (8, 80, 332, 460, 121), (), 0)
    model = Histogram(CONFIDENCE, (1, 0, 9, 990, 0), (), 0)
    found = apart(human, model).distances
    assert found is not None
    assert (found.l1, found.total_variation) == pytest.approx((1.060919, 0.530460), abs=1e-6)
    assert found.wasserstein_1 == pytest.approx(0.624364, abs=1e-6)


def test_ratings_off_the_form_and_missing_ones_are_counted_apart() -> None:
    found = counted(ICLR, 6, 6, 8, 7, 7, 7, None, 4)
    assert (found.counts, found.n) == ((0, 0, 0, 2, 1, 0), 3)
    assert found.off_scale == ((4, 1), (7, 3))
    assert found.off_scale_share == pytest.approx(4 / 7)
    assert found.missing == 1
    assert found.shares == pytest.approx((0, 0, 0, 2 / 3, 1 / 3, 0))


def test_forms_of_the_same_values_go_into_one_histogram_and_others_are_refused_by_name() -> None:
    later = Scale("iclr-2025", "rating", ICLR.allowed, 6)
    assert histogram([(ICLR, 6), (later, 6)]).counts[3] == 2
    with pytest.raises(EvaluationError, match=r"'iclr-2024'.*'neurips-2024'"):
        histogram([(ICLR, 6), (TEN, 6)])
    with pytest.raises(EvaluationError, match=r"'iclr-2024'.*'neurips-2024'"):
        apart(counted(ICLR, 6), counted(TEN, 6))
    with pytest.raises(EvaluationError, match="no rating scale"):
        histogram([])


def test_without_a_rating_on_the_form_there_is_a_reason_and_no_number() -> None:
    found = apart(counted(ICLR, 6), counted(ICLR, 7, None))
    assert (found.distances, found.reason) == (None, NO_RATINGS)
    assert counted(ICLR, None).shares is None
    assert counted(ICLR, None).off_scale_share is None


def test_the_difference_is_from_the_median_not_the_mean() -> None:
    rows = [
        RatedPaper("a", "iclr-2024", (1, 6, 6), 8),
        RatedPaper("b", "iclr-2024", (3, 5), 3),
        RatedPaper("c", "iclr-2024", (), 3),
        RatedPaper("d", "iclr-2024", (6,)),
    ]
    found = from_median(rows)
    assert (found.mean.mean, found.median) == (0.5, 0.5)
    assert (found.mean.n, found.no_human, found.no_prediction) == (2, 1, 1)
    empty = from_median([])
    assert (empty.mean.mean, empty.median) == (None, None)
    with pytest.raises(EvaluationError, match="neurips"):
        from_median([RatedPaper("a", "iclr-2024", (6,), 6, other_form="neurips-2024")])


def test_scales_compare_by_rank_on_request() -> None:
    found = compare_scales((ICLR, [1, 6, 10, 7]), (TEN, [1, 10, 11]))
    assert found.forms == ("iclr-2024", "neurips-2024")
    assert found.mean_ranks == pytest.approx(((0 + 0.6 + 1 + 0.7) / 4, 0.5))
    assert (found.first, found.second) == ((1, 0, 0, 2, 1), (1, 0, 0, 0, 1))
    assert found.off_scale == pytest.approx((0.25, 1 / 3))
    assert found.outside == (0, 1)
    assert found.distances is not None
    same = compare_scales((TEN, [1, 5, 9]), (TEN, [1, 5, 9])).distances
    assert same is not None
    assert same.wasserstein_1 == 0


def test_an_empty_side_has_no_distance() -> None:
    found = compare_scales((ICLR, []), (TEN, [5]))
    assert (found.distances, found.mean_ranks[0], found.off_scale[0]) == (None, None, None)
    with pytest.raises(EvaluationError, match="bins"):
        compare_scales((ICLR, [1]), (TEN, [5]), bins=1)
