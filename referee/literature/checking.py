"""Whether a cited work is listed: the verdict on a citation, and a list of known works to look it up in."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, get_args

from referee.errors import DataError
from referee.literature.titles import is_short_form, normalised_title, title_similarity
from referee.runs.files import refuse_special_file

Status = Literal["verified", "year_mismatch", "author_mismatch", "ambiguous", "not_found", "unresolved"]
STATUSES: tuple[Status, ...] = get_args(Status)

MIN_SIMILARITY = 0.90
MIN_SIMILARITY_SHORT = 0.95
SHORT_TITLE_WORDS = 6
YEARS_APART = 1
# From the reason that says most about a citation to the one that says least.
_ORDER: tuple[Status, ...] = ("verified", "year_mismatch", "author_mismatch", "ambiguous", "not_found")


class Cited(Protocol):
    """A work as somebody cites it."""

    @property
    def title(self) -> str:
        """Its title."""
        ...

    @property
    def surname(self) -> str:
        """The first author's name to search by; empty where it is not known."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What the first author is called: one of these must be among a work's authors, where there are any."""
        ...

    @property
    def year(self) -> int | None:
        """Its year; null where it is not known."""
        ...

    @property
    def doi(self) -> str:
        """Its DOI; empty without."""
        ...

    @property
    def arxiv(self) -> str:
        """Its arXiv id; empty without."""
        ...


class Record(NamedTuple):
    """A published work as a source lists it; no author means the source has no list, a null year that it has none."""

    title: str
    year: int | None
    authors: tuple[str, ...] = ()
    doi: str = ""
    source: str = ""
    arxiv: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a citation.

    ``record`` is the one the status rests on, ``similarity`` that of the titles; ``weak`` marks a verification
    without an author list or a year to compare. ``reason`` says why a citation is ``unresolved``; its record, if any,
    is the closest that those sources list which did answer.
    """

    citation: Cited
    status: Status
    record: Record | None = None
    similarity: float = 0.0
    weak: bool = False
    reason: str = ""


class Resolver(Protocol):
    """Finds records for a citation, in order, from best to worst source."""

    id: str

    def candidates(self, citation: Cited) -> Iterable[Record]:
        """The records that may be the cited work, one source after the other; drawn only as far as needed.

        Raises:
            Unresolved: A source could not be asked.
        """
        ...


class Unresolved(Exception):
    """A source could not be asked; its text is the reason."""


def check_citation(citation: Cited, resolver: Resolver) -> Checked:
    """Compare a citation with what a resolver finds; the first record that is accepted wins.

    Accepted is a record whose title (a) is similar at 0.90 or more (0.95 where one title has at most six words), or one
    title begins the other; whose year (b) differs by 1 at most; among whose authors (c) is the cited surname. Else the
    status names the condition that failed on the closest record. Where a source could not be asked and no other has
    the work, the citation is unresolved: a source that failed has not said that something does not exist.
    """
    best = Checked(citation, "not_found")
    try:
        for record in resolver.candidates(citation):
            held = compared(citation, record)
            if held.status == "verified":
                return held
            best = min(best, held, key=lambda one: (_ORDER.index(one.status), -one.similarity))
    except Unresolved as error:
        return Checked(citation, "unresolved", best.record, best.similarity, reason=str(error))
    return best


def compared(citation: Cited, record: Record) -> Checked:
    """One citation against one record, by the rule of ``check_citation``."""
    cited, listed = normalised_title(citation.title), normalised_title(record.title)
    similarity = title_similarity(cited, listed) if cited and listed else 0.0
    title = _title_status(cited, listed, similarity)
    if title != "verified":
        return Checked(citation, title, record if title == "ambiguous" else None, similarity)
    years = record.year, citation.year
    if None not in years and abs((record.year or 0) - (citation.year or 0)) > YEARS_APART:
        return Checked(citation, "year_mismatch", record, similarity)
    names = [name for name in citation.names if name]
    if record.authors and names and not any(_among(name, record.authors) for name in names):
        return Checked(citation, "author_mismatch", record, similarity)
    return Checked(citation, "verified", record, similarity, weak=not (record.authors and names) or None in years)


def _title_status(cited: str, listed: str, similarity: float) -> Status:
    if not cited or not listed:
        return "not_found"
    if is_short_form(cited, listed):
        return "verified"
    if similarity < MIN_SIMILARITY:
        return "not_found"
    few_words = min(len(cited.split()), len(listed.split())) <= SHORT_TITLE_WORDS
    return "ambiguous" if few_words and similarity < MIN_SIMILARITY_SHORT else "verified"


def _among(surname: str, authors: Sequence[str]) -> bool:
    """Whether a surname is a whole name of an author, hyphens and accents aside."""
    wanted = normalised_title(surname)
    return bool(wanted) and any(f" {wanted} " in f" {normalised_title(author)} " for author in authors)


class CitationCounts(NamedTuple):
    """Citations by status; ``rate`` is verified / (all - unresolved), null where that is nothing."""

    by_status: dict[str, int]
    total: int
    unresolved: int
    rate: float | None


def counted(checked: Iterable[Checked]) -> CitationCounts:
    """The verification rate over any number of citations; those that could not be asked about are counted apart."""
    counts = Counter(one.status for one in checked)
    by_status: dict[str, int] = {status: counts[status] for status in (*_ORDER, "unresolved")}
    resolved = counts.total() - counts["unresolved"]
    return CitationCounts(
        by_status, counts.total(), counts["unresolved"], counts["verified"] / resolved if resolved else None
    )


_LEAST_SHARED = 0.5


class FixtureResolver:
    """Finds records in a fixed set, by id or by words of the title.

    Offered are records that hold at least half of the cited title's words, those with most of them first, so that a
    large file is not compared title by title.
    """

    def __init__(self, records: Iterable[Record], id: str = "fixture") -> None:
        self.id = id
        self._records = tuple(records)
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._by_id: dict[str, int] = {}
        for number, record in enumerate(self._records):
            for word in set(normalised_title(record.title).split()):
                self._by_word[word].append(number)
            for key in (record.doi.lower(), record.arxiv.lower()):
                if key:
                    self._by_id.setdefault(key, number)

    @classmethod
    def load(cls, path: Path) -> FixtureResolver:
        """The records of a JSONL file: ``title``, ``year``, ``authors``, ``doi``, ``source``, ``arxiv`` a line.

        Raises:
            DataError: The file is none or cannot be read, or a line is no such record.
        """
        refuse_special_file(path)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the citation records {str(path)!r} cannot be read: {error}.", hint="Check it.") from error
        return cls(_record(line, path, n) for n, line in enumerate(lines, 1) if line.strip())

    def candidates(self, citation: Cited) -> Iterator[Record]:
        """The records with the citation's id, then those whose titles share most words with its title."""
        known = [self._by_id[key] for key in (citation.doi, citation.arxiv) if key in self._by_id]
        words = set(normalised_title(citation.title).split())
        shared: dict[int, int] = defaultdict(int)
        for word in words:
            for number in self._by_word.get(word, ()):
                shared[number] += 1
        near = [number for number, count in shared.items() if count >= _LEAST_SHARED * self._fewest(number, words)]
        ordered = sorted(near, key=lambda number: (-shared[number], number))
        return (self._records[number] for number in dict.fromkeys([*known, *ordered]))

    def _fewest(self, number: int, words: set[str]) -> int:
        """Of a long title and its short form the short one's words count."""
        return min(len(words), len(set(normalised_title(self._records[number].title).split())))


def record_of(row: Mapping[str, object]) -> Record | None:
    """A row as a record; null where its title, year or authors are not what they should be."""
    title, year, authors = row.get("title"), row.get("year"), row.get("authors") or []
    if not isinstance(title, str) or not title.strip() or not isinstance(authors, Sequence):
        return None
    if isinstance(authors, str) or not all(isinstance(author, str) for author in authors):
        return None
    if isinstance(year, bool) or not (year is None or isinstance(year, int)):
        return None
    texts = {key: value if isinstance(value := row.get(key), str) else "" for key in ("doi", "source", "arxiv")}
    return Record(title, year, tuple(authors), texts["doi"].lower(), texts["source"], texts["arxiv"].lower())


def _record(line: str, path: Path, number: int) -> Record:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{str(path)!r}, line {number} is no JSON: {error}.", hint="One record a line.") from error
    record = record_of(row) if isinstance(row, dict) else None
    if record is None:
        raise DataError(
            f"{str(path)!r}, line {number} is no citation record.",
            hint="It needs a title, a whole year or null, and authors as a list of names.",
        )
    return record
