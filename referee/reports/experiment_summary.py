"""An experiment written down: means by arm, differences by pair, what failed and why, what each arm took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from referee.evals.edges import EDGES, EDGES_TEXT, Edges, edge_text, level_rows
from referee.reports.experiment_lead import lead_sections, lead_sentences
from referee.reports.experiment_plots import experiment_plots
from referee.reports.html import PAGE
from referee.reports.markdown_text import inline
from referee.reports.page import Section, plots_section, render_markdown, summary_page
from referee.reports.plots import Plot
from referee.reports.tables import NOTHING, Table, aligned, csv_text, dashed, interval, number, places
from referee.reports.usage_text import tokens_in_cell
from referee.schemas.experiment import ArmCell, ArmComparison, ArmRecord, ExperimentResult
from referee.schemas.usage import Usage

RESULTS, SUMMARY, COMPARISONS = "results.jsonl", "summary", "comparisons.csv"
_USAGE = ("calls", "reused", "tokens in", "tokens out", "cost")


def write_experiment(result: ExperimentResult, write: Callable[[str, str], object]) -> tuple[Plot, ...]:
    """Write ``results.jsonl`` (a value a line), ``summary.json``, ``summary.csv``, ``comparisons.csv``,
    ``summary.md`` and ``report.html``.

    Args:
        result: What came out.
        write: Writes a file of that name and text whole.

    Returns:
        The plots that ``summary.md`` shows, to be drawn beside it.
    """
    plots = experiment_plots(result)
    write(RESULTS, "".join(f"{value.model_dump_json()}\n" for value in result.values))
    write(f"{SUMMARY}.json", result.model_dump_json(indent=2) + "\n")
    write(f"{SUMMARY}.csv", csv_text(tuple(ArmCell.model_fields), (cell.model_dump() for cell in result.cells)))
    write(COMPARISONS, csv_text(tuple(ArmComparison.model_fields), (one.model_dump() for one in result.comparisons)))
    write(f"{SUMMARY}.md", render_experiment(result, plots))
    write(PAGE, summary_page(f"Experiment {result.name}", render_experiment(result), plots))
    return plots


def render_experiment(result: ExperimentResult, plots: tuple[Plot, ...] = ()) -> str:
    """The whole summary as Markdown."""
    below = "Below each mean: its interval; scored / not applicable / failed / pending papers."
    sections = [
        *lead_sections(result),
        Section("Mean and standard deviation", (_means(result), below, _by_arm(result, _counts))),
        _compared(result),
        *_edges(result),
        *_missing(result),
        *_excluded(result),
        _costs(result),
        *([plots_section(plots)] if plots else []),
    ]
    return render_markdown(
        f"Experiment {inline(result.name)}",
        ["\n".join(map(inline, lead_sentences(result))), "\n".join(_head(result))],
        sections,
    )


def arm_lines(result: ExperimentResult) -> list[str]:
    """Arms by metrics, mean and standard deviation, and what a review took, for the terminal."""
    return aligned(_means(result))


def comparison_lines(result: ExperimentResult) -> list[str]:
    """A line for each comparison and metric, for the terminal."""
    return aligned(_comparisons(result))


def _comparisons(result: ExperimentResult) -> Table:
    rows = [
        [
            f"{one.first} less {one.second}",
            one.metric,
            number(one.mean_difference, digits := places(one.metric), signed=True),
            interval(one.low, one.high, digits, signed=True),
            f"{one.n_pairs} / {one.n_failed} / {one.n_not_applicable} / {one.n_pending}",
            number(one.p, 4),
            number(one.p_holm, 4),
        ]
        for one in result.comparisons
    ]
    head = ["comparison", "metric", "difference", "interval", "pairs / failed / n.a. / pending", "p", "p (Holm)"]
    return dashed("", head, rows)


def _head(result: ExperimentResult) -> Iterator[str]:
    if result.cut_line:
        yield f"- **{inline(result.cut_line)}**"
    read = [paper for paper in result.papers if not paper.excluded]
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


def _by_arm(result: ExperimentResult, said: Callable[[ArmCell, int], str]) -> Table:
    """A line an arm, a column a metric; what a cell says is given the digits of its metric."""
    cells = {(cell.arm, cell.metric): cell for cell in result.cells}
    digits = {metric: places(metric) for metric in result.metrics}
    rows = [[arm.name, *(said(cells[arm.name, name], digits[name]) for name in digits)] for arm in result.arms]
    return dashed("", ["arm", *result.metrics], rows)


def _means(result: ExperimentResult) -> Table:
    """The means, and beside them what one finished review took."""
    means = _by_arm(result, _mean)
    rows = [[*row, *_a_review(arm)] for row, arm in zip(means.rows, result.arms, strict=True)]
    return dashed("", [*means.columns, "tokens a review", "cost a review"], rows)


def _a_review(arm: ArmRecord) -> list[str]:
    finished = arm.units.get("finished", 0)
    if not finished:
        return [NOTHING, NOTHING]
    cost = arm.usage.cost_usd
    took = f"{round(arm.usage.total_tokens / finished):,}"
    return [took, "unknown" if cost is None else f"${cost / finished:.4f}"]


def _mean(cell: ArmCell, digits: int) -> str:
    spread = f" ± {number(cell.sd, digits)}" if cell.sd is not None else ""
    end = Edges(cell.at_top, cell.at_bottom).crowded
    return number(cell.mean, digits) + spread + (f" (at the {end})" if end else "")


def _counts(cell: ArmCell, digits: int) -> str:
    counts = f"{cell.n_scored} / {cell.n_not_applicable} / {cell.n_failed} / {cell.n_pending}"
    return f"{interval(cell.low, cell.high, digits) or NOTHING}; {counts}"


def _compared(result: ExperimentResult) -> Section:
    if not result.comparisons:
        return Section("Comparisons", ("There is one arm: nothing is compared.",))
    text = (
        f"First less second: {inline(result.method)}.\n"
        "A paper that failed in any arm is failed in every comparison; no pair is left out in silence."
    )
    return Section("Comparisons", (text, _comparisons(result)))


def _edges(result: ExperimentResult) -> Iterator[Section]:
    """What share of the reviews each judged metric puts at its ends, and where it thus tells no arms apart."""
    by_metric = {
        name: {cell.arm: Edges(cell.at_top, cell.at_bottom) for cell in result.cells if cell.metric == name}
        for name in result.metrics
    }
    judged = {name: own for name, own in by_metric.items() if any(map(edge_text, own.values()))}
    if judged:
        rows = [[arm.name, *(edge_text(own[arm.name]) for own in judged.values())] for arm in result.arms]
        level = {name: level_rows(edge for edge in own.values() if edge_text(edge)) for name, own in judged.items()}
        lines = "\n".join(
            f"- {name}: all arms are at the {end}; it tells none apart" for name, end in level.items() if end
        )
        table = dashed("", ["arm", *judged], rows)
        yield Section(EDGES, (EDGES_TEXT, table, *([lines] if lines else [])))


def _missing(result: ExperimentResult) -> Iterator[Section]:
    counts = Counter((value.metric, value.status, value.reason) for value in result.values if value.status != "scored")
    lines = [
        f"- {inline(metric)}, {status.replace('_', ' ')}, {count}: {inline(reason)}"
        for (metric, status, reason), count in sorted(counts.items())
    ]
    if lines:
        yield Section("Without a value, and why", ("\n".join(lines),))


def _excluded(result: ExperimentResult) -> Iterator[Section]:
    lines = [f"- {inline(paper.name)}: {inline(paper.excluded)}" for paper in result.papers if paper.excluded]
    if lines:
        yield Section("Excluded from every arm", ("\n".join(lines),))


def _costs(result: ExperimentResult) -> Section:
    text = (
        "What each arm's finished reviews took, whichever plan paid them, and what judging them took. Replies from\n"
        "a cache count as reused."
    )
    head = ["arm", "reviews", "failed", "pending", "from earlier plans", *_USAGE, "judging calls", "judging cost"]
    paid = result.paid
    together = f"Paid by this experiment: {paid.calls:,} calls, {paid.total_tokens:,} tokens, {_cost(paid)}."
    return Section("Calls, tokens and cost", (text, dashed("", head, map(_cost_row, result.arms)), together))


def _cost_row(arm: ArmRecord) -> list[str]:
    use = arm.usage
    counts = [str(arm.units.get(name, 0)) for name in ("finished", "failed", "pending", "reused")]
    tokens = [f"{use.calls:,}", f"{use.reused_calls:,}", tokens_in_cell(use), f"{use.output_tokens:,}", _cost(use)]
    return [arm.name, *counts, *tokens, f"{arm.judging.calls:,}", _cost(arm.judging)]


def _cost(usage: Usage) -> str:
    return "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
