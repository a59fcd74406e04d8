"""What becomes of a paper's references when they are looked up: verified, mismatch, not found, or not checked.

A work that no source lists may exist all the same, so nothing is ever called invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from referee.literature.checking import YEARS_APART, Checked, Record, Resolver, Unresolved, compared
from referee.literature.titles import normalised_title
from referee.schemas.paper import Reference

Verdict = Literal["verified", "mismatch", "not found", "not checked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_ARXIV = re.compile(
    r"(?:arxiv\s*[:.]?\s*|arxiv\.org/\w+/|abs/)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})", re.IGNORECASE
)
_PREPRINT = re.compile(r"\barxiv\b|\bcorr\b|\bbiorxiv\b|\bmedrxiv\b|\bpreprint\b|\bssrn\b", re.IGNORECASE)
_MANY = re.compile(r"collaboration|consortium|team\b|working group|organi[sz]ation|committee|project\b", re.IGNORECASE)
_LATER_VERSION = 6
_FEWEST_LETTERS = 2


@dataclass(frozen=True)
class CitedReference:
    """An entry of a bibliography as it is looked up."""

    reference: Reference
    title: str
    names: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""

    @property
    def surname(self) -> str:
        """The last of the first author's names, as most styles print it."""
        return self.names[-1] if self.names else ""

    @property
    def is_preprint(self) -> bool:
        """Whether it is cited as one: the work may be listed with the later year of a journal or a conference."""
        return bool(self.arxiv) or _PREPRINT.search(self.reference.text) is not None


@dataclass(frozen=True)
class CheckedReference:
    """A verdict with what it rests on.

    Attributes:
        cited: The entry.
        verdict: ``verified``: a source lists a work with this title, first author and year. ``mismatch``: it lists the
            work with another value of what ``differs`` names. ``not found``: no source that was asked lists it.
            ``not checked``: nothing was asked, or a source did not answer.
        differs: ``title``, ``year`` or ``first author``.
        record: What the verdict rests on; of ``not found`` the nearest, where there is one.
        reason: Why it was not checked, or what to know of the verdict.
    """

    cited: CitedReference
    verdict: Verdict
    differs: tuple[str, ...] = ()
    record: Record | None = None
    reason: str = field(default="")


def cited_of(reference: Reference) -> CitedReference:
    """An entry's title, first author, year and ids; what could not be read is empty."""
    first = reference.authors[0] if reference.authors else ""
    names: tuple[str, ...] = ()
    if not _MANY.search(first):
        words = normalised_title(first.replace("et al", "")).split()
        names = tuple(word for word in words if len(word) >= _FEWEST_LETTERS)
    found = _ARXIV.search(reference.text)
    return CitedReference(
        reference,
        reference.title or "",
        names,
        reference.year,
        (reference.doi or "").lower(),
        found[1].lower() if found else "",
    )


def check_reference(reference: Reference, resolver: Resolver | None) -> CheckedReference:
    """Look one entry up; without a resolver it is not checked."""
    cited = cited_of(reference)
    if resolver is None:
        return CheckedReference(cited, "not checked", reason="nobody was asked")
    if not normalised_title(cited.title):
        return CheckedReference(cited, "not checked", reason="its title could not be read")
    seen: list[CheckedReference] = []
    problem = ""
    try:
        for record in resolver.candidates(cited):
            found = _compared(cited, record)
            if found.verdict == "verified":
                return found
            seen.append(found)
    except Unresolved as error:
        problem = str(error)
    return _judged(cited, seen, problem)


def _judged(cited: CitedReference, seen: Iterable[CheckedReference], problem: str) -> CheckedReference:
    """The verdict where no record is accepted: a difference is told only where every source answered."""
    if problem:
        return CheckedReference(cited, "not checked", reason=problem)
    mismatches = [one for one in seen if one.verdict == "mismatch"]
    if mismatches:
        return min(mismatches, key=lambda one: len(one.differs))
    near = next((one for one in seen if one.record is not None), None)
    record = near.record if near is not None else None
    reason = f"the nearest listed title is {record.title!r}" if record is not None else ""
    return CheckedReference(cited, "not found", record=record, reason=reason)


def _compared(cited: CitedReference, record: Record) -> CheckedReference:
    held = compared(cited, record)
    match held.status:
        case "verified":
            return CheckedReference(cited, "verified", record=record, reason=_weakness(held))
        case "year_mismatch":
            return _other_year(cited, record)
        case "author_mismatch":
            return CheckedReference(cited, "mismatch", ("first author",), record)
        case "ambiguous":
            return CheckedReference(cited, "not found", record=record)
    if _same_id(cited, record):
        return CheckedReference(cited, "mismatch", ("title",), record, "its id is that of another work")
    return CheckedReference(cited, "not found")


def _other_year(cited: CitedReference, record: Record) -> CheckedReference:
    """Another year is no mistake where a preprint was cited whose later version is listed, or the other way round."""
    alike = compared(
        CitedReference(cited.reference, cited.title, cited.names, record.year, cited.doi, cited.arxiv), record
    )
    if alike.status != "verified":
        return CheckedReference(cited, "mismatch", ("year", "first author"), record)
    apart = (record.year or 0) - (cited.year or 0)
    listed_as_preprint = bool(record.arxiv) or "arxiv" in record.doi
    later = cited.is_preprint and YEARS_APART < apart <= _LATER_VERSION
    earlier = listed_as_preprint and YEARS_APART < -apart <= _LATER_VERSION
    if later or earlier:
        return CheckedReference(cited, "verified", record=record, reason=f"listed with the year {record.year}")
    return CheckedReference(cited, "mismatch", ("year",), record)


def _weakness(held: Checked) -> str:
    return "without a list of authors or a year to compare" if held.weak else ""


def _same_id(cited: CitedReference, record: Record) -> bool:
    return bool(cited.doi and cited.doi == record.doi.lower()) or bool(cited.arxiv and cited.arxiv == record.arxiv)
