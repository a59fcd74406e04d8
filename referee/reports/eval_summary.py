"""``summary.md``: the table of an evaluation for a reader, with what stands behind each number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.evals.comparison import Comparison
from referee.evals.rows import EXPERT
from referee.evals.table import Cell, Table
from referee.reports.markdown_text import inline
from referee.reports.paper_table import PublishedTable
from referee.reports.usage_text import tokens_in_cell

NEAREST = "†"
BEST = "‡"
NOTHING = "–"


@dataclass(frozen=True)
class About:
    """What was evaluated, for the head of the summary."""

    reviews: int
    papers: int
    rejected: int = 0
    judges: tuple[str, ...] = ()
    repeats: int = 1
    embedder: str = ""
    notes: tuple[str, ...] = ()


def render_summary(
    table: Table, about: About, *, comparison: Comparison | None = None, published: PublishedTable | None = None
) -> str:
    """The whole summary as Markdown."""
    parts = [
        *_head(about),
        *_main_table(table),
        *_counts(table),
        *_parts(table),
        *_agreement(table, about),
        *(_comparison(comparison) if comparison else ()),
        *(_published(published, table.metrics) if published else ()),
        *_reasons(table),
        *_costs(table),
    ]
    return "\n".join(parts).rstrip() + "\n"


def main_table_lines(table: Table) -> list[str]:
    """The main table alone, for the terminal."""
    return _table_of(table)


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


def judged_of(cell: Cell) -> str:
    """By judge, how many of the reviews it was asked about it answered on."""
    return "; ".join(f"{judge} {done} of {asked}" for judge, (done, asked) in cell.judged.items())


def _head(about: About) -> Iterator[str]:
    yield "# Evaluation of peer reviews"
    yield ""
    repeats = f", each asked {about.repeats} times" if about.repeats > 1 else ""
    judges = ", ".join(inline(judge) for judge in about.judges) or "none"
    yield f"- Reviews: {about.reviews:,} of {about.papers:,} papers; rows left out: {about.rejected:,}"
    yield f"- Judges: {judges}{repeats if about.judges else ''}"
    if about.embedder:
        yield f"- Embedder: {inline(about.embedder)}"
    for note in about.notes:
        yield f"- Note: {inline(note)}"
    yield ""


def _main_table(table: Table) -> Iterator[str]:
    yield "## Mean and standard deviation"
    yield ""
    yield from _table_of(table)
    yield ""
    yield legend(table)
    yield from silence_lines(table)
    yield ""


def _table_of(table: Table) -> list[str]:
    rows = [
        [inline(row.label), *(_mean_and_sd(table.cells[row, metric]) for metric in table.metrics)] for row in table.rows
    ]
    return _markdown_table(["system", *table.metrics], rows)


def _mean_and_sd(cell: Cell) -> str:
    if cell.mean is None:
        return NOTHING
    marks = (NEAREST if cell.nearest else "") + (BEST if cell.best else "")
    spread = f" ± {cell.sd:.4f}" if cell.sd is not None else ""
    silent = "".join(f" ({inline(judge)} judged 0 of {n})" for judge, (done, n) in cell.judged.items() if not done)
    return f"{cell.mean:.4f}{spread}{f' {marks}' if marks else ''}{silent}"


def _counts(table: Table) -> Iterator[str]:
    yield "## How sure, and how many"
    yield ""
    yield "95 percent interval of the mean (bootstrap over papers); scored / not applicable / failed."
    yield ""
    rows = [
        [inline(row.label), *(_interval_and_counts(table.cells[row, metric]) for metric in table.metrics)]
        for row in table.rows
    ]
    yield from _markdown_table(["system", *table.metrics], rows)
    yield ""


def _interval_and_counts(cell: Cell) -> str:
    counts = f"{cell.scored} / {cell.not_applicable} / {cell.failed}"
    if cell.low is None or cell.high is None:
        return f"{NOTHING}; {counts}"
    return f"[{cell.low:.4f}, {cell.high:.4f}]; {counts}"


def _parts(table: Table) -> Iterator[str]:
    named = [
        (m, p) for m in table.metrics for p in dict.fromkeys(p for r in table.rows for p in table.cells[r, m].parts)
    ]
    if not named:
        return
    yield "## Further numbers"
    yield ""
    yield f"Means over the {'same papers' if table.over_papers else 'scored reviews'}."
    yield ""
    rows = [
        [
            inline(f"{metric}: {part}"),
            *(_number(table.cells[row, metric].parts.get(part)) for row in table.rows),
        ]
        for metric, part in named
    ]
    yield from _markdown_table(["number", *(inline(row.label) for row in table.rows)], rows)
    yield ""


def _agreement(table: Table, about: About) -> Iterator[str]:
    cells = table.cells.values()
    if len(about.judges) < 2 and about.repeats < 2 and all(c.alpha is None and c.repeat_sd is None for c in cells):
        return
    yield "## Judges"
    yield ""
    yield (
        "Krippendorff's alpha between judges (ordinal; 1 is agreement, 0 chance), then the mean standard deviation of "
        f"a judge's repeats on one review. {NOTHING}: undefined, as with one judge, one repeat or one value throughout."
    )
    yield ""
    rows = [
        [
            inline(row.label),
            *(
                f"{_number(table.cells[row, metric].alpha)}; {_number(table.cells[row, metric].repeat_sd)}"
                for metric in table.metrics
            ),
        ]
        for row in table.rows
    ]
    yield from _markdown_table(["system", *table.metrics], rows)
    yield ""
    yield "Reviews that a judge answered on, of those it was asked about."
    yield ""
    shown = [
        [inline(judge), *(_of(counts.get(metric)) for metric in table.metrics)]
        for judge, counts in table.judged.items()
    ]
    yield from _markdown_table(["judge", *table.metrics], shown)
    yield ""


def _of(counts: tuple[int, int] | None) -> str:
    return f"{counts[0]} of {counts[1]}" if counts else NOTHING


_PAIRED = "On papers that both reviewed, paired by paper"
_APART = "On the papers of each, for they share none"


def _comparison(comparison: Comparison) -> Iterator[str]:
    first, second = inline(comparison.first), inline(comparison.second)
    yield f"## {first} less {second}"
    yield ""
    paired = any(one.paired for one in comparison.differences)
    how, test = (_PAIRED, "permutation") if paired else (_APART, "ranks, by paper")
    yield (
        f"{how}: mean difference, 95 percent interval (bootstrap over papers), "
        f"two-sided p ({test}), and p corrected for the number of metrics (Holm), of which those that are nearly the "
        f"same as another ({NOTHING}) are none."
    )
    yield ""
    rows = [
        [
            one.metric,
            _signed(one.mean),
            f"[{_signed(one.low)}, {_signed(one.high)}]" if one.low is not None else NOTHING,
            str(one.papers),
            _number(one.p),
            _number(one.p_holm),
        ]
        for one in comparison.differences
    ]
    yield from _markdown_table(["metric", "difference", "interval", "papers", "p", "p (Holm)"], rows)
    yield ""


def _published(published: PublishedTable, metrics: Sequence[str]) -> Iterator[str]:
    columns = [metric for metric in published.metrics if metric in metrics] or list(published.metrics)
    best = {metric: published.best(metric) for metric in columns}
    yield f"## As published: {published.source}"
    yield ""
    yield f"{published.about[0].upper()}{published.about[1:]}. Other papers and judges than ours. {NEAREST} nearest to"
    yield f"{EXPERT}, {BEST} highest, by the printed means."
    yield ""
    rows = []
    for row in published.rows:
        cells = [row.system]
        for metric in columns:
            pair = row.values[metric]
            nearest, highest = best[metric]
            marks = (NEAREST if row.system in nearest else "") + (BEST if row.system in highest else "")
            cells.append(f"{pair[0]:.4f} ± {pair[1]:.4f}{f' {marks}' if marks else ''}" if pair else "n/a")
        rows.append(cells)
    yield from _markdown_table(["system", *columns], rows)
    yield ""


def _reasons(table: Table) -> Iterator[str]:
    if not any(totals.reasons for totals in table.totals.values()):
        return
    yield "## Not scored, and why"
    yield ""
    for metric, totals in table.totals.items():
        for status, reason, count in totals.reasons:
            yield f"- {metric}, {status.replace('_', ' ')}, {count:,}: {inline(reason)}"
    yield ""


def _costs(table: Table) -> Iterator[str]:
    yield "## Calls and tokens"
    yield ""
    yield "What stands in the results; answers from the cache or an earlier start count as reused."
    yield ""
    rows = []
    for metric, totals in table.totals.items():
        use, units = totals.usage, max(totals.units, 1)
        cost = "unknown" if use.cost_usd is None else f"${use.cost_usd:.4f}"
        made = use.calls + use.reused_calls
        tokens = [tokens_in_cell(use), f"{use.output_tokens:,}"]
        rows.append([metric, f"{use.calls:,}", f"{use.reused_calls:,}", f"{made / units:.2f}", *tokens, cost])
    head = ["metric", "calls", "reused", "calls per review", "tokens in", "tokens out", "cost"]
    yield from _markdown_table(head, rows)
    yield ""


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.4f}"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table whose columns stand below each other also where it is read as plain text."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    ruled = [f"|{'|'.join('-' * (width + 2) for width in widths)}|"]
    return [_line(head, widths), *ruled, *(_line(row, widths) for row in rows)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"
