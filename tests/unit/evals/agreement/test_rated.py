from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.data import read_cases
from referee.errors import EvaluationError
from referee.evals.agreement.rated import accepted, gather
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
