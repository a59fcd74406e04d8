"""What a review looked up outside of the paper: its references, and works that bear on its claims."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from referee.schemas.base import Frozen

SupportVerdict = Literal["supports", "does not bear on it", "cannot tell"]
Bearing = Literal["same task and data", "same task", "part of the claim"]


class ListedWork(Frozen):
    """A work as a source lists it. ``published`` is a day, empty where only the year is known."""

    title: str
    year: int | None = None
    authors: tuple[str, ...] = ()
    doi: str = ""
    arxiv: str = ""
    source: str = ""
    published: str = ""
    retracted: bool = False

    @property
    def identifier(self) -> str:
        """The DOI, else the arXiv id, else nothing."""
        return self.doi or (f"arXiv:{self.arxiv}" if self.arxiv else "")


class LookedUpReference(Frozen):
    """An entry of the paper's bibliography with its verdict; ``number`` counts from 1.

    ``verdict`` is that of ``referee.literature.references``; ``listed`` what it rests on.
    """

    number: int
    text: str
    title: str = ""
    year: int | None = None
    verdict: Literal["verified", "mismatch", "not found", "not checked"]
    differs: tuple[str, ...] = ()
    listed: ListedWork | None = None
    reason: str = ""

    @property
    def is_retracted(self) -> bool:
        """Whether the source marks the listed work as retracted."""
        return self.listed is not None and self.listed.retracted and self.verdict in ("verified", "mismatch")


class CitationSupport(Frozen):
    """Whether a cited work's abstract says what a sentence of the paper claims of it.

    ``number`` is that of the reference. ``sentence`` is the paper's, ``quotation`` the abstract's, both verbatim; where
    it cannot be told there is no quotation.
    """

    number: int
    sentence: str
    section: str
    page: int | None = None
    verdict: SupportVerdict
    quotation: str = ""


class References(Frozen):
    """The entries of a bibliography, looked up; ``asked`` names who was. ``support`` is empty where none was judged."""

    asked: str
    entries: tuple[LookedUpReference, ...]
    support: tuple[CitationSupport, ...] = ()
    notes: tuple[str, ...] = ()


class PaperClaim(Frozen):
    """A claim of the paper in its own words, and the words it was searched by."""

    id: str
    quote: str
    section_id: str
    section: str
    page: int | None = None
    query: str


class FoundWork(ListedWork):
    """A work that a search returned. ``near`` is the cosine of its abstract and the nearest claim.

    ``cited`` says whether the paper lists it, ``in_experiments`` whether a sentence of its experiments cites it.
    """

    id: str
    abstract: str
    near: float = 0.0
    cited: bool = False
    in_experiments: bool = False


class WorkBearing(Frozen):
    """What a work says to a claim: a sentence of its abstract, and the words of the claim that it covers.

    Both are verbatim, and nothing of it is a model's own words.
    """

    work: str
    claim: str
    bearing: Bearing
    sentence: str
    covers: str


class Literature(Frozen):
    """A search of the literature for one paper.

    Attributes:
        asked: Who was searched.
        as_of: The last day of works that count; empty where there was none.
        as_of_from: Where that day is from.
        queries: The words that were sent.
        claims: What was searched for.
        works: What was read, the nearest first.
        bearings: What they say to the claims.
        failures: Who could not be searched, and why.
        notes: What was left out.
    """

    asked: tuple[str, ...]
    as_of: str = ""
    as_of_from: str = ""
    queries: tuple[str, ...] = ()
    claims: tuple[PaperClaim, ...] = ()
    works: tuple[FoundWork, ...] = ()
    bearings: tuple[WorkBearing, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=())

    @property
    def missing_comparisons(self) -> tuple[WorkBearing, ...]:
        """Works on the same task and data that the paper does not cite, or not in its experiments; each once."""
        works = {work.id: work for work in self.works}
        found = [b for b in self.bearings if b.bearing == "same task and data" and not works[b.work].in_experiments]
        return tuple({b.work: b for b in reversed(found)}.values())[::-1]

    @property
    def nearest_prior(self) -> tuple[WorkBearing, ...]:
        """For each claim the nearest work that bears on it."""
        order = {work.id: number for number, work in enumerate(self.works)}
        first: dict[str, WorkBearing] = {}
        for bearing in sorted(self.bearings, key=lambda b: order[b.work]):
            first.setdefault(bearing.claim, bearing)
        return tuple(first[claim.id] for claim in self.claims if claim.id in first)
