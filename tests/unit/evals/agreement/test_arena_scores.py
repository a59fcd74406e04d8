from __future__ import annotations

from pathlib import Path

import pytest

from referee.data import read_cases
from referee.errors import DataError, EvaluationError
from referee.evals.agreement.arena import score_predictions
from referee.evals.agreement.nested_means import nested_interval
from referee.evals.agreement.rated import RatedPaper, gather
from referee.evals.agreement.rating_error import sub_scores
from referee.stats import bootstrap_interval
from referee.venues.registry import list_venues

FORMS = {form.id: form for form in list_venues()}


def paper(form: str, human: tuple[float, ...], predicted: float | None, key: str = "", **more: object) -> RatedPaper:
    conference = form.rsplit("-", 1)[0]
    given = {"conference": conference, "year": int(form[-4:]), **more}
    return RatedPaper(f"{form}{key}{human}{predicted}", form, human, predicted, **given)  # type: ignore[arg-type]


MIXED = [
    paper("iclr-2024", (6, 6, 8), 6, accepted=True),
    paper("iclr-2024", (3, 5), 6, accepted=False),
    paper("iclr-2026", (4, 6), 8, accepted=True),
    paper("neurips-2025", (4, 5), 4.0, accepted=True),
    paper("neurips-2025", (2, 3), 9.0),
]


def test_by_form_by_venue_and_pooled() -> None:
    found = score_predictions(MIXED, FORMS)
    by_form = {score.form: score for score in found.forms}
    assert by_form["iclr-2024"].error.mae.mean == pytest.approx((2 / 3 + 2) / 2)
    assert by_form["iclr-2026"].error.mae.mean == 3
    assert by_form["neurips-2025"].error.mae.mean == 0.5
    assert {name: mae.mean for name, mae in found.venue_maes.items()} == {
        "iclr": pytest.approx((2 / 3 + 2 + 3) / 3),
        "neurips": 0.5,
    }
    assert found.pooled_mae.mean == pytest.approx(((2 / 3 + 5) / 3 + 0.5) / 2)
    assert found.nmae.mean == pytest.approx(((2 / 3 + 2) / 2 / 9 + 3 / 10 + 0.5 / 5) / 3)
    assert (found.scored, found.invalid) == (4, {"outside the form's range": 1})


def test_decisions_are_iclr_s_at_each_form_s_threshold() -> None:
    found = score_predictions(MIXED, FORMS)
    assert found.decisions is not None
    assert (found.decisions.n, found.decisions.accuracy.mean) == (3, pytest.approx(2 / 3))
    assert {score.form: score.decisions is None for score in found.forms}["neurips-2025"]
    everywhere = score_predictions(MIXED, FORMS, deciding=("iclr", "neurips")).decisions
    assert everywhere is not None
    assert everywhere.n == 4


def test_the_floors_stand_beside_with_the_same_weights_as_the_model() -> None:
    found = score_predictions(MIXED, FORMS)
    human = {"iclr": ((1 + 1 + 2) / 3 + 2 + 2) / 3, "neurips": 1.0}
    assert found.pooled_human_mae == pytest.approx(sum(human.values()) / 2)
    assert found.pooled_constant_mae == pytest.approx(((2 * (20 / 3 - 4) / 2 + 0) / 3 + 0.0) / 2)
    assert found.pooled_random_mae is not None
    assert found.pooled_random_mae > found.pooled_constant_mae


def test_ratings_of_another_form_are_refused_by_its_name() -> None:
    with pytest.raises(DataError, match="'neurips-2025'"):
        score_predictions([paper("neurips-2025", (7, 8), 6)], FORMS)
    with pytest.raises(EvaluationError, match=r"'iclr-2024'.*'neurips-2024'"):
        score_predictions([paper("iclr-2024", (6, 8), 6, other_form="neurips-2024")], FORMS)


def test_unknown_forms_are_free_scales_out_of_the_normalised_mean_and_forms_without_ratings_are_counted() -> None:
    found = score_predictions([paper("nips-1987", (3, 5), 9), paper("nips-1987", (), 9), paper("tmlr-2025", (), 1)], {})
    assert [(score.form, score.scale.known, score.scale.allowed) for score in found.forms] == [
        ("nips-1987", False, (3, 5, 9))
    ]
    assert (found.venue_maes["nips"].mean, found.nmae.mean, found.no_scale) == (5, None, 1)
    assert found.forms[0].sub_scores is None


def test_nothing_gives_no_numbers() -> None:
    found = score_predictions([], FORMS)
    assert (found.pooled_mae.mean, found.nmae.mean, found.decisions, found.scored) == (None, None, None, 0)
    invalid = score_predictions([paper("iclr-2024", (6, 6), None)], FORMS)
    assert (invalid.pooled_mae.mean, invalid.invalid, invalid.forms[0].curve.slope) == (
        None,
        {"no prediction": 1},
        None,
    )


def test_imputed_midpoints_do_not_count_as_use_of_the_scale() -> None:
    found = score_predictions([paper("iclr-2024", (6, 6), None)], FORMS, impute="midpoint")
    assert (found.pooled_mae.mean, found.forms[0].predicted_use.n) == (0.5, 0)


def test_sub_scores_axis_by_axis_with_confidence_apart() -> None:
    rows = [
        RatedPaper(
            "a",
            "neurips-2024",
            (6, 6),
            6,
            scores={"soundness": (3, 2), "presentation": (4,), "confidence": (5, 3)},
            predicted_scores={"soundness": 3, "presentation": 2, "contribution": 4, "confidence": 1},
        ),
        RatedPaper("b", "neurips-2024", (6, 6), 6, scores={"soundness": (1,)}, predicted_scores={"soundness": 3}),
        RatedPaper("c", "neurips-2024", (6, 6), 6, scores={"soundness": (1,)}),
    ]
    found = sub_scores(rows, FORMS["neurips-2024"])
    soundness, presentation, contribution = found.axes
    assert (soundness.mae.mean, soundness.bias.mean) == (1.25, 1.25)
    assert (soundness.n, soundness.human, soundness.predicted) == (2, 3, 2)
    assert (presentation.mae.mean, presentation.bias.mean) == (2, -2)
    assert (contribution.mae.mean, contribution.n, contribution.predicted) == (None, 0, 1)
    assert found.mae.mean == pytest.approx((1.25 + 2) / 2)
    assert found.confidence is not None
    assert found.confidence.mae.mean == 3
    both = sub_scores(rows, FORMS["neurips-2024"], include_confidence=True)
    assert both.mae.mean == pytest.approx((1.25 + 2 + 3) / 3)


def test_sub_scores_have_intervals_by_paper() -> None:
    """Soundness is 0.5 and 2 off: resamples lie between them; presentation is of one paper and says nothing."""
    rows = [
        RatedPaper(
            "a",
            "neurips-2024",
            (6, 6),
            6,
            scores={"soundness": (3, 2), "presentation": (4,)},
            predicted_scores={"soundness": 3, "presentation": 2},
        ),
        RatedPaper("b", "neurips-2024", (6, 6), 6, scores={"soundness": (1,)}, predicted_scores={"soundness": 3}),
    ]
    found = sub_scores(rows, FORMS["neurips-2024"])
    soundness, presentation, _ = found.axes
    assert (soundness.mae.low, soundness.mae.high, soundness.mae.clusters) == (0.5, 2, 2)
    assert (presentation.mae.low, presentation.mae.high) == (None, None)
    assert (found.mae.low, found.mae.mean, found.mae.high) == (1.25, pytest.approx(1.625), 2)
    assert (found.mae.n, found.mae.clusters) == (3, 2)
    alone = sub_scores(rows[:1], FORMS["neurips-2024"]).mae
    assert (alone.low, alone.mean, alone.high) == (None, 1.25, None)


def test_the_interval_of_one_axis_is_that_of_the_mean() -> None:
    errors = {f"p{n}": {"rating": float(n % 7)} for n in range(60)}
    found = nested_interval([[errors]], seed=1)
    usual = bootstrap_interval({key: list(value.values()) for key, value in errors.items()}, seed=1)
    assert found == usual
    same_twice = nested_interval([[{key: {"a": v["rating"], "b": v["rating"]} for key, v in errors.items()}]], seed=1)
    assert (same_twice.mean, same_twice.n, same_twice.clusters) == (pytest.approx(usual.mean), 120, 60)
    assert same_twice.low == pytest.approx(usual.low, abs=0.08)
    assert same_twice.high == pytest.approx(usual.high, abs=0.08)
    twice = nested_interval([[errors], [errors, {}]], seed=1)
    assert twice.mean == pytest.approx(found.mean)
    assert twice.high - twice.low < found.high - found.low, "two conferences vary less than one"
    assert nested_interval([[{}], []], seed=1).mean is None


def test_a_sub_score_outside_the_form_is_counted_and_left_out() -> None:
    rows = [
        RatedPaper("a", "neurips-2024", (6, 6), 6, scores={"soundness": (3,)}, predicted_scores={"soundness": 0}),
        RatedPaper("b", "neurips-2024", (6, 6), 6, scores={"soundness": (3,)}, predicted_scores={"soundness": 4}),
    ]
    soundness = sub_scores(rows, FORMS["neurips-2024"]).axes[0]
    assert (soundness.mae.mean, soundness.n, soundness.predicted, soundness.invalid) == (1, 1, 1, 1)


def test_a_form_without_sub_scores_takes_no_part() -> None:
    found = sub_scores([paper("iclr-2019", (6, 6), 6)], FORMS["iclr-2019"])
    assert (found.axes, found.mae.mean) == ((), None)
    assert found.reason
    assert score_predictions([paper("iclr-2019", (6, 6), 6)], FORMS).sub_score_mae.mean is None


@pytest.mark.slow
def test_real_papers_score_a_reviewer_left_out_against_the_others(shared_data: Path) -> None:
    cases = list(read_cases(shared_data / "human_only" / "iclr2019_2020_reviews.jsonl"))
    first: dict[str, str] = {}
    for case in cases:
        if case.rating is not None:
            first.setdefault(case.paper_id, case.case_id)
    chosen = set(first.values())
    found = gather([c for c in cases if c.case_id not in chosen], [c for c in cases if c.case_id in chosen], FORMS)
    score = score_predictions(found.papers, FORMS)
    assert score.scored > 50
    assert score.pooled_mae.mean is not None
    assert score.pooled_random_mae is not None
    assert score.pooled_human_mae is not None
    assert score.pooled_mae.mean < score.pooled_random_mae
    assert score.pooled_mae.mean == pytest.approx(score.pooled_human_mae, abs=0.6)


def test_one_review_a_paper_is_enough_only_when_asked_for() -> None:
    rows = [paper("iclr-2024", (6,), 5), paper("iclr-2024", (3, 5), 5)]
    strict, loose = score_predictions(rows, FORMS), score_predictions(rows, FORMS, fewest_reviews=1)
    assert (strict.few_reviews, strict.scored, strict.forms[0].floors.n) == (1, 1, 1)
    assert (loose.few_reviews, loose.scored, loose.forms[0].floors.n, loose.pooled_mae.mean) == (0, 2, 2, 1)
    assert strict.pooled_human_mae == loose.pooled_human_mae == 2


def test_the_floors_are_of_the_papers_that_the_model_was_scored_on() -> None:
    """A model that leaves out the papers far from the middle stands beside the floors of what it has left."""
    easy = [paper("iclr-2024", (5, 6), 6, key=str(n)) for n in range(4)] + [paper("iclr-2024", (6, 6), 6)]
    hard = [paper("iclr-2024", human, None) for human in ((1, 1), (10, 10), (1, 3))]
    some, alone = score_predictions(easy + hard, FORMS), score_predictions(easy, FORMS)
    assert some.forms[0].floors == alone.forms[0].floors
    assert some.forms[0].human_use == alone.forms[0].human_use
    for one in (some, alone):
        assert (one.pooled_constant_mae, one.forms[0].floors.n) == (pytest.approx(4 * 0.1 / 5 + 0.4 / 5), 5)
    assert some.pooled_human_mae == pytest.approx(4 / 5)


def test_bias_by_conference_keeps_its_sign() -> None:
    found = score_predictions(MIXED, FORMS)
    assert found.venue_biases["iclr"].mean == pytest.approx((-2 / 3 + 2 + 3) / 3)
    assert found.venue_biases["neurips"].mean == -0.5
    assert (found.venue_biases["iclr"].low or 0) < 0 < (found.venue_biases["iclr"].high or 0)


def test_ranks_on_the_native_scale_by_form() -> None:
    rows = [
        paper("iclr-2024", (float(human), float(human)), given) for human, given in ((1, 3), (5, 5), (6, 5), (8, 8))
    ]
    (form,) = score_predictions(rows, FORMS).forms
    assert form.ranks.spearman.mean == pytest.approx(0.948683, abs=1e-6)
    assert form.ranks.kendall.mean == pytest.approx(5 / (6 * 5) ** 0.5)
    assert form.ranks.kendall.low is not None
    constant = score_predictions([paper("iclr-2024", (6, 6), 6), paper("iclr-2024", (3, 5), 6)], FORMS).forms[0].ranks
    assert (constant.spearman.mean, constant.reason) == (None, "one side rates all papers alike")
