"""Parquet files: rows as records, one batch in memory; pyarrow is the only door and comes with an extra."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from referee.data.entries import EXCERPT_CHARS, Entry
from referee.errors import DataError, MissingExtra

PARQUET_SUFFIX = ".parquet"
_ROWS_AT_ONCE = 64


def parquet_entries(path: Path) -> Iterator[Entry]:
    """The rows of a file, row group by row group. ``number`` is the row, from 1.

    Dates become ISO texts, decimals numbers, bytes hexadecimal digits, so that a row is what JSON could hold.

    Raises:
        DataError: It is no Parquet file, or it is damaged.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = _library()
    number = 0
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    value = _plain(row)
                    yield Entry(number, value, raw=json.dumps(value, ensure_ascii=False)[:EXCERPT_CHARS])
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        where = f" after row {number:,}" if number else ""
        raise DataError(
            f"{str(path)!r} is no Parquet that can be read{where}: {str(error).splitlines()[0].rstrip('.')}.",
            hint="Download or export it again, or give the rows as JSONL.",
        ) from error


def _library() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            "a Parquet file needs the package 'pyarrow', which is not installed.",
            hint="Run `pip install 'referee[parquet]'`, or give the rows as JSONL.",
        ) from error
    return pyarrow, pyarrow.parquet


def _plain(value: object) -> object:
    match value:
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case bytes():
            return value.hex()
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
