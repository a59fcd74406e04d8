"""Whether a cited work is listed: the verdict on a citation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from referee.literature.titles import is_short_form, normalised_title, title_similarity

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
    """A published work as a source lists it; no author means the source has no list, a null year that it has none.

    ``published`` is the day in ISO form, empty where only the year is known. ``retracted`` says that the source marks
    it so; false says nothing.
    """

    title: str
    year: int | None
    authors: tuple[str, ...] = ()
    doi: str = ""
    source: str = ""
    arxiv: str = ""
    abstract: str = ""
    published: str = ""
    retracted: bool = False


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


_TEXTS = ("doi", "source", "arxiv", "abstract", "published")


def record_of(row: Mapping[str, object]) -> Record | None:
    """A row as a record; null where its title, year or authors are not what they should be."""
    title, year, authors = row.get("title"), row.get("year"), row.get("authors") or []
    if not isinstance(title, str) or not title.strip() or not isinstance(authors, Sequence):
        return None
    if isinstance(authors, str) or not all(isinstance(author, str) for author in authors):
        return None
    if isinstance(year, bool) or not (year is None or (isinstance(year, int) and 0 <= year <= 9999)):
        return None
    texts = {key: value if isinstance(value := row.get(key), str) else "" for key in _TEXTS}
    texts.update(doi=texts["doi"].lower(), arxiv=texts["arxiv"].lower())
    return Record(title, year, tuple(authors), **texts, retracted=row.get("retracted") is True)
