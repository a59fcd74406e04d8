"""A peer review as the metrics see it, whoever wrote it and whatever file it came from."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from referee.schemas.base import Frozen

FieldText = int | float | str | list[str] | None


class CaseOrigin(Frozen):
    """Where a record was read: a file, its line or entry (from 1), and the layout it was read by."""

    file: str
    line: int | None = None
    layout: str


class ReviewCase(Frozen):
    """One review of one paper.

    ``case_id`` is unique within a review set. ``source`` is ``human`` or the name of the system or model, ``kind`` says
    which of the two it is; ``unknown`` where the data do not tell. ``text`` is the review's prose in canonical form:
    the texts of its fields in the form's order, without field names, separated by blank lines. ``fields`` are the
    venue's own, by their own names, as far as the data have them. ``rating`` and ``confidence`` are numbers on the
    venue's scale; a value that is no number stays in ``fields``. ``extra`` holds columns that nothing reads.
    """

    schema_version: Literal[1] = 1
    case_id: str = Field(min_length=1)
    paper_id: str = Field(min_length=1)
    paper_title: str = ""
    venue: str | None = Field(default=None, description="id of a form such as iclr-2020, or the data's own name")
    year: int | None = Field(default=None, ge=1, le=9999)
    source: str = Field(min_length=1)
    kind: Literal["human", "ai", "unknown"]
    text: str
    fields: dict[str, FieldText] = Field(default_factory=dict)
    rating: float | None = None
    confidence: float | None = None
    decision: str | None = None
    date: str = Field(default="", description="ISO date of the review, as precisely as known")
    origin: CaseOrigin | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
