"""What every bibliographic service has in common: its questions, and values read from answers that may be anything."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Protocol

from referee.literature.checking import Cited, Record
from referee.schemas.foreign import json_value

ROWS = 5
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONGEST_TITLE, _LONGEST_ABSTRACT, _LONGEST_NAME, _LONGEST_ID = 1_000, 5_000, 300, 300
_MOST_AUTHORS = 5_000  # some works have more than 3,000
_MARKED = 4  # with marks and entities, a field may be so many times as long as its text
_YEARS = 10_000


class Source(Protocol):
    """One bibliographic service."""

    @property
    def id(self) -> str:
        """Its name in records and messages."""
        ...

    @property
    def interval_s(self) -> float:
        """Seconds between two requests at least."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes with every request to it, and to nobody else."""
        ...

    def addresses(self, citation: Cited) -> list[str]:
        """What to ask, in order: an id if the citation has one, then a search for the title."""
        ...

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The works in an answer; None where it is no answer of this service, which is another thing than no work.

        Rows beyond those that were asked for are left out before anything is made of them.

        Raises:
            Unreadable: It is not even written as this service writes.
        """
        ...


class Searched(Source, Protocol):
    """A service that finds works on a subject, with their abstracts."""

    def search(self, words: str, until: date | None, rows: int) -> str:
        """The address of a search for works that were published by a day, the most relevant first."""
        ...


def json_of(body: bytes) -> Mapping[str, Any]:
    """An answer in JSON; one that is no object is an empty one.

    Raises:
        Unreadable: It is no JSON that can be used.
    """
    return mapping(json_value(body, "the answer"))


def each(
    rows: object, records: Callable[[Mapping[str, Any]], Iterator[Record | None]], most: int
) -> list[Record] | None:
    """The records of the first rows, as many as were asked for; None where there is no list of rows."""
    if not isinstance(rows, list):
        return None
    return [record for row in mappings(rows[:most]) for record in records(row) if record is not None]


def made(title: str, year: object, names: list[str], source: str, **more: Any) -> Record | None:
    """A record; services write titles, names and abstracts with entities and marks of HTML.

    Longer fields than any work has are cut; ids that long are none.
    """
    named = plain(title[: _LONGEST_TITLE * _MARKED])[:_LONGEST_TITLE]
    if not named:
        return None
    whole = year if isinstance(year, int) and not isinstance(year, bool) and abs(year) < _YEARS else None
    more = {**more, "doi": _id(more.get("doi")), "arxiv": _id(more.get("arxiv"))}
    marked = text(more.get("abstract"))[: _LONGEST_ABSTRACT * _MARKED]
    more["abstract"] = " ".join(plain(marked).split())[:_LONGEST_ABSTRACT]
    day = text(more.get("published"))[:10]
    more["published"] = day if _DAY.fullmatch(day) else ""
    authors = tuple(plain(name[:_LONGEST_NAME]) for name in names[:_MOST_AUTHORS] if name)
    return Record(named, whole, authors, source=source, **more)


def _id(value: object) -> str:
    named = text(value).lower()
    return named if len(named) <= _LONGEST_ID else ""


def plain(marked: str) -> str:
    """Text without marks and entities of HTML."""
    return html.unescape(_TAG.sub("", marked)).strip()


def mapping(value: object) -> Mapping[str, Any]:
    """The value, or an empty one where it is no mapping."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: object) -> Iterator[Mapping[str, Any]]:
    """The mappings of a list; none where it is no list."""
    return (row for row in (value if isinstance(value, list) else []) if isinstance(row, Mapping))


def text(value: object) -> str:
    """The value, or nothing where it is no text."""
    return value if isinstance(value, str) else ""


def first_text(values: object) -> str:
    """The first text of a list, or the text itself."""
    return next(filter(None, map(text, values if isinstance(values, list) else [values])), "")
