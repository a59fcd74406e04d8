"""What becomes of a paper's references when they are looked up: verified, mismatch, not found, or not checked.

A work that no source lists may exist all the same, so nothing is ever called invented.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from referee.literature.checking import MIN_SIMILARITY, YEARS_APART, Record, Resolver, Unresolved
from referee.literature.titles import is_short_form, normalised_title, title_similarity
from referee.schemas.paper import Reference

Verdict = Literal["verified", "mismatch", "not found", "not checked"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

ARXIV_ID = re.compile(
    r"(?:arxiv\.org/(?:abs|pdf|html)/|arxiv[:.]?\s?|abs/)(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})",
    re.IGNORECASE,
)
_PREPRINT = re.compile(r"\barxiv\b|\bcorr\b|\bbiorxiv\b|\bmedrxiv\b|\bpreprint\b|\bssrn\b", re.IGNORECASE)
_MANY = re.compile(r"collaboration|consortium|team\b|working group|organi[sz]ation|committee|project\b", re.IGNORECASE)
_LATER_VERSION = 6
_FEWEST_LETTERS = 1
_FEW_WORDS = 3


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

    @property
    def is_retracted(self) -> bool:
        """Whether the source marks the work that it lists as retracted, for a verdict that rests on that work."""
        return self.record is not None and self.record.retracted and self.verdict in ("verified", "mismatch")


def cited_of(reference: Reference) -> CitedReference:
    """An entry's title, first author, year and ids; what could not be read is empty."""
    first = reference.authors[0] if reference.authors else ""
    names: tuple[str, ...] = ()
    if not _MANY.search(first):
        words = normalised_title(first.replace("et al", "")).split()
        names = tuple(word for word in words if len(word) >= _FEWEST_LETTERS)
    found = ARXIV_ID.search(reference.text)
    return CitedReference(
        reference,
        reference.title or "",
        names,
        reference.year,
        (reference.doi or "").lower(),
        found["id"].lower() if found else "",
    )


def check_reference(reference: Reference, resolver: Resolver | None) -> CheckedReference:
    """Look one entry up; without a resolver it is not checked.

    Verified is an entry whose title a source lists, in other spelling or with more behind it, with its first author and
    its year. One of these three may differ for a mismatch; where more do, it is another work.
    """
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
            if found.verdict == "verified" or _same_id(cited, record):
                return found
            seen.append(found)
    except Unresolved as error:
        problem = str(error)
    return _judged(cited, seen, problem)


def _judged(cited: CitedReference, seen: Sequence[CheckedReference], problem: str) -> CheckedReference:
    """The verdict where no record is accepted: a difference is told only where every source answered."""
    if problem:
        return CheckedReference(cited, "not checked", reason=problem)
    for one in seen:
        if one.verdict == "mismatch":
            return one
    near = next((one for one in seen if one.record is not None), None)
    record = near.record if near is not None else None
    reason = f"the nearest listed title is {record.title!r}" if record is not None else ""
    return CheckedReference(cited, "not found", record=record, reason=reason)


def _compared(cited: CitedReference, record: Record) -> CheckedReference:
    title, near = _titles(cited.title, record.title)
    differs = [] if title else ["title"]
    if not _is_first_author(cited, record):
        differs.append("first author")
    year, remark = _year(cited, record)
    if not year:
        differs.append("year")
    if not differs:
        return CheckedReference(cited, "verified", record=record, reason=remark)
    if _same_id(cited, record):
        known = "its id is that of another work" if differs[0] == "title" and not near else ""
        return CheckedReference(cited, "mismatch", tuple(differs), record, known)
    few_words = len(normalised_title(record.title).split()) <= _FEW_WORDS
    told = len(differs) == 1 and (title or near) and not (few_words and differs == ["first author"])
    return CheckedReference(cited, "mismatch" if told else "not found", tuple(differs) if told else (), record)


def _titles(cited: str, listed: str) -> tuple[bool, bool]:
    """Whether two titles are the same but for spelling and a part left out at the end, and whether they are near."""
    one, other = normalised_title(cited), normalised_title(listed).removeprefix("retracted ")
    same = one.replace(" ", "") == other.replace(" ", "")
    shortened = len(one) < len(other) and is_short_form(one, other)
    return same or shortened, title_similarity(one, other) >= MIN_SIMILARITY


def _is_first_author(cited: CitedReference, record: Record) -> bool:
    """Whether the surname that is listed first is in the name that is cited first, accents and order aside."""
    if not cited.names or not record.authors:
        return True
    surname = normalised_title(record.authors[0]).split()[-1:]
    return not surname or surname[0] in "".join(cited.names)


def _year(cited: CitedReference, record: Record) -> tuple[bool, str]:
    """Whether the years agree, and what to know: a preprint may be listed with the year of its later version."""
    if cited.year is None or record.year is None:
        return True, "without a year to compare"
    apart = record.year - cited.year
    if abs(apart) <= YEARS_APART:
        return True, "" if record.authors and cited.names else "without a list of authors to compare"
    listed_as_preprint = bool(record.arxiv) or "arxiv" in record.doi
    later = cited.is_preprint and 0 < apart <= _LATER_VERSION
    earlier = listed_as_preprint and not cited.is_preprint and 0 < -apart <= _LATER_VERSION
    return later or earlier, f"listed with the year {record.year}"


def _same_id(cited: CitedReference, record: Record) -> bool:
    return bool(cited.doi and cited.doi == record.doi.lower()) or bool(cited.arxiv and cited.arxiv == record.arxiv)


def abstract_of(checked: CheckedReference, resolver: Resolver) -> str:
    """The abstract of a verified work: that of its record, or of the first other record of it that has one.

    Raises:
        Unresolved: None was found, and a source could not be asked.
    """
    if checked.verdict != "verified" or checked.record is None:
        return ""
    if checked.record.abstract:
        return checked.record.abstract
    for record in resolver.candidates(checked.cited):
        if record.abstract and _compared(checked.cited, record).verdict == "verified":
            return record.abstract
    return ""
