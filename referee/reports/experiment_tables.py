"""``summary.md`` of an experiment: means by arm, differences by pair, what failed and why, what each arm took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from referee.reports.markdown_text import inline
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.experiment import ArmCell, ArmComparison, ArmRecord, ExperimentResult
from referee.schemas.usage import Usage

NOTHING = "–"


def render_experiment(result: ExperimentResult) -> str:
    """The whole summary as Markdown."""
    parts = [
        *_head(result),
        "## Mean and standard deviation",
        "",
        *arm_lines(result),
        "",
        "Below each mean: its interval; scored / not applicable / failed / pending papers.",
        "",
        *_certainty(result),
        "",
        *_comparisons(result),
        *_missing(result),
        *_excluded(result),
        *_costs(result),
    ]
    return "\n".join(parts).rstrip() + "\n"


def arm_lines(result: ExperimentResult) -> list[str]:
    """Arms by metrics, mean and standard deviation; also for the terminal."""
    rows = [[inline(arm.name), *(_mean(_cell(result, arm, m)) for m in result.metrics)] for arm in result.arms]
    return table_lines(["arm", *map(inline, result.metrics)], rows)


def comparison_lines(result: ExperimentResult) -> list[str]:
    """A line for each comparison and metric; also for the terminal."""
    rows = [
        [
            f"{inline(one.first)} less {inline(one.second)}",
            inline(one.metric),
            _signed(one.mean_difference),
            _bounds(one),
            f"{one.n_pairs} / {one.n_failed} / {one.n_not_applicable} / {one.n_pending}",
            _number(one.p),
            _number(one.p_holm),
        ]
        for one in result.comparisons
    ]
    head = ["comparison", "metric", "difference", "interval", "pairs / failed / n.a. / pending", "p", "p (Holm)"]
    return table_lines(head, rows)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table whose columns stand below each other also where it is read as plain text."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
    ruled = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return [_line(head, widths), ruled, *(_line(row, widths) for row in rows)]


def _head(result: ExperimentResult) -> Iterator[str]:
    read = [paper for paper in result.papers if not paper.excluded]
    yield f"# Experiment {inline(result.name)}"
    yield ""
    yield f"- Split: {result.split}; {len(read)} papers, {len(result.papers) - len(read)} excluded"
    yield f"- Arms: {len(result.arms)}; seeds: {', '.join(map(str, result.seeds))}"
    judges = ", ".join(map(inline, result.judges)) or "none"
    repeats = f", each asked {result.repeats} times" if result.repeats > 1 and result.judges else ""
    yield f"- Judges: {judges}{repeats}"
    if result.embedder:
        yield f"- Embedder: {inline(result.embedder)}"
    yield f"- Status: {result.status}"
    yield f"- Plan: {result.plan_digest[:16]}; referee {result.package_version}"
    for note in result.notes:
        yield f"- Note: {inline(note)}"
    yield ""


def _certainty(result: ExperimentResult) -> list[str]:
    rows = [[inline(arm.name), *(_counts(_cell(result, arm, m)) for m in result.metrics)] for arm in result.arms]
    return table_lines(["arm", *map(inline, result.metrics)], rows)


def _comparisons(result: ExperimentResult) -> Iterator[str]:
    yield "## Comparisons"
    yield ""
    if not result.comparisons:
        yield "There is one arm: nothing is compared."
        yield ""
        return
    yield f"First less second: {inline(result.method)}."
    yield "A paper that failed in any arm is failed in every comparison; no pair is left out in silence."
    yield ""
    yield from comparison_lines(result)
    yield ""


def _missing(result: ExperimentResult) -> Iterator[str]:
    counts = Counter((value.metric, value.status, value.reason) for value in result.values if value.status != "scored")
    if not counts:
        return
    yield "## Without a value, and why"
    yield ""
    for (metric, status, reason), count in sorted(counts.items()):
        yield f"- {inline(metric)}, {status.replace('_', ' ')}, {count}: {inline(reason)}"
    yield ""


def _excluded(result: ExperimentResult) -> Iterator[str]:
    excluded = [paper for paper in result.papers if paper.excluded]
    if not excluded:
        return
    yield "## Excluded from every arm"
    yield ""
    for paper in excluded:
        yield f"- {inline(paper.name)}: {inline(paper.excluded)}"
    yield ""


def _costs(result: ExperimentResult) -> Iterator[str]:
    yield "## Calls, tokens and cost"
    yield ""
    yield "What each arm's finished reviews took, whichever plan paid them, and what judging them took. Replies from"
    yield "a cache count as reused."
    yield ""
    yield from table_lines(
        ["arm", "reviews", "failed", "pending", "from earlier plans", *_USAGE, "judging calls", "judging cost"],
        [_cost_row(arm) for arm in result.arms],
    )
    yield ""
    paid = result.paid
    yield f"Paid by this experiment: {paid.calls:,} calls, {paid.total_tokens:,} tokens, {_cost(paid)}."
    yield ""


_USAGE = ("calls", "reused", "tokens in", "tokens out", "cost")


def _cost_row(arm: ArmRecord) -> list[str]:
    use = arm.usage
    counts = [str(arm.units.get(name, 0)) for name in ("finished", "failed", "pending", "reused")]
    tokens = [f"{use.calls:,}", f"{use.reused_calls:,}", tokens_in_cell(use), f"{use.output_tokens:,}", _cost(use)]
    return [inline(arm.name), *counts, *tokens, f"{arm.judging.calls:,}", _cost(arm.judging)]


def _cell(result: ExperimentResult, arm: ArmRecord, metric: str) -> ArmCell:
    return next(cell for cell in result.cells if (cell.arm, cell.metric) == (arm.name, metric))


def _mean(cell: ArmCell) -> str:
    if cell.mean is None:
        return NOTHING
    return f"{cell.mean:.4f} ± {cell.sd:.4f}" if cell.sd is not None else f"{cell.mean:.4f}"


def _counts(cell: ArmCell) -> str:
    counts = f"{cell.n_scored} / {cell.n_not_applicable} / {cell.n_failed} / {cell.n_pending}"
    return f"{_bounds(cell, signed=False)}; {counts}"


def _bounds(of: ArmCell | ArmComparison, *, signed: bool = True) -> str:
    if of.low is None or of.high is None:
        return NOTHING
    return f"[{_signed(of.low)}, {_signed(of.high)}]" if signed else f"[{of.low:.4f}, {of.high:.4f}]"


def _cost(usage: Usage) -> str:
    return "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.4f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"
