"""Rows out as Parquet, a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from referee.data.entries import parquet_library

_ROWS_IN_A_GROUP = 256


class ParquetRows:
    """A Parquet file that rows are added to; what is in memory is one row group. Use it as a context manager.

    Args:
        path: The file; what is there is replaced.
        schema: The columns: ``string``, ``int64``, ``float64``, ``bool``, or ``strings`` for a list of texts.

    Raises:
        MissingExtra: pyarrow is not installed.
    """

    def __init__(self, path: Path, schema: Mapping[str, str]) -> None:
        self._arrow, parquet = parquet_library()
        self._schema = self._arrow.schema([(name, self._type(kind)) for name, kind in schema.items()])
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Mapping[str, Any]] = []

    def _type(self, kind: str) -> Any:
        return self._arrow.list_(self._arrow.string()) if kind == "strings" else self._arrow.type_for_alias(kind)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; columns that it does not have are null, others are an error."""
        if unknown := row.keys() - set(self._schema.names):
            raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
        self._rows.append(row)
        if len(self._rows) >= _ROWS_IN_A_GROUP:
            self._flush()

    def close(self) -> None:
        """Write what is left, and the file's end."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def __enter__(self) -> ParquetRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_parquet(rows: Iterable[Mapping[str, Any]], path: Path, schema: Mapping[str, str]) -> int:
    """Write rows as a Parquet file, as ``ParquetRows`` does, and say how many there were. No rows make an empty table.

    Raises:
        MissingExtra: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    count = 0
    with ParquetRows(path, schema) as file:
        for row in rows:
            file.add(row)
            count += 1
    return count
