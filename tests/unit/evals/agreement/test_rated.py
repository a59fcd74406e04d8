from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.data import read_cases
from referee.errors import EvaluationError
from referee.evals.agreement import apply, fit_rating_map, score_predictions
from referee.evals.agreement.calibration import MapName, RatingPair
from referee.evals.agreement.distributions import compare_scales, histogram
from referee.evals.agreement.rated import accepted, gather, gather_listed
from referee.evals.agreement.scales import scale_of
from referee.schemas.case import ReviewCase
from referee.venues.registry import list_venues

FORMS = {form.id: form for form in list_venues()}


def case(paper: str, rating: float | None, venue: str | None = "iclr-2024", **more: Any) -> ReviewCase:
    given = {"case_id": f"{paper}-{rating}", "source": "human", "kind": "human", "text": "", **more}
    return ReviewCase(paper_id=paper, rating=rating, venue=venue, **given)


def test_reviews_are_joined_by_paper_with_sub_scores_and_decision() -> None:
    human = [
        case("p", 6, fields={"Soundness": "3 good", "presentation": 2}, confidence=4, decision="Accept (poster)"),
        case("p", 8, fields={"soundness": 4, "presentation": None}, year=2024),
        case("p", None),
        case("q", 3, decision="Reject"),
    ]
    found = gather(human, [case("p", 7, fields={"soundness": 2, "contribution": "9"}), case("z", 5)], FORMS)
    p, q = found.papers
    assert (p.human, p.predicted, p.reason, p.conference, p.year, p.accepted) == ((6, 8), 7, "", "iclr", 2024, True)
    assert p.scores == {"soundness": (3, 4), "presentation": (2,), "confidence": (4,)}
    assert p.predicted_scores == {"soundness": 2}
    assert (q.human, q.predicted, q.reason, q.accepted) == ((3,), None, "", False)
    assert found.predicted_only == ("z",)


def test_a_prediction_without_a_rating_says_so_and_further_ones_are_counted() -> None:
    found = gather([case("p", 6)], [case("p", None), case("p", 3), case("p", 5)], FORMS)
    assert (found.papers[0].predicted, found.repeated) == (None, 2)
    assert "no rating" in found.papers[0].reason


def test_two_forms_for_a_paper_are_refused_with_both_names() -> None:
    with pytest.raises(EvaluationError, match="'iclr-2024' and 'iclr-2026'"):
        gather([case("p", 6), case("p", 6, "iclr-2026")], [], FORMS)


def test_a_prediction_on_other_values_is_refused_unless_asked_for() -> None:
    human, model = [case("p", 6)], [case("p", 6, "neurips-2024")]
    with pytest.raises(EvaluationError, match=r"'iclr-2024'.*'neurips-2024'"):
        gather(human, model, FORMS)
    (paper,) = gather(human, model, FORMS, across_scales=True).papers
    assert (paper.predicted, paper.other_form) == (6, "neurips-2024")
    assert gather(human, [case("p", 6, "iclr-2025")], FORMS).papers[0].other_form == ""


def test_papers_without_a_venue_are_named_and_unknown_forms_stay() -> None:
    found = gather([case("p", 6, None), case("q", 4, "nips-1987")], [case("q", 4, "nips-1987")], FORMS)
    assert found.no_venue == ("p",)
    (paper,) = found.papers
    assert (paper.form, paper.conference, paper.predicted, paper.scores) == ("nips-1987", "nips", 4, {})


def test_the_same_whatever_the_order_of_papers() -> None:
    human = [case("b", 6), case("a", 3)]
    assert gather(human, [], FORMS) == gather(human[::-1], [], FORMS)


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ("Accept", True),
        ("Accept (Oral)", True),
        ("accepted", True),
        ("ICLR 2024 spotlight", True),
        ("NeurIPS 2023 poster", True),
        ("Accept: notable-top-5%", True),
        ("Reject", False),
        ("rejected", False),
        ("Desk Reject", None),
        ("desk-rejected", None),
        ("Withdrawn", None),
        ("Invite to Workshop Track", None),
        ("", None),
        (None, None),
        ("unaccepting", None),
    ],
)
def test_decisions_in_the_data_s_words(decision: str | None, expected: bool | None) -> None:
    assert accepted(decision) is expected


def test_real_reviews_join(shared_data: Path) -> None:
    human = list(read_cases(shared_data / "human_only" / "iclr2019_2020_reviews.jsonl"))
    found = gather(human, [], FORMS)
    assert {paper.form for paper in found.papers} == {"iclr-2019", "iclr-2020"}
    assert sum(len(paper.human) for paper in found.papers) == sum(case.rating is not None for case in human) > 100


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


@pytest.mark.slow
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
