"""Whether a cited work exists: one citation against the records that a source offers for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from referee.evals.behaviour.citations import Citation
from referee.evals.behaviour.titles import is_short_form, normalised_title, title_similarity

Status = Literal["verified", "year_mismatch", "author_mismatch", "ambiguous", "not_found", "unresolved"]
STATUSES: tuple[Status, ...] = get_args(Status)

MIN_SIMILARITY = 0.90
MIN_SIMILARITY_SHORT = 0.95
SHORT_TITLE_WORDS = 6
YEARS_APART = 1
# From the reason that says most about a citation to the one that says least.
_ORDER: tuple[Status, ...] = ("verified", "year_mismatch", "author_mismatch", "ambiguous", "not_found")


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

    citation: Citation
    status: Status
    record: Record | None = None
    similarity: float = 0.0
    weak: bool = False
    reason: str = ""


class Resolver(Protocol):
    """Finds records for a citation, in order, from best to worst source."""

    id: str

    def candidates(self, citation: Citation) -> Iterable[Record]:
        """The records that may be the cited work, one source after the other; drawn only as far as needed.

        Raises:
            Unresolved: A source could not be asked.
        """
        ...


class Unresolved(Exception):
    """A source could not be asked; its text is the reason."""


def check_citation(citation: Citation, resolver: Resolver) -> Checked:
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


def compared(citation: Citation, record: Record) -> Checked:
    """One citation against one record, by the rule of ``check_citation``."""
    cited, listed = normalised_title(citation.title), normalised_title(record.title)
    similarity = title_similarity(cited, listed) if cited and listed else 0.0
    title = _title_status(cited, listed, similarity)
    if title != "verified":
        return Checked(citation, title, record if title == "ambiguous" else None, similarity)
    if record.year is not None and abs(citation.year - record.year) > YEARS_APART:
        return Checked(citation, "year_mismatch", record, similarity)
    if record.authors and not _among(citation.surname, record.authors):
        return Checked(citation, "author_mismatch", record, similarity)
    return Checked(citation, "verified", record, similarity, weak=not record.authors or record.year is None)


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
