"""DBLP's publication search."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from referee.literature.checking import Cited, Record
from referee.literature.services.source import ROWS, each, json_of, made, mapping, text
from referee.literature.titles import normalised_title

DBLP = "https://dblp.org"


class Dblp(NamedTuple):
    """At one request a second; it holds no abstracts, so that it is not searched by subject."""

    base: str = DBLP
    interval_s: float = 1.0
    id: str = "dblp"
    headers: Mapping[str, str] = {}

    def addresses(self, citation: Cited) -> list[str]:
        """A search for all words of the title, without the signs that mean something there; not by id."""
        words = normalised_title(citation.title)
        return [f"{self.base}/search/publ/api?{urlencode({'q': words, 'format': 'json', 'h': ROWS})}"]

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The hits of a search; without hits the list is missing, and of one hit it may be the hit itself."""
        result = mapping(json_of(body).get("result"))
        hits = result.get("hits")
        if not isinstance(hits, Mapping) or mapping(result.get("status")).get("@code", "200") != "200":
            return None
        hit = hits.get("hit", [])
        return each([hit] if isinstance(hit, Mapping) else hit, self._records, rows)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        """One hit; names lose the numbers that tell namesakes apart."""
        info = mapping(row.get("info"))
        listed = mapping(info.get("authors")).get("author")
        people = listed if isinstance(listed, list) else [listed]
        names = [text(mapping(person).get("text")).rstrip("0123456789 ") for person in people]
        year = text(info.get("year"))
        whole = int(year) if re.fullmatch(r"[0-9]{4}", year) else None
        yield made(text(info.get("title")).removesuffix("."), whole, names, self.id, doi=text(info.get("doi")))
