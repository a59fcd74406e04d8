"""A list of known works of one's own, to look citations up in and to search without a network."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any, Self

from referee.errors import DataError
from referee.literature.checking import Cited, Record, record_of
from referee.literature.titles import normalised_title
from referee.machine import refuse_special_file
from referee.runs.lines import MOST_LINE_BYTES, TOO_LONG, Line, lines_of
from referee.schemas.foreign import Unreadable, json_value

_SQLITE = b"SQLite format 3\0"
_MOST_CANDIDATES = 100
_LEAST_SHARED = 0.5
_NEVER = "9999-99"
_TABLES = (
    "CREATE TABLE works (id INTEGER PRIMARY KEY, title TEXT, year INTEGER, authors TEXT, doi TEXT, source TEXT,"
    " arxiv TEXT, abstract TEXT, published TEXT, retracted INTEGER)",
    "CREATE VIRTUAL TABLE words USING fts5(title, abstract, content='', tokenize='unicode61 remove_diacritics 2')",
)
_INDEXES = (
    "CREATE INDEX by_doi ON works (doi) WHERE doi <> ''",
    "CREATE INDEX by_arxiv ON works (arxiv) WHERE arxiv <> ''",
)
_ADD_WORK = "INSERT INTO works VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_WORDS = "INSERT INTO words (rowid, title, abstract) VALUES (?, ?, ?)"
_BY_ID = "SELECT * FROM works WHERE (doi <> '' AND doi = ?) OR (arxiv <> '' AND arxiv = ?) ORDER BY id"
_BY_WORDS = (
    "SELECT works.* FROM words JOIN works ON works.id = words.rowid WHERE words MATCH ?"
    " ORDER BY bm25(words), works.id LIMIT ?"
)
_BY_SUBJECT = (
    "SELECT works.* FROM words JOIN works ON works.id = words.rowid WHERE words MATCH ? AND works.abstract <> ''"
    " AND coalesce(nullif(published, ''), year || '-12-31', '9999-99') <= ? ORDER BY bm25(words), works.id LIMIT ?"
)


class WorkIndex:
    """Works by their ids and by the words of their titles and abstracts, in SQLite.

    A JSONL of works is read into memory; a file that ``build`` made is opened where it is, however large.
    """

    def __init__(self, records: Iterable[Record] = (), database: sqlite3.Connection | None = None) -> None:
        self._database = database or _filled(":memory:", records)
        self._asking = threading.Lock()
        self._more: set[str] = set()

    @classmethod
    def load(cls, path: Path) -> Self:
        """The works of a JSONL, one a line with the fields of ``Record``, or of what ``build`` wrote.

        Raises:
            DataError: The file is none or cannot be read, or a line is no such record.
        """
        refuse_special_file(path)
        try:
            with path.open("rb") as file:
                is_database = file.read(len(_SQLITE)) == _SQLITE
            return cls(database=_opened(path)) if is_database else cls(_records(path))
        except (OSError, sqlite3.Error) as error:
            raise DataError(f"the index {str(path)!r} cannot be read: {error}.", hint="Check it.") from error

    @classmethod
    def build(cls, works: Path, out: Path) -> int:
        """Write a JSONL of works as SQLite, to be opened without reading it whole; how many there are.

        Raises:
            DataError: ``works`` cannot be read, or ``out`` is there already or cannot be written.
        """
        refuse_special_file(works)
        if out.exists():
            raise DataError(f"{str(out)!r} is there already.", hint="Name a new file, or delete it.")
        part = out.with_name(f".{out.name}.part")
        try:
            part.unlink(missing_ok=True)
            with closing(_filled(str(part), _records(works))) as database:
                count: int = database.execute("SELECT count(*) FROM works").fetchone()[0]
            part.replace(out)
        except (OSError, sqlite3.Error) as error:
            raise DataError(f"{str(out)!r} cannot be written: {error}.", hint="Check the folder.") from error
        finally:
            part.unlink(missing_ok=True)
        return count

    def candidates(self, citation: Cited) -> Iterator[Record]:
        """The works with the citation's id, then those that hold half of its title's words, most of them first."""
        known = self._rows(_BY_ID, citation.doi.lower(), citation.arxiv.lower())
        words = set(normalised_title(citation.title).split())
        found = self._rows(_BY_WORDS, f"title : ({_any_of(words)})", _MOST_CANDIDATES) if words else []
        if len(found) == _MOST_CANDIDATES:
            self._more.add(normalised_title(citation.title))
        near = [(shared, record) for record in found if (shared := _shared(words, record)) is not None]
        ordered = [record for _, record in sorted(near, key=lambda pair: -pair[0])]
        return iter(dict.fromkeys([*known, *ordered]))

    @property
    def notes(self) -> tuple[str, ...]:
        """For how many titles the index may hold works that were not compared."""
        more = f"for {len(self._more)} title(s) of common words the first {_MOST_CANDIDATES} works were compared"
        return (more,) if self._more else ()

    def search(self, words: str, until: date | None, rows: int) -> list[Record]:
        """Works with an abstract that hold some of the words, the most relevant first, published by a day.

        A work of which the year alone is known is taken where that year is over by then.
        """
        wanted = set(normalised_title(words).split())
        last = until.isoformat() if until is not None else _NEVER
        return self._rows(_BY_SUBJECT, _any_of(wanted), last, rows) if wanted else []

    def _rows(self, question: str, *values: object) -> list[Record]:
        with self._asking:
            return [_read(row) for row in self._database.execute(question, values)]


def _any_of(words: Iterable[str]) -> str:
    return " OR ".join(f'"{word}"' for word in sorted(words))


def _shared(words: set[str], record: Record) -> int | None:
    """How many words the titles share; null below half of the shorter one's, which may be a short form."""
    title = set(normalised_title(record.title).split())
    shared = len(words & title)
    return shared if shared >= _LEAST_SHARED * min(len(words), len(title)) else None


def _filled(path: str, records: Iterable[Record]) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False)
    try:
        for table in _TABLES:
            database.execute(table)
        for number, record in enumerate(records, start=1):
            stored = record._replace(authors=json.dumps(record.authors, ensure_ascii=False))  # type: ignore[arg-type]
            database.execute(_ADD_WORK, (number, *stored))
            database.execute(_ADD_WORDS, (number, normalised_title(record.title), record.abstract))
        for index in _INDEXES:
            database.execute(index)
        database.commit()
    except BaseException:
        database.close()
        raise
    return database


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    try:
        database.execute(_BY_WORDS, ('"a"', 1)).fetchone()
    except sqlite3.Error as error:
        database.close()
        raise DataError(
            f"{str(path)!r} is no index of works: {error}.", hint="Make one with `referee data index WORKS.jsonl`."
        ) from error
    return database


def _read(row: Sequence[Any]) -> Record:
    record = Record(*row[1:])
    return record._replace(authors=tuple(json.loads(row[3])), retracted=bool(record.retracted))


def _records(path: Path) -> Iterator[Record]:
    try:
        path.stat()  # of a missing file there would be no lines
        for line in lines_of(path, most=MOST_LINE_BYTES):
            yield _record(line, path)
    except OSError as error:
        raise DataError(f"the index {str(path)!r} cannot be read: {error}.", hint="Check it.") from error


def _record(line: Line, path: Path) -> Record:
    number = line.number
    if line.fault == "too long":
        raise DataError(f"{str(path)!r}, line {number} is {TOO_LONG}.", hint="One work a line.")
    try:
        row = json_value(line.text, f"{str(path)!r}, line {number},")
    except Unreadable as error:
        raise DataError(error.message, hint="Give one work in JSON a line.") from error
    record = record_of(row) if isinstance(row, dict) else None
    if record is None:
        raise DataError(
            f"{str(path)!r}, line {number} is no work.",
            hint="It needs a title, a whole year or null, and authors as a list of names.",
        )
    return record
