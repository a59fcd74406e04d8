from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.data import read_cases
from referee.errors import EvaluationError
from referee.evals.agreement import apply, fit_rating_map, score_predictions
from referee.evals.agreement.calibration import MapName, RatingPair
from referee.evals.agreement.distributions import compare_scales, histogram
from referee.evals.agreement.rated import gather_listed
from referee.evals.agreement.scales import scale_of
from referee.schemas.case import ReviewCase
from referee.venues.registry import list_venues

FORMS = {form.id: form for form in list_venues()}


def ai_case(paper: str, rating: float | None, **extra: Any) -> ReviewCase:
    return ReviewCase(
        case_id=f"{paper}{rating}",
        paper_id=paper,
        venue="iclr-2022",
        source="m",
        kind="ai",
        text="",
        rating=rating,
        decision="Reject",
        extra=extra,
    )


def test_listed_ratings_are_the_human_side() -> None:
    found = gather_listed(
        [ai_case("a", 7, human_ratings=["6: above", 5.0, None]), ai_case("a", 1, human_ratings=[3]), ai_case("b", 5)],
        FORMS,
    )
    (paper,) = found.papers
    assert (paper.human, paper.predicted, paper.accepted, found.repeated) == ((6, 5), 7, False, 1)


def test_a_form_named_by_the_user_is_refused_or_marked() -> None:
    rows = [ai_case("a", 7, human_ratings=[6, 5])]
    with pytest.raises(EvaluationError, match=r"'iclr-2022'.*'neurips-2022'"):
        gather_listed(rows, FORMS, rated_on="neurips-2022")
    found = gather_listed(rows, FORMS, rated_on="neurips-2022", across_scales=True)
    assert found.papers[0].other_form == "neurips-2022"
    assert gather_listed(rows, FORMS, rated_on="iclr-2024").papers[0].other_form == ""


def test_the_ai_scientist_s_reviewers_against_iclr_2022(shared_data: Path) -> None:
    cases = list(read_cases(shared_data / "ai_only" / "iclr2022_ai_scientist_reviews.jsonl"))
    chosen = [c for c in cases if c.source == "claude-3-5-sonnet-20240620"]
    found = gather_listed(chosen, FORMS)
    assert len(found.papers) == 228
    score = score_predictions(found.papers, FORMS)
    (form,) = score.forms
    assert score.scored + sum(score.invalid.values()) + score.few_reviews == 228
    assert form.human_off_scale == 0
    assert (form.predicted_use.off_scale or 0) > 0.1
    assert score.decisions is not None
    assert score.decisions.auc.mean is not None
    assert score.decisions.auc.mean > 0.5
    scale = scale_of(FORMS["iclr-2022"])
    assert scale is not None
    assert histogram((scale, paper.predicted) for paper in found.papers).off_scale_share == pytest.approx(
        form.predicted_use.off_scale
    )
    pairs = [RatingPair(row.paper.paper_id, row.predicted, row.target) for row in form.targets.scored]
    fitted = fit_rating_map(pairs, scale, MapName("claude"))
    assert fitted.mae_after.mean < fitted.mae_before.mean
    assert 1 <= apply(fitted, 7).value <= 10
    theirs = scale_of(FORMS["neurips-2022"])
    assert theirs is not None
    ranks = compare_scales(
        (scale, [value for paper in found.papers for value in paper.human]),
        (theirs, [paper.predicted for paper in found.papers if paper.predicted is not None]),
    )
    assert ranks.off_scale == (0, 0)
    assert ranks.distances is not None
