"""What a layout's reader yields for each record: a case, a draft of one, or the reason why there is none."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from referee.data.drafts import Draft
from referee.data.entries import PACKED, PARQUET_SUFFIX, Entry, json_lines, opened, parquet_entries, table_entries
from referee.data.json_documents import document_entries
from referee.data.keys import named_source
from referee.errors import DataError
from referee.machine import refuse_special_file
from referee.runs.lines import MOST_LINE_BYTES
from referee.schemas.case import ReviewCase

LINE_SUFFIXES = (".jsonl", ".ndjson")
TABLE_SUFFIXES = (".csv", ".tsv")
TEXT_SUFFIXES = (".md", ".markdown", ".txt")
ROW_SUFFIXES = (*LINE_SUFFIXES, ".json", *TABLE_SUFFIXES, PARQUET_SUFFIX)
_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


@dataclass(frozen=True, slots=True)
class NoReview:
    """A record that is sound and no review; ``what`` says what it is."""

    what: str


@dataclass(frozen=True, slots=True)
class Found:
    """One record of a file.

    Attributes:
        line: Its line or place in the list, from 1; None where the file is the record.
        item: The review, or why there is none: the record cannot be used, or is another thing.
        raw: How the record begins in the file.
        source: Who wrote it, as far as the record says, where there is no review.
    """

    line: int | None
    item: ReviewCase | Draft | DataError | NoReview
    raw: str = ""
    source: str = ""


def rows_suffix(path: Path) -> str:
    """The suffix that tells how the rows of a file are written, without that of gzip."""
    return (path.with_suffix("") if path.suffix.lower() == PACKED else path).suffix.lower()


def refuse_no_data(path: Path) -> None:
    """See that a path may hold data; a missing one is for the caller.

    Raises:
        DataError: As ``refuse_special_file``, or it is a spreadsheet.
    """
    refuse_special_file(path)
    if path.suffix.lower() in _SPREADSHEETS and path.is_file():
        raise DataError(
            f"{str(path)!r} is a spreadsheet ({path.suffix.lower()}), which is not read.",
            hint="Export its sheet as CSV in UTF-8, and give that file.",
        )


def holds_rows(path: Path) -> bool:
    """Whether a file is a list of rows of which each may hold a paper: lines of JSON, packed or not, or Parquet."""
    return rows_suffix(path) in (*LINE_SUFFIXES, PARQUET_SUFFIX)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong with the file while it is read, as a ``DataError`` that names it."""
    try:
        yield
    except gzip.BadGzipFile as error:
        raise DataError(f"{str(path)!r} is no gzip.", hint="Download it again, or name it for what it is.") from error
    except (EOFError, zlib.error) as error:
        raise DataError(f"{str(path)!r} breaks off or is damaged as a gzip.", hint="Download it again.") from error
    except OSError as error:
        raise DataError(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", hint="Check the path and its rights."
        ) from error


def entries(path: Path) -> Iterator[Entry]:
    """The records of a table, of Parquet, of a file with one JSON value a line, or of a JSON list or object.

    Raises:
        DataError: The file cannot be read.
        MissingExtra: It is Parquet, and the package for it is not installed.
    """
    with reading(path):
        if rows_suffix(path) == PARQUET_SUFFIX:
            yield from parquet_entries(path)
            return
        _refuse_wide(path)
        if rows_suffix(path) in TABLE_SUFFIXES:
            yield from table_entries(path)
        elif holds_lines(path):
            yield from json_lines(path)
        else:
            yield from document_entries(path)


def _refuse_wide(path: Path) -> None:
    with opened(path) as stream:
        if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(f"{str(path)!r} is UTF-16.", hint="Save it as UTF-8.")


def holds_lines(path: Path) -> bool:
    """Whether a JSON file has one value a line: by its suffix, or because its first line is one and is not all."""
    with opened(path) as stream:
        first = stream.readline(MOST_LINE_BYTES)
        while first.removeprefix(b"\xef\xbb\xbf").isspace():
            first = stream.readline(MOST_LINE_BYTES)
        begin = first.removeprefix(b"\xef\xbb\xbf").lstrip()
        if begin.startswith(b"["):
            return False
        if rows_suffix(path) in LINE_SUFFIXES:
            return True
        return (
            begin.startswith(b"{") and first.rstrip().endswith(b"}") and bool(stream.readline(MOST_LINE_BYTES).strip())
        )


def each(path: Path, read: Callable[[Entry, dict[str, object]], Iterator[Found]]) -> Iterator[Found]:
    """Read every record that is an object; the others, and those on which ``read`` stumbles, become reasons."""
    for entry in until_error(path):
        if entry.error:
            yield Found(entry.number, DataError(entry.error), entry.raw)
        elif not isinstance(entry.value, dict):
            yield Found(entry.number, DataError(f"the record is {kind_of_json(entry.value)}, no object"), entry.raw)
        else:
            try:
                yield from read(entry, entry.value)
            except DataError as error:
                yield Found(entry.number, error, entry.raw, named_source(entry.value))


def until_error(path: Path) -> Iterator[Entry]:
    """The records; where the file itself cannot be read on, that is the last one."""
    number = 0
    try:
        for entry in entries(path):
            number = entry.number
            yield entry
    except DataError as error:
        yield Entry(number + 1, error=error.message)


def kind_of_json(value: object) -> str:
    """A value's kind in words."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else "a text" if isinstance(value, str) else "a number or a flag"
