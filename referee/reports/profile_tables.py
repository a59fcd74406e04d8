"""The tables of a profile as rows of text, and the summary to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from referee.evals.behaviour.citation_check import STATUSES
from referee.evals.profile.result import Cell, ProfileResult
from referee.reports.markdown_text import inline
from referee.reports.plain import one_line
from referee.reports.plots import Plot
from referee.reports.profile_beside import beside_tables, coverage_tables, ratings_table
from referee.reports.profile_cells import Table, interval, number, pvalue

MAIN = ("words", "mattr_100", "fre", "fkg", "xref", "citations", "mathematics", "rating", "weaknesses_per_strength")
_DIGITS = {"ttr": 3, "ttr_words": 3, "mattr_100": 3, "mathematics": 3, "citations": 3}
_MOST_PAIRS = 12


def profile_markdown(result: ProfileResult, plots: Sequence[Plot]) -> str:
    """``summary.md``."""
    parts = ["# Profile of reviewers\n", lead(result)]
    if result.notes:
        parts.append("\n".join(f"- Note: {inline(note)}." for note in result.notes))
    for heading, text, tables in sections(result):
        parts.append(f"## {heading}\n")
        parts += [inline(text)] if text else []
        parts += [_markdown(table) for table in tables]
    parts.append("## How these numbers came about\n")
    parts.append("\n".join(f"- {inline(name)}: {inline(value)}" for name, value in facts(result).items()))
    if plots:
        parts.append("## Plots\n")
        parts += [f"![{inline(plot.title)}](plots/{plot.name}.svg)\n\n{inline(plot.caption)}" for plot in plots]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def lead(result: ProfileResult) -> str:
    """What the profile is of."""
    counts = (result.reviews, "review"), (result.papers, "paper"), (len(result.groups), "group")
    reviews, papers, groups = (f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts)
    out = f"{reviews} of {papers} in {groups}"
    rejected = f"; {result.rejected:,} row{'' if result.rejected == 1 else 's'} could not be used"
    rejected = rejected if result.rejected else ""
    return f"{out} by {', '.join(result.by)}{rejected}."


def facts(result: ProfileResult) -> dict[str, str]:
    """How the numbers came about."""
    return {
        **result.backends,
        "intervals": "95%, percentile bootstrap, papers drawn whole, 1,000 resamples",
        "tests": "rank tests, two-sided: reviews of one paper count as alike, and a paper of both groups is compared "
        "with itself (Mann-Whitney where every review is of another paper, exact for at most 8 a side without ties); "
        "Holm over all pairs and measures but variants; effect: rank-biserial",
    }


def sections(result: ProfileResult) -> Iterator[tuple[str, str, list[Table]]]:
    """Heading, text and tables of each part that has something to show."""
    yield "Groups", "", [_main(result)]
    yield "Every measure", "Mean over reviews [interval]; n used, n skipped with reasons.", list(_all_cells(result))
    if result.tests:
        text = (
            "Differences are of means, first less second. With many reviews nearly everything is significant: "
            "read the effect."
        )
        pairs = len({(test.first, test.second) for test in result.tests})
        if pairs > _MOST_PAIRS:
            text += f" The first {_MOST_PAIRS} of {pairs} pairs; comparisons.csv has all."
        yield "Differences between groups", text, list(_tests(result))
    if any(sum(one.counts) or one.off_scale for one in result.shares):
        yield "Ratings and confidence", "", [ratings_table(result)]
    if result.agreements or result.alphas or result.engagement:
        yield "Beside people", "", list(beside_tables(result))
    if result.citations:
        text = "The rate is verified / (all - unresolved): what no service could be asked about says nothing."
        yield "Formal citations", text, [_cited(result)]
    if result.coverage:
        text = "Recall means little without what chance and an equal volume give; rules match words, not meaning."
        yield "Atomic items and coverage", text, list(coverage_tables(result))


def _main(result: ProfileResult) -> Table:
    by_group = {(cell.group, cell.measure): cell for cell in result.cells}
    shown = [name for name in MAIN if any(cell.measure == name and cell.n for cell in result.cells)]
    rows = [
        [size.group, f"{size.reviews:,}", f"{size.papers:,}", *(value(by_group[size.group, name]) for name in shown)]
        for size in result.groups
    ]
    return Table("Means by group", ("group", "reviews", "papers", *shown), rows)


def _all_cells(result: ProfileResult) -> Iterator[Table]:
    columns = ("measure", "mean", "interval", "median", "n", "skipped", "why skipped")
    for size in result.groups:
        rows = [
            [
                cell.measure,
                value(cell),
                interval(cell.low, cell.high, _DIGITS.get(cell.measure, 2)),
                number(cell.median, _DIGITS.get(cell.measure, 2)),
                f"{cell.n:,}",
                f"{cell.skipped:,}",
                _reasons(cell.reasons),
            ]
            for cell in result.cells
            if cell.group == size.group
        ]
        yield Table(size.group, columns, rows)


def _cited(result: ProfileResult) -> Table:
    columns = ("group", "reviews", "citations", *(status.replace("_", " ") for status in STATUSES), "rate")
    rows = [
        [
            one.group,
            f"{one.reviews:,}",
            f"{one.citations:,}",
            *(f"{getattr(one, status):,}" for status in STATUSES),
            number(one.rate, 3) or f"none: {one.reason}",
        ]
        for one in result.citations
    ]
    return Table("By group", columns, rows)


def _tests(result: ProfileResult) -> Iterator[Table]:
    columns = ("measure", "difference", "interval", "ratio", "effect", "U", "p", "p (Holm)", "n", "")
    pairs = dict.fromkeys((test.first, test.second) for test in result.tests)
    for first, second in list(pairs)[:_MOST_PAIRS]:
        rows = [
            [
                test.measure,
                number(test.difference, 3),
                interval(test.low, test.high, 3),
                number(test.ratio, 2),
                number(test.effect, 3),
                number(test.u, 1),
                pvalue(test.p),
                pvalue(test.p_holm),
                f"{test.n_first:,} + {test.n_second:,}",
                test.reason,
            ]
            for test in result.tests
            if (test.first, test.second) == (first, second)
        ]
        yield Table(f"{first} less {second}", columns, rows)


def console_lines(result: ProfileResult) -> list[str]:
    """The table of groups for a terminal, and how systems rate beside people."""
    tables = [_main(result)]
    tables += [Table(one.title, one.columns[:10], [row[:10] for row in one.rows]) for one in beside_tables(result)][:2]
    return [line for table in tables for line in (*_aligned(table), "")][:-1]


def _aligned(table: Table) -> list[str]:
    rows = [[one_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.columns))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [f"| {line} |" for line in lines]


def value(cell: Cell) -> str:
    """A mean; ``none`` where there is none."""
    return number(cell.mean, _DIGITS.get(cell.measure, 2)) or "none"


def _reasons(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {count:,}" for why, count in reasons.items())


def _markdown(table: Table) -> str:
    head = f"**{inline(table.title)}**\n\n" if table.title else ""
    lines = [_row(table.columns), _row(["---"] * len(table.columns)), *map(_row, table.rows)]
    return head + "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell if set(cell) == {'-'} else inline(cell) for cell in cells)} |"
