"""Semantic Scholar's Academic Graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from referee.literature.checking import Cited, Record
from referee.literature.services.source import ROWS, each, json_of, made, mapping, mappings, text
from referee.literature.titles import normalised_title

SEMANTIC_SCHOLAR = "https://api.semanticscholar.org"
_FIELDS = "title,year,authors,externalIds,abstract,publicationDate"


class SemanticScholar(NamedTuple):
    """At one request a second, as a key of one's own allows; without one a limit is shared with all who have none."""

    key: str = ""
    base: str = SEMANTIC_SCHOLAR
    interval_s: float = 1.0
    id: str = "semantic-scholar"

    @property
    def headers(self) -> Mapping[str, str]:
        """The key, where there is one."""
        return {"x-api-key": self.key} if self.key else {}

    def addresses(self, citation: Cited) -> list[str]:
        """The work of a DOI or of an arXiv id, and a search for the title."""
        ids = [f"DOI:{citation.doi}"] if citation.doi else [f"ARXIV:{citation.arxiv}"] if citation.arxiv else []
        known = [f"{self._paper}/{quote(one, safe=':/')}?{urlencode({'fields': _FIELDS})}" for one in ids]
        return [*known, self.search(citation.title, None, ROWS)]

    def search(self, words: str, until: date | None, rows: int) -> str:
        """Works by relevance; hyphens hide works there, so plain words are sent."""
        by = {"publicationDateOrYear": f":{until.isoformat()}"} if until else {}
        wanted = {"query": normalised_title(words), "fields": _FIELDS, "limit": rows, **by}
        return f"{self._paper}/search?{urlencode(wanted)}"

    def records(self, body: bytes, rows: int = ROWS) -> list[Record] | None:
        """The data of a search, or the one work; a search without hits has no list."""
        answer = json_of(body)
        none_found: list[object] | None = [] if answer.get("total") == 0 else None
        return each(answer.get("data", [answer] if "paperId" in answer else none_found), self._records, rows)

    @property
    def _paper(self) -> str:
        return f"{self.base}/graph/v1/paper"

    def _records(self, row: Mapping[str, Any]) -> Iterator[Record | None]:
        ids = mapping(row.get("externalIds"))
        yield made(
            text(row.get("title")),
            row.get("year"),
            [text(author.get("name")) for author in mappings(row.get("authors"))],
            self.id,
            doi=text(ids.get("DOI")),
            arxiv=text(ids.get("ArXiv")),
            abstract=text(row.get("abstract")),
            published=text(row.get("publicationDate")),
        )
