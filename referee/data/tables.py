"""CSV and TSV files: rows as records, the delimiter read from the header, one row in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from referee.data.entries import EXCERPT_CHARS, Entry, opened
from referee.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
# A quotation mark that is never closed swallows rows up to this size and is then reported.
_LARGEST_CELL = 2**22


def table_entries(path: Path) -> Iterator[Entry]:
    """The rows of a table as records, by the names of its header; a row of another width is a bad one.

    Cells may hold line breaks inside quotation marks. ``number`` is the line on which a row begins.

    Raises:
        DataError: The file has no header.
    """
    csv.field_size_limit(_LARGEST_CELL)
    with io.TextIOWrapper(opened(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        rows = csv.reader(stream, delimiter=delimiter_of(path))
        try:
            header = [name.strip() for name in next(rows, [])]
        except csv.Error as error:
            reason = f"the header of {str(path)!r} cannot be read: {error}."
            raise DataError(reason, hint="Is a quotation mark left open?") from error
        if not any(header):
            raise DataError(f"{str(path)!r} has no header line.", hint="The first line names the columns.")
        while True:
            number = rows.line_num + 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Entry(number, error=f"not CSV: {error}; is a quotation mark left open?")
                continue
            if row:
                yield _entry(number, header, row)


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
