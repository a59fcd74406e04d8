"""What reading a guideline page yields: the page, its candidates, its windows, its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from referee.schemas.venue import Aspect, FieldKind

CandidateKind = Literal["heading", "bullet", "question", "imperative", "sentence"]
Extractor = Literal["trafilatura", "raw", "markdown", "text"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """Words of the page that code left out, and why: nothing goes in silence."""

    words: str
    reason: str


@dataclass(frozen=True, slots=True)
class GuidelinePage:
    """A page's main text and what is known about it.

    ``text`` has one block a line: ``#`` headings, ``- `` or ``1. `` items indented by two blanks a level, table rows as
    ``a | b``, code and text boxes between lines of three backticks, and paragraphs. ``language`` is an ISO 639-1 code,
    or empty where the text is too short to tell. ``paper_types`` are the types that headings name, in page order.
    ``dropped`` holds what code took for noise; ``notes`` are sentences for a person.
    """

    source: str
    title: str
    text: str
    extractor: Extractor
    language: str = ""
    paper_types: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of the page that may be a criterion.

    ``words`` are the page's own, white space aside; ``heading`` is the path of headings above it; ``paper_type`` is
    empty for what concerns every paper.
    """

    id: str
    kind: CandidateKind
    words: str
    heading: tuple[str, ...] = ()
    paper_type: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """Candidates that fit one prompt; ``text`` shows them with their ids under their headings."""

    id: str
    candidates: tuple[Candidate, ...]
    text: str


@dataclass(frozen=True, slots=True)
class OptionDraft:
    """One value that the page offers, its label, and the line it was read from."""

    value: int | float | str
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class FieldDraft:
    """One box that the page shows.

    ``words`` are the page's own words on what belongs there. ``aspect`` is guessed from the title; a title that tells
    nothing gives ``other``. A scale with a value that is no number ("N/A") is a ``choice``.
    """

    name: str
    title: str
    kind: FieldKind
    options: tuple[OptionDraft, ...] = ()
    words: str = ""
    heading: tuple[str, ...] = ()
    paper_type: str = ""
    aspect: Aspect = "other"
    stage: Literal["review", "discussion"] = "review"


@dataclass(frozen=True, slots=True)
class FormDraft:
    """The form as far as the page shows it; ``fields`` may be empty."""

    fields: tuple[FieldDraft, ...] = ()
