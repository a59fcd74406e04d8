"""Groups of reviews: means with intervals by paper, trends by year, distributions, and tests between groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np

from referee.evals.profile.grouping import Group
from referee.evals.profile.ratings import SEVERAL
from referee.evals.profile.resamples import over, percentiles, resampled
from referee.evals.profile.result import Cell, GroupSize, Test, YearCell
from referee.evals.profile.table import Ints, ProfileTable
from referee.stats import holm, mann_whitney, rank_biserial
from referee.stats.values import Floats

EXACT_UP_TO = 8
MOST_GROUPS_EACH_WITH_EACH = 5
OTHER_SCALES = "the groups' forms offer different values, or are unknown"
EMPTY = "one of the groups has no value"
HISTOGRAMS = ("words", "mattr_100", "fre", "xref_density")
_BINS, _WHOLE_FROM = 12, 100
_CLIP = (1.0, 99.0)


def sizes(table: ProfileTable, by: Sequence[str]) -> Iterator[GroupSize]:
    """How large each group is, in the order of the groups' labels."""
    for group in ordered(table):
        rows = table.rows_of(group)
        yield GroupSize(
            group=group.label,
            keys=dict(zip(by, group.values, strict=True)),
            reviews=len(rows),
            papers=len(table.sums((), rows)[2]),
            xref_bins={name: table.bins.get(group, Counter())[name] for name in ("0", "1", "2-5", ">5")},
        )


def ordered(table: ProfileTable) -> list[Group]:
    """The groups by their values."""
    return sorted(table.groups, key=lambda group: group.values)


def cells(
    table: ProfileTable, group: Group, scales: Mapping[tuple[Group, str], object], *, seed: int
) -> Iterator[Cell]:
    """Every measure of a group. The interval is a percentile bootstrap that draws papers whole.

    Numbers of several scales have no mean.
    """
    rows = table.rows_of(group)
    for cell in _cells(table, rows, group.label, seed):
        if scales.get((group, cell.measure)) == (SEVERAL, group):
            nothing = dict.fromkeys(("mean", "low", "high", "median", "sd"))
            yield cell.model_copy(update={**nothing, "n": 0, "skipped": len(rows), "reasons": {SEVERAL: len(rows)}})
        else:
            yield cell


def _cells(table: ProfileTable, rows: Ints, label: str, seed: int) -> Iterator[Cell]:
    names = [measure.name for measure in table.measures]
    bounds = _bounds(table, names, rows, seed)
    for at, name in enumerate(names):
        values, papers = table.values(name, rows)
        low, high = bounds[at]
        yield Cell(
            group=label,
            measure=name,
            n=len(values),
            papers=len(np.unique(papers)),
            mean=_number(values.mean()) if len(values) else None,
            low=low,
            high=high,
            median=_number(np.median(values)) if len(values) else None,
            sd=_number(values.std(ddof=1)) if len(values) > 1 else None,
            skipped=len(rows) - len(values),
            reasons=dict(table.skipped(name, rows)),
        )


def trends(table: ProfileTable, by: Sequence[str], measures: Sequence[str], *, seed: int) -> Iterator[YearCell]:
    """Measures by year, a series for each group without its venue and year; ratings only within one venue's groups."""
    series: dict[str, list[Ints]] = {}
    for group in ordered(table):
        kept = tuple(value for key, value in zip(by, group.values, strict=True) if key not in ("venue", "year"))
        series.setdefault(Group(kept).label if kept else "all", []).append(table.rows_of(group))
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


def histograms(table: ProfileTable, most: int = 6) -> dict[str, dict[str, dict[str, float]]]:
    """Measure to group to bin to share of the group's reviews, for the largest groups.

    Bins are the same for all groups, between the 1st and the 99th percentile of all reviews; the ends hold what lies
    beyond. Only pictures are clipped, no number is. (PRAIB clips FRE at its 90th percentile, which would pile up the
    easier reviews of people.)
    """
    shown = sorted(ordered(table), key=lambda group: -len(table.rows_of(group)))[:most]
    found: dict[str, dict[str, dict[str, float]]] = {}
    everything = np.arange(len(table), dtype=np.int64)
    for name in (measure.name for measure in table.measures if measure.name in HISTOGRAMS):
        values, _ = table.values(name, everything)
        if not len(values):
            continue
        low, high = np.percentile(values, _CLIP)
        edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
        labels = [_bin_name((a + b) / 2) for a, b in pairwise(edges)]
        of_name = found.setdefault(name, {})
        for group in sorted(shown, key=lambda one: one.values):
            own, _ = table.values(name, table.rows_of(group))
            counts, _ = np.histogram(np.clip(own, edges[0], edges[-1]), edges)
            if len(own):
                of_name[group.label] = dict(zip(labels, (counts / len(own)).tolist(), strict=True))
    return found


def pairs_of(table: ProfileTable, by: Sequence[str]) -> list[tuple[Group, Group]]:
    """Which groups are compared: each with each of at most five groups, of more each with the reference.

    The reference is the largest group of human reviews, where source or kind tells it, else the largest group.
    """
    groups = ordered(table)
    if len(groups) <= MOST_GROUPS_EACH_WITH_EACH:
        return list(combinations(groups, 2))
    size = {group: len(table.rows_of(group)) for group in groups}
    people = [group for group in groups if _is_human(group, by)]
    reference = max(people or groups, key=lambda group: size[group])
    return [(group, reference) for group in groups if group is not reference]


def tests(
    table: ProfileTable, pairs: Iterable[tuple[Group, Group]], scales: Mapping[tuple[Group, str], object], *, seed: int
) -> Iterator[Test]:
    """Mann-Whitney tests of each pair of groups in each measure, with Holm's correction over the measures of a pair.

    Args:
        table: The reviews.
        pairs: The groups.
        scales: The values that a group's ratings and confidences were given on; a measure on a form's scale is
            compared where both groups have the same.
        seed: For the intervals.
    """
    for first, second in pairs:
        found = list(_pair(table, first, second, scales, seed))
        tested = [test for test in found if test.p is not None]
        corrected = dict(
            zip([test.measure for test in tested], holm([test.p for test in tested if test.p is not None]), strict=True)
        )
        for test in found:
            yield test.model_copy(update={"p_holm": corrected.get(test.measure)})


def _pair(
    table: ProfileTable, first: Group, second: Group, scales: Mapping[tuple[Group, str], object], seed: int
) -> Iterator[Test]:
    names = [measure.name for measure in table.measures]
    rows = table.rows_of(first), table.rows_of(second)
    drawn, papers = _drawn_differences(table, names, rows, seed)
    for at, measure in enumerate(table.measures):
        a, b = (table.values(measure.name, own)[0] for own in rows)
        blank = Test(first=first.label, second=second.label, measure=measure.name, n_first=len(a), n_second=len(b))
        if measure.scaled and len(a) and len(b) and scales[first, measure.name] != scales[second, measure.name]:
            yield blank.model_copy(update={"reason": OTHER_SCALES})
        elif not len(a) or not len(b):
            yield blank.model_copy(update={"reason": EMPTY})
        else:
            yield blank.model_copy(update=_tested(a, b, drawn[:, at], papers))


def _tested(a: Floats, b: Floats, drawn: Floats, papers: int) -> dict[str, object]:
    test = mann_whitney(a.tolist(), b.tolist(), exact_up_to=EXACT_UP_TO)
    difference = float(a.mean() - b.mean())
    low, high = percentiles(drawn, papers)
    spread = _pooled(a, b)
    scaled = [None if value is None or not spread else value / spread for value in (difference, low, high)]
    return {
        "difference": difference,
        "low": low,
        "high": high,
        "standardised": scaled[0],
        "standardised_low": scaled[1],
        "standardised_high": scaled[2],
        "u": test.u if test else None,
        "method": test.method if test else None,
        "p": test.p if test else None,
        "effect": rank_biserial(a.tolist(), b.tolist()),
        "reason": "" if spread else "no value differs from another within the groups" if len(a) + len(b) > 2 else "",
    }


def _drawn_differences(table: ProfileTable, names: list[str], rows: tuple[Ints, Ints], seed: int) -> tuple[Floats, int]:
    """Differences of means in resamples of papers; a paper of both groups is drawn for both at once."""
    parts = [table.sums(names, own) for own in rows]
    papers = np.union1d(parts[0][2], parts[1][2])
    columns = np.zeros((len(papers), 4 * len(names)))
    width = len(names)
    for side, (sums, counts, own) in enumerate(parts):
        places = np.searchsorted(papers, own)
        columns[places, 2 * side * width : (2 * side + 1) * width] = sums
        columns[places, (2 * side + 1) * width : (2 * side + 2) * width] = counts
    drawn = resampled(columns, seed=seed)
    first = over(drawn[:, :width], drawn[:, width : 2 * width])
    second = over(drawn[:, 2 * width : 3 * width], drawn[:, 3 * width :])
    return first - second, min(len(parts[0][2]), len(parts[1][2]))


def _bounds(table: ProfileTable, names: list[str], rows: Ints, seed: int) -> list[tuple[float | None, float | None]]:
    sums, counts, papers = table.sums(names, rows)
    if not len(papers):
        return [(None, None)] * len(names)
    drawn = resampled(np.hstack([sums, counts]), seed=seed)
    means = over(drawn[:, : len(names)], drawn[:, len(names) :])
    there = (counts > 0).sum(axis=0)
    return [percentiles(means[:, at], int(there[at])) for at in range(len(names))]


def _pooled(a: Floats, b: Floats) -> float:
    """The pooled standard deviation; 0 where nothing varies."""
    free = len(a) + len(b) - 2
    if free < 1:
        return 0.0
    return float(np.sqrt((((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / free))


def _is_human(group: Group, by: Sequence[str]) -> bool:
    return any(key in ("source", "kind") and value == "human" for key, value in zip(by, group.values, strict=True))


def _bin_name(middle: float) -> str:
    return f"{middle:.0f}" if abs(middle) >= _WHOLE_FROM else f"{middle:.3g}"


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
