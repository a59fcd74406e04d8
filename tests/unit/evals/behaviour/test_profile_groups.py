from __future__ import annotations

import math

import numpy as np
import pytest

from referee.evals.profile import groups
from referee.evals.profile.grouping import Group
from referee.evals.profile.measures import Measure
from referee.evals.profile.resamples import percentiles, resampled
from referee.evals.profile.result import Test
from referee.evals.profile.table import ProfileTable
from referee.stats import bootstrap_interval

A, B = Group(("a",)), Group(("b",))
FIRST, SECOND = [500, 540, 610, 480, 530], [450, 520, 470, 490]


def table(rows: dict[Group, list[tuple[str, float | None]]], *names: str) -> ProfileTable:
    measures = [Measure(name, name) for name in names or ("words",)]
    found = ProfileTable(measures)
    for group, values in rows.items():
        for paper, value in values:
            reasons = {one.name: "the text is empty" for one in measures}
            found.add(group, paper, None, {one.name: value for one in measures}, reasons)
    return found


def numbered(values: list[int], prefix: str) -> list[tuple[str, float | None]]:
    return [(f"{prefix}{n}", float(value)) for n, value in enumerate(values)]


def only(found: ProfileTable, names: tuple[Group, Group] = (A, B)) -> list[Test]:
    return list(groups.tests(found, [names], {}, seed=0))


def test_the_specification_s_mann_whitney() -> None:
    (test,) = only(table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q")}))
    assert (test.u, test.method) == (17.0, "exact")
    assert test.p == pytest.approx(0.111111, abs=1e-6)
    assert test.effect == pytest.approx(0.7)
    assert test.p_holm == test.p


def test_above_eight_a_side_the_normal_curve_is_used() -> None:
    many = [float(n) for n in range(9)]
    (test,) = only(table({A: [(f"p{n}", n) for n in many], B: [(f"q{n}", n + 0.5) for n in many]}))
    assert test.method == "normal"


def test_holm_corrects_over_the_measures_of_a_pair() -> None:
    found = only(table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q")}, "words", "fre", "xref"))
    assert [one.p_holm for one in found] == pytest.approx([3 / 9] * 3, abs=1e-6)


def test_a_paper_in_both_groups_is_drawn_for_both_at_once() -> None:
    """Papers that differ a lot, groups that differ by one on each of them: a paired interval is narrow."""
    far: list[tuple[str, float | None]] = [(f"p{n}", 100.0 * n) for n in range(30)]
    near: list[tuple[str, float | None]] = [(f"p{n}", 100.0 * n + 1) for n in range(30)]
    (paired,) = only(table({A: near, B: far}))
    assert paired.low == pytest.approx(1.0)
    assert paired.high == pytest.approx(1.0)
    (apart,) = only(table({A: near, B: [(f"q{paper}", value) for paper, value in far]}))
    assert apart.low is not None
    assert apart.high is not None
    assert apart.high - apart.low > 500


def test_a_measure_without_values_is_not_tested_and_leaves_holm_alone() -> None:
    found = table({A: numbered(FIRST, "p"), B: [("q", None)]})
    (test,) = only(found)
    assert (test.p, test.effect, test.reason) == (None, None, groups.EMPTY)
    assert (test.n_first, test.n_second) == (5, 0)


def test_nothing_varies_has_a_difference_and_no_standardised_one() -> None:
    (test,) = only(table({A: [("p", 1.0), ("q", 1.0)], B: [("r", 1.0), ("s", 1.0)]}))
    assert (test.difference, test.standardised, test.p) == (0.0, None, 1.0)


def test_means_are_over_reviews_and_missing_ones_are_counted_with_their_reason() -> None:
    found = table({A: [("p", 1.0), ("p", 2.0), ("q", 6.0), ("q", None)]})
    (cell,) = groups.cells(found, A, {}, seed=0)
    assert (cell.mean, cell.median, cell.n, cell.papers, cell.skipped) == (3.0, 2.0, 3, 2, 1)
    assert cell.reasons == {"the text is empty": 1}


def test_one_paper_has_a_mean_and_no_interval() -> None:
    (cell,) = groups.cells(table({A: [("p", 1.0), ("p", 3.0)]}), A, {}, seed=0)
    assert (cell.mean, cell.low, cell.high) == (2.0, None, None)


def test_a_group_without_a_value_has_null_and_not_zero() -> None:
    (cell,) = groups.cells(table({A: [("p", None)]}), A, {}, seed=0)
    assert (cell.mean, cell.median, cell.sd, cell.n) == (None, None, None, 0)


def test_the_interval_is_that_of_the_bootstrap_by_paper() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"p{n % 40}", float(rng.normal(n % 40, 1))) for n in range(200)]
    (cell,) = groups.cells(table({A: rows}), A, {}, seed=0)  # type: ignore[dict-item]
    by_paper: dict[str, list[float]] = {}
    for paper, value in rows:
        by_paper.setdefault(paper, []).append(value)
    other = bootstrap_interval(by_paper, seed=1)
    assert cell.mean == pytest.approx(other.mean)
    assert cell.low == pytest.approx(other.low, abs=0.6)
    assert cell.high == pytest.approx(other.high, abs=0.6)


def test_resamples_draw_as_many_papers_as_there_are() -> None:
    drawn = resampled(np.ones((7, 2)), seed=0, resamples=50)
    assert drawn.shape == (50, 2)
    assert (drawn == 7).all()
    assert percentiles(np.array([math.nan, math.nan]), 7) == (None, None)


def test_many_groups_are_each_compared_with_people() -> None:
    rows = {Group((name,)): numbered([1, 2], name) for name in ("m1", "m2", "m3", "m4", "m5")}
    rows[Group(("human",))] = numbered([1], "h")
    pairs = groups.pairs_of(table(rows), ("source",))
    assert [second.label for _, second in pairs] == ["human"] * 5
    assert len(groups.pairs_of(table(dict(list(rows.items())[:4])), ("source",))) == 6


def test_trends_join_venues_and_keep_sources_apart() -> None:
    found = ProfileTable([Measure("words", "words")])
    for source, year, value in (("x", 2019, 1.0), ("x", 2020, 3.0), ("y", 2020, 9.0)):
        found.add(Group((source, f"iclr-{year}", str(year))), f"p{value}", year, {"words": value}, {})
    cells = list(groups.trends(found, ("source", "venue", "year"), ("words",), seed=0))
    assert [(cell.series, cell.year, cell.mean) for cell in cells] == [
        ("x", 2019, 1.0),
        ("x", 2020, 3.0),
        ("y", 2020, 9.0),
    ]


def test_histograms_sum_to_one() -> None:
    found = table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q")})
    for shares in groups.histograms(found)["words"].values():
        assert sum(shares.values()) == pytest.approx(1.0)
