"""The plots of a profile: distributions, trends by year, differences between groups, coverage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from referee.evals.profile.result import Covered, ProfileResult, Shares, Test
from referee.reports.plots import CHANCE, Plot, bars, cumulative, dots_beside_lines, forest, lines

MOST_FORESTS = 6
_MOST_SERIES = 6
_INCHES_A_LETTER, _SHORT, _MARGIN = 0.075, 24, 1.8
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_UNITS = {
    "words": "words",
    "mattr_100": "MATTR-100",
    "fre": "Flesch reading ease",
    "xref": "cross-references a review",
    "xref_density": "cross-references per 100 words",
    "strengths": "atomic strengths a review",
    "weaknesses": "atomic weaknesses a review",
}


def profile_plots(result: ProfileResult) -> tuple[Plot, ...]:
    """What can be drawn of a profile; each plot's rows are numbers of the result."""
    drawn = (
        *distributions(result),
        *rating_plots(result),
        *trend_plots(result),
        *difference_plots(result),
        *coverage_plots(result),
    )
    return tuple(map(_wide_enough, drawn))


def distributions(result: ProfileResult) -> Iterator[Plot]:
    """How length, diversity, readability and cross-references lie, in the groups that are drawn."""
    left = len(result.groups) - len(result.drawn)
    more = f" {len(result.drawn)} of {len(result.groups)} groups: the largest of each reviewer first." if left else ""
    for measure, one in result.spread.items():
        yield cumulative(
            f"distribution-{_slug(measure)}",
            f"{_unit(measure)}: share of the group's reviews",
            one.curves,
            across=_unit(measure),
            limits=(one.low, one.high),
            caption=f"The drawn axis leaves out one review in a hundred at each end; no number does.{more}",
        )
    binned = {
        group.group: {name: count / total for name, count in group.xref_bins.items()}
        for group in result.groups
        if group.group in result.drawn and (total := sum(group.xref_bins.values()))
    }
    if binned:
        yield bars(
            "distribution-xref-bins",
            "cross-references to the paper: shares of reviews",
            binned,
            across="cross-references in a review",
            up="share of the group's reviews",
            caption=f"Figures, tables, sections, equations, theorems, pages, lines.{more}",
        )


def rating_plots(result: ProfileResult) -> Iterator[Plot]:
    """Ratings and confidences, a plot for each form; values off the form are in the tables."""
    for what in ("rating", "confidence"):
        forms = dict.fromkeys(one.form for one in result.shares if one.what == what and any(one.counts))
        for form in forms:
            own = [one for one in result.shares if (one.what, one.form) == (what, form) and any(one.counts)]
            own = [one for one in own if one.group in result.drawn] or own[:_MOST_SERIES]
            off = sum(sum(shares.off_scale.values()) for shares in own)
            yield bars(
                f"{what}-{_slug(form)}",
                f"{what} on {form}",
                {one.group: _on_form(one) for one in own},
                across=what if own[0].known else f"{what} (free scale: values that were seen)",
                up="share of the group's values on the form",
                caption=f"{off:,} values that the form does not offer are not shown." if off else "",
            )


def trend_plots(result: ProfileResult) -> Iterator[Plot]:
    """Means by year, where there are two years."""
    if len({cell.year for cell in result.years}) < 2:
        return
    for measure in dict.fromkeys(cell.measure for cell in result.years):
        series: dict[str, list[tuple[float, float | None, float | None, float | None]]] = {}
        for cell in result.years:
            if cell.measure == measure:
                series.setdefault(cell.series, []).append((float(cell.year), cell.mean, cell.low, cell.high))
        yield lines(
            f"trend-{_slug(measure)}",
            f"{_unit(measure)} by year",
            series,
            across="year of the conference",
            up=f"{_unit(measure)}, mean",
            caption="Mean over reviews with its 95% interval, papers drawn whole.",
        )


def difference_plots(result: ProfileResult) -> Iterator[Plot]:
    """A forest for each pair of groups: first less second in pooled standard deviations."""
    pairs: dict[tuple[str, str], list[Test]] = {}
    for test in result.tests:
        pairs.setdefault((test.first, test.second), []).append(test)
    for number, ((first, second), tests) in enumerate(list(pairs.items())[:MOST_FORESTS], start=1):
        shown = [test for test in tests if test.standardised is not None and not test.reason]
        if not shown:
            continue
        left = f" The first {MOST_FORESTS} of {len(pairs)} pairs are drawn." if len(pairs) > MOST_FORESTS else ""
        yield forest(
            f"differences-{number}",
            f"{first} less {second}",
            [
                (test.measure.replace("_", " "), test.standardised, test.standardised_low, test.standardised_high)
                for test in shown
            ],
            across="difference of means in pooled standard deviations",
            caption="With 95% intervals, papers drawn whole; each on its own, p in the tables is corrected. Variants "
            f"of a measure are in the tables only.{left}",
        )


def coverage_plots(result: ProfileResult) -> Iterator[Plot]:
    """Recall of people's items, at equal volume too, precision and compaction, each beside what chance gives."""
    for polarity in dict.fromkeys(one.polarity for one in result.coverage):
        found: dict[tuple[str, str, str], Covered] = {
            (one.system, one.measure, one.kind): one for one in result.coverage if one.polarity == polarity
        }
        rows = [
            (f"{system}: {said}", found[system, measure, kind], found.get((system, measure, "chance")))
            for system in dict.fromkeys(system for system, _, _ in found)
            for (measure, kind), said in _LABELS.items()
            if (system, measure, kind) in found
        ]
        yield dots_beside_lines(
            f"coverage-{polarity}",
            f"coverage of people's {polarity}",
            [(label, one.value, one.low, one.high) for label, one, _ in rows],
            {CHANCE: [None if beside is None else beside.value for _, _, beside in rows]},
            across="mean over pairs of a generated and a human review, with its 95% interval",
            caption="Chance: the same items beside another paper's human review. "
            f"Backend: {result.backends.get('items and coverage', 'none')}.",
        )


_LABELS = {
    ("recall", "own"): "recall",
    ("recall", "volume"): "recall at equal volume",
    ("precision", "own"): "precision",
    ("compaction", "own"): "compaction",
}


def _wide_enough(plot: Plot) -> Plot:
    """The plot, wider where the names in its legend or below its bars are long."""
    names = [str(row[0]) for row in plot.rows] if plot.columns[0] == "series" else []
    legend = max(map(len, names), default=0) if len(set(names)) > 1 else 0
    below = sum(len(name) + 1 for name in _categories(plot))
    width = plot.size[0] + _INCHES_A_LETTER * max(0, legend - _SHORT)
    width = max(width, _INCHES_A_LETTER * below + _MARGIN)
    return replace(plot, size=(width, plot.size[1]))


def _categories(plot: Plot) -> list[str]:
    return list(dict.fromkeys(str(row[1]) for row in plot.rows)) if plot.columns[1] == "category" else []


def _on_form(shares: Shares) -> dict[str, float | None]:
    total = sum(shares.counts)
    return {f"{value:g}": count / total for value, count in zip(shares.allowed, shares.counts, strict=True)}


def _unit(measure: str) -> str:
    return _UNITS.get(measure, measure)


def _slug(text: str) -> str:
    return _NO_NAME.sub("-", text).strip("-").lower() or "unnamed"
