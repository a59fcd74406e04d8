"""Citations looked up at bibliographic services, one after the other, with answers kept on the disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.errors import EvaluationError
from referee.literature.asking import Services
from referee.literature.cache import AnswerCache
from referee.literature.checking import Cited, Record, Unresolved, compared
from referee.literature.services import (
    ARXIV,
    CROSSREF,
    DBLP,
    OPENALEX,
    SEMANTIC_SCHOLAR,
    Arxiv,
    Crossref,
    Dblp,
    OpenAlex,
    SemanticScholar,
    Source,
)
from referee.literature.services.source import ROWS
from referee.literature.titles import normalised_title

ALL = ("crossref", "openalex", "dblp", "arxiv", "semantic-scholar")
"""Every service, in the order in which citations are looked up."""


class OnlineResolver:
    """Asks the services one after the other, and keeps every answer.

    The same question is not asked twice, whether it was answered or failed. Titles, surnames and ids go out, and an
    entry of a bibliography as it is printed where its title could not be read; nothing else.
    """

    def __init__(self, services: Services, cache: AnswerCache) -> None:
        self._services, self._cache = services, cache
        self._failed: dict[tuple[str, str, int | None], str] = {}
        self._more: set[str] = set()

    def candidates(self, citation: Cited) -> Iterator[Record]:
        """What each service lists for the citation; one is asked only when those before it were not enough.

        Raises:
            Unresolved: A service did not answer; the others were asked all the same.
        """
        failed = []
        for source in self._services.sources:
            try:
                yield from self._known(source, citation)
            except Unresolved as error:
                failed.append(str(error))
        if failed:
            raise Unresolved("; ".join(failed))

    @property
    def services(self) -> tuple[str, ...]:
        """The names of those that are asked, in order."""
        return self._services.names

    @property
    def notes(self) -> tuple[str, ...]:
        """The services that were given up, and why; and for how many titles there may be works that were not seen."""
        more = (
            f"for {len(self._more)} title(s) a service may list more works like them than the first {ROWS}, which were "
            "compared"
        )
        return (*self._services.notes, *([more] if self._more else []))

    def close(self) -> None:
        """End a wait, and close the connections; nothing can be asked after."""
        self._services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _known(self, source: Source, citation: Cited) -> list[Record]:
        """The answer from the cache or the service; a question that failed before fails again without being asked."""

        def accepted(record: Record) -> bool:
            return compared(citation, record).status == "verified"

        records = self._cache.get(citation.title, citation.year, source.id)
        if records is None:
            records = self._asked(source, citation, accepted)
        if len(records) >= ROWS and not any(map(accepted, records)):
            self._more.add(normalised_title(citation.title))
        return records

    def _asked(self, source: Source, citation: Cited, accepted: Callable[[Record], bool]) -> list[Record]:
        question = (source.id, normalised_title(citation.title), citation.year)
        if reason := self._failed.get(question):
            raise Unresolved(reason)
        try:
            records = self._services.first(source, source.addresses(citation), accepted)
        except Unresolved as error:
            self._failed[question] = str(error)
            raise
        self._cache.put(citation.title, citation.year, source.id, records, found=any(map(accepted, records)))
        return records


@dataclass(frozen=True)
class Addresses:
    """Where the services answer, or mirrors of them, and the keys for their own addresses.

    Attributes:
        contact: An e-mail address that tells the services whom to write to; they ask for it.
        openalex_key: Goes to OpenAlex's own address only; without it OpenAlex is not asked there.
        semantic_scholar_key: Goes to Semantic Scholar's own address only; without it the limit is shared with all.
    """

    contact: str
    openalex_key: str = ""
    semantic_scholar_key: str = ""
    crossref: str = CROSSREF
    openalex: str = OPENALEX
    dblp: str = DBLP
    arxiv: str = ARXIV
    semantic_scholar: str = SEMANTIC_SCHOLAR

    def sources(self, wanted: Collection[str] = ALL) -> tuple[tuple[Source, ...], tuple[str, ...]]:
        """The services that can be asked, in order, and those that are left out, with why.

        Raises:
            EvaluationError: The contact is no e-mail address.
        """
        _check_contact(self.contact)
        own_openalex, own_scholar = self.openalex == OPENALEX, self.semantic_scholar == SEMANTIC_SCHOLAR
        every: dict[str, Source] = {
            "crossref": Crossref(self.contact, self.crossref),
            "openalex": OpenAlex(self.openalex_key if own_openalex else "", self.contact, self.openalex),
            "dblp": Dblp(self.dblp),
            "arxiv": Arxiv(self.arxiv),
            "semantic-scholar": SemanticScholar(
                self.semantic_scholar_key if own_scholar else "", self.semantic_scholar
            ),
        }
        keyless = own_openalex and not self.openalex_key
        left_out = ("openalex: not asked, it needs an API key",) if keyless and "openalex" in wanted else ()
        names = [name for name in ALL if name in wanted and not (keyless and name == "openalex")]
        return tuple(every[name] for name in names), left_out


def online_resolver(
    addresses: Addresses, folder: Path, wanted: Collection[str] = ALL, **options: Any
) -> tuple[OnlineResolver, tuple[str, ...]]:
    """The services that are wanted, with what is left out and why.

    Args:
        addresses: Where they answer.
        folder: Where answers are kept.
        wanted: Some of ``ALL``.
        options: For ``Services``.

    Raises:
        EvaluationError: The contact is no e-mail address.
    """
    sources, notes = addresses.sources(wanted)
    return OnlineResolver(Services(sources, **options), AnswerCache(folder)), notes


def _check_contact(contact: str) -> None:
    is_address = contact.count("@") == 1 and contact.isascii() and all(contact.split("@"))
    if not is_address or any(not sign.isprintable() or sign.isspace() for sign in contact):
        raise EvaluationError(
            f"{contact!r} is no e-mail address.", hint="Services are asked with a contact address only."
        )
