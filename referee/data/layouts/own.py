"""Our own files: one case a line, and the reviews that ``referee review`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from referee.data.drafts import Draft, describe
from referee.data.entries import Entry
from referee.data.found import Found, each
from referee.data.sources import WRITTEN_BY_REFEREE, Author
from referee.errors import DataError
from referee.schemas.case import ReviewCase
from referee.schemas.review import Review


def read_own_cases(path: Path) -> Iterator[Found]:
    """Lines that are ``ReviewCase`` records; where one says nothing of its origin, this file becomes it."""

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        if row.get("origin") is None:
            row["origin"] = {"file": str(path), "line": entry.number, "layout": "cases"}
        for name in ("rating", "confidence"):
            if isinstance(row.get(name), bool):
                raise DataError(f"the record is no case: {name}: {str(row[name]).lower()} is no number.")
        try:
            yield Found(entry.number, ReviewCase.model_validate(row), entry.raw)
        except ValidationError as error:
            raise DataError(f"the record is no case: {describe(error)}.") from error

    return each(path, read)


def read_own_reviews(path: Path) -> Iterator[Found]:
    """A ``review.json`` of a run, or several as a list or as lines."""

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        try:
            review = Review.model_validate(row)
        except ValidationError as error:
            raise DataError(f"the record is no review of ours: {describe(error)}.") from error
        yield Found(entry.number, _draft(review), entry.raw)

    return each(path, read)


def _draft(review: Review) -> Draft:
    human = review.source == "human"
    made = review.provenance
    return Draft(
        paper_id=review.paper_id,
        author=Author("human", "human") if human else Author(review.source, "ai", WRITTEN_BY_REFEREE),
        fields=dict(review.fields),
        review_id=review.review_id,
        paper_title=review.paper_title,
        conference=review.venue,
        rating=review.rating,
        confidence=review.confidence,
        extra={"run_id": made.run_id, "strategy": made.strategy} if made is not None else {},
    )
