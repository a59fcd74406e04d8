from __future__ import annotations

import math

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.detection.calibration import calibrate
from referee.evals.detection.columns import ScoredReview, ScoredRows, rows_of
from referee.evals.detection.evaluation import any_anchor_rate, flagged_rate
from referee.evals.detection.thresholds import (
    exact_threshold,
    fairness_note,
    false_positive_interval,
    threshold_at,
    upper_bound_without_any,
)

H = [0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.5, 0.5, 0.9]


@pytest.mark.parametrize(
    ("alpha", "theta", "rate"),
    [(0, 0.9, 0), (0.1, 0.5, 0.1), (0.2, 0.5, 0.1), (0.3, 0.4, 0.3), (0.35, 0.4, 0.3), (0.0999, 0.9, 0)],
)
def test_at_most_k_lie_above_and_ties_are_human(alpha: float, theta: float, rate: float) -> None:
    found, k = exact_threshold(H, alpha)
    assert found == theta
    assert sum(score > found for score in H) / len(H) == rate
    assert k == math.floor(alpha * 10 + 1e-9)


def test_the_ends_of_the_rule() -> None:
    assert exact_threshold(H, 1.0)[0] == -math.inf
    assert exact_threshold([0.3], 0.5) == (0.3, 0)
    with pytest.raises(EvaluationError, match="0 human scores"):
        exact_threshold([], 0.1)
    with pytest.raises(EvaluationError, match="finite"):
        exact_threshold([0.1, math.nan], 0.1)


@pytest.mark.parametrize("alpha", [0.001, 0.005, 0.01, 0.1, 0.29, 0.3])
def test_the_rule_is_the_upper_inverse_of_the_distribution(alpha: float) -> None:
    scores = np.random.default_rng(3).normal(size=1000)
    theta, _ = exact_threshold(scores.tolist(), alpha)
    assert theta == pytest.approx(float(np.quantile(scores, 1 - alpha - 1e-12, method="inverted_cdf")))


def test_a_cut_between_points_is_not_lost_on_a_straight_piece_of_the_curve() -> None:
    humans = [*np.linspace(0, 0.5, 996), 0.95, 0.94, 0.93, 0.92]
    ai = np.linspace(0.6, 0.9, 1000)
    theta, k = exact_threshold(humans, 0.003)
    assert (theta, k, float((ai > theta).mean())) == (0.92, 3, 0.0)
    theta, k = exact_threshold(humans, 0.01)
    assert theta == pytest.approx(0.497, abs=0.001)
    assert (k, float((ai > theta).mean())) == (10, 1.0)


def test_the_conservative_mode_takes_one_fewer() -> None:
    assert exact_threshold(H, 0.2, "conservative") == (0.5, 1)
    assert exact_threshold(H, 0.3, "conservative") == (0.5, 2)
    assert exact_threshold(H, 0.05, "conservative") == (math.inf, 0)
    few = threshold_at(H, 0.05, "conservative")
    assert few.theta is None
    assert few.resolution == "insufficient_calibration"
    assert not few.flags(1e9)


def test_the_conservative_mode_keeps_the_expected_rate() -> None:
    rng = np.random.default_rng(0)
    for alpha in (0.05, 0.1):
        rates = [
            float(
                (rng.normal(size=400) > exact_threshold(rng.normal(size=39).tolist(), alpha, "conservative")[0]).mean()
            )
            for _ in range(400)
        ]
        assert np.mean(rates) <= alpha + 0.005


@pytest.mark.parametrize(
    ("n", "alpha", "k", "mean", "low", "high"),
    [
        (3855, 0.001, 3, 0.104, 0.028, 0.227),
        (3855, 0.005, 19, None, 0.317, 0.769),
        (3855, 0.01, 38, None, 0.720, 1.351),
        (1000, 0.001, 1, 0.200, 0.024, 0.556),
        (500, 0.001, 0, 0.200, 0.005, 0.735),
        (200, 0.01, 2, 1.49, 0.31, 3.57),
    ],
)
def test_what_is_known_of_the_rate_among_others(
    n: int, alpha: float, k: int, mean: float | None, low: float, high: float
) -> None:
    found = threshold_at(np.arange(n).tolist(), alpha)
    assert found.k == k
    digits = 0.005 if n == 200 else 0.0005
    assert 100 * found.low == pytest.approx(low, abs=digits)
    assert 100 * found.high == pytest.approx(high, abs=digits)
    assert mean is None or 100 * found.mean == pytest.approx(mean, abs=digits)
    assert false_positive_interval(k, n) == (found.low, found.mean, found.high)


def test_no_false_positive_at_all_still_leaves_room() -> None:
    assert upper_bound_without_any(1000) == pytest.approx(0.00299, abs=5e-6)
    assert upper_bound_without_any(300) == pytest.approx(0.00994, abs=5e-6)


@pytest.mark.parametrize(
    ("n", "resolution", "flags"),
    [(999, "not_resolvable", False), (1000, "not_claimed", True), (2999, "not_claimed", True), (3000, "claimed", True)],
)
def test_below_one_in_n_nobody_is_flagged_and_below_three_in_n_nothing_is_claimed(
    n: int, resolution: str, flags: bool
) -> None:
    found = threshold_at(np.arange(n).tolist(), 0.001)
    assert found.resolution == resolution
    assert found.flags(1e9) is flags
    assert ("95% interval" in found.claim) is flags


def test_a_flag_needs_a_finite_score_that_is_strictly_above() -> None:
    found = threshold_at(np.linspace(0, 1, 300).tolist(), 0.01)
    assert found.theta is not None
    assert not found.flags(found.theta)
    assert found.flags(math.nextafter(found.theta, 2))
    assert not any(found.flags(score) for score in (None, math.nan, math.inf))


def test_a_verdict_says_what_it_does_not_prove() -> None:
    note = fairness_note(threshold_at(np.arange(3000).tolist(), 0.01), 200)
    assert note.startswith("A flag is not proof. If people wrote all 200 reviews, about 2.1 would be flagged")
    assert "k = 30" in note
    assert fairness_note(threshold_at(H, 0.01), 200).startswith("Nothing is flagged.")


def correlated(rng: np.random.Generator, n: int, rho: float) -> ScoredRows:
    """Cosines of human reviews with three anchors, which go together."""
    common = rng.normal(size=(n, 1))
    rows = (math.sqrt(rho) * common + math.sqrt(1 - rho) * rng.normal(size=(n, 3))).tolist()
    return rows_of(
        ScoredReview(f"h{at}", f"p{at}", "human", max(row), cosines=dict(zip("abc", row, strict=True)))
        for at, row in enumerate(rows)
    )


def test_the_largest_of_three_anchors_keeps_its_rate_where_a_threshold_each_would_not() -> None:
    rng, alpha = np.random.default_rng(11), 0.01
    entry, fresh = calibrate("anchor", correlated(rng, 4000, 0.3), targets=(alpha,)), correlated(rng, 20_000, 0.3)
    (of_largest,), (each,) = entry.thresholds, entry.per_anchor
    realised = flagged_rate(of_largest, fresh, resamples=10).value
    plain, shared = (any_anchor_rate(thetas, fresh, resamples=10).value for thetas in (each.plain, each.shared))
    assert realised is not None
    assert of_largest.low <= realised <= of_largest.high
    assert plain is not None
    assert plain > 2 * alpha
    assert shared is not None
    assert shared <= of_largest.high


@pytest.mark.parametrize("theta", [-0.5, 0.0, 1.2])
def test_any_vote_with_one_threshold_is_the_largest_score(theta: float) -> None:
    rows = correlated(np.random.default_rng(5), 200, 0.5)
    found = any_anchor_rate(dict.fromkeys("abc", theta), rows, resamples=10)
    assert found.flagged == int((rows.score > theta).sum())
    assert any_anchor_rate({}, rows, resamples=10).flagged == 0, "an anchor without a threshold does not vote"
