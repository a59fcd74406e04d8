"""How Crossref, OpenAlex and DBLP are asked for a work, and how their answers read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from referee.evals.behaviour.citation_check import Record
from referee.evals.behaviour.citations import Citation

_ROWS = 5


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

    def addresses(self, citation: Citation) -> list[str]:
        """What to ask, in order: an id if the citation has one, then a search for title and surname."""
        ...

    def records(self, answer: object) -> list[Record]:
        """The works in an answer; of an answer in another form none."""
        ...


class Crossref(NamedTuple):
    """Crossref's REST API; the contact address puts the requests into its polite pool."""

    mailto: str
    base: str = "https://api.crossref.org"
    interval_s: float = 1 / 3
    id: str = "crossref"

    def addresses(self, citation: Citation) -> list[str]:
        """A DOI's own record, and a bibliographic search."""
        contact = {"mailto": self.mailto}
        wanted = {"query.bibliographic": f"{citation.title} {citation.surname}", "rows": _ROWS, **contact}
        known = [f"{self.base}/works/{quote(citation.doi, safe='')}?{urlencode(contact)}"] if citation.doi else []
        return [*known, f"{self.base}/works?{urlencode(wanted)}"]

    def records(self, answer: object) -> list[Record]:
        """The items of a search, or the one work."""
        message = _mapping(_mapping(answer).get("message"))
        rows = message.get("items", [message])
        return [record for row in _rows(rows) if (record := self._record(row))]

    def _record(self, row: Mapping[str, Any]) -> Record | None:
        titles = [title for title in row.get("title") or [] if isinstance(title, str)]
        dates = _mapping(row.get("issued")).get("date-parts") or [[None]]
        year = dates[0][0] if isinstance(dates, list) and dates and isinstance(dates[0], list) and dates[0] else None
        names = [_text(name.get("family")) or _text(name.get("name")) for name in _rows(row.get("author"))]
        return _made(titles[0] if titles else "", year, names, _text(row.get("DOI")), self.id)


class OpenAlex(NamedTuple):
    """OpenAlex, which has asked for a key since February 2026."""

    key: str
    mailto: str = ""
    base: str = "https://api.openalex.org"
    interval_s: float = 1 / 3
    id: str = "openalex"

    def addresses(self, citation: Citation) -> list[str]:
        """The record of a DOI or of an arXiv id, and a search."""
        contact = {"api_key": self.key, **({"mailto": self.mailto} if self.mailto else {})}
        doi = citation.doi or (f"10.48550/arxiv.{citation.arxiv}" if citation.arxiv else "")
        known = [f"{self.base}/works/{quote(f'https://doi.org/{doi}', safe=':/')}?{urlencode(contact)}"] if doi else []
        search = urlencode({"search": f"{citation.title} {citation.surname}", "per-page": _ROWS, **contact})
        return [*known, f"{self.base}/works?{search}"]

    def records(self, answer: object) -> list[Record]:
        """The results of a search, or the one work."""
        body = _mapping(answer)
        return [record for row in _rows(body.get("results", [body])) if (record := self._record(row))]

    def _record(self, row: Mapping[str, Any]) -> Record | None:
        names = [_text(_mapping(entry.get("author")).get("display_name")) for entry in _rows(row.get("authorships"))]
        doi = _text(row.get("doi")).removeprefix("https://doi.org/")
        return _made(
            _text(row.get("display_name")) or _text(row.get("title")), row.get("publication_year"), names, doi, self.id
        )


class Dblp(NamedTuple):
    """DBLP's publication search, at one request a second."""

    base: str = "https://dblp.org"
    interval_s: float = 1.0
    id: str = "dblp"

    def addresses(self, citation: Citation) -> list[str]:
        """A search; DBLP is not asked by id."""
        return [f"{self.base}/search/publ/api?{urlencode({'q': citation.title, 'format': 'json', 'h': _ROWS})}"]

    def records(self, answer: object) -> list[Record]:
        """The hits of a search; names lose the numbers that tell namesakes apart."""
        hits = _mapping(_mapping(_mapping(answer).get("result")).get("hits")).get("hit")
        return [record for hit in _rows(hits) if (record := self._record(_mapping(hit.get("info"))))]

    def _record(self, row: Mapping[str, Any]) -> Record | None:
        listed = _mapping(row.get("authors")).get("author")
        people = listed if isinstance(listed, list) else [listed]
        names = [_text(_mapping(person).get("text")).rstrip("0123456789 ") for person in people]
        year = _text(row.get("year"))
        title = _text(row.get("title")).removesuffix(".")
        return _made(
            title, int(year) if year.isascii() and year.isdigit() else None, names, _text(row.get("doi")), self.id
        )


def _made(title: str, year: object, names: list[str], doi: str, source: str) -> Record | None:
    if not title.strip():
        return None
    whole = year if isinstance(year, int) and not isinstance(year, bool) else None
    return Record(title, whole, tuple(name for name in names if name), doi.lower(), source)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    return (row for row in (value if isinstance(value, list) else []) if isinstance(row, Mapping))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
