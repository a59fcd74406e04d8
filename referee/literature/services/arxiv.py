"""arXiv's API, whose answers are Atom feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from referee.literature.checking import Cited, Record
from referee.literature.services.source import ROWS, made
from referee.literature.titles import normalised_title
from referee.schemas.foreign import xml_root

if TYPE_CHECKING:
    from lxml.etree import _Element

ARXIV = "https://export.arxiv.org"
_ATOM, _OWN = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
_ID = re.compile(r"arxiv\.org/abs/(?P<id>.+?)(?:v\d+)?\Z")
_BEGINNING = "199101010000"


class Arxiv(NamedTuple):
    """At one request in three seconds, as its terms of use ask."""

    base: str = ARXIV
    interval_s: float = 3.0
    id: str = "arxiv"
    headers: Mapping[str, str] = {}

    def addresses(self, citation: Cited) -> list[str]:
        """The entry of an arXiv id, and a search for the title as a phrase."""
        known = [self._query(id_list=citation.arxiv)] if citation.arxiv else []
        return [*known, self._query(search_query=f'ti:"{normalised_title(citation.title)}"', max_results=str(ROWS))]

    def search(self, words: str, until: date | None, rows: int) -> str:
        """Entries that hold any of the words, the best first; the day is that of the first version."""
        wanted = " OR ".join(f"all:{word}" for word in dict.fromkeys(normalised_title(words).split()))
        if until:
            wanted = f"({wanted}) AND submittedDate:[{_BEGINNING} TO {until:%Y%m%d}2359]"
        return self._query(search_query=wanted, max_results=str(rows), sortBy="relevance")

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The entries of a feed; a question that it did not understand is answered by an entry named "Error".

        Raises:
            Unreadable: It is no XML; that it is asked too often is said in plain text.
        """
        feed = xml_root(body, "the answer")
        if feed.tag != f"{_ATOM}feed":
            return None
        entries = list(islice(feed.iterfind(f"{_ATOM}entry"), rows))
        if any("/api/errors" in _said(entry, "id") for entry in entries):
            return None
        return [record for entry in entries for record in self._records(entry) if record is not None]

    def _query(self, **wanted: str) -> str:
        return f"{self.base}/api/query?{urlencode(wanted)}"

    def _records(self, entry: _Element) -> Iterator[Record | None]:
        known = _ID.search(_said(entry, "id"))
        published = _said(entry, "published")[:10]
        names = [_said(author, "name") for author in entry.iterfind(f"{_ATOM}author")]
        yield made(
            _said(entry, "title"),
            int(published[:4]) if re.fullmatch(r"[0-9]{4}", published[:4]) else None,
            names,
            self.id,
            doi=_said(entry, "doi", _OWN),
            arxiv=known["id"] if known else "",
            abstract=_said(entry, "summary"),
            published=published,
        )


def _said(entry: _Element, name: str, space: str = _ATOM) -> str:
    """A child's text on one line; arXiv breaks titles and summaries into lines."""
    return " ".join((entry.findtext(f"{space}{name}") or "").split())
