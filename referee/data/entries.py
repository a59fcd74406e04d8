"""What every container of records gives: one entry a record, good or bad, one at a time."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, cast

from referee.errors import DataError, MissingExtra
from referee.runs.lines import MOST_LINE_BYTES, TOO_LONG, Line, read_lines
from referee.runs.stopping import end_if_stopped
from referee.schemas.foreign import Unreadable, json_value_at

EXCERPT_CHARS = 200
PACKED = ".gz"
_BOM = b"\xef\xbb\xbf"
_MOST_ROW_CHARS = 2 * MOST_LINE_BYTES


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a file, or why there is none.

    Attributes:
        number: Its line or place in the list, from 1.
        value: The record, where ``error`` is empty.
        error: Why it cannot be used.
        raw: How it begins in the file, at most 200 characters.
        around: What stands beside the list in the same document.
    """

    number: int
    value: Any = None
    error: str = ""
    raw: str = ""
    around: Mapping[str, Any] = field(default_factory=dict)


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where its name ends in ``.gz``."""
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix.lower() == PACKED else path.open("rb")


def json_lines(path: Path) -> Iterator[Entry]:
    """The records of a file with one JSON value a line; blank lines are none."""
    with opened(path) as stream:
        for line in read_lines(stream, MOST_LINE_BYTES):
            if line.fault or line.text.removeprefix(_BOM).strip():
                yield line_entry(line)


def line_entry(found: Line) -> Entry:
    """One line as a record."""
    number, line = found.number, found.text.removeprefix(_BOM) if found.number == 1 else found.text
    if found.fault == "too long":
        return Entry(number, error=f"the line is {TOO_LONG}", raw=line[:EXCERPT_CHARS].decode("utf-8", "replace"))
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        shown = line[: EXCERPT_CHARS * 4].decode("utf-8", "replace")[:EXCERPT_CHARS]
        return Entry(number, error=f"not UTF-8: byte {line[error.start]:#04x} at offset {error.start}", raw=shown)
    raw = text[:EXCERPT_CHARS]
    try:
        value, end = json_value_at(text, 0, "the line")
    except Unreadable as error:
        reason = error.reason.removeprefix("is ")
        if isinstance(error.__cause__, json.JSONDecodeError):
            reason = f"not JSON: {error.__cause__.msg} at column {error.__cause__.colno}"
        return Entry(number, error=reason, raw=raw)
    if text[end:].strip():
        return Entry(number, error=f"not JSON: more than one value in the line, from column {end + 1}", raw=raw)
    problem = unwritable(value, text)
    return Entry(number, error=problem, raw=raw) if problem else Entry(number, value, raw=raw)


def unwritable(value: object, source: str) -> str:
    """Why a value cannot be stored as UTF-8 again, or empty: half a surrogate pair, or bytes that were no UTF-8."""
    if source.isascii() and "\\ud" not in source and "\\uD" not in source:
        return ""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        if 0xDC80 <= code <= 0xDCFF:
            return f"not UTF-8: byte {code - 0xDC00:#04x}"
        return f"not Unicode: half a surrogate pair ({code:#06x})"
    return ""


def finite(value: object) -> object:
    """The value, with None in place of NaN and infinity, inside lists and objects too."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, list) else value


DELIMITERS = (",", ";", "\t", "|")


def table_entries(path: Path) -> Iterator[Entry]:
    """The rows of a table as records, by the names of its header; a row of another width is a bad one.

    Cells may hold line breaks inside quotation marks. ``number`` is the line on which a row begins.

    Raises:
        DataError: The file has no header, or a row is too long, behind which nothing is read.
    """
    csv.field_size_limit(MOST_LINE_BYTES)
    with io.TextIOWrapper(opened(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        lines = _BoundedLines(stream)
        rows = csv.reader(lines, delimiter=delimiter_of(path))
        try:
            header = [name.strip() for name in next(rows, [])]
        except csv.Error as error:
            reason = f"the header of {str(path)!r} cannot be read: {error}."
            raise DataError(reason, hint="Is a quotation mark left open?") from error
        if not any(header):
            raise DataError(f"{str(path)!r} has no header line.", hint="The first line names the columns.")
        if twice := [name for name, count in Counter(filter(None, header)).items() if count > 1]:
            raise DataError(
                f"{str(path)!r} has more than one column {twice[0]!r}.",
                hint="Rename or remove all but one, so that it is clear which one counts.",
            )
        while True:
            number = rows.line_num + 1
            lines.taken = 0
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Entry(number, error=f"not CSV: {error}; is a quotation mark left open?")
                continue
            if row:
                yield _entry(number, header, row)


class _BoundedLines(Iterator[str]):
    """The lines of a table. ``taken`` is for the caller to reset with each row, which may go over many lines."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream, self.taken = stream, 0

    def __next__(self) -> str:
        end_if_stopped()
        if not (line := self._stream.readline(MOST_LINE_BYTES + 1)):
            raise StopIteration
        self.taken += len(line)
        if len(line) > MOST_LINE_BYTES or self.taken > _MOST_ROW_CHARS:
            raise DataError(f"a row is {TOO_LONG}.", hint="Is a quotation mark left open?")
        return line


def delimiter_of(path: Path) -> str:
    """The delimiter of which the header line has most, outside quotation marks."""
    with io.TextIOWrapper(opened(path), encoding="utf-8-sig", errors="replace", newline="") as stream:
        line = stream.readline(2**16)
    bare = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=bare.count)


def _entry(number: int, header: list[str], row: list[str]) -> Entry:
    raw = ",".join(row)[:EXCERPT_CHARS]
    if not "".join(row).isascii():
        try:
            "".join(row).encode("utf-8")
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) & 0xFF
            shown = raw.encode("utf-8", "replace").decode()
            return Entry(number, error=f"not UTF-8: byte {byte:#04x}", raw=shown)
    if len(row) != len(header):
        return Entry(number, error=f"the row has {len(row)} cells, the header {len(header)}", raw=raw)
    return Entry(number, dict(zip(header, row, strict=True)), raw=raw)


PARQUET_SUFFIX = ".parquet"
_ROWS_AT_ONCE = 64


def parquet_entries(path: Path) -> Iterator[Entry]:
    """The rows of a file, row group by row group. ``number`` is the row, from 1.

    Dates become ISO texts, decimals numbers, bytes hexadecimal digits, so that a row is what JSON could hold.

    Raises:
        DataError: It is no Parquet file, or it is damaged.
        MissingExtra: pyarrow is not installed.
    """
    arrow, parquet = parquet_library()
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


def parquet_library() -> tuple[Any, Any]:
    """Pyarrow and its part for Parquet, imported when it is asked for.

    Raises:
        MissingExtra: It is not installed.
    """
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
