from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from referee.errors import SettingsError
from referee.evals.grouping import Group, Grouping, Rows, conference_of, era_of, year_of
from referee.evals.profile import groups
from referee.evals.profile.result import Test
from referee.evals.reading import ReadMetric
from referee.evals.store import Store
from referee.schemas.case import ReviewCase
from referee.stats import bootstrap_interval, mann_whitney
from referee.stats.resamples import percentiles, resampled


def case(**given: object) -> ReviewCase:
    about = {"case_id": "r", "paper_id": "p", "source": "human", "kind": "human", "text": "Fine."}
    return ReviewCase.model_validate({**about, **given})


def test_a_group_is_labelled_by_its_values_and_says_what_is_missing() -> None:
    grouping = Grouping()
    assert grouping.of(case(venue="iclr-2020", year=2020)).label == "human / iclr-2020"
    assert grouping.of(case(venue="iclr-2020")).label == "human / iclr-2020 / no year"
    assert grouping.of(case()).label == "human / no venue / no year"


def test_a_column_of_the_data_is_a_key_and_tells_systems_apart() -> None:
    grouping = Grouping(["source", "config"])
    one = case(source="m", kind="ai", extra={"config": "few-shot"})
    assert grouping.of(one).label == "m / few-shot"
    assert grouping.system(one) == "m / few-shot"
    grouping.require_columns()


@pytest.mark.parametrize(
    ("decision", "group"),
    [
        ("Accept (oral)", "accept"),
        ("Accept (poster)", "accept"),
        ("Reject", "reject"),
        ("Desk Rejected", "desk_reject"),
        ("Withdrawn", "withdrawn"),
        ("Invite to Workshop Track", "decision unclear"),
        ("  ", "no decision"),
        (None, "no decision"),
    ],
)
def test_a_decision_is_grouped_by_its_class(decision: str | None, group: str) -> None:
    one = ReviewCase(case_id="r", paper_id="p", source="m", kind="ai", text="", decision=decision)
    grouping, rows = Grouping(["decision"]), Rows("source,decision", [one])
    assert grouping.of(one).label == group
    assert [key.label for key in rows] == [f"{group}: m"]
    unclear = {decision: 1} if group == "decision unclear" else {}
    assert grouping.unclear == rows.unclear == unclear


def test_a_column_that_no_review_has_is_refused() -> None:
    grouping = Grouping(["source", "cofnig"])
    grouping.of(case())
    with pytest.raises(SettingsError, match="'cofnig'"):
        grouping.require_columns()


@pytest.mark.parametrize("by", [[], ["source", ""], ["venue", "venue"], ["era"]])
def test_keys_that_make_no_groups_are_refused(by: list[str]) -> None:
    with pytest.raises(SettingsError):
        Grouping(by)


@pytest.mark.parametrize("era", ["yesterday", "2022-13", "2022-11-40", "22"])
def test_an_era_needs_a_date(era: str) -> None:
    with pytest.raises(SettingsError, match="no date"):
        Grouping(era=era)


@pytest.mark.parametrize(
    ("date", "year", "era", "expected"),
    [
        ("2022-11-29", None, "2022-11-30", "before 2022-11-30"),
        ("2022-11-30", None, "2022-11-30", "from 2022-11-30"),
        ("2022-11-30T08:00:00Z", 2021, "2022-11-30", "from 2022-11-30"),
        ("2022-11", None, "2022-11-30", ""),
        ("2022-10", None, "2022-11-30", "before 2022-11-30"),
        ("", 2022, "2022-11-30", ""),
        ("", 2023, "2022-11-30", "from 2022-11-30"),
        ("", 2021, "2022-11-30", "before 2022-11-30"),
        ("", 2022, "2022", "from 2022"),
        ("", None, "2022", ""),
    ],
)
def test_an_era_is_told_by_the_review_s_date_else_by_its_year(
    date: str, year: int | None, era: str, expected: str
) -> None:
    assert era_of(case(date=date, year=year), era) == expected


@pytest.mark.parametrize(
    ("venue", "expected"),
    [("iclr-2023", "pre"), ("iclr-2024", "post"), ("NeurIPS 2022", "pre"), ("neurips-2023", "post"), ("icml-2025", "")],
)
def test_praib_s_eras_go_by_conference_and_year(venue: str, expected: str) -> None:
    assert era_of(case(venue=venue), "praib") == expected


def test_a_year_is_found_in_the_venue_s_name() -> None:
    assert year_of(case(venue="iclr-2019")) == 2019
    assert year_of(case(venue="iclr")) is None
    assert conference_of("agents4science-2025") == "agents4science"


A, B = Group(("a",)), Group(("b",))
FIRST, SECOND = [500, 540, 610, 480, 530], [450, 520, 470, 490]


def column(name: str, variant_of: str = "") -> ReadMetric:
    return ReadMetric(name, name, unit="", of=lambda read: None, variant_of=variant_of)


def add(found: Store[Group], group: Group, paper: str, values: dict[str, float | None], **about: Any) -> None:
    row = found.add(group, paper, **about)
    for name, value in values.items():
        found.put(row, name, value, "the text is empty")


def table(rows: dict[Group, list[tuple[str, float | None]]], *names: str) -> Store[Group]:
    found: Store[Group] = Store(names or ("words",))
    for group, values in rows.items():
        for paper, value in values:
            add(found, group, paper, dict.fromkeys(found.names, value))
    return found


def numbered(values: list[int], prefix: str) -> list[tuple[str, float | None]]:
    return [(f"{prefix}{n}", float(value)) for n, value in enumerate(values)]


def measures(found: Store[Group]) -> list[ReadMetric]:
    return [column(name, "words" if name == "tokens" else "") for name in found.names]


def only(found: Store[Group], names: tuple[Group, Group] = (A, B)) -> list[Test]:
    return list(groups.tests(found, measures(found), [names], {}, seed=0))


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


def test_what_does_not_vary_is_not_tested_and_leaves_holm_alone() -> None:
    found = Store[Group](("words", "xref"))
    for group, values in ((A, FIRST), (B, SECOND)):
        for n, value in enumerate(values):
            add(found, group, f"{group.label}{n}", {"words": float(value), "xref": 1.0})
    words, constant = only(found)
    assert (constant.difference, constant.standardised, constant.p, constant.p_holm) == (0.0, None, None, None)
    assert constant.reason == groups.CONSTANT
    assert words.p_holm == words.p


def test_variants_of_a_measure_are_not_corrected_for() -> None:
    found = Store[Group](("words", "tokens"))
    for group, values in ((A, FIRST), (B, SECOND)):
        for n, value in enumerate(values):
            add(found, group, f"{group.label}{n}", {"words": float(value), "tokens": float(value)})
    words, tokens = only(found)
    assert words.p_holm == words.p == tokens.p
    assert tokens.p_holm is None
    assert "words" in tokens.reason


def test_holm_corrects_over_all_pairs() -> None:
    found = table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q"), Group(("c",)): numbered(SECOND, "r")})
    tested = list(groups.tests(found, measures(found), groups.pairs_of(found, ("source",)), {}, seed=0))
    assert len(tested) == 3
    assert tested[0].p_holm == pytest.approx(3 * (tested[0].p or 0))


def test_reviews_of_one_paper_are_not_counted_as_independent() -> None:
    """Each paper's reviews agree entirely: five reviews of it say no more than one."""
    once = table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q")})
    often = table({A: numbered(FIRST, "p") * 5, B: numbered(SECOND, "q") * 5})
    (single,), (repeated,) = only(once), only(often)
    assert repeated.method == "clustered"
    assert single.p is not None
    assert repeated.p is not None
    assert repeated.p > single.p / 3
    assert mann_whitney([*FIRST] * 5, [*SECOND] * 5, exact_up_to=0).p < single.p / 100  # type: ignore[union-attr]


def test_a_paper_of_both_groups_is_compared_with_itself() -> None:
    far: list[tuple[str, float | None]] = [(f"p{n}", 100.0 * n) for n in range(12)]
    near: list[tuple[str, float | None]] = [(f"p{n}", 100.0 * n + 70 * (1 + n % 3)) for n in range(12)]
    (paired,) = only(table({A: near, B: far}))
    (apart,) = only(table({A: near, B: [(f"q{paper}", value) for paper, value in far]}))
    assert paired.p is not None
    assert apart.p is not None
    assert paired.p < 0.01 < 0.2 < apart.p


def test_one_paper_is_not_tested() -> None:
    (test,) = only(table({A: [("p", 1.0), ("p", 2.0)], B: [("q", 3.0), ("q", 5.0)]}))
    assert (test.p, test.reason) == (None, groups.FEW_PAPERS)


def test_means_are_over_reviews_and_missing_ones_are_counted_with_their_reason() -> None:
    found = table({A: [("p", 1.0), ("p", 2.0), ("q", 6.0), ("q", None)]})
    (cell,) = groups.cells(found, A, {}, seed=0)
    assert (cell.mean, cell.median, cell.n, cell.papers, cell.skipped) == (3.0, 2.0, 3, 2, 1)
    assert cell.reasons == {"the text is empty": 1}
    assert (cell.least, cell.q1, cell.q3, cell.most, cell.total) == (1.0, 1.5, 4.0, 6.0, 9.0)


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


def test_of_many_groups_machines_are_compared_with_the_people_of_their_venue_and_year() -> None:
    by = ("source", "venue", "year")
    places = [(f"{venue}-{year}", str(year)) for venue in ("iclr", "neurips") for year in (2024, 2025)]
    rows = {Group((source, *place)): numbered([1, 2], source) for place in places for source in ("human", "bot")}
    pairs = groups.pairs_of(table(rows), by)
    assert len(pairs) == 4
    for first, second in pairs:
        assert {first.values[0], second.values[0]} == {"human", "bot"}
        assert first.values[1:] == second.values[1:]


def test_eras_are_compared_within_each_source_and_conference() -> None:
    by = ("source", "conference", "era")
    names = [(s, c, e) for s in ("human", "bot") for c in ("iclr", "neurips") for e in ("pre", "post")]
    pairs = groups.pairs_of(table({Group(name): numbered([1, 2], str(name)) for name in names}), by)
    eras = [(a, b) for a, b in pairs if a.values[2] != b.values[2]]
    assert len(eras) == 4
    assert all(a.values[:2] == b.values[:2] for a, b in eras)
    assert len(pairs) == 8


def test_trends_keep_sources_and_conferences_apart_and_join_eras() -> None:
    found = Store[Group](("words",))
    rows = [("x", "iclr", 2019, 1.0), ("x", "iclr", 2020, 3.0), ("x", "neurips", 2020, 7.0), ("y", "iclr", 2020, 9.0)]
    for source, conference, year, value in rows:
        group = Group((source, "pre" if year < 2020 else "post"))
        add(found, group, f"p{value}", {"words": value}, year=year, conference=conference)
    cells = list(groups.trends(found, ("source", "era"), ("words",), seed=0))
    assert sorted((cell.series, cell.year, cell.mean) for cell in cells) == [
        ("x / iclr", 2019, 1.0),
        ("x / iclr", 2020, 3.0),
        ("x / neurips", 2020, 7.0),
        ("y / iclr", 2020, 9.0),
    ]


def test_curves_end_with_all_reviews_and_the_axis_with_most_of_them() -> None:
    found = groups.spread(table({A: numbered(FIRST, "p"), B: numbered(SECOND, "q")}), ("source",))["words"]
    assert found.curves["a"][0] == (480.0, 0.0)
    assert found.curves["a"][20] == (530.0, 0.5)
    assert found.curves["a"][-1] == (610.0, 1.0)
    assert 450 < found.low < found.high < 610


def test_machines_are_drawn_beside_people_however_few_they_are() -> None:
    by = ("source", "venue", "year")
    rows = {Group(("human", f"iclr-{year}", str(year))): numbered([1] * 9, f"h{year}") for year in range(2015, 2025)}
    rows[Group(("bot", "iclr-2024", "2024"))] = numbered([1], "b")
    assert "bot" in {group.values[0] for group in groups.shown(table(rows), by)}
