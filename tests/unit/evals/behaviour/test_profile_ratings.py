from __future__ import annotations

from random import Random

import pytest

from referee.evals.agreement import scale_of
from referee.evals.grouping import Group
from referee.evals.profile.agreement import TWO_FORMS, PanelBook, Scales, agreements, alphas
from referee.evals.profile.ratings import SEVERAL, WHATS, WRONG_FORM, NoScale, RatingBook
from referee.schemas.case import ReviewCase
from referee.venues import load_venue

ALL = Group(("all",))


def case(number: int, rating: float | None, venue: str | None = "iclr-2024", **given: object) -> ReviewCase:
    about = {"case_id": f"r{number}", "paper_id": f"p{number}", "source": "human", "kind": "human", "text": "Fine."}
    return ReviewCase.model_validate({**about, "venue": venue, "rating": rating, **given})


def book(*cases: ReviewCase) -> RatingBook:
    found = RatingBook()
    for one in cases:
        found.add(ALL, one)
    return found


def test_a_group_of_two_scales_has_no_mean_rating_and_ranks_stay() -> None:
    found = book(case(1, 6), case(2, 6, "iclr-2026"), case(3, 6))
    assert found.scales()[ALL, "rating"] == NoScale(SEVERAL, ALL)
    assert found.rank(case(1, 6)) == pytest.approx(0.6)
    assert found.rank(case(2, 10, "iclr-2026")) == 1.0


@pytest.mark.parametrize("second", [case(2, 8, "iclr-2025"), case(2, None, "iclr-2026")])
def test_two_years_of_one_scale_and_a_review_without_a_rating_are_one_group(second: ReviewCase) -> None:
    found = book(case(1, 6, "iclr-2024"), second)
    assert not isinstance(found.scales()[ALL, "rating"], NoScale)


def test_people_s_ratings_off_their_form_are_taken_for_another_form() -> None:
    found = book(*(case(n, 7) for n in range(3)))
    assert list(found.wrong()) == [("iclr-2024", "rating", "3 of 3 of people's ratings are no values of 'iclr-2024'")]
    assert found.scales()[ALL, "rating"] == NoScale(WRONG_FORM, ALL)


def test_one_rating_off_the_form_is_a_slip() -> None:
    assert list(book(case(1, 7), case(2, 6), case(3, 8)).wrong()) == []


def test_a_system_s_ratings_off_the_form_are_counted() -> None:
    found = book(*(case(n, 7, kind="ai", source="m") for n in range(3)), case(9, 6, kind="ai", source="m"))
    assert list(found.wrong()) == []
    (shares,) = [one for one in found.shares() if one.what == "rating"]
    assert (shares.off_scale, shares.off_scale_share, sum(shares.counts)) == ({"7": 3}, 0.75, 1)


def test_an_unknown_form_is_a_free_scale() -> None:
    found = book(case(1, 2, "my-workshop"), case(2, 4, "my-workshop"), case(3, None, "my-workshop"))
    assert found.free == ["my-workshop"]
    (shares,) = [one for one in found.shares() if one.what == "rating"]
    assert (shares.known, shares.allowed, shares.counts, shares.missing) == (False, (2.0, 4.0), (1, 1), 1)


def test_ratings_without_a_venue_are_not_compared_between_groups() -> None:
    other, found = Group(("other",)), book(case(1, 2, None), case(2, 4, None))
    found.add(other, case(3, 8, None))
    assert found.scales()[ALL, "rating"] != found.scales()[other, "rating"]


def test_nulls_everywhere_have_no_scale() -> None:
    found = book(case(1, None, None), case(2, None, None))
    assert found.free == []
    assert [one for one in found.shares() if one.what == "rating"] == []


RATINGS = {"p1": (6, 6, 8), "p2": (3, 5), "p3": (5, 6, 6, 8), "p4": (3, 3, 5, 6), "p5": (8, 8)}
MODEL = {"p1": 8, "p2": 5, "p3": 6, "p4": 3, "p5": 8}


def panels(model: dict[str, float], venue: str = "iclr-2024") -> tuple[PanelBook, RatingBook]:
    panel, ratings = PanelBook(), RatingBook()
    rows = [case(n, value, paper_id=paper) for paper, some in RATINGS.items() for n, value in enumerate(some)]
    rows += [case(0, value, venue, paper_id=paper, source="m", kind="ai") for paper, value in model.items()]
    for one in rows:
        panel.add(one.source, one, None)
        ratings.add(ALL, one)
    return panel, ratings


def scales(ratings: RatingBook, *forms: str, across: bool = False, rated_on: str = "") -> Scales:
    return Scales({(form, what): ratings.scale(form, what) for form in forms for what in WHATS}, rated_on, across)


def test_the_specification_s_panel() -> None:
    panel, ratings = panels({paper: float(value) for paper, value in MODEL.items()})
    (alpha,) = alphas(panel, scales(ratings, "iclr-2024"), seed=0)
    assert alpha.human == pytest.approx(0.565517, abs=1e-6)
    assert alpha.joined == pytest.approx(0.664435, abs=1e-6)
    assert alpha.delta == pytest.approx(0.098918, abs=1e-6)


def test_differences_are_from_the_median_human_rating() -> None:
    panel, ratings = panels({"p1": 8.0, "p2": 5.0})
    (found,) = agreements(panel, scales(ratings, "iclr-2024"), seed=0)
    assert found.difference == pytest.approx(((8 - 6) + (5 - 4)) / 2)
    assert (found.papers, found.scale, found.off_scale_share) == (2, "native", 0.0)


def test_ratings_of_another_form_are_compared_on_request_only_and_by_rank() -> None:
    panel, ratings = panels({"p1": 10.0, "p5": 10.0}, "iclr-2026")
    forms = ("iclr-2024", "iclr-2026")
    (refused,) = agreements(panel, scales(ratings, *forms), seed=0)
    assert refused.difference is None
    assert "'iclr-2024'" in refused.reason
    assert "'iclr-2026'" in refused.reason
    assert list(alphas(panel, scales(ratings, *forms), seed=0)) == []
    (ranked,) = agreements(panel, scales(ratings, *forms, across=True), seed=0)
    assert (ranked.scale, ranked.other_form) == ("ranks", "iclr-2026")
    assert ranked.difference == pytest.approx(((1 - 0.6) + (1 - 0.8)) / 2)


def test_ratings_that_the_form_does_not_offer_are_not_compared_with_people_s() -> None:
    panel, ratings = panels({"p1": 7.0, "p5": 8.0})
    (refused,) = agreements(panel, scales(ratings, "iclr-2024"), seed=0)
    assert refused.difference is None
    assert (refused.off_scale_share, "--compare-scales" in refused.reason) == (0.5, True)
    known = scale_of(load_venue("neurips-2022"))
    on = scales(ratings, "iclr-2024", across=True, rated_on="neurips-2022")
    on = Scales({**on.of, ("neurips-2022", "rating"): known}, on.rated_on, True)
    (ranked,) = agreements(panel, on, seed=0)
    assert ranked.difference == pytest.approx(((6 / 9 - 0.6) + (7 / 9 - 0.8)) / 2)
    assert ranked.off_scale_share == 0.5


def test_a_system_s_review_without_a_venue_is_taken_to_be_on_people_s_form() -> None:
    panel, ratings = panels({})
    panel.add("m", case(0, 8, None, paper_id="p1", source="m", kind="ai"), None)
    (found,) = agreements(panel, scales(ratings, "iclr-2024"), seed=0)
    assert (found.difference, found.other_form) == (2.0, "")


def test_of_several_reviews_of_a_paper_by_one_system_the_first_counts() -> None:
    panel, ratings = panels({"p1": 8.0})
    panel.add("m", case(7, 1, paper_id="p1", source="m", kind="ai"), None)
    (found,) = agreements(panel, scales(ratings, "iclr-2024"), seed=0)
    assert (found.difference, found.repeated) == (2.0, 1)


def test_human_ratings_that_a_record_lists_stand_for_human_reviews() -> None:
    panel, ratings = PanelBook(), RatingBook()
    for n, listed in enumerate(([6, 8, "5: marginally below"], ["3 good", None, 3])):
        one = case(n, 6, source="m", kind="ai", extra={"human_ratings": listed})
        panel.add("m", one, None)
        ratings.add(ALL, one)
    (found,) = agreements(panel, scales(ratings, "iclr-2024"), seed=0)
    assert found.papers == 2
    assert found.difference == pytest.approx(((6 - 6) + (6 - 3)) / 2)


def test_engagement_given_people_s() -> None:
    panel = PanelBook()
    for paper, people, model in (("p1", [True, True], True), ("p2", [True, False], False), ("p3", [False], True)):
        for n, verdict in enumerate(people):
            panel.add("human", case(n, None, paper_id=paper), verdict)
        panel.add("m", case(0, None, paper_id=paper, source="m", kind="ai"), model)
    found = {one.unit: one for one in panel.engagement("m", "heuristic", seed=0)}
    assert {one.conference for one in found.values()} == {"iclr"}
    assert (found["majority"].given_positive, found["majority"].given_negative) == (1.0, 0.5)
    assert (found["any"].given_positive, found["any"].given_negative) == (0.5, 1.0)
    assert (found["pair"].positive, found["pair"].negative) == (3, 2)


def test_engagement_has_its_interval_and_is_by_conference_before_it_is_pooled() -> None:
    panel = PanelBook()
    for venue, models in (("iclr-2024", (True, True, True, False)), ("neurips-2024", (False, False, True, False))):
        for n, model in enumerate(models):
            panel.add("human", case(n, None, venue, paper_id=f"{venue}-{n}"), True)
            panel.add("m", case(0, None, venue, paper_id=f"{venue}-{n}", source="m", kind="ai"), model)
    found = {one.conference: one for one in panel.engagement("m", "heuristic", seed=0) if one.unit == "majority"}
    assert {name: one.given_positive for name, one in found.items()} == {"iclr": 0.75, "neurips": 0.25, "": 0.5}
    assert found["iclr"].given_positive_low is not None
    assert found["iclr"].given_positive_low < 0.75 < (found["iclr"].given_positive_high or 0)
    assert (found["iclr"].given_negative, found["iclr"].given_negative_low) == (None, None)


def test_two_configurations_of_one_source_are_compared_on_the_papers_of_both() -> None:
    panel = PanelBook()
    for name, ratings in (("m / short", (6, 3, 8, 1)), ("m / long", (6, 3, 8, 5)), ("n", (1, 1, 1, 1))):
        for paper, rating in enumerate(ratings):
            panel.add(name, case(paper, rating, source=name[0], kind="ai"), None)
    (found,) = panel.consistency(seed=0)
    assert (found.first, found.second, found.papers) == ("m / long", "m / short", 4)
    assert found.alpha is not None
    assert found.alpha < 1.0


def test_the_agreement_of_two_configurations_is_by_conference_and_names_what_it_leaves_out() -> None:
    panel = PanelBook()
    random = Random(5)
    scales = {"iclr-2024": (1, 3, 5, 6, 8, 10), "neurips-2024": (1, 2, 3, 4), "no venue": (60, 70, 80)}
    for prompt in ("short", "long"):
        for venue, scale in scales.items():
            for n in range(60):
                paper = f"{venue}-{n}"
                rated = case(n, random.choice(scale), venue, paper_id=paper, source="m", kind="ai")
                panel.add(f"m / {prompt}", rated, None)
        panel.add(f"m / {prompt}", case(1, 5, f"{prompt}-2024", paper_id="two-forms", source="m", kind="ai"), None)
        rating = 5 if prompt == "long" else None
        panel.add(f"m / {prompt}", case(2, rating, paper_id="no-rating", source="m", kind="ai"), None)
    *panels, other = panel.consistency(seed=0)
    assert [(one.conference, one.papers, one.without_rating) for one in panels] == [
        ("iclr", 60, 1),
        ("neurips", 60, 0),
        ("no venue", 60, 0),
    ]
    for one in panels:
        assert one.alpha is not None
        assert (one.low or 0) < 0 < (one.high or 0), one
    assert (other.papers, other.alpha, other.reason) == (1, None, TWO_FORMS)
