from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.errors import EvaluationError
from referee.evals.agreement.panels import (
    NO_PAIRS,
    NO_PAPERS,
    NO_VARIATION,
    Panels,
    TwiceRated,
    panel_alphas,
    self_consistency,
)
from referee.evals.agreement.rated import RatedPaper

RATINGS: list[tuple[float, ...]] = [(6, 6, 8), (3, 5), (5, 6, 6, 8), (3, 3, 5, 6), (8, 8)]


def papers(
    human: list[tuple[float, ...]], model: list[float | None], year: int | None = 2024, form: str = "iclr-2024"
) -> list[RatedPaper]:
    rows = enumerate(zip(human, model, strict=True))
    return [RatedPaper(f"{year}-{i}", form, h, m, conference="iclr", year=year) for i, (h, m) in rows]


def panel(rows: list[RatedPaper], **more: object) -> Panels:
    (found,) = panel_alphas(rows, **more)  # type: ignore[arg-type]
    return found


def test_the_specification_s_panels() -> None:
    found = panel(papers(RATINGS, [8, 5, 6, 3, 8]))
    assert found.human.mean == pytest.approx(0.565517, abs=1e-6)
    assert found.joined.mean == pytest.approx(0.664435, abs=1e-6)
    assert found.delta.mean == pytest.approx(0.098918, abs=1e-6)
    constant = panel(papers(RATINGS, [8, 8, 8, 8, 8]))
    assert constant.joined.mean == pytest.approx(0.165200, abs=1e-6)
    assert constant.delta.mean == pytest.approx(-0.400317, abs=1e-6)


def test_papers_without_a_prediction_or_a_second_human_rating_are_in_neither_alpha() -> None:
    rows = papers(RATINGS, [8, 5, 6, 3, 8])
    more = [*rows, replace(rows[0], paper_id="x", predicted=None), replace(rows[0], paper_id="y", human=(3,))]
    found, plain = panel(more), panel(rows)
    assert (found.human, found.delta, found.years[0].papers) == (plain.human, plain.delta, 5)
    assert (found.left_out, plain.left_out) == (1, 0)


def test_the_mean_over_years_is_unweighted_and_years_without_a_value_are_named() -> None:
    rows = papers(RATINGS, [8, 5, 6, 3, 8])
    other = papers([(1, 8), (3, 3)], [8, 3], 2025, "iclr-2025")
    alike = papers([(6, 6), (6, 6)], [6, 6], 2023, "iclr-2023")
    alone = papers([(6,), (5,)], [6, 6], 2022, "iclr-2022")
    missing = papers([(6, 5)], [None], None, "iclr")
    found = panel(rows + other + alike + alone + missing)
    each = [p.human.mean for p in found.years if p.year in (2024, 2025)]
    assert found.human.mean == pytest.approx(sum(v for v in each if v is not None) / 2)
    assert found.skipped == {"2022": NO_PAIRS, "2023": NO_VARIATION, "no year": NO_PAPERS}
    assert [p.year for p in found.years] == [2022, 2023, 2024, 2025, None]


def test_intervals_hold_the_value_repeat_with_the_seed_and_narrow_with_papers() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice([3, 5, 6, 8], size=400)
    human = [tuple(float(v) for v in rng.choice([t, 3, 5, 6, 8], size=3)) for t in truth]
    few, many = (panel(papers(human[:n], [float(t) for t in truth[:n]])) for n in (40, 400))
    for found in (few, many):
        for estimate in (found.human, found.joined, found.delta):
            assert estimate.mean is not None
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.low < estimate.mean < estimate.high
    assert few == panel(papers(human[:40], [float(t) for t in truth[:40]]))
    assert _width(many) < _width(few) / 2


def _width(found: Panels) -> float:
    assert found.delta.high is not None
    assert found.delta.low is not None
    return found.delta.high - found.delta.low


def test_a_group_of_two_forms_and_a_prediction_of_another_scale_are_refused() -> None:
    rows = papers(RATINGS, [8, 5, 6, 3, 8])
    with pytest.raises(EvaluationError, match="iclr-2024, neurips-2024"):
        panel_alphas([*rows, replace(rows[0], form="neurips-2024")])
    with pytest.raises(EvaluationError, match="'neurips-2024'"):
        panel_alphas([replace(rows[0], other_form="neurips-2024")])


def test_one_paper_has_a_value_and_no_interval() -> None:
    found = panel(papers([(3, 5)], [5]))
    assert found.years[0].human.mean is not None
    for estimate in (found.years[0].human, found.years[0].joined, found.years[0].delta, found.human, found.delta):
        assert (estimate.low, estimate.high) == (None, None)
    (twice,) = self_consistency([TwiceRated("a", "iclr-2024", (3, 5))])
    assert (twice.alpha.mean, twice.alpha.low) == (0, None)


def test_the_printed_weighting_has_no_interval() -> None:
    found = panel(papers(RATINGS, [8, 5, 6, 3, 8]), weighting="pairs")
    assert found.human.mean == pytest.approx(0.485294, abs=1e-6)
    assert (found.human.low, found.resamples) == (None, 0)


def test_nothing_gives_nothing() -> None:
    assert panel_alphas([]) == ()


def twice(form: str, ratings: list[tuple[float, float]], year: int | None = 2024) -> list[TwiceRated]:
    conference = form.split("-")[0]
    return [TwiceRated(f"{form}-{i}", form, pair, conference, year) for i, pair in enumerate(ratings)]


def test_self_consistency_is_alpha_of_two_runs() -> None:
    (found,) = self_consistency(twice("iclr-2024", [(6, 6), (3, 3), (8, 8)]))
    assert (found.alpha.mean, found.papers, found.conference, found.year, found.form) == (
        *(1, 3, "iclr", 2024),
        "iclr-2024",
    )
    assert list(self_consistency([])) == []
    (constant,) = self_consistency(twice("iclr-2024", [(6, 6), (6, 6)]))
    assert (constant.alpha.mean, constant.reason) == (None, NO_VARIATION)


def test_random_ratings_of_two_prompts_do_not_agree_however_many_scales_there_are() -> None:
    rng = np.random.default_rng(11)
    values = {("iclr-2024", 2024): [1, 3, 5, 6, 8, 10], ("icml-2025", 2025): [1, 2, 3, 4, 5]}
    values |= {("iclr-2026", 2026): [0, 2, 4, 6, 8, 10], ("tmlr-2024", 2024): [60, 70, 80, 90]}
    rated = [
        row
        for (form, year), scale in values.items()
        for row in twice(form, [tuple(rng.choice(scale, 2).astype(float)) for _ in range(120)], year)
    ]
    found = list(self_consistency(rated, resamples=400))
    assert [(one.conference, one.year, one.mean_of) for one in found] == [
        ("iclr", 2024, 0),
        ("iclr", 2026, 0),
        ("iclr", None, 2),
        ("icml", 2025, 0),
        ("tmlr", 2024, 0),
    ]
    for one in found:
        assert one.alpha.low is not None
        assert one.alpha.high is not None
        assert one.alpha.low < 0 < one.alpha.high, one
    first, second, mean = found[:3]
    assert first.alpha.mean is not None
    assert second.alpha.mean is not None
    assert mean.alpha.mean == pytest.approx((first.alpha.mean + second.alpha.mean) / 2)
    assert (mean.alpha.high or 0) - (mean.alpha.low or 0) < (first.alpha.high or 0) - (first.alpha.low or 0)


def test_people_s_alpha_has_one_interval_whichever_system_stands_beside_them() -> None:
    rng = np.random.default_rng(3)
    human = [tuple(float(v) for v in rng.choice([3, 5, 6, 8], size=3)) for _ in range(40)]
    systems = [[float(v) for v in rng.choice([3, 5, 6, 8], size=40)] for _ in range(3)]
    found = [panel(papers(human, list(given))) for given in systems]
    assert len({(one.human, one.years[0].human) for one in found}) == 1
    assert len({one.joined for one in found}) == 3
    earlier = papers(human[:5], [6.0] * 5, 2023, "iclr-2023")
    assert panel(earlier + papers(human, list(systems[0]))).years[1].human == found[0].human, "nor other years"
    assert panel(papers(human, list(systems[0]))[::-1]) == found[0], "nor the order of papers"
