"""Plots are their data; the drawing follows."""

import csv
import io
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Literal

import pytest

from referee.reports.page import Section, plotted_data, render_page
from referee.reports.plots import (
    Plot,
    bars,
    calibration,
    dots,
    dots_beside_lines,
    forest,
    frontier,
    lines,
    plots_csv,
    roc,
    write_plots,
)
from referee.reports.plots.plot import PEOPLE_COLOURS
from referee.reports.tables import Table

PLOTS = (
    bars("ratings", "Ratings <by> group", {"human": {"3": 0.25, "6": 0.75}, "AI": {"6": 1.0}}, across="r", up="share"),
    lines("words", "Words", {"ICLR": [(2017, 400, 380, 420), (2019, 450, None, None)]}, across="year", up="words"),
    forest("effects", "Effects", [("depth", 0.1, 0.02, 0.2), ("unknown", None, None, None)], across="difference"),
    calibration("bins", "Calibration", {"m": [(3, 5, 4, 6, 10), (6, 6.5, None, None, 40)]}, across="s", up="p", limits=(1, 10)),  # noqa: E501
    dots_beside_lines("mae", "Errors", [("m", 1.0, 0.9, 1.1), ("n", 2.0, None, None)], {"chance": [3.0, None]}, across="p"),  # noqa: E501
    dots("papers", "By paper", {"single": [("a", 0.2), ("b", 0.4)], "none": []}, across="depth"),
    roc("roc", "ROC", {"m": [(0.0, 0.2), (0.1, 0.6), (1.0, 1.0)]}, down_to=0.01),
    frontier(
        "cost",
        "Cost",
        [("single", 0.1, 0.3, 0.2, 0.4), ("sections", 0.8, 0.5, None, None)],
        across="US dollars",
        up="depth",
        better="higher",
    ),
)  # fmt: skip


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.name)
def test_every_kind_is_drawn_as_svg_and_png(plot: Plot) -> None:
    assert ET.fromstring(plot.svg()).tag.endswith("svg")
    assert ET.fromstring(plot.svg(themed=True)).get("aria-label") == plot.title
    assert plot.png().startswith(b"\x89PNG")
    assert plot.svg() == plot.svg()


@pytest.mark.parametrize(
    ("better", "best"), [("higher", ["a", "c"]), ("lower", ["b"]), (None, [])], ids=["recall", "alarms", "neither"]
)
def test_the_frontier_holds_what_nothing_cheaper_matches(
    better: Literal["higher", "lower"] | None, best: list[str]
) -> None:
    points = [("c", 9.0, 0.8), ("a", 1.0, 0.5), ("b", 1.0, 0.4), ("d", 9.5, 0.8), ("e", 4.0, 0.5)]
    plot = frontier("f", "F", [(*p, None, None) for p in points], across="$", up="recall", better=better)
    assert sorted(row[0] for row in plot.rows if row[-1] == "yes") == best


@pytest.mark.parametrize(("cheapest", "scale"), [(0.1, "log"), (0.5, "linear"), (0.0, "linear")])
def test_costs_far_apart_stand_on_a_log_axis(cheapest: float, scale: str) -> None:
    import matplotlib.figure

    axes = matplotlib.figure.Figure().add_subplot()
    points = [("a", cheapest, 0.5, 0.4, 0.6), ("b", 1.0, 0.6, 0.5, 0.7)]
    frontier("f", "F", points, across="$", up="recall", better="higher").draw(axes)
    assert axes.get_xscale() == scale
    assert scale == "log" or axes.get_xlim()[0] == 0
    assert {tuple(line.get_ydata()) for line in axes.lines} == {(0.5, 0.6), (0.4, 0.6), (0.5, 0.7)}


def test_a_drawing_for_a_page_follows_its_colours_and_has_ids_of_its_own() -> None:
    drawn = PLOTS[0].svg(themed=True)
    assert "var(--ink)" in drawn
    assert "#1b1e24" not in drawn
    assert 'id="ratings-' in drawn
    assert 'id="figure_1"' not in drawn


def test_a_roc_curve_is_steps_on_a_log_axis_from_the_smallest_rate() -> None:
    import matplotlib.figure

    axes = matplotlib.figure.Figure().add_subplot()
    next(plot for plot in PLOTS if plot.name == "roc").draw(axes)
    assert (axes.get_xscale(), axes.get_xlim()) == ("log", (0.01, 1))
    curve = axes.lines[1]
    assert (list(curve.get_xdata()), curve.get_drawstyle()) == ([0.01, 0.1, 1.0], "steps-post")
    assert [axes.xaxis.get_major_formatter()(rate, 0) for rate in (0.001, 0.01, 1.0)] == ["0.1%", "1%", "100%"]


def test_bars_are_as_high_as_their_values() -> None:
    import matplotlib.figure

    axes = matplotlib.figure.Figure().add_subplot()
    PLOTS[0].draw(axes)
    heights = [patch.get_height() for patch in axes.patches]
    assert [height if height == height else None for height in heights] == [0.25, 0.75, None, 1.0], "none is no 0"


def test_the_page_holds_the_data_it_plots_and_the_csv_holds_the_same() -> None:
    page = render_page("Title", "Lead", [Section("One", (), PLOTS[:3]), Section("Two", (), PLOTS[3:])])
    found = plotted_data(page)
    assert list(found) == [plot.name for plot in PLOTS]
    told = list(csv.DictReader(io.StringIO(plots_csv(PLOTS))))
    again = [
        {"plot": name, "row": str(number), "column": column, "value": "" if cell is None else str(cell)}
        for name, rows in found.items()
        for number, row in enumerate(rows, start=1)
        for column, cell in row.items()
    ]
    assert told == again


def test_a_page_fetches_nothing_and_escapes_what_it_is_given() -> None:
    hostile = '</script><script>alert(1)</script><img src="http://x"> $\\frac{$ 評'
    plot = bars("x", hostile, {hostile: {hostile: 1.0}}, across=hostile, up="n", caption=hostile)
    page = render_page(hostile, hostile, [Section(hostile, (hostile, Table(hostile, (hostile,), ((hostile,),))), (plot,))], {hostile: hostile})  # fmt: skip # noqa: E501
    assert "<script>" not in page
    assert "<img" not in page
    assert page.count("</script>") == 1
    assert plotted_data(page)["x"][0]["series"] == hostile
    assert "default-src 'none'" in page


def test_files_of_plots(tmp_path: Path) -> None:
    written = write_plots(PLOTS[:1], tmp_path / "plots")
    assert [path.name for path in written] == ["ratings.svg", "ratings.png"]
    assert all(path.stat().st_size > 1000 for path in written)


def test_people_have_one_colour_on_every_plot_and_nobody_else_has_it() -> None:
    import matplotlib.colors
    import matplotlib.figure

    def colours(*labels: str) -> list[str]:
        axes = matplotlib.figure.Figure().add_subplot()
        bars("b", "B", {label: {"x": 1.0} for label in labels}, across="a", up="u").draw(axes)
        return [matplotlib.colors.to_hex(patch.get_facecolor()) for patch in axes.patches]

    assert colours("a", "b", "people")[2] == colours("human / iclr-2021", "bot")[0] == PEOPLE_COLOURS[0]
    assert not set(colours(*map(str, range(12)))) & set(PEOPLE_COLOURS)
    assert len(set(colours("human / iclr-2020", "human / iclr-2021", "bot"))) == 3


def test_no_title_is_cut_off() -> None:
    title = "claude-3-5-sonnet-20240620 reflect ensemble pages less gpt-4o-2024-05-13 few-shot reflect ensemble " * 2
    plot = forest("f", title, [("a label of some length " * 2, 0.1, 0.0, 0.2)], across="difference")
    figure = plot.figure(titled=True)
    figure.canvas.draw()
    (box,) = [text.get_window_extent() for text in figure.texts]
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1
