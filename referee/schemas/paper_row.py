"""The union schema of ReviewArena: one record a paper, with every review, rebuttal and note that belongs to it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, StrictFloat, StrictInt

from referee.schemas.base import Frozen

Number = StrictInt | StrictFloat | None
NoteKind = Literal[
    "review_rebuttal",
    "paper_rebuttal",
    "lost_rebuttal",
    "comment",
    "public_comment",
    "meta_review",
    "decision",
    "withdrawal",
    "earlier_version",
    "other",
]
DecisionClass = Literal["accept", "reject", "withdrawn", "desk_reject"]


class OtherNote(Frozen):
    """A note that is neither the submission nor a review, as the platform gave it.

    ``review_id`` is the review it hangs on, over other notes if need be; a ``lost_rebuttal`` answers a note that is not
    among the paper's.
    """

    kind: NoteKind
    review_id: str | None = None
    note: dict[str, Any]


class ScaleOverride(Frozen):
    """Whole numbers from ``low`` to ``high`` in place of the overall scale of the form named ``form``."""

    form: str
    low: int
    high: int


class Written(Frozen):
    """What a column's box is called, and what stands in it."""

    box: str
    value: Any


class ReviewRow(Frozen):
    """One review in the columns that forms share; absent is null, and nothing of the source is dropped.

    Scores are on the form's own scale; one that the form does not offer is null, and ``off_scale`` says what stood
    there. ``rating_raw`` is the rating as written. ``written`` holds, by column, a box whose own name or written value
    is another than the column's ("Excitement", "3 good"). Boxes without a column are in ``extra_scores`` (numbers,
    flags, up to 120 characters) or ``extra_text``, those about ethics or conduct in ``ethics``. ``was_revised`` is null
    where the data cannot tell. ``note`` is the platform's note without the values of its content; ``extra`` what other
    data say about the review (an address, a licence).
    """

    review_id: str | None = None
    reviewer: str | None = None
    source: str | None = None
    kind: Literal["human", "ai", "unknown"] | None = None
    form_id: str | None = None
    text: str | None = None
    summary: str | None = None
    strengths: str | None = None
    weaknesses: str | None = None
    strengths_and_weaknesses: str | None = None
    questions: str | None = None
    limitations: str | None = None
    review: str | None = None
    rating: Number = None
    rating_raw: str | StrictInt | StrictFloat | None = None
    confidence: Number = None
    soundness: Number = None
    presentation: Number = None
    contribution: Number = None
    quality: Number = None
    clarity: Number = None
    significance: Number = None
    originality: Number = None
    rebuttal: str | None = None
    was_revised: bool | None = None
    final_justification: str | None = None
    created: str | None = None
    modified: str | None = None
    extra_scores: dict[str, Any] = Field(default_factory=dict)
    extra_text: dict[str, Any] = Field(default_factory=dict)
    ethics: dict[str, Any] = Field(default_factory=dict)
    off_scale: dict[str, str] = Field(default_factory=dict)
    written: dict[str, Written] = Field(default_factory=dict)
    note: dict[str, Any] | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class PaperRow(Frozen):
    """A paper with its reviews. ``other_notes`` is null where the source holds reviews alone.

    ``decision`` is in the data's words. ``written``, ``note`` and ``extra`` are those of the submission, as in a
    review; columns of other data that the schema does not have are in ``extra``. ``scale_override`` says that
    overall ratings were read on another scale than the form's.
    """

    schema_version: Literal[1] = 1
    forum_id: str = Field(min_length=1)
    conference: str | None = None
    year: int | None = Field(default=None, ge=1, le=9999)
    track: str | None = None
    venue_id: str | None = None
    paper_number: int | None = Field(default=None, ge=0, lt=2**63)
    title: str | None = None
    abstract: str | None = None
    authors: list[str] | None = None
    keywords: list[str] | None = None
    tldr: str | None = None
    primary_area: str | None = None
    venue: str | None = None
    decision: str | None = None
    decision_normalized: DecisionClass | None = None
    decision_comment: str | None = None
    author_rebuttal: str | None = None
    num_reviews: int = 0
    reviews: list[ReviewRow] = Field(default_factory=list)
    other_notes: list[OtherNote] | None = None
    markdown: str | None = None
    markdown_chars: int | None = None
    sections: list[Any] | None = None
    references: list[Any] | None = None
    pdf_path: str | None = None
    scale_override: ScaleOverride | None = None
    written: dict[str, Written] = Field(default_factory=dict)
    note: dict[str, Any] | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
