"""Rows of the union schema out: one file, or one folder with PDFs, a venue-year."""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Literal, Protocol, cast, get_args

from referee.data.packing import TABLE, metadata, packed
from referee.data.papers import file_name
from referee.data.parquet import ParquetRows
from referee.errors import DataError
from referee.schemas.paper_row import PaperRow

Form = Literal["jsonl", "jsonl.gz", "parquet", "pdffolder"]
FORMS: tuple[Form, ...] = get_args(Form)
METADATA = "metadata.jsonl"
WITHOUT_PDF = "without-pdf"
_NO_NAME = re.compile(r"[^a-z0-9]+")
_CARD = """---
configs:
- config_name: default
  drop_labels: true
  data_files:
{splits}
---

Papers with their reviews, a split for each venue and year. `reviews_json` and the other columns that end in `_json`
hold JSON; an empty text stands for what is absent.
"""


class _Adds(Protocol):
    def add(self, row: Mapping[str, Any]) -> None: ...


class _Lines:
    """JSON lines, packed with gzip where the name says so; the same rows are the same bytes."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        file: IO[bytes] = stack.enter_context(path.open("wb"))
        if path.suffix == ".gz":
            file = cast(IO[bytes], stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0)))
        self._stream = stack.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline="\n"))

    def add(self, row: Mapping[str, Any]) -> None:
        self._stream.write(json.dumps(row, ensure_ascii=False) + "\n")


class RowFiles:
    """Takes rows and writes each to the file of its venue-year.

    Attributes:
        counts: Rows by file.
        without_pdf: Rows of a PdfFolder of which there is no PDF; they stand in a folder of their own.
    """

    def __init__(self, folder: Path, form: Form, stack: ExitStack, pdfs: Path | None = None) -> None:
        self.counts: Counter[str] = Counter()
        self.without_pdf = 0
        self._folder, self._form, self._stack = folder, form, stack
        self._pdfs = pdfs
        self._files: dict[Path, _Adds] = {}

    def add(self, row: PaperRow) -> None:
        """Write a row.

        Raises:
            DataError: A PdfFolder is written and the row names no year.
        """
        venue_year = venue_year_of(row)
        if self._form == "pdffolder":
            self._add_with_pdf(row, venue_year)
            return
        name = f"{venue_year}.{self._form}"
        self._file(name).add(packed(row) if self._form == "parquet" else row.model_dump(mode="json"))
        self.counts[name] += 1

    def finish(self) -> None:
        """Write what describes the whole."""
        if self._form == "pdffolder":
            names = sorted(name for name in self.counts if name != WITHOUT_PDF)
            splits = "\n".join(f"  - split: {name.replace('-', '_')}\n    path: {name}/*" for name in names)
            (self._folder / "README.md").write_text(_CARD.format(splits=splits), encoding="utf-8")

    def _add_with_pdf(self, row: PaperRow, venue_year: str) -> None:
        name = f"{file_name(row.forum_id)}.pdf"
        source = self._pdfs / name if self._pdfs else None
        if source is None or not source.is_file():
            self.without_pdf += 1
            self._file(f"{WITHOUT_PDF}/{venue_year}.jsonl").add(row.model_dump(mode="json"))
            return
        if row.year is None:
            raise DataError(
                f"paper {row.forum_id!r} names no year, and a PdfFolder has a split for each venue and year.",
                hint="Write --to parquet, or add the column year.",
            )
        self._file(f"{venue_year}/{METADATA}").add(metadata(row, name))
        shutil.copyfile(source, self._folder / venue_year / name)
        self.counts[venue_year] += 1

    def _file(self, name: str) -> _Adds:
        path = self._folder / name
        if path not in self._files:
            path.parent.mkdir(exist_ok=True)
            made: _Adds
            if self._form == "parquet":
                made = self._stack.enter_context(ParquetRows(path, TABLE))
            else:
                made = _Lines(path, self._stack)
            self._files[path] = made
        return self._files[path]


@contextmanager
def row_files(folder: Path, form: Form, pdfs: Path | None = None) -> Iterator[RowFiles]:
    """Files for rows in an existing folder, closed when this is left.

    Args:
        folder: Where they are written.
        form: How; a PdfFolder has a folder a venue-year, with ``metadata.jsonl`` and the PDFs beside it.
        pdfs: For a PdfFolder: the PDFs, named by paper id.
    """
    with ExitStack() as stack:
        files = RowFiles(folder, form, stack, pdfs)
        yield files
        files.finish()


def venue_year_of(row: PaperRow) -> str:
    """The name of a row's venue-year, as ``iclr-2026`` or ``neurips-2023-datasets-and-benchmarks``."""
    track = row.track if row.track not in (None, "main", "rolling") else None
    parts = (row.conference or "unknown", "" if row.year is None else str(row.year), track or "")
    return "-".join(part for part in (_NO_NAME.sub("-", part.lower()).strip("-") for part in parts) if part)
