"""Who looks works up: an index of one's own, or the services, with their addresses and keys."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from referee.errors import SettingsError
from referee.literature.asking import Services
from referee.literature.cache import AnswerCache
from referee.literature.checking import Resolver
from referee.literature.index import WorkIndex
from referee.literature.online import ALL, Addresses, OnlineResolver
from referee.literature.searching import SEARCHED, OnlineSearch
from referee.llm.catalogue import cache_root
from referee.settings import CitationSettings

OPENALEX_KEY, SEMANTIC_SCHOLAR_KEY = "OPENALEX_API_KEY", "SEMANTIC_SCHOLAR_API_KEY"
FOR_CITATIONS = ("crossref", "openalex", "dblp")
"""Where citations of reviews are looked up."""


@dataclass(frozen=True)
class Lookup:
    """Who is asked, what it is called in results, and what is worth knowing of it."""

    resolver: Resolver | None
    asked: str
    notes: tuple[str, ...] = ()

    @property
    def services(self) -> tuple[str, ...]:
        """Those to whom something is sent; none for an index."""
        return self.resolver.services if isinstance(self.resolver, OnlineResolver) else ()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """With the services that were given up, and the titles for which not every work was compared."""
        resolver = self.resolver
        return (*self.notes, *(resolver.notes if isinstance(resolver, OnlineResolver | WorkIndex) else ()))

    def close(self) -> None:
        """End connections."""
        if isinstance(self.resolver, OnlineResolver):
            self.resolver.close()


NOBODY = Lookup(None, "nobody")


def indexed(index: Path) -> Lookup:
    """Look-ups in an index of one's own.

    Raises:
        DataError: It cannot be read.
    """
    return Lookup(WorkIndex.load(index), index.name)


def online(asked: CitationSettings, wanted: Collection[str] = ALL) -> Lookup:
    """Look-ups at the services; keys come from the environment alone.

    Raises:
        SettingsError: There is no contact address.
        EvaluationError: It is no e-mail address.
    """
    sources, notes = addresses_of(asked).sources(wanted)
    resolver = OnlineResolver(Services(sources), AnswerCache(works_cache()))
    return Lookup(resolver, ", ".join(resolver.services), notes)


def addresses_of(asked: CitationSettings) -> Addresses:
    """Where the services answer, with contact and keys.

    Raises:
        SettingsError: There is no contact address.
    """
    if not asked.contact:
        raise SettingsError(
            "works are looked up online with a contact address only.", hint="Add --contact you@example.org."
        )
    return Addresses(
        asked.contact,
        os.environ.get(OPENALEX_KEY, "").strip(),
        os.environ.get(SEMANTIC_SCHOLAR_KEY, "").strip(),
        asked.crossref,
        asked.openalex,
        asked.dblp,
        asked.arxiv,
        asked.semantic_scholar,
    )


def works_cache() -> Path:
    """Where answers of services are kept."""
    return cache_root() / "works"


def for_profile(source: str, records: Path | None, asked: CitationSettings) -> Lookup:
    """Who looks up the citations of reviews; nobody where there are no records.

    Args:
        source: ``fixture`` or ``online``.
        records: The published works, for ``fixture``.
        asked: The contact and the services, for ``online``.

    Raises:
        SettingsError: There is no such source, or the two options do not go together.
        DataError: The records cannot be read.
        EvaluationError: The contact is no e-mail address.
    """
    if source not in ("fixture", "online"):
        raise SettingsError(f"there is no source of citations {source!r}.", hint="Use fixture or online.")
    if source == "fixture":
        found = indexed(records) if records is not None else None
        return Lookup(found.resolver, f"fixture:{found.asked}") if found else Lookup(None, "none")
    if records is not None:
        raise SettingsError("records are for citations offline.", hint="Leave out --citation-records or online.")
    found = online(asked, FOR_CITATIONS)
    return Lookup(found.resolver, "online", found.notes)


def online_search(asked: CitationSettings) -> tuple[OnlineSearch, tuple[str, ...]]:
    """Searches at the services that hold abstracts, and those that are left out.

    Raises:
        SettingsError: There is no contact address.
        EvaluationError: It is no e-mail address.
    """
    sources, notes = addresses_of(asked).sources(SEARCHED)
    return OnlineSearch(Services(sources), AnswerCache(works_cache())), notes
