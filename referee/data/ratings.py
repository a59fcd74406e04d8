"""Ratings and confidences as the data write them, read as numbers of the venue's scale."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from referee.data.entries import finite
from referee.data.prose import plain_name
from referee.errors import DataError
from referee.schemas.venue import FormField, VenueForm
from referee.venues.values import LEADING_NUMBER, parse_score

RATINGS = (
    *("rating", "recommendation", "overall_rating", "overall", "overall_recommendation", "overall_assessment"),
    *("overall_score", "ratings", "score", "excitement"),
)
CONFIDENCES = ("confidence", "reviewer_confidence", "confidence_score")
_MISSING = frozenset({"", "n/a", "na", "none", "null", "not applicable"})
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Read:
    """A number, or None; what is wrong with it on the form; why a value that is there is no number."""

    value: float | None
    off_form: str = ""
    unread: str = ""


def rating(fields: Mapping[str, object], form: VenueForm | None, given: object = None) -> Read:
    """The overall rating of a review.

    Args:
        fields: The review's fields; the form's overall field is looked for first, then the customary names.
        form: The venue's form, if it is known.
        given: The rating where the data hold it beside the fields.
    """
    field = _overall(form)
    return _read(field, _first(fields, field, RATINGS, given))


def confidence(fields: Mapping[str, object], form: VenueForm | None, given: object = None) -> Read:
    """The reviewer's confidence; like ``rating``."""
    field = _sureness(form)
    return _read(field, _first(fields, field, CONFIDENCES, given))


def score(name: str, raw: object, form: VenueForm | None) -> Read:
    """Any other score, by the form's field of that name in plain letters."""
    fields = form.fields if form is not None else ()
    return _read(next((f for f in fields if f.kind == "score" and plain_name(f.name) == name), None), raw)


def off_form_scores(fields: Mapping[str, object], form: VenueForm | None) -> list[str]:
    """The form's scores, but for rating and confidence, that the review fills with a value the form does not offer."""
    if form is None:
        return []
    overall = {field.name for field in (_overall(form), _sureness(form)) if field is not None}
    scores = {plain_name(f.name): f for f in form.fields if f.kind == "score" and f.name not in overall}
    read = {name: _read(scores[named], fields[name]) for name in fields if (named := plain_name(name)) in scores}
    return [name for name, one in read.items() if one.off_form or one.unread]


def box_of_rating(fields: Mapping[str, object], form: VenueForm | None) -> str | None:
    """The name of the box that ``rating`` reads; None where there is none."""
    return _box(fields, _overall(form), RATINGS)


def box_of_confidence(fields: Mapping[str, object], form: VenueForm | None) -> str | None:
    """The name of the box that ``confidence`` reads; None where there is none."""
    return _box(fields, _sureness(form), CONFIDENCES)


def _overall(form: VenueForm | None) -> FormField | None:
    return form.field(form.overall) if form is not None and form.overall is not None else None


def _sureness(form: VenueForm | None) -> FormField | None:
    return next((f for f in form.fields if f.aspect == "confidence"), None) if form is not None else None


def _box(fields: Mapping[str, object], field: FormField | None, names: tuple[str, ...]) -> str | None:
    by_name = {plain_name(name): name for name in fields}
    wanted = [by_name[name] for name in _wanted(field, names) if name in by_name]
    return next((name for name in wanted if fields[name] not in (None, "")), wanted[0] if wanted else None)


def _wanted(field: FormField | None, names: tuple[str, ...]) -> tuple[str, ...]:
    return ((plain_name(field.name),) if field is not None else ()) + names


def leading_number(raw: object) -> float | None:
    """The number that a value is or begins with: ``6`` of ``"6: marginally above"``; None where there is none."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return float(raw) if math.isfinite(raw) else None
    found = LEADING_NUMBER.match(" ".join(raw.split())) if isinstance(raw, str) else None
    return float(found[1]) if found else None


def _first(fields: Mapping[str, object], field: FormField | None, names: tuple[str, ...], given: object) -> object:
    """What is given beside the fields, else in the first of them; NaN and infinity only where nothing else is."""
    by_name = {plain_name(name): value for name, value in fields.items()}
    found = [value for value in (given, *map(by_name.get, _wanted(field, names))) if value not in (None, "")]
    return next((value for value in found if finite(value) is not None), found[0] if found else None)


def _unwrapped(raw: object) -> object:
    """What a list of one value or an object with a ``value`` holds, as some exports write a rating."""
    if isinstance(raw, list) and len(raw) == 1:
        return raw[0]
    return raw["value"] if isinstance(raw, Mapping) and "value" in raw else raw


def _read(field: FormField | None, raw: object) -> Read:
    raw = _unwrapped(raw)
    number = leading_number(raw)
    if field is None:
        return Read(number, unread="" if number is not None else _why_unread(raw))
    if field.kind != "score":
        return Read(number)
    try:
        score = parse_score(field, raw)
    except DataError as error:
        return Read(None, unread=_why_unread(raw)) if number is None else Read(number, error.message)
    return Read(None if score is None else float(score))


def _why_unread(raw: object) -> str:
    if raw is None or (isinstance(raw, str) and raw.strip().casefold() in _MISSING):
        return ""
    text = raw.strip() if isinstance(raw, str) else ""
    if len(text) > _SHOWN_CHARS and (digits := text.lstrip("+-")).isdecimal():
        return f"a number of {len(digits):,} digits is too long"
    shown = repr(text) if text else json.dumps(raw, ensure_ascii=False, default=str)
    return f"{shown if len(shown) <= _SHOWN_CHARS else shown[:_SHOWN_CHARS] + '...'} is no number"
