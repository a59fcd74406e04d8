"""Ratings and confidences as the data write them, read as numbers of the venue's scale."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from referee.data.prose import plain_name
from referee.errors import DataError
from referee.schemas.venue import FormField, VenueForm
from referee.venues.values import parse_score

RATINGS = (
    *("rating", "recommendation", "overall_rating", "overall", "overall_recommendation", "overall_assessment"),
    *("overall_score", "ratings", "score", "excitement"),
)
CONFIDENCES = ("confidence", "reviewer_confidence", "confidence_score")
# "6", "6: label", "5 = label", "3 good", "4.5."; not "6 out of 10" and not "3 or 4".
_LEADING = re.compile(r"([+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)(?:\.?$|\s*[:=]|\.\s|\s+(?=[^0-9]+$))")


@dataclass(frozen=True, slots=True)
class Read:
    """A number, or None, and what is wrong with it on the form."""

    value: float | None
    off_form: str = ""


def rating(fields: Mapping[str, object], form: VenueForm | None, given: object = None) -> Read:
    """The overall rating of a review.

    Args:
        fields: The review's fields; the form's overall field is looked for first, then the customary names.
        form: The venue's form, if it is known.
        given: The rating where the data hold it beside the fields.
    """
    field = form.field(form.overall) if form is not None and form.overall is not None else None
    return _read(field, _first(fields, field, RATINGS) if given is None else given)


def confidence(fields: Mapping[str, object], form: VenueForm | None, given: object = None) -> Read:
    """The reviewer's confidence; like ``rating``."""
    field = next((f for f in form.fields if f.aspect == "confidence"), None) if form is not None else None
    return _read(field, _first(fields, field, CONFIDENCES) if given is None else given)


def leading_number(raw: object) -> float | None:
    """The number that a value is or begins with: ``6`` of ``"6: marginally above"``; None where there is none."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return float(raw)
    found = _LEADING.match(" ".join(raw.split())) if isinstance(raw, str) else None
    return float(found[1]) if found else None


def _first(fields: Mapping[str, object], field: FormField | None, names: tuple[str, ...]) -> object:
    by_name = {plain_name(name): value for name, value in fields.items()}
    wanted = ((plain_name(field.name),) if field is not None else ()) + names
    return next((by_name[name] for name in wanted if by_name.get(name) not in (None, "")), None)


def _unwrapped(raw: object) -> object:
    """What a list of one value or an object with a ``value`` holds, as some exports write a rating."""
    if isinstance(raw, list) and len(raw) == 1:
        return raw[0]
    return raw["value"] if isinstance(raw, Mapping) and "value" in raw else raw


def _read(field: FormField | None, raw: object) -> Read:
    raw = _unwrapped(raw)
    number = leading_number(raw)
    if field is None or field.kind != "score":
        return Read(number)
    try:
        score = parse_score(field, raw)
    except DataError as error:
        return Read(number, error.message if number is not None else "")
    return Read(None if score is None else float(score))
