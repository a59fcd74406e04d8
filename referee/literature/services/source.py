"""What every bibliographic service has in common: its questions, and values read from answers that may be anything."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Protocol

from referee.literature.checking import Cited, Record

ROWS = 5
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONGEST_ABSTRACT = 5_000


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

    def records(self, body: bytes) -> list[Record] | None:
        """The works in an answer; None where it is no answer of this service, which is another thing than no work.

        Raises:
            ValueError: It is not even written as this service writes.
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
        ValueError: It is no JSON.
    """
    try:
        return mapping(json.loads(body))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def each(rows: object, records: Callable[[Mapping[str, Any]], Iterator[Record | None]]) -> list[Record] | None:
    """The records of all rows; None where there is no list of rows."""
    if not isinstance(rows, list):
        return None
    return [record for row in mappings(rows) for record in records(row) if record is not None]


def made(title: str, year: object, names: list[str], source: str, **more: Any) -> Record | None:
    """A record; services write titles, names and abstracts with entities and marks of HTML."""
    named = plain(title)
    if not named:
        return None
    whole = year if isinstance(year, int) and not isinstance(year, bool) else None
    more = {**more, "doi": text(more.get("doi")).lower(), "arxiv": text(more.get("arxiv")).lower()}
    more["abstract"] = " ".join(plain(text(more.get("abstract"))).split())[:_LONGEST_ABSTRACT]
    day = text(more.get("published"))[:10]
    more["published"] = day if _DAY.fullmatch(day) else ""
    return Record(named, whole, tuple(plain(name) for name in names if name), source=source, **more)


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
