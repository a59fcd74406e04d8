"""Works on a subject: several services searched at once, or an index of one's own, up to a day."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, cast

from referee.literature.asking import Services
from referee.literature.cache import AnswerCache
from referee.literature.checking import Record, Unresolved, record_of
from referee.literature.index import WorkIndex
from referee.literature.services import Searched
from referee.literature.titles import is_short_form, normalised_title, title_similarity
from referee.runs.files import write_atomically
from referee.runs.stopping import current_stop
from referee.schemas.foreign import json_value

SEARCHED = ("crossref", "openalex", "arxiv", "semantic-scholar")
"""The services that hold abstracts."""

_SAME_TITLE = 0.95
_END, _MOST_COMPARED = 12, 20


@dataclass(frozen=True)
class Found:
    """What searches returned, each work once, who could not be searched and why, and the ids of works taken as one.

    ``merged`` are the ids of records that were taken as another of almost the same title, which has an id of its own.
    """

    records: tuple[Record, ...]
    failures: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


class Searching(Protocol):
    """Where works are searched for."""

    @property
    def names(self) -> tuple[str, ...]:
        """Who is searched."""
        ...

    def find(self, queries: Sequence[str], until: date | None, rows: int) -> Found:
        """Works with abstracts for all queries, so many each, that were published by a day."""
        ...


class IndexSearch:
    """An index of one's own; nothing leaves the machine."""

    def __init__(self, index: WorkIndex, name: str) -> None:
        self._index, self.names = index, (name,)

    def find(self, queries: Sequence[str], until: date | None, rows: int) -> Found:
        """As ``Searching.find``."""
        return _found([record for query in queries for record in self._index.search(query, until, rows)])


class KeptSearch:
    """Another search, whose answers are in a file before they are used: a resumed run is given the same ones.

    Args:
        searching: Who is asked for what the file does not hold.
        file: Where the answers are kept; asked for with the first search.
    """

    def __init__(self, searching: Searching, file: Callable[[], Path]) -> None:
        self._searching, self._file, self._lock = searching, file, Lock()
        self.names = searching.names

    def find(self, queries: Sequence[str], until: date | None, rows: int) -> Found:
        """As ``Searching.find``."""
        question = json.dumps([*queries, until.isoformat() if until else None, rows], ensure_ascii=False)
        known = self._kept().get(question)
        if known is None:
            found = self._searching.find(queries, until, rows)
            if found.failures and current_stop().requested:
                return found  # the run is being ended: a resumed one searches again
            answer = {**asdict(found), "records": [one._asdict() for one in found.records]}
            with self._lock:
                kept = self._kept()
                known = kept.setdefault(question, answer)
                write_atomically(self._file(), json.dumps(kept, ensure_ascii=False))
        records = (record_of(row) for row in known["records"])
        return Found(tuple(filter(None, records)), tuple(known["failures"]), tuple(known["merged"]))

    def _kept(self) -> dict[str, Any]:
        return dict(json_value(self._file().read_bytes(), repr(str(self._file())))) if self._file().is_file() else {}


class OnlineSearch:
    """Services, all at once and each one question at a time; answers are kept for a month.

    A service that fails is named and leaves the others alone.
    """

    def __init__(self, services: Services, cache: AnswerCache) -> None:
        self._services, self._cache = services, cache
        self.names = services.names

    def find(self, queries: Sequence[str], until: date | None, rows: int) -> Found:
        """As ``Searching.find``."""
        sources = [cast("Searched", source) for source in self._services.sources]
        with ThreadPoolExecutor(max_workers=max(1, len(sources))) as pool:
            by_source = list(pool.map(lambda source: self._asked(source, queries, until, rows), sources))
        records = [record for found, _ in by_source for record in found]
        return _found(records, tuple(reason for _, reason in by_source if reason))

    def close(self) -> None:
        """End waits and connections."""
        self._services.close()

    def _asked(
        self, source: Searched, queries: Sequence[str], until: date | None, rows: int
    ) -> tuple[list[Record], str]:
        found: list[Record] = []
        for query in queries:
            question = f"search {query} until {until.isoformat() if until else 'ever'} rows {rows}"
            known = self._cache.get(question, None, source.id)
            if known is None:
                try:
                    known = self._services.first(source, [source.search(query, until, rows)], lambda _: False, rows)
                except Unresolved as error:
                    return found, str(error)
                self._cache.put(question, None, source.id, known, found=False)
            found += known
        return found, ""


def surely_by(record: Record, until: date | None) -> bool:
    """Whether a work was surely there on a day: published by then or, of an unknown day, in an earlier year."""
    if until is None:
        return True
    if record.published:
        return record.published <= until.isoformat()
    return record.year is not None and record.year < until.year


def _found(records: Sequence[Record], failures: tuple[str, ...] = ()) -> Found:
    kept = each_once(records)
    left = {one for record in kept for one in (record.doi, record.arxiv)}
    ids = dict.fromkeys(one for record in records for one in (record.doi, record.arxiv))
    return Found(kept, failures, tuple(one for one in ids if one and one not in left))


def each_once(records: Iterable[Record]) -> tuple[Record, ...]:
    """Each work once, as it came first; with the earliest day that any source knows of it.

    A record is compared with those that share an id with it, and with the first few whose title begins or ends alike:
    the work grows with the number of records, not with its square.
    """
    kept: list[Record] = []
    places: defaultdict[str, list[int]] = defaultdict(list)
    for record in records:
        keys = _keys(record)
        near = sorted({place for key in keys for place in places[key][:_MOST_COMPARED]})
        place = next((place for place in near if is_same(kept[place], record)), None)
        if place is None:
            place = len(kept)
            kept.append(record)
        else:
            kept[place] = _joined(kept[place], record)
        for key in keys:
            if place not in places[key][:_MOST_COMPARED]:
                places[key].append(place)
    return tuple(kept)


def _keys(record: Record) -> list[str]:
    """By what a record is found again: its ids, and both ends of its title."""
    title = normalised_title(record.title)
    ends = [f"begins {title[:_END]}", f"ends {title[-_END:]}"] if title else []
    ids = [f"doi {record.doi}" if record.doi else "", f"arxiv {record.arxiv}" if record.arxiv else ""]
    return [*filter(None, ids), *ends]


def is_same(first: Record, second: Record) -> bool:
    """Whether two records are of one work: by an id, or by almost the same title."""
    if (first.doi and first.doi == second.doi) or (first.arxiv and first.arxiv == second.arxiv):
        return True
    return has_title(first, second.title)


def has_title(record: Record, title: str) -> bool:
    """Whether a work goes by a title, in other spelling or cut short."""
    one, other = normalised_title(record.title), normalised_title(title)
    return bool(one and other) and (title_similarity(one, other) >= _SAME_TITLE or is_short_form(one, other))


def _joined(first: Record, second: Record) -> Record:
    days = sorted(day for day in (first.published, second.published) if day)
    years = sorted(year for year in (first.year, second.year) if year is not None)
    return first._replace(
        doi=first.doi or second.doi,
        arxiv=first.arxiv or second.arxiv,
        abstract=first.abstract or second.abstract,
        published=days[0] if days else "",
        year=years[0] if years else None,
        retracted=first.retracted or second.retracted,
    )
