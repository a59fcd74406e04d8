"""The summary of an evaluation: ``summary.md`` for a reader, ``summary.csv`` and ``summary.json`` for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from referee.evals.comparison import Comparison, Difference
from referee.evals.correlations import Correlations
from referee.evals.edges import EDGES, EDGES_TEXT, edge_text, level_rows
from referee.evals.grouping import EXPERT
from referee.evals.registry import apart, counted_by
from referee.evals.table import Cell, Table
from referee.reports import tables
from referee.reports.correlation_tables import correlation_section
from referee.reports.estimates import several
from referee.reports.markdown_text import inline
from referee.reports.page import Section, render_markdown
from referee.reports.paper_table import PublishedTable
from referee.reports.tables import NOTHING, aligned, csv_text, dashed, interval, json_text, number, places
from referee.reports.usage_text import tokens_in_cell

NEAREST = "†"
BEST = "‡"
COLUMNS = (
    *("group", "system", "metric", "mean", "sd", "low", "high", "papers", "scored", "not_applicable", "failed"),
    *("alpha", "repeat_sd", "judged", "nearest_to_expert", "best", "at_top", "at_bottom", "counted_by"),
)
Parts = list[str | tables.Table]
_PLACES = 4
"""Of what is of no metric's unit: agreement, p, parts."""


@dataclass(frozen=True)
class About:
    """What was evaluated, for the head of the summary."""

    reviews: int
    papers: int
    rejected: int = 0
    rejected_by: Mapping[str, int] = field(default_factory=dict)
    judges: tuple[str, ...] = ()
    repeats: int = 1
    embedder: str = ""
    notes: tuple[str, ...] = ()


def render_summary(
    table: Table,
    about: About,
    *,
    comparison: Comparison | None = None,
    published: PublishedTable | None = None,
    correlations: Correlations | None = None,
) -> str:
    """The whole summary as Markdown."""
    sections = [
        Section(
            "Mean and standard deviation",
            (*_by_row(table, _mean_and_sd), "\n".join([legend(table), *silence_lines(table)])),
        ),
        Section(
            "How sure, and how many",
            (
                "95 percent interval of the mean (bootstrap over papers); scored / not applicable / failed.",
                *_by_row(table, _interval_and_counts),
            ),
        ),
        *_edges(table),
        *_parts(table),
        *_agreement(table, about),
        *([_comparison(comparison)] if comparison else []),
        *([correlation_section(correlations)] if correlations else []),
        *([_published(published, table.metrics)] if published else []),
        *_reasons(table),
        *_left_out(table),
        _costs(table),
    ]
    cut = [f"**{inline(table.cut_line)}**"] if table.cut_line else []
    return render_markdown("Evaluation of peer reviews", [*cut, "\n".join(_head(about))], sections)


def main_table_lines(table: Table) -> list[str]:
    """The main table alone, for the terminal."""
    parts = _by_row(table, _mean_and_sd)
    return [line for part in parts for line in ((part,) if isinstance(part, str) else aligned(part))]


def summary_csv(table: Table) -> str:
    """One line a cell."""
    return csv_text(COLUMNS, (entry | {"judged": judged_of(cell)} for entry, cell in _entries(table)))


def summary_json(
    table: Table, about: About, *, comparison: Comparison | None = None, published: PublishedTable | None = None
) -> str:
    """Everything that ``summary.md`` prints."""
    data: dict[str, Any] = {
        "schema_version": 1,
        "about": asdict(about),
        "grouped_by": table.group_by,
        "cut_line": table.cut_line,
        "cells": [entry | {"parts": cell.parts} for entry, cell in _entries(table)],
        "metrics": {
            metric: {
                "units": totals.units,
                "usage": totals.usage.model_dump(),
                "reasons": [
                    {"status": status, "reason": reason, "units": count} for status, reason, count in totals.reasons
                ],
                "left_out": [{"what": what, "number": n, "reviews": of} for what, n, of in totals.left_out],
            }
            for metric, totals in table.totals.items()
        },
        "comparison": asdict(comparison) if comparison else None,
        "published": asdict(published) if published else None,
    }
    return json_text(data)


def _entries(table: Table) -> Iterator[tuple[dict[str, Any], Cell]]:
    """Each cell's line, and the cell."""
    for row in table.rows:
        for metric in table.metrics:
            cell = table.cells[row, metric]
            marks = {"nearest_to_expert": cell.nearest, "best": cell.best, **asdict(cell.edges)}
            found = {"group": row.group, "system": row.system, "metric": metric, **marks}
            found["counted_by"] = counted_by(metric)
            yield {name: found[name] if name in found else getattr(cell, name) for name in COLUMNS}, cell


def legend(table: Table) -> str:
    """What the numbers and marks of the main table mean."""
    over = (
        "Mean ± standard deviation over papers: a paper counts once, by the mean of its reviews, and all rows of a "
        "column that have a value are over the same papers."
        if table.over_papers
        else "Mean ± standard deviation of a row: over its scored reviews, whichever papers they are of."
    )
    return (
        f"{over} "
        f"{EXPERT}: all human reviews. {NEAREST} nearest to {EXPERT}, {BEST} best where more is better. "
        f"{NOTHING}: nothing was scored. Failures count nowhere as a value."
    )


def silence_lines(table: Table) -> list[str]:
    """A line for each judge that never answered."""
    return [
        f"{inline(judge)} answered nothing ({', '.join(f'{m}: judged 0 of {n}' for m, (_, n) in of.items())}): "
        "no number here is of that judge."
        for judge, of in table.judged.items()
        if judge in table.silent
    ]


def left_out_lines(table: Table) -> list[str]:
    """A line for each kind of thing that a limit kept a metric from measuring."""
    return [
        f"{metric}: {number:,} {what} ({several(reviews, 'review')})"
        for metric, totals in table.totals.items()
        for what, number, reviews in totals.left_out
    ]


def judged_of(cell: Cell) -> str:
    """By judge, how many of the reviews it was asked about it answered on."""
    return "; ".join(f"{judge} {done} of {asked}" for judge, (done, asked) in cell.judged.items())


def _head(about: About) -> Iterator[str]:
    repeats = f", each asked {about.repeats} times" if about.repeats > 1 else ""
    judges = ", ".join(inline(judge) for judge in about.judges) or "none"
    yield f"- Reviews: {about.reviews:,} of {about.papers:,} papers; rows left out: {about.rejected:,}"
    yield f"- Judges: {judges}{repeats if about.judges else ''}"
    if about.embedder:
        yield f"- Embedder: {inline(about.embedder)}"
    for note in about.notes:
        yield f"- Note: {inline(note)}"


def _by_row(table: Table, said: Callable[[Cell, int], str]) -> Parts:
    """A line a row, a column a metric; what a cell says is given the digits of its metric."""

    def of(metrics: Sequence[str]) -> tables.Table:
        digits = {metric: places(metric) for metric in metrics}
        rows = [[row.label, *(said(table.cells[row, name], digits[name]) for name in digits)] for row in table.rows]
        return dashed("", ["system", *metrics], rows)

    return _apart(table.metrics, of)


def _apart(metrics: Iterable[str], of: Callable[[Sequence[str]], tables.Table]) -> Parts:
    """A table of some metrics, or several: what counts by another matcher or cap stands in one of its own."""
    return [part for rule, held in apart(metrics) for part in ([f"Counted by {rule}:"] if rule else []) + [of(held)]]


def _mean_and_sd(cell: Cell, digits: int) -> str:
    if cell.mean is None:
        return ""
    marks = (NEAREST if cell.nearest else "") + (BEST if cell.best else "")
    silent = "".join(f" ({judge} judged 0 of {n})" for judge, (done, n) in cell.judged.items() if not done)
    edge = f" (at the {cell.edges.crowded})" if cell.edges.crowded else ""
    return f"{_spread(cell.mean, cell.sd, digits)}{f' {marks}' if marks else ''}{edge}{silent}"


def _spread(mean: float, sd: float | None, digits: int) -> str:
    return number(mean, digits) + (f" ± {number(sd, digits)}" if sd is not None else "")


def _interval_and_counts(cell: Cell, digits: int) -> str:
    return f"{interval(cell.low, cell.high, digits) or NOTHING}; {cell.scored} / {cell.not_applicable} / {cell.failed}"


def _edges(table: Table) -> Iterator[Section]:
    """What share of the reviews each judged metric puts at its ends, and where it thus tells none apart."""
    shares = {name: [edge_text(table.cells[row, name].edges) for row in table.rows] for name in table.metrics}
    judged = [name for name, said in shares.items() if any(said)]
    if not judged:
        return

    def of(metrics: Sequence[str]) -> tables.Table:
        rows = [[row.label, *(shares[name][n] for name in metrics)] for n, row in enumerate(table.rows)]
        return dashed("", ["system", *metrics], rows)

    lines = [f"- {name}: {_level(table, name)}" for name in judged if _level(table, name)]
    yield Section(EDGES, (EDGES_TEXT, *_apart(judged, of), *(["\n".join(lines)] if lines else [])))


def _level(table: Table, metric: str) -> str:
    """Where all systems of a group stand at one end, in a sentence; empty where none do."""
    said = []
    for group in dict.fromkeys(row.group for row in table.rows):
        own = [row for row in table.rows if row.group == group and not row.is_expert]
        if end := level_rows(
            table.cells[row, metric].edges for row in own if table.cells[row, metric].mean is not None
        ):
            said.append(f"{f'{inline(group)}: ' if group else ''}all systems are at the {end}; none is marked as best")
    return "; ".join(said)


def _parts(table: Table) -> Iterator[Section]:
    named = {m: list(dict.fromkeys(p for r in table.rows for p in table.cells[r, m].parts)) for m in table.metrics}

    def of(metrics: Sequence[str]) -> tables.Table:
        rows = [
            [f"{metric}: {part}", *(number(table.cells[row, metric].parts.get(part), _PLACES) for row in table.rows)]
            for metric in metrics
            for part in named[metric]
        ]
        return dashed("", ["number", *(row.label for row in table.rows)], rows)

    if any(named.values()):
        over = f"Means over the {'same papers' if table.over_papers else 'scored reviews'}."
        yield Section("Further numbers", (over, *_apart((m for m, parts in named.items() if parts), of)))


def _agreement(table: Table, about: About) -> Iterator[Section]:
    cells = table.cells.values()
    if len(about.judges) < 2 and about.repeats < 2 and all(c.alpha is None and c.repeat_sd is None for c in cells):
        return
    text = (
        "Krippendorff's alpha between judges (ordinal; 1 is agreement, 0 chance), then the mean standard deviation of "
        f"a judge's repeats on one review. {NOTHING}: undefined, as with one judge, one repeat or one value throughout."
    )
    rows = [
        [judge, *(f"{counts[m][0]} of {counts[m][1]}" if m in counts else "" for m in table.metrics)]
        for judge, counts in table.judged.items()
    ]
    answered = "Reviews that a judge answered on, of those it was asked about."
    yield Section("Judges", (text, *_by_row(table, _judges), answered, dashed("", ["judge", *table.metrics], rows)))


def _judges(cell: Cell, digits: int) -> str:
    return f"{number(cell.alpha, _PLACES) or NOTHING}; {number(cell.repeat_sd, digits) or NOTHING}"


_PAIRED = "On papers that both reviewed, paired by paper"
_APART = "On the papers of each, for they share none"


def _comparison(comparison: Comparison) -> Section:
    paired = any(one.paired for one in comparison.differences)
    how, test = (_PAIRED, "permutation") if paired else (_APART, "ranks, by paper")
    text = (
        f"{how}: mean difference, 95 percent interval (bootstrap over papers), "
        f"two-sided p ({test}), and p corrected for the number of metrics (Holm), of which those that are nearly the "
        f"same as another ({NOTHING}) are none."
    )
    by_metric = {one.metric: one for one in comparison.differences}

    def of(metrics: Sequence[str]) -> tables.Table:
        rows = [_difference(by_metric[metric]) for metric in metrics]
        return dashed("", ["metric", "difference", "interval", "papers", "p", "p (Holm)"], rows)

    found = _apart(by_metric, of)
    return Section(f"{inline(comparison.first)} less {inline(comparison.second)}", (text, *found))


def _difference(one: Difference) -> list[str]:
    digits = places(one.metric)
    return [
        one.metric,
        number(one.mean, digits, signed=True),
        interval(one.low, one.high, digits, signed=True),
        str(one.papers),
        number(one.p, _PLACES),
        number(one.p_holm, _PLACES),
    ]


def _published(published: PublishedTable, metrics: tuple[str, ...]) -> Section:
    columns = [metric for metric in published.metrics if metric in metrics] or list(published.metrics)
    best = {metric: published.best(metric) for metric in columns}
    text = (
        f"{published.about[0].upper()}{published.about[1:]}. Other papers and judges than ours. {NEAREST} nearest to\n"
        f"{EXPERT}, {BEST} highest, by the printed means."
    )
    rows = []
    for row in published.rows:
        cells = [row.system]
        for metric in columns:
            pair = row.values[metric]
            nearest, highest = best[metric]
            marks = (NEAREST if row.system in nearest else "") + (BEST if row.system in highest else "")
            cells.append(f"{_spread(*pair, _PLACES)}{f' {marks}' if marks else ''}" if pair else "n/a")
        rows.append(cells)
    return Section(f"As published: {published.source}", (text, dashed("", ["system", *columns], rows)))


def _reasons(table: Table) -> Iterator[Section]:
    lines = [
        f"- {metric}, {status.replace('_', ' ')}, {count:,}: {inline(reason)}"
        for metric, totals in table.totals.items()
        for status, reason, count in totals.reasons
    ]
    if lines:
        yield Section("Not scored, and why", ("\n".join(lines),))


def _left_out(table: Table) -> Iterator[Section]:
    if lines := left_out_lines(table):
        yield Section("Not measured, by a limit", ("\n".join(f"- {line}" for line in lines),))


def _costs(table: Table) -> Section:
    text = "What stands in the results, over all starts. Answers from the cache, or to another unit, count as reused."
    rows = []
    for metric, totals in table.totals.items():
        use, units = totals.usage, max(totals.units, 1)
        cost = "unknown" if use.cost_usd is None else f"${use.cost_usd:.4f}"
        made = use.calls + use.reused_calls
        tokens = [tokens_in_cell(use), f"{use.output_tokens:,}"]
        rows.append([metric, f"{use.calls:,}", f"{use.reused_calls:,}", f"{made / units:.2f}", *tokens, cost])
    head = ["metric", "calls", "reused", "calls per review", "tokens in", "tokens out", "cost"]
    return Section("Calls and tokens", (text, dashed("", head, rows)))
