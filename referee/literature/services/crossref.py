"""Crossref's REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from referee.literature.checking import Cited, Record
from referee.literature.services.source import ROWS, each, first_text, json_of, made, mapping, mappings, text

CROSSREF = "https://api.crossref.org"
_DATES = ("issued", "published", "published-print", "published-online", "posted")
_WITHDRAWN = frozenset({"retraction", "withdrawal", "removal"})


class Crossref(NamedTuple):
    """The contact address puts the requests into its polite pool."""

    mailto: str
    base: str = CROSSREF
    interval_s: float = 1 / 3
    id: str = "crossref"
    headers: Mapping[str, str] = {}

    def addresses(self, citation: Cited) -> list[str]:
        """A DOI's own record, and a bibliographic search for title and surname."""
        contact = {"mailto": self.mailto}
        wanted = {"query.bibliographic": f"{citation.title} {citation.surname}", "rows": ROWS, **contact}
        known = [f"{self.base}/works/{quote(citation.doi, safe='')}?{urlencode(contact)}"] if citation.doi else []
        return [*known, f"{self.base}/works?{urlencode(wanted)}"]

    def search(self, words: str, until: date | None, rows: int) -> str:
        """Works with an abstract."""
        kept = ["has-abstract:true", *([f"until-pub-date:{until.isoformat()}"] if until else [])]
        wanted = {"query.bibliographic": words, "filter": ",".join(kept), "rows": rows, "mailto": self.mailto}
        return f"{self.base}/works?{urlencode(wanted)}"

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The items of a search, or the one work."""
        message = mapping(json_of(body).get("message"))
        return each(message.get("items", [message] if "DOI" in message else None), self._records, rows)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        """The work under its title, and where its subtitle is listed apart, under both together."""
        dates = [_parts(row.get(name)) for name in _DATES]
        year = next((parts[0] for parts in dates if parts), None)
        names = [text(name.get("family")) or text(name.get("name")) for name in mappings(row.get("author"))]
        title, subtitle = first_text(row.get("title")), first_text(row.get("subtitle"))
        more = {
            "doi": text(row.get("DOI")),
            "abstract": text(row.get("abstract")),
            "published": next((_day(parts) for parts in dates if len(parts) == 3), ""),
            "retracted": any(update.get("type") in _WITHDRAWN for update in mappings(row.get("updated-by"))),
        }
        yield made(title, year, names, self.id, **more)
        if title and subtitle:
            yield made(f"{title}: {subtitle}", year, names, self.id, **more)


def _parts(when: object) -> list[int]:
    """Year, month and day of ``{"date-parts": [[2017, 6]]}``, as far as they are known: of ``[[null]]`` nothing."""
    parts = mapping(when).get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts else None
    known = first if isinstance(first, list) else []
    return [part for part in known if isinstance(part, int)] if known and isinstance(known[0], int) else []


def _day(parts: list[int]) -> str:
    year, month, day = parts
    return f"{year:04}-{month:02}-{day:02}"
