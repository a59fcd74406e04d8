from __future__ import annotations

import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.decisions import decisions, macro_f1

PREDICTED = [6, 6, 7, 5, 6, 8]
TRUTH = [True, False, True, False, False, True]


def test_the_specification_s_papers() -> None:
    found = decisions(PREDICTED, TRUTH, 6)
    assert found.accuracy == pytest.approx(0.666667, abs=1e-6)
    assert found.macro_f1 == pytest.approx(0.625, abs=1e-6)
    assert found.gap == pytest.approx(1.333333, abs=1e-6)
    # Accepted 6, 7, 8 against rejected 6, 5, 6: the first wins once and ties twice, the others win all.
    assert found.auc == pytest.approx((1 + 2 * 0.5 + 3 + 3) / 9)
    assert found.prior == 0.5


def test_always_accepting_is_the_floor() -> None:
    truth = [True] * 65 + [False] * 35
    found = decisions([6] * 100, truth, 6)
    assert found.always_accept_f1 == pytest.approx(0.394, abs=5e-4)
    assert (found.macro_f1, found.auc, found.gap) == (found.always_accept_f1, 0.5, 0)


def test_a_class_never_predicted_has_f1_nought() -> None:
    assert macro_f1([True, True], [True, False]) == pytest.approx((2 / 3 + 0) / 2)
    assert macro_f1([True, False], [True, False]) == 1


def test_one_class_leaves_accuracy_alone_with_a_reason() -> None:
    found = decisions([6, 5], [True, True], 6)
    assert (found.accuracy, found.prior) == (0.5, 1)
    assert (found.macro_f1, found.gap, found.auc, found.always_accept_f1) == (None,) * 4
    assert found.reason == "all papers are accepted"


def test_thresholds_may_differ_by_paper_and_nothing_is_nothing() -> None:
    assert decisions([4, 4], [True, False], [4, 6]).accuracy == 1
    assert decisions([], [], 6).accuracy is None
    with pytest.raises(EvaluationError):
        decisions([6], [True, False], 6)
