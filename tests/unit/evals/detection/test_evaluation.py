from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.detection.calibration import calibrate
from referee.evals.detection.columns import ScoredReview, ScoreTable, rows_of
from referee.evals.detection.editing import edit_order, ndcg, ndcg_by_chance
from referee.evals.detection.evaluation import evaluate, flagged_rate, in_order, robustness
from referee.evals.detection.inflation import AXES, RATING, axis_scores, matched, pairs_on, score_inflation
from referee.evals.detection.roc import partial_auc, pr_auc, resampled_auc, roc_auc, roc_curve
from referee.evals.detection.thresholds import threshold_at
from referee.schemas.case import ReviewCase
from tests.unit.evals.runs_of import case

CLOSE = 1e-6


def row(
    name: str, kind: str, score: float | None, *, paper: str = "", source: str = "", status: str = "scored"
) -> ScoredReview:
    return ScoredReview(name, paper or f"p-{name}", kind, score, status, "m", "f", source)  # type: ignore[arg-type]


def humans(n: int, *, start: int = 0) -> list[ScoredReview]:
    return [row(f"h{at}", "human", at / 1000, paper=f"p{at % 50}") for at in range(start, start + n)]


def test_auc_counts_ties_as_half() -> None:
    assert roc_auc([0.1, 0.4, 0.35, 0.8], [0.9, 0.35, 0.7]) == pytest.approx(0.708333, abs=CLOSE)
    assert roc_auc([], [1.0]) is None


@pytest.mark.shared_data
def test_published_scores_have_the_published_areas(shared_data: Path) -> None:
    published = json.loads((shared_data / "detection_known" / "fast_detect_gpt_squad_gpt2xl.json").read_text())
    assert len(published["results"]) == 8
    for name, known in published["results"].items():
        assert roc_auc(known["real"], known["samples"]) == pytest.approx(known["roc_auc"], abs=CLOSE), name
        assert pr_auc(known["real"], known["samples"]) == pytest.approx(known["pr_auc"], abs=CLOSE), name


def test_the_curve_keeps_every_distinct_score() -> None:
    rng = np.random.default_rng(0)
    own, other = rng.integers(0, 30, 200).tolist(), rng.integers(5, 40, 100).tolist()
    curve = roc_curve(own, other)
    assert len(curve.thresholds) == len({*own, *other}) + 1
    assert curve.false_positive_rate[-1] == curve.true_positive_rate[-1] == 1
    area = float(np.trapezoid(curve.true_positive_rate, curve.false_positive_rate))
    assert area == pytest.approx(roc_auc(own, other))
    assert partial_auc(own, other, 1.0) == pytest.approx(area)


def test_the_partial_area_is_half_by_chance_and_one_at_best() -> None:
    same = np.arange(1000).tolist()
    assert partial_auc(same, same) == pytest.approx(0.5)
    assert partial_auc([0.0, 1.0], [2.0, 3.0]) == pytest.approx(1.0)
    assert partial_auc([2.0, 3.0], [0.0, 1.0]) < 0.5


def test_a_curve_of_one_class_is_refused() -> None:
    for of in (roc_curve, partial_auc, pr_auc):
        with pytest.raises(EvaluationError, match="both classes"):
            of([1.0], [])


def test_the_binomial_spread_is_what_resamples_have() -> None:
    rng = np.random.default_rng(4)
    ai = [row(f"a{at}", "ai", float(flag)) for at, flag in enumerate(rng.random(20_775) < 0.635)]
    found = flagged_rate(threshold_at([0.5] * 3000, 0.01), rows_of(ai), resamples=400)
    assert found.value == pytest.approx(0.635, abs=0.01)
    assert 100 * (found.sd or 0) == pytest.approx(0.334, abs=0.04)
    assert found.low < found.value < found.high  # type: ignore[operator]


def test_reviews_of_a_paper_that_are_alike_spread_more_when_papers_are_drawn() -> None:
    rows = rows_of(row(f"a{at}-{one}", "ai", float(at % 2), paper=f"p{at}") for at in range(60) for one in range(5))
    threshold = threshold_at([0.5] * 3000, 0.01)
    by_review = flagged_rate(threshold, rows, resamples=300)
    by_paper = flagged_rate(threshold, rows, resamples=300, cluster="paper")
    assert by_review.value == by_paper.value == 0.5
    assert by_paper.sd > 1.8 * by_review.sd  # type: ignore[operator]


def test_a_report_gives_realised_rates_at_thresholds_of_other_papers() -> None:
    calibration = calibrate("d", rows_of(humans(1000)))
    ai = [row(f"a{at}", "ai", 0.9 + at / 1000, paper=f"q{at}", source="gpt") for at in range(200)]
    ai.append(row("none", "ai", None, paper="q0", source="gpt", status="too_short"))
    ai.append(row("weak", "ai", 0.1, paper="q0", source="claude"))
    test = [row(f"t{at}", "human", at / 100, paper=f"q{at}") for at in range(101)] * 2
    reports = evaluate(calibration, rows_of([*ai, *ai[:3], *test]), resamples=100)
    assert [report.llm for report in reports] == ["claude", "gpt"]
    gpt = reports[1]
    assert [at.threshold.target for at in gpt.at] == [0.001, 0.005, 0.01]
    at = gpt.at[-1]
    assert at.threshold.theta == pytest.approx(0.989)
    assert (at.true_positive_rate.flagged, at.true_positive_rate.n) == (110, 201)
    assert (at.false_positive_rate.flagged, at.false_positive_rate.n) == (2, 101)
    assert gpt.unscored == {"human": 0, "ai": 1}
    assert gpt.auc_spread is not None
    assert gpt.auc_spread.smallest <= gpt.auc <= gpt.auc_spread.largest  # type: ignore[operator]
    assert in_order(reports)[0].llm == "gpt"
    assert robustness(gpt, reports[0])[-1].true_positive_rate == pytest.approx(0 - 110 / 201)


def test_an_area_in_resamples_is_the_same_each_time_and_by_paper_wider() -> None:
    own, other = [0.0] * 20 + [1.0] * 20, [1.0] * 20 + [2.0] * 20
    papers = [f"p{at // 20}" for at in range(40)]
    once, again = (resampled_auc(own, other, seed=3, resamples=200) for _ in range(2))
    assert once == again
    wide = resampled_auc(own, other, seed=3, resamples=200, human_papers=papers, ai_papers=papers)
    assert wide.high - wide.low > once.high - once.low  # type: ignore[operator]
    with pytest.raises(EvaluationError, match="one class alone"):
        resampled_auc(own, other, seed=3, human_papers=papers)


def test_ndcg_of_the_specification_and_by_chance() -> None:
    relevance, scores = [0, 1, 2, 3, 4], [0.42, 0.40, 0.55, 0.51, 0.80]
    assert ndcg(relevance, scores) == pytest.approx(0.976138, abs=CLOSE)
    assert ndcg(relevance, scores, "exp") == pytest.approx(0.973413, abs=CLOSE)
    assert ndcg_by_chance(relevance) == pytest.approx(0.8052, abs=5e-5)
    assert ndcg_by_chance(relevance, "exp") == pytest.approx(0.7182, abs=5e-5)
    assert ndcg_by_chance([0, 1, 2, 3]) == pytest.approx(0.8069, abs=5e-5)
    assert ndcg_by_chance([1, 2, 3, 4]) == pytest.approx(0.8745, abs=5e-5)


def test_tied_versions_count_as_the_mean_over_their_orders() -> None:
    relevance = [0, 1, 2, 3]
    tied = ndcg(relevance, [0.1, 0.5, 0.5, 0.2])
    assert tied == pytest.approx(np.mean([ndcg(relevance, [0.1, a, b, 0.2]) for a, b in [(0.5, 0.6), (0.6, 0.5)]]))
    assert ndcg(relevance, [1, 1, 1, 1]) == pytest.approx(ndcg_by_chance(relevance))
    orders = [ndcg(relevance, list(order)) for order in itertools.permutations(range(4))]
    assert ndcg_by_chance(relevance) == pytest.approx(np.mean(orders))


def test_edit_levels_are_scored_against_chance() -> None:
    right = {"original": 0.1, "minimum": 0.2, "moderate": 0.3, "extensive": 0.4, "maximum": 0.5}
    found = edit_order([right, right])
    assert (found.ndcg, found.skill, found.tau_b, found.n) == pytest.approx((1, 1, 1, 2))
    level = edit_order([dict.fromkeys(right, 0.5)])
    assert level.skill == pytest.approx(0)
    assert level.tau_b is None
    backwards = edit_order([{"original": 0.5, "maximum": 0.1}])
    assert backwards.skill < 0
    assert backwards.tau_b == pytest.approx(-1)
    with pytest.raises(EvaluationError, match="no edit level 'heavy'"):
        edit_order([{"original": 0.1, "heavy": 0.2}])
    with pytest.raises(EvaluationError, match="no version has a relevance"):
        edit_order([{"original": 0.1}])
    with pytest.raises(EvaluationError, match="no edited reviews"):
        edit_order([])


def test_score_inflation_of_the_specification() -> None:
    found = score_inflation([(3 + d, 3) for d in (1, 1, 0, 2, -1, 1, 0, 1)])
    assert (found.n, found.zeros, found.plus, found.minus) == (8, 2, 18, 3)
    assert found.p == pytest.approx(0.09558, abs=5e-6)
    assert found.rank_biserial == pytest.approx(0.714286, abs=CLOSE)
    assert found.mean == pytest.approx(0.625)
    assert found.method == "normal"


def test_pairs_are_of_one_paper_one_form_and_one_rating() -> None:
    def rated(name: str, rating: float, soundness: object, source: str = "human", paper: str = "p") -> ReviewCase:
        fields = {"Soundness": soundness}
        return case(name, paper, source=source, venue="v", rating=rating, confidence=4, fields=fields)

    people = [rated("h2", 6, "2 fair"), rated("h1", 6, 3), rated("h3", 8, 4), rated("h4", 6, 1, paper="q")]
    ai = [rated("a1", 6, "4 excellent", "gpt"), rated("a2", 8, "3 good", "gpt"), rated("a3", 3, 3, "gpt")]
    table = ScoreTable(["origin"], (RATING, *AXES))
    for one in (*people, *ai):
        table.add(one, numbers=axis_scores(one))
    reviews, _ = table.finished()

    def pairs(axis: str, origin: str = "") -> list[list[float]]:
        sources = np.where(reviews.review == reviews.code("a1"), reviews.code(origin), -1)
        return pairs_on(
            reviews, matched(reviews, reviews.is_kind("ai"), reviews.is_kind("human"), sources), axis
        ).tolist()

    assert pairs("soundness") == [[4, 3], [3, 4]]
    assert pairs("soundness", "h2") == [[4, 2], [3, 4]]
    assert pairs("confidence") == [[4, 4], [4, 4]]
    assert pairs("presentation") == []


def test_few_pairs_are_counted_and_none_have_no_test() -> None:
    few = score_inflation([(2, 1), (3, 1), (4, 1)])
    assert (few.method, few.p, few.rank_biserial) == ("exact", 0.25, 1)
    for pairs in ([], [(1.0, 1.0)]):
        found = score_inflation(pairs)
        assert (found.p, found.rank_biserial, found.method) == (None, None, "none")
    assert score_inflation([]).mean is None
    with pytest.raises(EvaluationError, match="finite"):
        score_inflation([(math.nan, 1)])
