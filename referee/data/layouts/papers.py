"""One row a paper with a list of its reviews: the shared JSONL, and rows as ReviewArena publishes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from referee.data import keys
from referee.data.drafts import Draft
from referee.data.entries import EXCERPT_CHARS, Entry, decoder
from referee.data.found import Found, each, kind_of_json
from referee.data.sources import Author, author, official
from referee.errors import DataError

# Columns of a review that say something about it and are no box of a form.
_ABOUT = frozenset(
    {"review_id", "reviewer", "form_id", "versions", "url", "license", "source", "kind", "text", "created", "modified"}
    | {"was_revised", "rebuttal", "raw", "other", "extra_scores", "extra_text", "rating_raw", "rating_label"}
    | {"confidence_raw", "confidence_label", "title"}
)
_NESTED = ("raw", "other", "extra_scores", "extra_text")
_LETTER = "letter"


def read_papers_rows(path: Path) -> Iterator[Found]:
    """The reviews of each paper, in their order.

    An editor's letter is left out where reviewers exist; meta-reviews stand in a column of their own, never read.
    """

    def read(entry: Entry, row: dict[str, object]) -> Iterator[Found]:
        reviews = _reviews(row)
        named = [review for review in reviews if isinstance(review, dict) and review.get("reviewer") != _LETTER]
        for number, review in enumerate(reviews, start=1):
            if not isinstance(review, dict):
                reason = DataError(f"review {number} of the paper is {kind_of_json(review)}, no object")
                yield Found(entry.number, reason, str(review)[:EXCERPT_CHARS])
            elif review.get("reviewer") != _LETTER or not named:
                yield Found(entry.number, _attempt(row, review, number), entry.raw)

    return each(path, read)


def _reviews(row: Mapping[str, object]) -> list[object]:
    """The list of reviews, which some copies store as one string of JSON.

    Raises:
        DataError: It is no list.
    """
    packed = row.get("reviews_json")
    reviews = packed if packed not in (None, "") else row.get("reviews")
    if isinstance(reviews, str):
        try:
            reviews = decoder.decode(reviews) if reviews.strip() else []
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"the string of reviews is not JSON: {error}.") from error
    if reviews is None:
        return []
    if not isinstance(reviews, list):
        raise DataError(f"the reviews of the paper are {kind_of_json(reviews)}, no list.")
    return reviews


def _attempt(row: Mapping[str, object], review: Mapping[str, object], number: int) -> Draft | DataError:
    try:
        return _draft(row, review, number)
    except DataError as error:
        return DataError(f"review {number} of the paper: {error.message}", hint=error.hint)


def _draft(row: Mapping[str, object], review: Mapping[str, object], number: int) -> Draft:
    paper_id = keys.text_of(keys.take(row, keys.PAPER))
    about = {name: review.get(name) for name in ("reviewer", "form_id", "versions", "url", "rebuttal", "was_revised")}
    return Draft(
        paper_id=paper_id,
        author=_author(review),
        fields=_fields(review),
        text=keys.text_of(review.get("text")),
        review_id=keys.text_of(review.get("review_id")),
        identity=[number, review],
        paper_title=keys.text_of(row.get("title")),
        conference=keys.take(row, keys.CONFERENCE),
        year=row.get("year"),
        rating=review.get("rating"),
        confidence=review.get("confidence"),
        decision=keys.take(row, ("decision", "decision_normalized")),
        date=keys.iso_date(review.get("created")),
        extra=about,
    )


def _author(review: Mapping[str, object]) -> Author:
    if keys.take(review, ("source", "kind")) is None:
        return official()
    return author(review.get("source"), review.get("kind"))


def _fields(review: Mapping[str, object]) -> dict[str, object]:
    """The boxes of the form, with the scores as they were written where the data keep that beside the number."""
    fields: dict[str, object] = {}
    for name in _NESTED:
        value = review.get(name)
        fields |= value if isinstance(value, dict) else {}
    fields |= {name: value for name, value in review.items() if name not in _ABOUT and value != ""}
    for name in ("rating", "confidence"):
        written = keys.take(review, (f"{name}_raw", f"{name}_label"))
        if written is not None:
            fields[name] = written
    if review.get("title"):
        fields["title"] = review["title"]
    return fields
