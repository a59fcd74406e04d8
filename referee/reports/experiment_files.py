"""The result of an experiment for programs: values a line, arms and comparisons as tables, everything as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence

from referee.reports.experiment_plots import plots_section
from referee.reports.experiment_tables import render_experiment
from referee.reports.plots import Plot
from referee.schemas.experiment import ArmCell, ArmComparison, ExperimentResult

RESULTS, SUMMARY, COMPARISONS = "results.jsonl", "summary", "comparisons.csv"


def write_experiment(result: ExperimentResult, write: Callable[[str, str], object], plots: Sequence[Plot] = ()) -> None:
    """Write ``results.jsonl`` (a value a line), ``summary.json``, ``summary.csv``, ``comparisons.csv``, ``summary.md``.

    Args:
        result: What came out.
        write: Writes a file of that name and text whole.
        plots: Are shown in ``summary.md``; drawing them is ``write_experiment_plots``.
    """
    write(RESULTS, "".join(f"{value.model_dump_json()}\n" for value in result.values))
    write(f"{SUMMARY}.json", result.model_dump_json(indent=2) + "\n")
    write(f"{SUMMARY}.csv", _csv(tuple(ArmCell.model_fields), (cell.model_dump() for cell in result.cells)))
    write(COMPARISONS, _csv(tuple(ArmComparison.model_fields), (one.model_dump() for one in result.comparisons)))
    write(f"{SUMMARY}.md", render_experiment(result) + plots_section(plots))


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """What is undefined is empty. A name that a spreadsheet would run as a formula gets a quote."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    return out.getvalue()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
