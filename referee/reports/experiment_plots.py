"""The plots of an experiment, metric by metric: effects, values by paper, curves over rounds, cost against quality."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from referee.errors import SettingsError
from referee.evals.metric import Better
from referee.evals.registry import better_of
from referee.reports.plots import Plot, dots, forest, frontier, lines
from referee.schemas.experiment import ArmCell, ArmRecord, ExperimentResult

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")


def experiment_plots(result: ExperimentResult) -> tuple[Plot, ...]:
    """What can be drawn of a result; its rows are the result's numbers.

    For each metric that any paper has a value in, in the order of the plan: ``effects-METRIC`` (a comparison a line,
    with its interval), ``papers-METRIC`` (a dot a paper and arm), ``rounds-METRIC`` (means over rounds of refinement,
    where arms differ in nothing else) and ``cost-METRIC`` (mean against what a finished review took, with the line of
    arms that no cheaper one matches). An arm or
    comparison without a value keeps its line, without a mark; captions count what is missing. A result without any
    value gives no plot.
    """
    plots: list[Plot] = []
    for metric in result.metrics:
        if any(value.metric == metric and value.value is not None for value in result.values):
            plots += _plots(result, metric)
    return tuple(plots)


def _plots(result: ExperimentResult, metric: str) -> Iterator[Plot]:
    cells = {cell.arm: cell for cell in result.cells if cell.metric == metric}
    if any(one.metric == metric for one in result.comparisons):
        yield _effects(result, metric)
    yield _papers(result, metric, cells)
    if curves := _curves(result.arms, cells):
        yield lines(
            _name("rounds", metric),
            f"{metric} over rounds of refinement",
            curves,
            across="rounds of prompt refinement",
            up=f"{metric}, mean over papers",
            caption=f"Mean and its interval. {_missing(cells.values())}".rstrip(),
        )
    yield from _cost(result, metric, cells)


def _effects(result: ExperimentResult, metric: str) -> Plot:
    own = [one for one in result.comparisons if one.metric == metric]
    untold = sum(one.mean_difference is None for one in own)
    caption = f"Mean difference, paired by paper, with its interval at {own[0].level:.0%}"
    caption += (
        ", each on its own: p in the summary is corrected for their number." if len(result.comparisons) > 1 else "."
    )
    if untold:
        caption += f" {untold} of {len(own)} comparisons have no pair."
    return forest(
        _name("effects", metric),
        f"{metric}: first less second",
        [(f"{one.first} less {one.second} (n = {one.n_pairs})", one.mean_difference, one.low, one.high) for one in own],
        across=f"difference in {metric}",
        caption=caption,
    )


def _papers(result: ExperimentResult, metric: str, cells: dict[str, ArmCell]) -> Plot:
    groups: dict[str, list[tuple[str, float]]] = {arm.name: [] for arm in result.arms}
    for value in result.values:
        if value.metric == metric and value.value is not None:
            groups[value.arm].append((value.paper, value.value))
    caption = "A dot a paper (its mean over seeds), a bar at their mean."
    return dots(
        _name("papers", metric),
        f"{metric}, paper by paper",
        groups,
        across=metric,
        caption=f"{caption} {_missing(cells.values())}".rstrip(),
    )


def _cost(result: ExperimentResult, metric: str, cells: dict[str, ArmCell]) -> Iterator[Plot]:
    """In US dollars where the price of every model is known and any review cost something, else in tokens."""
    shown = [
        (arm, cell.mean, cell)
        for arm in result.arms
        if (cell := cells.get(arm.name)) and cell.mean is not None and _finished(arm)
    ]
    if not shown:
        return
    costs = [arm.usage.cost_usd for arm, *_ in shown]
    in_dollars = bool(costs) and None not in costs and any(costs)
    left_out = [arm.name for arm in result.arms if arm.name not in {own.name for own, *_ in shown}]
    reused = sum(arm.usage.reused_calls for arm, *_ in shown)
    better = _better(metric)
    caption = "What a finished review took in the mean, judging aside; bars are intervals of the means."
    if better and len(shown) > 1:
        caption += " The dashed line joins arms that no cheaper one matches."
    if reused:
        caption += f" {reused:,} replies came from a cache and are not in it."
    if left_out:
        caption += f" Without a point: {', '.join(left_out)}."
    yield frontier(
        _name("cost", metric),
        f"{metric} against cost",
        [(arm.name, _took(arm, in_dollars), mean, cell.low, cell.high) for arm, mean, cell in shown],
        across="US dollars a review" if in_dollars else "tokens a review, in and out",
        up=f"{metric}, mean over papers",
        better=better,
        caption=caption,
    )


def _better(metric: str) -> Better:
    """Which way is better; None where neither is, or where the metric is not installed here."""
    try:
        return better_of([metric])[metric]
    except SettingsError:
        return None


def _took(arm: ArmRecord, in_dollars: bool) -> float:
    amount = arm.usage.cost_usd if in_dollars and arm.usage.cost_usd is not None else arm.usage.total_tokens
    return amount / _finished(arm)


def _finished(arm: ArmRecord) -> int:
    return arm.units.get("finished", 0)


def _curves(
    arms: Sequence[ArmRecord], cells: dict[str, ArmCell]
) -> dict[str, list[tuple[float, float | None, float | None, float | None]]]:
    """Arms that differ in rounds alone, a series each; nothing where no two do."""
    series: list[list[ArmRecord]] = []
    for arm in arms:
        own = next((s for s in series if _same_but_rounds(s[0], arm) and arm.rounds not in {a.rounds for a in s}), None)
        if own is None:
            series.append([arm])
        else:
            own.append(arm)
    curves = {}
    for label, own in zip(_labels(series), series, strict=True):
        if len(own) > 1:
            ordered = sorted(own, key=lambda arm: arm.rounds)
            curves[label] = [(float(arm.rounds), *_bounded(cells.get(arm.name))) for arm in ordered]
    return curves


def _bounded(cell: ArmCell | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if cell is None else (cell.mean, cell.low, cell.high)


def _same_but_rounds(one: ArmRecord, other: ArmRecord) -> bool:
    """Refinement may add a role, so models are compared in the roles that both have."""
    roles = one.models.keys() & other.models.keys()
    return (
        (one.strategy, one.venue, one.prompts, one.settings, one.ablate)
        == (other.strategy, other.venue, other.prompts, other.settings, other.ablate)
    ) and all(one.models[role] == other.models[role] for role in roles)


def _labels(series: Sequence[Sequence[ArmRecord]]) -> list[str]:
    """The strategy; where that does not tell series apart, with the first arm's name."""
    strategies = Counter(own[0].strategy for own in series)
    return [
        own[0].strategy if strategies[own[0].strategy] == 1 else f"{own[0].strategy} (as {own[0].name})"
        for own in series
    ]


def _missing(cells: Iterable[ArmCell]) -> str:
    """How many papers each arm has no value for, by reason; nothing where every arm has all."""
    told = []
    for cell in cells:
        counts = {"failed": cell.n_failed, "not applicable": cell.n_not_applicable, "pending": cell.n_pending}
        without = [f"{count} {what}" for what, count in counts.items() if count]
        if without:
            told.append(f"{cell.arm}: {', '.join(without)}")
    return f"Papers without a value: {'; '.join(told)}." if told else ""


def _name(kind: str, metric: str) -> str:
    return f"{kind}-{_NO_NAME.sub('-', metric).strip('-')}"
