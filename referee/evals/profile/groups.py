"""Groups of reviews: means with intervals by paper, trends by year, distributions, and which of them differ in what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from referee.evals.grouping import CONTEXT, Group
from referee.evals.profile.ratings import NoScale
from referee.evals.profile.result import Cell, GroupSize, Spread, Test, YearCell
from referee.evals.reading import ReadMetric
from referee.evals.store import Ints, Store
from referee.stats import clustered_rank_test, holm, mann_whitney, rank_biserial
from referee.stats.resamples import percentiles, resampled_means
from referee.stats.values import Floats

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
    means = resampled_means(sums, counts, seed=seed)
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


EXACT_UP_TO = 8
MOST_GROUPS_EACH_WITH_EACH = 5
OTHER_SCALES = "the groups' forms offer different values, or are unknown"
EMPTY = "one of the groups has no value"
CONSTANT = "no value differs from another within the groups"
FEW_PAPERS = "too few papers differ to tell the spread between papers"

_Of = tuple[str, ...]


def pairs_of(table: Store[Group], by: Sequence[str]) -> list[tuple[Group, Group]]:
    """Which groups are compared: like with like, or each with each of at most five groups.

    Of more groups those are compared that differ in who reviewed and agree in venue, year, decision and era, and those
    that differ in the era alone. In one such place up to five reviewers are compared each with each, more of them with
    its people, or with its largest group. Where nothing tells reviewers apart, each is compared with the largest.
    """
    groups = ordered(table)
    if len(groups) <= MOST_GROUPS_EACH_WITH_EACH:
        return list(combinations(groups, 2))
    size = {group: len(table.rows_of(group)) for group in groups}
    context = [at for at, key in enumerate(by) if key in CONTEXT]
    if len(context) == len(by) and "era" not in by:
        return _with_one(groups, size, by)
    found = [pair for place in _places(groups, context) for pair in _within(place, size, by)]
    if "era" in by:
        era = by.index("era")
        others = [at for at in range(len(by)) if at != era]
        found += [pair for place in _places(groups, others) for pair in combinations(place, 2)]
    return found


def tests(
    table: Store[Group],
    measures: Sequence[ReadMetric],
    pairs: Iterable[tuple[Group, Group]],
    scales: Mapping[tuple[Group, str], object],
    *,
    seed: int,
) -> Iterator[Test]:
    """Rank tests of each pair of groups in each measure, with Holm's correction over all of them.

    Where each review is of a paper of its own the test is Mann-Whitney's; else reviews of one paper count as alike, and
    a paper of both groups is compared with itself. Variants of a measure stay out of the correction, so that it is not
    paid for twice, and so does what does not vary.

    Args:
        table: The reviews.
        measures: What is compared.
        pairs: The groups.
        scales: The values that a group's ratings and confidences were given on; a measure on a form's scale is
            compared where both groups have the same.
        seed: For the intervals.
    """
    found = [test for first, second in pairs for test in _pair(table, measures, (first, second), scales, seed)]
    family = {measure.name for measure in measures if not measure.variant_of}
    ps = {at: test.p for at, test in enumerate(found) if test.p is not None and test.measure in family}
    corrected = dict(zip(ps, holm(list(ps.values())), strict=True))
    for at, test in enumerate(found):
        yield test.model_copy(update={"p_holm": corrected.get(at)})


def _places(groups: Iterable[Group], keys: Sequence[int]) -> list[list[Group]]:
    """The groups that have the same values of these keys together."""
    found: dict[_Of, list[Group]] = {}
    for group in groups:
        found.setdefault(tuple(group.values[at] for at in keys), []).append(group)
    return list(found.values())


def _within(place: list[Group], size: Mapping[Group, int], by: Sequence[str]) -> list[tuple[Group, Group]]:
    return list(combinations(place, 2)) if len(place) <= MOST_GROUPS_EACH_WITH_EACH else _with_one(place, size, by)


def _with_one(groups: list[Group], size: Mapping[Group, int], by: Sequence[str]) -> list[tuple[Group, Group]]:
    """Each with the largest group of people, or the largest of all."""
    people = [group for group in groups if _is_human(group, by)]
    reference = max(people or groups, key=lambda group: size[group])
    return [(group, reference) for group in groups if group is not reference]


def _is_human(group: Group, by: Sequence[str]) -> bool:
    return any(key in ("source", "kind") and value == "human" for key, value in zip(by, group.values, strict=True))


def _pair(
    table: Store[Group],
    measures: Sequence[ReadMetric],
    pair: tuple[Group, Group],
    scales: Mapping[tuple[Group, str], object],
    seed: int,
) -> Iterator[Test]:
    first, second = pair
    names = [measure.name for measure in measures]
    rows = table.rows_of(first), table.rows_of(second)
    drawn, papers = _drawn_differences(table, names, rows, seed)
    for at, measure in enumerate(measures):
        one, other = (table.values(measure.name, own) for own in rows)
        a, b = one[0], other[0]
        blank = Test(first=first.label, second=second.label, measure=measure.name, n_first=len(a), n_second=len(b))
        if measure.scaled and len(a) and len(b) and scales[first, measure.name] != scales[second, measure.name]:
            yield blank.model_copy(update={"reason": OTHER_SCALES})
        elif not len(a) or not len(b):
            yield blank.model_copy(update={"reason": EMPTY})
        else:
            yield blank.model_copy(update={**_difference(a, b, drawn[:, at], papers), **_tested(one, other, measure)})


def _difference(a: Floats, b: Floats, drawn: Floats, papers: int) -> dict[str, float | None]:
    """The difference of means and in pooled standard deviations, with intervals; the ratio of the means."""
    difference = float(a.mean() - b.mean())
    low, high = percentiles(drawn, papers)
    spread = _pooled(a, b)
    scaled = [None if value is None or not spread else value / spread for value in (difference, low, high)]
    return {
        "difference": difference,
        "low": low,
        "high": high,
        "ratio": float(a.mean() / b.mean()) if b.mean() > 0 else None,
        "standardised": scaled[0],
        "standardised_low": scaled[1],
        "standardised_high": scaled[2],
        "effect": rank_biserial(a.tolist(), b.tolist()),
    }


def _tested(one: tuple[Floats, Ints], other: tuple[Floats, Ints], measure: ReadMetric) -> dict[str, object]:
    (a, papers), (b, others) = one, other
    if not _pooled(a, b):
        return {"reason": CONSTANT}
    plain = mann_whitney(a.tolist(), b.tolist(), exact_up_to=EXACT_UP_TO)
    assert plain is not None, "neither sample is empty"
    reason = f"a variant of {measure.variant_of}, which is corrected" if measure.variant_of else ""
    every = np.concatenate([papers, others])
    if len(np.unique(every)) == len(every):
        return {"u": plain.u, "method": plain.method, "p": plain.p, "reason": reason}
    found = clustered_rank_test(a, papers, b, others)
    if found is None:
        return {"u": plain.u, "reason": FEW_PAPERS}
    return {"u": plain.u, "method": "clustered", "p": found.p, "reason": reason}


def _drawn_differences(table: Store[Group], names: list[str], rows: tuple[Ints, Ints], seed: int) -> tuple[Floats, int]:
    """Differences of means in resamples of papers; a paper of both groups is drawn for both at once."""
    parts = [table.sums(names, own) for own in rows]
    papers = np.union1d(parts[0][2], parts[1][2])
    width = len(names)
    sums, counts = np.zeros((len(papers), 2 * width)), np.zeros((len(papers), 2 * width))
    for side, (own_sums, own_counts, own) in enumerate(parts):
        places, columns = np.searchsorted(papers, own), slice(side * width, (side + 1) * width)
        sums[places, columns] = own_sums
        counts[places, columns] = own_counts
    means = resampled_means(sums, counts, seed=seed)
    return means[:, :width] - means[:, width:], min(len(parts[0][2]), len(parts[1][2]))


def _pooled(a: Floats, b: Floats) -> float:
    """The pooled standard deviation; 0 where nothing varies."""
    free = len(a) + len(b) - 2
    if free < 1:
        return 0.0
    return float(np.sqrt((((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / free))
