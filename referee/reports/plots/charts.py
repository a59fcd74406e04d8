"""The kinds of plots that reports use: bars, lines, differences, calibration, dots, scatter.

A value that is None is left out of the drawing and stays in the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from math import nan
from typing import TYPE_CHECKING, Literal

from referee.reports.plots.plot import COLOURS, FAINT, INK, MUTED, PEOPLE_COLOURS, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bounds = tuple[float | None, float | None]
PEOPLE = "people"
_MOST_INSIDE = 4
_FAR_APART = 8
# Series beyond the number of colours differ by these.
_SHAPES = ("o", "s", "^", "D")
_INCHES_A_LETTER, _DRAWN, _LEGEND = 0.08, 3.6, 2.4
CHANCE = "chance"
# What a value stands beside: people, what knows nothing, chance.
_BESIDE = ((PEOPLE_COLOURS[0], "-"), (COLOURS[1], "--"))


def bars(
    name: str,
    title: str,
    series: Mapping[str, Mapping[str, float | None]],
    *,
    across: str,
    up: str,
    caption: str = "",
) -> Plot:
    """A value for each category and series side by side, as a distribution over a form's ratings.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        series: Series to category to value; categories in the order of the first series that has them.
        across: Label of the categories.
        up: Label of the values.
        caption: See ``Plot``.
    """
    categories = list(dict.fromkeys(category for values in series.values() for category in values))
    rows = tuple((label, c, values.get(c)) for label, values in series.items() for c in categories)

    def draw(axes: Axes) -> None:
        width = 0.8 / max(len(series), 1)
        colours = _colours(series)
        for number, (label, values) in enumerate(series.items()):
            places = [at - 0.4 + width * (number + 0.5) for at in range(len(categories))]
            heights = [nan if (height := values.get(category)) is None else height for category in categories]
            axes.bar(places, heights, width * 0.92, color=colours[number], label=label)
        axes.set_xticks(range(len(categories)), categories)
        _finish(axes, across, up, len(series), grid="y")

    return Plot(name, title, ("series", "category", "value"), rows, draw, caption)


def lines(
    name: str,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float | None, float | None, float | None]]],
    *,
    across: str,
    up: str,
    caption: str = "",
) -> Plot:
    """Values along an axis with their intervals, as trends by year or curves over rounds.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        series: Series to points (x, value, low, high).
        across: Label of the axis.
        up: Label of the values.
        caption: See ``Plot``.
    """
    rows = tuple((label, *point) for label, points in series.items() for point in points)

    def draw(axes: Axes) -> None:
        for (label, points), colour in zip(series.items(), _colours(series), strict=True):
            there = [(x, y) for x, y, _, _ in points if y is not None]
            axes.plot([x for x, _ in there], [y for _, y in there], "o-", ms=4, lw=1.6, color=colour, label=label)
            sure = [(x, low, high) for x, _, low, high in points if low is not None and high is not None]
            xs, lows, highs = ([part[at] for part in sure] for at in range(3))
            axes.fill_between(xs, lows, highs, color=colour, alpha=0.16, lw=0)
        axes.set_xticks(sorted({point[0] for points in series.values() for point in points}))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        _finish(axes, across, up, len(series), grid="y")

    return Plot(name, title, ("series", "x", "value", "low", "high"), rows, draw, caption)


def cumulative(
    name: str,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    across: str,
    limits: tuple[float, float],
    caption: str = "",
) -> Plot:
    """Which share of each series lies at or below a value, as a line.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        series: Series to points (value, share of its values at or below it), values rising.
        across: What the values are.
        limits: Ends of the drawn axis; points beyond them stay in the rows.
        caption: See ``Plot``.
    """
    rows = tuple((label, *point) for label, points in series.items() for point in points)

    def draw(axes: Axes) -> None:
        for (label, points), colour in zip(series.items(), _colours(series), strict=True):
            values, shares = ([point[at] for point in points] for at in (0, 1))
            axes.plot(values, shares, "-", lw=1.8, color=colour, label=label)
        axes.set_xlim(*limits)
        axes.set_ylim(0, 1)
        _finish(axes, across, "share at or below", len(series), grid="both")

    return Plot(name, title, ("series", "value", "share"), rows, draw, caption)


def roc(
    name: str,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    down_to: float,
    caption: str = "",
) -> Plot:
    """Rates of true over false positives, the latter on a log axis, beside chance.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        series: Series to points (false-positive rate, true-positive rate), rates rising; drawn as steps.
        down_to: Where the axis begins, above 0: the smallest rate that the data resolve. What lies below is drawn
            from there.
        caption: See ``Plot``.
    """
    rows = tuple((label, *point) for label, points in series.items() for point in points)

    def draw(axes: Axes) -> None:
        spread = [down_to * (1 / down_to) ** (step / 100) for step in range(101)]
        axes.plot(spread, spread, color=MUTED, lw=0.9, ls=(0, (4, 3)))
        for (label, points), colour in zip(series.items(), _colours(series), strict=True):
            rates, found = [max(fpr, down_to) for fpr, _ in points], [tpr for _, tpr in points]
            axes.step(rates, found, where="post", lw=1.8, color=colour, label=label)
        axes.set_xscale("log")
        axes.set_xlim(down_to, 1)
        axes.set_ylim(-0.01, 1.01)
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.3%}".rstrip("0%").rstrip(".") + "%")
        _finish(axes, "false-positive rate (log)", "true-positive rate", len(series), grid="both", outside=True)

    return Plot(name, title, ("series", "fpr", "tpr"), rows, draw, caption, (5.4 + _LEGEND, 4.0))


def forest(
    name: str,
    title: str,
    items: Sequence[tuple[str, float | None, float | None, float | None]],
    *,
    across: str,
    zero: float = 0.0,
    caption: str = "",
) -> Plot:
    """Differences with their intervals, one to a line, beside the line of no difference.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        items: (label, difference, low, high), from top to bottom.
        across: What the difference is of.
        zero: Where there is none.
        caption: See ``Plot``.
    """

    def draw(axes: Axes) -> None:
        axes.axvline(zero, color=MUTED, lw=0.9, ls=(0, (4, 3)))
        _intervals(axes, items)
        _finish(axes, across, "", 0, grid="x")

    return Plot(name, title, ("label", "difference", "low", "high"), tuple(items), draw, caption, _size(items))


def dots_beside_lines(
    name: str,
    title: str,
    items: Sequence[tuple[str, float | None, float | None, float | None]],
    beside: Mapping[str, Sequence[float | None]],
    *,
    across: str,
    caption: str = "",
) -> Plot:
    """Values with their intervals, one to a line, crossed by what they are to be compared with.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        items: (label, value, low, high), from top to bottom.
        beside: What to compare with, to its value for each item; equal values of neighbours are one line.
        across: What the value is of.
        caption: See ``Plot``.
    """
    rows = tuple((*item, *(values[at] for values in beside.values())) for at, item in enumerate(items))

    def draw(axes: Axes) -> None:
        for number, (label, values) in enumerate(beside.items()):
            colour, style = (MUTED, ":") if label == CHANCE else _BESIDE[number]
            places = [(at, value) for at, value in enumerate(values) if value is not None]
            for nth, (at, value) in enumerate(places):
                axes.plot([value] * 2, [at - 0.5, at + 0.5], style, lw=1.5, color=colour, label="" if nth else label)
        _intervals(axes, items)
        _finish(axes, across, "", len(beside) + 1, grid="x", outside=True)

    columns = ("label", "value", "low", "high", *beside)
    return Plot(name, title, columns, rows, draw, caption, _size(items, _LEGEND))


def calibration(
    name: str,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float, float | None, float | None, int]]],
    *,
    across: str,
    up: str,
    limits: tuple[float, float],
    caption: str = "",
) -> Plot:
    """What was predicted against what was true, bin by bin, beside the diagonal; larger dots hold more papers.

    Several series are drawn a little apart, so that no interval hides another.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        series: Series to bins (true value, mean prediction, low, high, papers).
        across: Label of the true values.
        up: Label of the predictions.
        limits: Ends of the scale.
        caption: See ``Plot``.
    """
    rows = tuple((label, *point) for label, points in series.items() for point in points)

    size = (5.4 + (_LEGEND if len(series) > _MOST_INSIDE else 0.0), 4.2)

    def draw(axes: Axes) -> None:
        axes.plot(limits, limits, color=MUTED, lw=0.9, ls=(0, (4, 3)))
        most = max((n for points in series.values() for *_, n in points), default=1)
        step = (limits[1] - limits[0]) / 150
        for number, ((label, points), colour) in enumerate(zip(series.items(), _colours(series), strict=True)):
            aside = step * (number - (len(series) - 1) / 2)
            xs, ys, sizes = ([float(point[at] or 0) for point in points] for at in (0, 1, 4))
            for x, _, low, high, _ in points:
                if low is not None and high is not None:
                    axes.plot([x + aside] * 2, [low, high], "-", lw=1.2, color=colour)
            moved = [x + aside for x in xs]
            axes.plot(moved, ys, "-", lw=1.4, color=colour, alpha=0.7, label=label)
            axes.scatter(moved, ys, s=[12 + 50 * n / most for n in sizes], color=colour, zorder=3)
        axes.set_xlim(*limits)
        axes.set_ylim(*limits)
        _finish(axes, across, up, len(series), grid="both")

    return Plot(name, title, ("series", "true", "predicted", "low", "high", "papers"), rows, draw, caption, size)


def dots(
    name: str,
    title: str,
    groups: Mapping[str, Iterable[tuple[str, float]]],
    *,
    across: str,
    caption: str = "",
) -> Plot:
    """One dot for each paper in each group, and a bar at the group's mean.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        groups: Group to (paper, value), from top to bottom.
        across: What the value is.
        caption: See ``Plot``.
    """
    held = {label: list(points) for label, points in groups.items()}
    rows = tuple((label, *point) for label, points in held.items() for point in points)

    def draw(axes: Axes) -> None:
        for at, (points, colour) in enumerate(zip(held.values(), _colours(held), strict=True)):
            values = [value for _, value in points]
            spread = [at + 0.22 * (number % 5 - 2) / 2 for number in range(len(values))]
            axes.scatter(values, spread, s=20, color=colour, alpha=0.75, lw=0)
            if values:
                mean = sum(values) / len(values)
                axes.plot([mean, mean], [at - 0.32, at + 0.32], color=INK, lw=1.8)
        axes.set_yticks(range(len(held)), list(held))
        axes.set_ylim(len(held) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        _finish(axes, across, "", 0, grid="x")

    size = (6.4, 1.1 + 0.42 * max(len(held), 2))
    return Plot(name, title, ("group", "paper", "value"), rows, draw, caption, size)


def frontier(
    name: str,
    title: str,
    points: Sequence[tuple[str, float, float, float | None, float | None]],
    *,
    across: str,
    up: str,
    better: Literal["higher", "lower"] | None = None,
    caption: str = "",
) -> Plot:
    """Named points with their intervals, as quality against cost, and the line of those that no cheaper one matches.

    Args:
        name: See ``Plot``.
        title: See ``Plot``.
        points: (label, x, y, low, high).
        across: Label of x, of which less is better.
        up: Label of y.
        better: Which way y is better; None draws no line.
        caption: See ``Plot``.
    """
    best = on_frontier([(x, y) for _, x, y, _, _ in points], better) if better else []
    rows = tuple((*point, "yes" if (point[1], point[2]) in best else "no") for point in points)

    def draw(axes: Axes) -> None:
        if len(best) > 1:
            xs, ys = ([place[at] for place in best] for at in (0, 1))
            axes.plot(xs, ys, lw=1.1, ls=(0, (4, 3)), color=MUTED, zorder=1)
        for number, ((label, x, y, low, high), colour) in enumerate(
            zip(points, _colours([p[0] for p in points]), strict=True)
        ):
            if low is not None and high is not None:
                axes.plot([x, x], [low, high], "-", lw=1.6, color=colour, alpha=0.6, solid_capstyle="butt", zorder=2)
            shape = _SHAPES[number // len(COLOURS) % len(_SHAPES)]
            axes.scatter([x], [y], s=42, marker=shape, color=colour, zorder=3, label=label)
        axes.margins(0.12)
        _cost_axis(axes, [x for _, x, *_ in points])
        _finish(axes, across, up, max(len(points), 2), grid="both", outside=True)

    columns = ("label", "x", "y", "low", "high", "frontier")
    return Plot(name, title, columns, rows, draw, caption, (5.6 + _LEGEND, 3.6))


def _cost_axis(axes: Axes, costs: Sequence[float]) -> None:
    """A log axis where costs lie far apart and none is nothing, else one that begins at 0."""
    from matplotlib.ticker import LogLocator, NullLocator

    if costs and min(costs) > 0 and max(costs) >= _FAR_APART * min(costs):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.6g}")


def on_frontier(places: Iterable[tuple[float, float]], better: Literal["higher", "lower"]) -> list[tuple[float, float]]:
    """The places (cost, quality) that no other one at the same or a lower cost matches, cheapest first."""
    sign = 1.0 if better == "higher" else -1.0
    best: list[tuple[float, float]] = []
    for place in sorted(places, key=lambda one: (one[0], -sign * one[1])):
        if not best or sign * place[1] > sign * best[-1][1]:
            best.append(place)
    return best


def _colours(labels: Iterable[str]) -> list[str]:
    """A colour for each series; people have theirs on every plot."""
    people, others = cycle(PEOPLE_COLOURS), cycle(COLOURS)
    return [next(people) if _is_people(label) else next(others) for label in labels]


def _is_people(label: str) -> bool:
    """Whether a series is of people: the arena's, or a group of a profile such as ``human / iclr-2021``."""
    return label.split(" ", 1)[0] in (PEOPLE, "human")


def _intervals(axes: Axes, items: Sequence[tuple[str, float | None, float | None, float | None]]) -> None:
    for at, (_, middle, low, high) in enumerate(items):
        if low is not None and high is not None:
            axes.plot([low, high], [at, at], "-", lw=1.8, color=COLOURS[0], solid_capstyle="butt")
        if middle is not None:
            axes.plot([middle], [at], "o", ms=5.5, color=COLOURS[0])
    axes.set_yticks(range(len(items)), [label for label, *_ in items])
    axes.set_ylim(len(items) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _size(
    items: Sequence[tuple[str, float | None, float | None, float | None]], beside: float = 0.0
) -> tuple[float, float]:
    """Room for the labels at the left, and for a legend."""
    longest = max((len(label) for label, *_ in items), default=0)
    return max(6.4, _DRAWN + _INCHES_A_LETTER * longest + beside), 1.1 + 0.3 * max(len(items), 2)


def _finish(
    axes: Axes, across: str, up: str, series: int, *, grid: Literal["x", "y", "both"], outside: bool = False
) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(axis=grid, color=FAINT)
    if series > 1:
        beside = outside or series > _MOST_INSIDE
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if beside else {"loc": "best"}
        axes.legend(fontsize=8.5, **place)
