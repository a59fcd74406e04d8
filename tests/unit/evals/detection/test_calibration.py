from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.detection.calibration import (
    Calibration,
    DetectorCalibration,
    calibrate,
    check_applies,
)
from referee.evals.detection.columns import ScoredReview, rows_of, scored_review
from referee.evals.detection.features import fit_features, out_of_fold
from referee.evals.detection.thresholds import exact_threshold
from referee.evals.metric import not_applicable, scored
from referee.evals.registry import find_metrics
from tests.unit.evals.runs_of import case


def human(name: str, score: float | None = 0.1, **more: object) -> ScoredReview:
    row = ScoredReview(name, f"p-{name}", "human", score, "scored", "gpt2", "iclr-2022", "human", "2021-11-01")
    return replace(row, **more)  # type: ignore[arg-type]


def taken(rows: list[ScoredReview], **more: object) -> DetectorCalibration:
    return calibrate("d", rows_of(rows), **more)  # type: ignore[arg-type]


MANY = [human(f"h{at}", at / 400) for at in range(400)]


def test_a_calibration_goes_to_json_and_back() -> None:
    made = Calibration(canonical_rule="free-text/1", detectors=(calibrate("loglik", rows_of(MANY)),))
    assert Calibration.model_validate_json(made.model_dump_json()) == made
    entry = made.of("loglik")
    assert (entry.made_by, entry.form, len(entry.papers)) == ("gpt2", "iclr-2022", 400)
    assert [one.resolution for one in entry.thresholds] == ["not_resolvable", "not_claimed", "claimed"]
    with pytest.raises(EvaluationError, match="'rank' has no threshold"):
        made.of("rank")


def test_reviews_count_once_and_those_without_a_score_not_at_all() -> None:
    none = [human("short", None, status="too_short"), human("odd", None, status="nonfinite")]
    none.append(human("lost", None, status="failed", made_by=""))
    entry = taken([*MANY, *MANY[:50], *none])
    assert entry.repeated == 50
    assert entry.excluded == {"failed": 1, "nonfinite": 1, "too_short": 1}
    assert check_applies(entry, rows_of(none), apart=False) == ()
    assert entry.thresholds == taken(MANY).thresholds


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (human("x", kind="ai"), "'x' cannot count as human: its author is 'ai'"),
        (human("x", kind="unknown"), "its author is 'unknown'"),
        (human("x", source="gpt-4o"), "its source is 'gpt-4o'"),
        (human("x", text_digest="same"), "the text of the AI review 'made'"),
        (human("x", date="2023-05-01"), "'x' of '2023-05-01', are later than 2022-11-29"),
        (human("x", date="2024"), "are later"),
        (human("x", made_by="gpt2-medium"), "2 different set-ups: 'gpt2' and 'gpt2-medium'"),
        (human("x", math.nan), "'x' is nan"),
        (human("h1", 0.9), "'h1' has 2 rows with different scores"),
    ],
)
def test_what_would_move_a_threshold_wrongly_is_refused_by_name(bad: ScoredReview, said: str) -> None:
    made = ScoredReview("made", "p", "ai", 0.9, text_digest="same")
    with pytest.raises(EvaluationError, match=said):
        taken([*MANY, bad], others=rows_of([made]))


def test_late_reviews_can_be_forced_and_leave_a_mark() -> None:
    entry = taken([human(f"h{at}", at / 10, date="2025-01-01") for at in range(10)], forced=True)
    assert entry.forced == ("10 human reviews are later than 2022-11-29",)
    assert check_applies(entry, rows_of([human("t")])) == entry.forced
    assert taken([replace(row, date="2022") for row in MANY]).forced == ()


def test_no_human_score_is_no_threshold() -> None:
    with pytest.raises(EvaluationError, match="0 human scores"):
        taken([human("x", None, status="too_short")])


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (human("t", made_by="other"), "by 'gpt2', not by 'other'"),
        (human("t", form="neurips-2022"), "on the form 'iclr-2022', not on 'neurips-2022'"),
        (human("t", paper_id="p-h3"), "1 papers are in the calibration too, as 'p-h3'"),
    ],
)
def test_thresholds_for_others_are_refused_unless_forced_and_marked(test: ScoredReview, said: str) -> None:
    entry = taken(MANY)
    with pytest.raises(EvaluationError, match=said):
        check_applies(entry, rows_of([test]))
    (mark,) = check_applies(entry, rows_of([test]), forced=True)
    assert said in mark


def test_a_user_s_own_review_may_be_of_a_calibration_paper_and_scores_must_be_finite() -> None:
    entry = taken(MANY)
    assert check_applies(entry, rows_of([human("t", paper_id="p-h3")]), apart=False) == ()
    with pytest.raises(EvaluationError, match="'t' is nan"):
        check_applies(entry, rows_of([human("t", math.nan)]), forced=True)


def test_a_result_becomes_a_row() -> None:
    (metric,) = find_metrics(["words"])
    one = case("r", "p", venue="iclr-2022", year=2021)
    details = {"made_by": "gpt2", "text_digest": "d", "features": [1.0, 2.0]}
    row = scored_review(one, scored(metric, one, 0.5, details=details))
    assert (row.score, row.status, row.made_by, row.date) == (0.5, "scored", "gpt2", "2021")
    assert row.features == (1.0, 2.0)
    none = scored_review(one, not_applicable(metric, one, "short", details={"status": "too_short"}))
    assert (none.score, none.status) == (None, "too_short")


def overfit(seed: int = 0) -> tuple[list[list[float]], list[bool], list[str]]:
    """Features that say nothing, more of them than a small set can stand."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 40)).tolist()
    return rows, [at % 2 == 1 for at in range(60)], [f"p{at // 2}" for at in range(60)]


def test_thresholds_from_scores_that_were_fitted_on_would_be_too_low() -> None:
    rows, is_ai, papers = overfit()
    fitted = fit_features(rows, is_ai, [str(at) for at in range(40)])
    inside = [fitted.score(row) for row, ai in zip(rows, is_ai, strict=True) if not ai]
    outside = [score for score, ai in zip(out_of_fold(rows, is_ai, papers), is_ai, strict=True) if not ai]
    assert exact_threshold(outside, 0.1)[0] > exact_threshold(inside, 0.1)[0] + 1


def test_folds_are_dealt_by_paper_and_seed() -> None:
    rows, is_ai, papers = overfit()
    assert out_of_fold(rows, is_ai, papers) == out_of_fold(rows, is_ai, papers)
    assert out_of_fold(rows, is_ai, papers, seed=1) != out_of_fold(rows, is_ai, papers)
    with pytest.raises(EvaluationError, match="cannot be dealt into 5 folds"):
        out_of_fold(rows, is_ai, ["p"] * 60)


def test_the_fit_is_where_the_slope_vanishes() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(90, 3)) * [1, 10, 0.1] + [0, 5, 2]
    y = (x[:, 0] + 0.1 * x[:, 1] + rng.normal(size=90)) > 1
    fitted = fit_features(x.tolist(), y.tolist(), ["a", "b", "c"])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    chance = 1 / (1 + np.exp(-(z @ fitted.weights + fitted.intercept)))
    balance = np.where(y, 90 / (2 * y.sum()), 90 / (2 * (~y).sum()))
    assert np.array(fitted.weights) == pytest.approx(-z.T @ (balance * (chance - y)), abs=1e-8)
    assert (balance * (chance - y)).sum() == pytest.approx(0, abs=1e-8)
    assert fitted.score(x[0].tolist()) == pytest.approx(math.log(chance[0] / (1 - chance[0])))


def test_separable_classes_and_constant_features_do_no_harm() -> None:
    rows = [[at, 1.0, 0.25 + (at % 2) * 1e-16] for at in range(20)]
    fitted = fit_features(rows, [at >= 10 for at in range(20)], ["a", "b", "c"])
    assert fitted.weights[1:] == (0, 0)
    assert math.isfinite(fitted.score([100.0, 1.0, 0.25]))
    assert fitted.score([3.0, 1.5, 0.5]) == fitted.score([3.0, 1.0, 0.25])
    assert fitted.score([19, 1, 0.25]) > 0 > fitted.score([0, 1, 0.25])
    with pytest.raises(EvaluationError, match="2 features"):
        fitted.score([1.0, 2.0])
    with pytest.raises(EvaluationError, match="both classes"):
        fit_features(rows, [True] * 20, ["a", "b", "c"])
    with pytest.raises(EvaluationError, match="finite"):
        fit_features([[math.nan], [1.0]], [True, False], ["a"])
