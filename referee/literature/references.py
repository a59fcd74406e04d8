"""What becomes of a paper's references when they are looked up: verified, mismatch, not found, or not checked.

A work that no source lists may exist all the same, so nothing is ever called invented.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
_LINK = re.compile(r"https?://\S+|\b10\.\d{4,9}/\S+")
_PREPRINT = re.compile(r"\barxiv\b|\bcorr\b|\bbiorxiv\b|\bmedrxiv\b|\bpreprint\b|\bssrn\b", re.IGNORECASE)
_MANY = re.compile(r"collaboration|consortium|team\b|working group|organi[sz]ation|committee|project\b", re.IGNORECASE)
_LATER_VERSION = 6
_INITIALS = re.compile(r"(?<=\w\w)(?:\s+[A-ZÀ-Þ]{1,3})+$")
_EDITION = re.compile(r"\b(?:\d+(?:st|nd|rd|th)|second|third|revised|new)\s+ed(?:ition|\.|n)?\b", re.IGNORECASE)
_NUMERAL = re.compile(r"\s(?:[ivx]+|\d+)$")
_LONGEST_ENTRY, _FEWEST_WHOLE, _FEWEST_LISTED = 300, 5, 4
# Letters of ligatures ('fi') are lost in the text of some files.
_LIGATURES, _MISPRINT = frozenset("fil"), 6
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
        """The last of the first author's names that is no initial, or the only one before a comma ('Lo, Ada')."""
        printed = self.reference.authors[0] if self.names else ""
        words = _INITIALS.sub("", printed.partition(",")[0]).replace("et al", "")
        return (normalised_title(words).split() or [*self.names] or [""])[-1]

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
    its year. One of these three may differ for a mismatch; where more do, it is another work. An entry whose title
    could not be read is looked up as it is printed; it is verified where a listed title stands in it whole, with the
    first author and the year, or where the id is the same and the first author stands in it.
    """
    cited = cited_of(reference)
    if resolver is None:
        return CheckedReference(cited, "not checked", reason="nobody was asked")
    if not normalised_title(cited.title):
        return _checked_whole(cited, resolver)
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


def _checked_whole(cited: CitedReference, resolver: Resolver) -> CheckedReference:
    """The verdict on an entry without a title, by its whole text: verified, or not checked."""
    whole = _LINK.sub(" ", cited.reference.text)[:_LONGEST_ENTRY]
    asked, problem = replace(cited, title=whole), "its title could not be read"
    if len(normalised_title(whole).split()) >= _FEWEST_WHOLE:
        try:
            for record in resolver.candidates(asked):
                if _stands_in(record, cited):
                    return CheckedReference(cited, "verified", record=record, reason="looked up as it is printed")
        except Unresolved as error:
            problem = f"{problem}, and {error}"
    return CheckedReference(cited, "not checked", reason=problem)


def _stands_in(record: Record, cited: CitedReference) -> bool:
    """Whether an entry's text holds a listed work's first author, and its id, or its whole title and its year."""
    text, title = f" {normalised_title(cited.reference.text)} ", normalised_title(record.title)
    surname = normalised_title(record.authors[0]).split()[-1:] if record.authors else []
    if not surname or f" {surname[0]} " not in text:
        return False
    whole = len(title.split()) >= _FEWEST_LISTED and f" {title} " in text
    return _same_id(cited, record) or (whole and f" {record.year} " in text)


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
    sure = True
    if not _is_first_author(cited, record):
        differs.append("first author")
        sure = _is_sure(cited, record)
    year, remark = _year(cited, record)
    if not year:
        differs.append("year")
    if not differs:
        return CheckedReference(cited, "verified", record=record, reason=remark)
    if _same_id(cited, record) and sure:
        known = "its id is that of another work" if differs[0] == "title" and not near else ""
        return CheckedReference(cited, "mismatch", tuple(differs), record, known)
    few_words = len(normalised_title(record.title).split()) <= _FEW_WORDS
    told = sure and len(differs) == 1 and (title or near) and not (few_words and differs == ["first author"])
    return CheckedReference(cited, "mismatch" if told else "not found", tuple(differs) if told else (), record)


def _titles(cited: str, listed: str) -> tuple[bool, bool]:
    """Whether two titles are the same but for spelling and a part left out at the end, and whether they are near.

    The letters of a ligature may be lost in a file's text. Near ones that differ by a numeral at the end are parts
    of one work.
    """
    one, other = normalised_title(cited), normalised_title(listed).removeprefix("retracted ")
    if one.replace(" ", "") == other.replace(" ", ""):
        return True, True
    shortened = len(one) < len(other) and is_short_form(one, other)
    near = title_similarity(one, other) >= MIN_SIMILARITY and _NUMERAL.sub("", one) != _NUMERAL.sub("", other)
    one, other = (title.replace(" ", "") for title in (one, other))
    misprint = not Counter(one) - Counter(other) and _LIGATURES.issuperset(lost := Counter(other) - Counter(one))
    return shortened or (near and misprint and lost.total() <= _MISPRINT), near


def _is_first_author(cited: CitedReference, record: Record) -> bool:
    """Whether the surname that is listed first is in the name that is cited first, accents and order aside."""
    if not cited.names or not record.authors:
        return True
    surname = normalised_title(record.authors[0]).split()[-1:]
    return not surname or surname[0] in "".join(cited.names)


def _is_sure(cited: CitedReference, record: Record) -> bool:
    """Whether another first author is no fault of reading: the listed one is not in the entry, or read as another."""
    surname = normalised_title(record.authors[0]).split()[-1]
    others = (normalised_title(name) for name in cited.reference.authors[1:])
    return surname not in normalised_title(cited.reference.text) or any(surname in other for other in others)


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
    edition = _EDITION.search(cited.reference.text) is not None
    return later or earlier or edition, f"listed with the year {record.year}"


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
