"""Groups of reviews: means with intervals by paper, trends by year, distributions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from referee.evals.grouping import CONTEXT, Group
from referee.evals.profile.ratings import NoScale
from referee.evals.profile.result import Cell, GroupSize, Spread, YearCell
from referee.evals.store import Ints, Store
from referee.stats.resamples import over, percentiles, resampled

SPREAD = ("words", "mattr_100", "fre", "xref_density")
_SHARES = tuple(n / 40 for n in range(41))
_CLIP = (1.0, 99.0)
_NO_SERIES = ("venue", "conference", "year", "era")


def sizes(table: Store[Group], by: Sequence[str], bins: Mapping[Group, Counter[str]]) -> Iterator[GroupSize]:
    """How large each group is, in the order of the groups' labels."""
    for group in ordered(table):
        rows = table.rows_of(group)
        yield GroupSize(
            group=group.label,
            keys=dict(zip(by, group.values, strict=True)),
            reviews=len(rows),
            papers=len(table.sums((), rows)[2]),
            xref_bins={name: bins.get(group, Counter())[name] for name in ("0", "1", "2-5", ">5")},
        )


def ordered(table: Store[Group]) -> list[Group]:
    """The groups by their values."""
    return sorted(table.groups, key=lambda group: group.values)


def cells(
    table: Store[Group], group: Group, scales: Mapping[tuple[Group, str], object], *, seed: int
) -> Iterator[Cell]:
    """Every measure of a group. The interval is a percentile bootstrap that draws papers whole.

    Numbers of several scales, or of another form than is said, have no mean.
    """
    rows = table.rows_of(group)
    for cell in _cells(table, rows, group.label, seed):
        scale = scales.get((group, cell.measure))
        if isinstance(scale, NoScale):
            nothing = dict.fromkeys(("mean", "low", "high", "median", "sd", "least", "q1", "q3", "most", "total"))
            reasons = {scale.reason: len(rows)}
            yield cell.model_copy(update={**nothing, "n": 0, "skipped": len(rows), "reasons": reasons})
        else:
            yield cell


def _cells(table: Store[Group], rows: Ints, label: str, seed: int) -> Iterator[Cell]:
    names = list(table.names)
    bounds = _bounds(table, names, rows, seed)
    for at, name in enumerate(names):
        values, papers = table.values(name, rows)
        low, high = bounds[at]
        quartiles = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist() if len(values) else [None] * 5
        yield Cell(
            group=label,
            measure=name,
            n=len(values),
            papers=len(np.unique(papers)),
            mean=_number(values.mean()) if len(values) else None,
            low=low,
            high=high,
            sd=_number(values.std(ddof=1)) if len(values) > 1 else None,
            **dict(zip(("least", "q1", "median", "q3", "most"), quartiles, strict=True)),
            total=_number(values.sum()) if len(values) else None,
            skipped=len(rows) - len(values),
            reasons=_reasons(table, name, rows),
        )


def trends(table: Store[Group], by: Sequence[str], measures: Sequence[str], *, seed: int) -> Iterator[YearCell]:
    """Measures by year, a series for each reviewer at each conference: venues differ, and their mixture changes."""
    series: dict[str, list[Ints]] = {}
    for group in ordered(table):
        kept = tuple(value for key, value in zip(by, group.values, strict=True) if key not in _NO_SERIES)
        for conference, rows in table.conferences(table.rows_of(group)).items():
            label = Group((*kept, conference) if conference else kept or ("all",)).label
            series.setdefault(label, []).append(rows)
    for label, parts in series.items():
        for year, rows in table.years(np.sort(np.concatenate(parts))).items():
            bounds = _bounds(table, list(measures), rows, seed)
            for at, name in enumerate(measures):
                values, _ = table.values(name, rows)
                mean = _number(values.mean()) if len(values) else None
                yield YearCell(
                    series=label,
                    year=year,
                    measure=name,
                    n=len(values),
                    mean=mean,
                    low=bounds[at][0],
                    high=bounds[at][1],
                )


def spread(table: Store[Group], by: Sequence[str]) -> dict[str, Spread]:
    """How the values of each group lie, for the groups that ``shown`` names.

    The drawn axis ends at the 1st and the 99th percentile of all reviews. Only pictures are clipped, no number is.
    (PRAIB clips FRE at its 90th percentile, which would pile up the easier reviews of people.)
    """
    found: dict[str, Spread] = {}
    for name in filter(SPREAD.__contains__, table.names):
        values, _ = table.values(name, table.all_rows)
        if not len(values):
            continue
        low, high = np.percentile(values, _CLIP)
        curves: dict[str, tuple[tuple[float, float], ...]] = {}
        for group in shown(table, by):
            own, _ = table.values(name, table.rows_of(group))
            if len(own):
                curves[group.label] = tuple(zip(np.quantile(own, _SHARES).tolist(), _SHARES, strict=True))
        found[name] = Spread(low=float(low), high=float(high if high > low else low + 1), curves=curves)
    return found


def shown(table: Store[Group], by: Sequence[str], most: int = 6) -> list[Group]:
    """The groups that are drawn: of each reviewer the largest, then the second largest, and so on."""
    who = [at for at, key in enumerate(by) if key not in CONTEXT]
    size = {group: len(table.rows_of(group)) for group in table.groups}
    turns: dict[Group, int] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for group in sorted(size, key=lambda group: (-size[group], group.values)):
        reviewer = tuple(group.values[at] for at in who)
        turns[group] = seen[reviewer]
        seen[reviewer] += 1
    first = sorted(size, key=lambda group: (turns[group], -size[group], group.values))[:most]
    return sorted(first, key=lambda group: group.values)


def _bounds(table: Store[Group], names: list[str], rows: Ints, seed: int) -> list[tuple[float | None, float | None]]:
    sums, counts, papers = table.sums(names, rows)
    if not len(papers):
        return [(None, None)] * len(names)
    drawn = resampled(np.hstack([sums, counts]), seed=seed)
    means = over(drawn[:, : len(names)], drawn[:, len(names) :])
    there = (counts > 0).sum(axis=0)
    return [percentiles(means[:, at], int(there[at])) for at in range(len(names))]


def _reasons(table: Store[Group], name: str, rows: Ints) -> dict[str, int]:
    """How many have no value, the most frequent reason first."""
    return dict(
        sorted(
            ((str(why), count) for why, count in table.missing(name, rows).items()), key=lambda one: (-one[1], one[0])
        )
    )


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
