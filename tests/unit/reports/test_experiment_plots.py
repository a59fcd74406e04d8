"""The plots of an experiment hold the result's numbers, and what has no value is said instead of drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.reports.experiment_plots import experiment_plots
from referee.reports.experiment_summary import arm_lines, render_experiment
from referee.reports.plots import Plot, write_plots
from referee.schemas.experiment import ExperimentResult

from .experiment_results import arm, result

VALUES = {"single": (0.1, 0.2, 0.3), "sections": (0.5, 0.5, 0.8)}


def drawn(of: ExperimentResult) -> dict[str, Plot]:
    return {plot.name: plot for plot in experiment_plots(of)}


def two(**about: object) -> ExperimentResult:
    return result([arm("single", strategy="single"), arm("sections", cost=0.9)], {"depth": VALUES}, **about)


def test_effects_are_the_comparisons_with_their_intervals() -> None:
    given = two()
    (one,) = given.comparisons
    plot = drawn(given)["effects-depth"]
    assert plot.rows == (("sections less single (n = 3)", one.mean_difference, one.low, one.high),)
    assert "95%" in plot.caption


def test_every_paper_of_every_arm_is_a_dot() -> None:
    given = two()
    assert set(drawn(given)["papers-depth"].rows) == {(v.arm, v.paper, v.value) for v in given.values}
    assert "without a value" not in drawn(given)["papers-depth"].caption


def test_cost_is_that_of_a_review_in_dollars() -> None:
    given = two()
    cells = {cell.arm: cell for cell in given.cells}
    plot = drawn(given)["cost-depth"]
    assert plot.rows == (
        ("single", pytest.approx(0.1), cells["single"].mean, cells["single"].low, cells["single"].high, "yes"),
        ("sections", pytest.approx(0.3), cells["sections"].mean, cells["sections"].low, cells["sections"].high, "yes"),
    )
    assert "no cheaper one matches" in plot.caption
    table = next(line for line in arm_lines(given) if "sections" in line)
    assert table.split("|")[-3:-1] == [" 1,100           ", " $0.3000       "]


@pytest.mark.parametrize("costs", [(0.3, None), (0.0, 0.0)], ids=["one unknown", "all free"])
def test_without_prices_cost_is_in_tokens(costs: tuple[float | None, float | None]) -> None:
    given = result([arm("single", cost=costs[0]), arm("sections", cost=costs[1])], {"depth": VALUES})
    assert [x for _, x, *_ in drawn(given)["cost-depth"].rows] == [1100, 1100]


def test_curves_join_arms_that_differ_in_rounds_alone() -> None:
    arms = [
        arm("two", rounds=2, models={"writer": "m", "refiner": "n"}),
        arm("none", rounds=0),
        arm("other model", rounds=2, models={"writer": "k"}),
        arm("single", strategy="single"),
    ]
    given = result(arms, {"depth": {"two": (0.4,), "none": (0.2,), "other model": (0.9,), "single": (0.1,)}})
    plot = drawn(given)["rounds-depth"]
    assert plot.rows == (
        ("sections (as two)", 0.0, pytest.approx(0.2), pytest.approx(0.1), pytest.approx(0.3)),
        ("sections (as two)", 2.0, pytest.approx(0.4), pytest.approx(0.3), pytest.approx(0.5)),
    )


def test_there_is_no_curve_where_rounds_do_not_vary() -> None:
    assert set(drawn(two())) == {"effects-depth", "papers-depth", "cost-depth"}


def test_one_arm_has_no_effects() -> None:
    assert set(drawn(result([arm("a")], {"depth": {"a": (0.5,)}}))) == {"papers-depth", "cost-depth"}


def test_an_arm_without_a_value_keeps_its_line_and_is_told() -> None:
    given = result([arm("well"), arm("ill", reviews=0)], {"depth": {"well": (0.5, 0.6), "ill": (None, None)}})
    plots = drawn(given)
    assert plots["effects-depth"].rows == (("ill less well (n = 0)", None, None, None),)
    assert "1 of 1 comparisons have no pair" in plots["effects-depth"].caption
    assert [label for label, *_ in plots["papers-depth"].rows] == ["well", "well"]
    assert "ill: 2 failed" in plots["papers-depth"].caption
    assert [label for label, *_ in plots["cost-depth"].rows] == ["well"]
    assert "Without a point: ill" in plots["cost-depth"].caption
    assert all(plot.png().startswith(b"\x89PNG") for plot in plots.values())


def test_replies_of_a_cache_are_told_beside_the_cost() -> None:
    given = two()
    used = given.arms[0].usage.model_copy(update={"reused_calls": 1200})
    arms = (given.arms[0].model_copy(update={"usage": used}), given.arms[1])
    assert "1,200 replies came from a cache" in drawn(given.model_copy(update={"arms": arms}))["cost-depth"].caption


def test_a_metric_without_any_value_is_not_drawn() -> None:
    nothing = {"single": (None, None, None), "sections": (None, None, None)}
    arms = [arm("single"), arm("sections")]
    assert {name.split("-")[1] for name in drawn(result(arms, {"depth": VALUES, "adherence": nothing}))} == {"depth"}
    assert experiment_plots(result(arms, {"adherence": nothing})) == ()


def test_files_and_their_links(tmp_path: Path) -> None:
    found = result([arm("a|b *c*")], {"topic_coverage": {"a|b *c*": (0.5,)}})
    plots = experiment_plots(found)
    written = write_plots(plots, tmp_path / "plots")
    section = render_experiment(found, plots)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == [
        "plots/papers-topic-coverage.svg",
        "plots/papers-topic-coverage.png",
        "plots/cost-topic-coverage.svg",
        "plots/cost-topic-coverage.png",
    ]
    assert all(f"(plots/{plot.name}.svg)" in section for plot in plots)
    assert "\n## Plots\n" in section


def test_nothing_to_draw_leaves_nothing_behind(tmp_path: Path) -> None:
    assert write_plots((), tmp_path / "plots") == []
    assert list(tmp_path.iterdir()) == []
