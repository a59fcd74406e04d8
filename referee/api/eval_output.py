"""The summaries of an evaluation: computed from its results, written beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from referee.evals.comparison import Comparison, compare
from referee.evals.grouping import Rows
from referee.evals.registry import better_of, variants_of
from referee.evals.results import read_results
from referee.evals.table import Table, build_table
from referee.reports.eval_summary import About, render_summary, summary_csv, summary_json
from referee.reports.paper_table import published_table

SUMMARY = "summary"


@dataclass(frozen=True)
class Asked:
    """What the summary shall hold beside the table."""

    compare: tuple[str, str] | None = None
    paper_table: bool = False


@dataclass(frozen=True)
class Summary:
    """What was computed, as it was written."""

    table: Table
    comparison: Comparison | None
    markdown: str


def write_summary(
    results: Path,
    write: Callable[[str, str], object],
    *,
    rows: Rows,
    metrics: tuple[str, ...],
    about: About,
    asked: Asked,
) -> Summary:
    """Compute the table, and write ``summary.md``, ``summary.csv`` and ``summary.json``.

    Args:
        results: The results file.
        write: Writes a file of that name and text whole.
        rows: The row of each review.
        metrics: The columns.
        about: What was evaluated.
        asked: What else is wanted.

    Raises:
        SettingsError: A row to compare is not there.
    """
    pair = [rows.find(label) for label in asked.compare] if asked.compare else []
    table = build_table(read_results(results), rows, metrics, better=better_of(metrics))
    variants = variants_of(metrics)
    comparison = compare(read_results(results), rows, metrics, *pair, variants=variants) if pair else None
    published = published_table() if asked.paper_table else None
    markdown = render_summary(table, about, comparison=comparison, published=published)
    write(f"{SUMMARY}.json", summary_json(table, about, comparison=comparison, published=published))
    write(f"{SUMMARY}.csv", summary_csv(table))
    write(f"{SUMMARY}.md", markdown)
    return Summary(table, comparison, markdown)
