"""``summary.csv`` and ``summary.json``: the table of an evaluation for programs, one line or entry a cell."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from referee.evals.comparison import Comparison
from referee.evals.rows import RowKey
from referee.evals.table import Cell, Table
from referee.reports.eval_summary import About, judged_of
from referee.reports.paper_table import PublishedTable

COLUMNS = (
    "group",
    "system",
    "metric",
    "mean",
    "sd",
    "low",
    "high",
    "papers",
    "scored",
    "not_applicable",
    "failed",
    "alpha",
    "repeat_sd",
    "judged",
    "nearest_to_expert",
    "best",
)


def summary_csv(table: Table) -> str:
    """One line a cell; what is undefined is empty. A name that a spreadsheet would run as a formula gets a quote."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in table.rows:
        for metric in table.metrics:
            cell = table.cells[row, metric]
            entry = _entry(row, metric, cell) | {"judged": judged_of(cell)}
            writer.writerow({name: _harmless(entry[name]) for name in COLUMNS})
    return out.getvalue()


def summary_json(
    table: Table, about: About, *, comparison: Comparison | None = None, published: PublishedTable | None = None
) -> str:
    """Everything that ``summary.md`` prints."""
    data: dict[str, Any] = {
        "schema_version": 1,
        "about": asdict(about),
        "grouped_by": table.group_by,
        "cells": [
            _entry(row, metric, table.cells[row, metric]) | {"parts": table.cells[row, metric].parts}
            for row in table.rows
            for metric in table.metrics
        ],
        "metrics": {
            metric: {
                "units": totals.units,
                "usage": totals.usage.model_dump(),
                "reasons": [
                    {"status": status, "reason": reason, "units": count} for status, reason, count in totals.reasons
                ],
            }
            for metric, totals in table.totals.items()
        },
        "comparison": asdict(comparison) if comparison else None,
        "published": asdict(published) if published else None,
    }
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _entry(row: RowKey, metric: str, cell: Cell) -> dict[str, Any]:
    return {
        "group": row.group,
        "system": row.system,
        "metric": metric,
        "mean": cell.mean,
        "sd": cell.sd,
        "low": cell.low,
        "high": cell.high,
        "papers": cell.papers,
        "scored": cell.scored,
        "not_applicable": cell.not_applicable,
        "failed": cell.failed,
        "alpha": cell.alpha,
        "repeat_sd": cell.repeat_sd,
        "judged": cell.judged,
        "nearest_to_expert": cell.nearest,
        "best": cell.best,
    }


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") else value
