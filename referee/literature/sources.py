"""How Crossref, OpenAlex and DBLP are asked for a work, and how their answers read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from referee.literature.checking import Cited, Record
from referee.literature.titles import normalised_title

CROSSREF, OPENALEX, DBLP = "https://api.crossref.org", "https://api.openalex.org", "https://dblp.org"
_ROWS = 5
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_DATES = ("issued", "published", "published-print", "published-online", "posted")


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

    def addresses(self, citation: Cited) -> list[str]:
        """What to ask, in order: an id if the citation has one, then a search for the title."""
        ...

    def records(self, answer: object) -> list[Record] | None:
        """The works in an answer; None where it is no answer of this service, which is another thing than no work."""
        ...


class Crossref(NamedTuple):
    """Crossref's REST API; the contact address puts the requests into its polite pool."""

    mailto: str
    base: str = CROSSREF
    interval_s: float = 1 / 3
    id: str = "crossref"

    def addresses(self, citation: Cited) -> list[str]:
        """A DOI's own record, and a bibliographic search for title and surname."""
        contact = {"mailto": self.mailto}
        wanted = {"query.bibliographic": f"{citation.title} {citation.surname}", "rows": _ROWS, **contact}
        known = [f"{self.base}/works/{quote(citation.doi, safe='')}?{urlencode(contact)}"] if citation.doi else []
        return [*known, f"{self.base}/works?{urlencode(wanted)}"]

    def records(self, answer: object) -> list[Record] | None:
        """The items of a search, or the one work."""
        message = _mapping(_mapping(answer).get("message"))
        return _each(message.get("items", [message] if "DOI" in message else None), self._records)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        """The work under its title, and where its subtitle is listed apart, under both together."""
        year = next(filter(None, (_first_year(row.get(name)) for name in _DATES)), None)
        names = [_text(name.get("family")) or _text(name.get("name")) for name in _rows(row.get("author"))]
        title, subtitle = _first_text(row.get("title")), _first_text(row.get("subtitle"))
        yield _made(title, year, names, _text(row.get("DOI")), self.id)
        if title and subtitle:
            yield _made(f"{title}: {subtitle}", year, names, _text(row.get("DOI")), self.id)


class OpenAlex(NamedTuple):
    """OpenAlex, which has asked for a key since February 2026; without one the key is left out of the question."""

    key: str
    mailto: str = ""
    base: str = OPENALEX
    interval_s: float = 1 / 3
    id: str = "openalex"

    def addresses(self, citation: Cited) -> list[str]:
        """The record of a DOI or of an arXiv id, and a search.

        A search is in titles, abstracts and texts, of which all words must occur: a surname would lose the work. AND,
        OR, NOT, quotes and asterisks have a meaning there, so plain words in small letters are sent.
        """
        contact = {name: value for name, value in (("api_key", self.key), ("mailto", self.mailto)) if value}
        doi = citation.doi or (f"10.48550/arxiv.{citation.arxiv}" if citation.arxiv else "")
        known = [f"{self.base}/works/{quote(f'https://doi.org/{doi}', safe=':/')}?{urlencode(contact)}"] if doi else []
        search = urlencode({"search": normalised_title(citation.title), "per_page": _ROWS, **contact})
        return [*known, f"{self.base}/works?{search}"]

    def records(self, answer: object) -> list[Record] | None:
        """The results of a search, or the one work."""
        body = _mapping(answer)
        return _each(body.get("results", [body] if "display_name" in body else None), self._records)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        names = [_text(_mapping(entry.get("author")).get("display_name")) for entry in _rows(row.get("authorships"))]
        doi = _text(row.get("doi")).removeprefix("https://doi.org/")
        title = _text(row.get("display_name")) or _text(row.get("title"))
        yield _made(title, row.get("publication_year"), names, doi, self.id)


class Dblp(NamedTuple):
    """DBLP's publication search, at one request a second."""

    base: str = DBLP
    interval_s: float = 1.0
    id: str = "dblp"

    def addresses(self, citation: Cited) -> list[str]:
        """A search for all words of the title, without the signs that mean something there; not by id."""
        words = normalised_title(citation.title)
        return [f"{self.base}/search/publ/api?{urlencode({'q': words, 'format': 'json', 'h': _ROWS})}"]

    def records(self, answer: object) -> list[Record] | None:
        """The hits of a search; without hits the list is missing, and of one hit it may be the hit itself."""
        result = _mapping(_mapping(answer).get("result"))
        hits = result.get("hits")
        if not isinstance(hits, Mapping) or _mapping(result.get("status")).get("@code", "200") != "200":
            return None
        hit = hits.get("hit", [])
        return _each([hit] if isinstance(hit, Mapping) else hit, self._records)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        """One hit; names lose the numbers that tell namesakes apart."""
        info = _mapping(row.get("info"))
        listed = _mapping(info.get("authors")).get("author")
        people = listed if isinstance(listed, list) else [listed]
        names = [_text(_mapping(person).get("text")).rstrip("0123456789 ") for person in people]
        year = _text(info.get("year"))
        whole = int(year) if year.isascii() and year.isdigit() else None
        yield _made(_text(info.get("title")).removesuffix("."), whole, names, _text(info.get("doi")), self.id)


def _each(rows: object, records: Callable[[Mapping[str, Any]], Iterator[Record | None]]) -> list[Record] | None:
    """The records of all rows; None where there is no list of rows."""
    if not isinstance(rows, list):
        return None
    return [record for row in _rows(rows) for record in records(row) if record is not None]


def _made(title: str, year: object, names: list[str], doi: str, source: str) -> Record | None:
    """A record; services write titles and names with entities and marks of HTML."""
    plain = _plain(title)
    if not plain:
        return None
    whole = year if isinstance(year, int) and not isinstance(year, bool) else None
    return Record(plain, whole, tuple(_plain(name) for name in names if name), doi.lower(), source)


def _plain(text: str) -> str:
    return html.unescape(_TAG.sub("", text)).strip()


def _first_year(date: object) -> int | None:
    """The year of Crossref's ``{"date-parts": [[2017, 6]]}``; an unknown date is ``[[null]]``."""
    parts = _mapping(date).get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    year = first[0] if isinstance(first, list) and first else None
    return year if isinstance(year, int) else None


def _first_text(values: object) -> str:
    return next(filter(None, map(_text, values if isinstance(values, list) else [values])), "")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    return (row for row in (value if isinstance(value, list) else []) if isinstance(row, Mapping))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
