"""The boxes of a review in the columns of the union schema, and back without loss."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from referee.data.prose import LABEL_CHARS, box_text, on_ethics, plain_name
from referee.data.ratings import Read, box_of_confidence, box_of_rating, confidence, rating, score
from referee.schemas.paper_row import ReviewRow
from referee.schemas.venue import VenueForm

TEXTS = (
    *("summary", "strengths", "weaknesses", "strengths_and_weaknesses", "questions", "limitations", "review"),
    "final_justification",
)
SCORES = ("soundness", "presentation", "contribution", "quality", "clarity", "significance", "originality")
COLUMNS = (*TEXTS, "rating", "confidence", *SCORES)


@dataclass(frozen=True, slots=True)
class _Box:
    """A box with the column it goes to, and what it holds there; without a column it is one of the extras."""

    name: str
    value: object
    column: str | None = None
    held: object = None
    off_scale: str = ""


def boxes_to_columns(content: Mapping[str, object], form: VenueForm | None) -> dict[str, Any]:
    """The columns of a review that its boxes fill, as ``ReviewRow`` takes them.

    Args:
        content: The boxes by their own names, with the values as they stand there.
        form: The venue's form, if it is known: scores are read by it, and one that it does not offer is not mapped.
    """
    found: dict[str, Any] = {"written": {}, "extra_scores": {}, "extra_text": {}, "ethics": {}, "off_scale": {}}
    for box in _boxes(content, form):
        if box.column is None:
            found[_place(box)][box.name] = box.value
            continue
        found[box.column] = box.held
        if box.name != box.column or type(box.value) is not type(box.held) or box.value != box.held or box.held is None:
            found["written"][box.column] = {"box": box.name, "value": box.value}
        if box.off_scale:
            found["off_scale"][box.column] = box.off_scale
        if box.column == "rating" and isinstance(box.value, str | int | float) and not isinstance(box.value, bool):
            found["rating_raw"] = box.value
    return found


def columns_to_boxes(review: ReviewRow) -> dict[str, Any]:
    """The boxes of a review by their own names, with the values as they stood there."""
    boxes: dict[str, Any] = {}
    for column in COLUMNS:
        if written := review.written.get(column):
            boxes[written.box] = written.value
        elif (value := getattr(review, column)) is not None:
            boxes[column] = value
    return {**boxes, **review.extra_scores, **review.extra_text, **review.ethics}


def _boxes(content: Mapping[str, object], form: VenueForm | None) -> Iterator[_Box]:
    taken: set[str] = set()
    of_rating, of_confidence = box_of_rating(content, form), box_of_confidence(content, form)
    for name, value in content.items():
        if name == of_rating:
            box = _scored(name, value, "rating", rating(content, form))
        elif name == of_confidence:
            box = _scored(name, value, "confidence", confidence(content, form))
        else:
            box = _by_name(name, value, form)
        if box.column in taken:
            box = _Box(name, value)
        taken |= {box.column} if box.column else set()
        yield box


def _by_name(name: str, value: object, form: VenueForm | None) -> _Box:
    plain = plain_name(name)
    if plain in TEXTS and (value is None or isinstance(value, str | list)):
        return _Box(name, value, plain, value if isinstance(value, str) and value else box_text(value) or None)
    if plain in SCORES:
        return _scored(name, value, plain, score(plain, value, form))
    return _Box(name, value)


def _scored(name: str, value: object, column: str, read: Read) -> _Box:
    """A number in its column; words that are no number are an extra, except for the rating, which keeps them."""
    if read.off_form:
        return _Box(name, value, column, None, read.off_form)
    if read.unread and column != "rating":
        return _Box(name, value)
    number = read.value
    return _Box(name, value, column, int(number) if number is not None and number.is_integer() else number)


def _place(box: _Box) -> str:
    if on_ethics(plain_name(box.name)):
        return "ethics"
    value = box.value
    long = len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) > LABEL_CHARS
    return "extra_text" if long else "extra_scores"
