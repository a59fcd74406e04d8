from __future__ import annotations

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.decisions import decisions
from referee.stats import bootstrap_interval

PREDICTED = [6, 6, 7, 5, 6, 8]
TRUTH = [True, False, True, False, False, True]


def test_the_specification_s_papers() -> None:
    found = decisions(PREDICTED, TRUTH, 6)
    assert found.accuracy.mean == pytest.approx(0.666667, abs=1e-6)
    assert found.macro_f1.mean == pytest.approx(0.625, abs=1e-6)
    assert found.gap.mean == pytest.approx(1.333333, abs=1e-6)
    # Accepted 6, 7, 8 against rejected 6, 5, 6: the first wins once and ties twice, the others win all.
    assert found.auc.mean == pytest.approx((1 + 2 * 0.5 + 3 + 3) / 9)
    assert found.prior == 0.5


def test_always_accepting_is_the_floor() -> None:
    truth = [True] * 65 + [False] * 35
    found = decisions([6] * 100, truth, 6)
    assert found.always_accept_f1 == pytest.approx(0.394, abs=5e-4)
    assert found.macro_f1.mean == pytest.approx(found.always_accept_f1)
    assert (found.auc.mean, found.gap.mean) == (0.5, 0)


def test_a_class_never_predicted_has_f1_nought() -> None:
    assert decisions([6, 6], [True, False], 6).macro_f1.mean == pytest.approx((2 / 3 + 0) / 2)
    assert decisions([6, 5], [True, False], 6).macro_f1.mean == 1


def test_one_class_leaves_accuracy_alone_with_a_reason() -> None:
    found = decisions([6, 5], [True, True], 6)
    assert (found.accuracy.mean, found.prior) == (0.5, 1)
    assert (found.macro_f1.mean, found.gap.mean, found.auc.mean, found.always_accept_f1) == (None,) * 4
    assert found.reason == "all papers are accepted"


def test_thresholds_may_differ_by_paper_and_nothing_is_nothing() -> None:
    assert decisions([4, 4], [True, False], [4, 6]).accuracy.mean == 1
    assert decisions([], [], 6).accuracy.mean is None
    with pytest.raises(EvaluationError):
        decisions([6], [True, False], 6)


def test_every_score_has_an_interval_by_paper() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.4
    rated = rng.choice([3, 5, 6, 8], size=120) + 0.0
    found = decisions(rated.tolist(), truth.tolist(), 6)
    right = {str(n): [float((value >= 6) == is_in)] for n, (value, is_in) in enumerate(zip(rated, truth, strict=True))}
    usual = bootstrap_interval(right, seed=0)
    assert found.accuracy.mean == usual.mean
    assert (found.accuracy.low, found.accuracy.high) == (
        pytest.approx(usual.low, abs=0.02),
        pytest.approx(usual.high, abs=0.02),
    )
    for one in (found.macro_f1, found.gap, found.auc):
        assert one.low is not None
        assert one.high is not None
        assert one.low < (one.mean or 0) < one.high
        assert one.clusters == 120
    alone = decisions([6], [True], 6)
    assert (alone.accuracy.mean, alone.accuracy.low) == (1, None)
