"""OpenAlex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from referee.literature.checking import Cited, Record
from referee.literature.services.source import ROWS, each, json_of, made, mapping, mappings, text
from referee.literature.titles import normalised_title

OPENALEX = "https://api.openalex.org"
_MOST_WORDS = 2_000


class OpenAlex(NamedTuple):
    """It has asked for a key since February 2026; without one the key is left out of the question."""

    key: str
    mailto: str = ""
    base: str = OPENALEX
    interval_s: float = 1 / 3
    id: str = "openalex"
    headers: Mapping[str, str] = {}

    def addresses(self, citation: Cited) -> list[str]:
        """The record of a DOI or of an arXiv id, and a search.

        A search is in titles, abstracts and texts, of which all words must occur: a surname would lose the work. AND,
        OR, NOT, quotes and asterisks have a meaning there, so plain words in small letters are sent.
        """
        doi = citation.doi or (f"10.48550/arxiv.{citation.arxiv}" if citation.arxiv else "")
        link = quote(f"https://doi.org/{doi}", safe=":/")
        known = [f"{self.base}/works/{link}?{urlencode(self._contact())}"] if doi else []
        search = urlencode({"search": normalised_title(citation.title), "per_page": ROWS, **self._contact()})
        return [*known, f"{self.base}/works?{search}"]

    def search(self, words: str, until: date | None, rows: int) -> str:
        """Works with an abstract that hold any of the words, the best first; all of them would lose most works."""
        kept = ["has_abstract:true", *([f"to_publication_date:{until.isoformat()}"] if until else [])]
        any_of = " OR ".join(dict.fromkeys(normalised_title(words).split()))
        wanted = {"search": any_of, "filter": ",".join(kept), "per_page": rows, **self._contact()}
        return f"{self.base}/works?{urlencode(wanted)}"

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The results of a search, or the one work."""
        answer = json_of(body)
        return each(answer.get("results", [answer] if "display_name" in answer else None), self._records, rows)

    def _contact(self) -> dict[str, str]:
        return {name: value for name, value in (("api_key", self.key), ("mailto", self.mailto)) if value}

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        names = [text(mapping(entry.get("author")).get("display_name")) for entry in mappings(row.get("authorships"))]
        title = text(row.get("display_name")) or text(row.get("title"))
        yield made(
            title,
            row.get("publication_year"),
            names,
            self.id,
            doi=text(row.get("doi")).removeprefix("https://doi.org/"),
            abstract=_abstract(row.get("abstract_inverted_index")),
            published=text(row.get("publication_date")),
            retracted=row.get("is_retracted") is True,
        )


def _abstract(index: object) -> str:
    """An abstract that is listed as its words, each with its places."""
    words: dict[int, str] = {}
    for word, places in mapping(index).items():
        for place in places if isinstance(places, list) else []:
            if isinstance(place, int) and 0 <= place < _MOST_WORDS:
                words[place] = str(word)
    return " ".join(words[place] for place in sorted(words))
