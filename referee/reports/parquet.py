"""The rows of a finished run as Parquet: for polars, DuckDB, pandas and whatever else reads columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from referee.data.parquet import write_parquet
from referee.runs.lines import lines_of

Row = Mapping[str, Any]

_USAGE = {"calls": "int64", "input_tokens": "int64", "output_tokens": "int64", "cost_usd": "float64"}
_RESULTS = {
    **dict.fromkeys(("case_id", "paper_id", "source", "metric", "version", "status"), "string"),
    "value": "float64",
    **dict.fromkeys(("reason", "parts", "details", "judges"), "string"),
    **_USAGE,
}
_CASES = {
    **dict.fromkeys(("case_id", "paper_id", "paper_title", "source", "kind", "venue"), "string"),
    "year": "int64",
    "rating": "float64",
    "confidence": "float64",
    "decision": "string",
    "text": "string",
}
_VALUES = {
    **dict.fromkeys(("paper", "arm", "metric", "status"), "string"),
    "value": "float64",
    "reason": "string",
    "by_seed": "string",
    "errors": "string",
}
_PREDICTIONS = {
    **dict.fromkeys(("paper_id", "paper_title", "venue"), "string"),
    "year": "int64",
    **dict.fromkeys(("source", "status", "reason"), "string"),
    **dict.fromkeys(("rating", "kept_rating", "confidence"), "float64"),
    **dict.fromkeys(("scores", "text", "prompt", "run"), "string"),
    **_USAGE,
}
_ANCHORS = dict.fromkeys(("paper_id", "model", "review", "decision", "prompt", "prompt_digest", "paper_hash"), "string")
_TABLES = {
    "eval": {"results": _RESULTS, "cases": _CASES},
    "detect score": {"results": _RESULTS, "cases": _CASES},
    "experiment": {"results": _VALUES},
    "arena run": {"predictions": _PREDICTIONS},
    "detect anchors": {"anchors": _ANCHORS},
}


def write_tables(folder: Path, command: str, written: Callable[[Path], object] = lambda path: None) -> None:
    """Write ``results.parquet`` and the like beside the JSON lines they are made from; rows stream.

    What is a list or an object there is JSON text here. A number that is missing is null.

    Args:
        folder: The run folder.
        command: What the run is of.
        written: Called with each file.

    Raises:
        MissingExtra: pyarrow is not installed.
        OSError: A file cannot be written.
    """
    for name, schema in _TABLES.get(command, {}).items():
        target = folder / f"{name}.parquet"
        part = folder / f".{target.name}.part"
        write_parquet(_rows(folder / f"{name}.jsonl", schema), part, schema)
        part.replace(target)
        written(target)


def _rows(source: Path, schema: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a file of JSON lines; one that a crash cut off is left out."""
    for line in lines_of(source):
        try:
            row = json.loads(line.text)
        except ValueError:
            continue
        flat = {**row, **row.get("usage", {})}
        yield {name: _cell(flat.get(name), kind) for name, kind in schema.items()}


def _cell(value: Any, kind: str) -> Any:
    if kind == "string" and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if kind == "float64" and value is not None:
        return float(value)
    return value
