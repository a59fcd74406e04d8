"""A review as the flat object that a venue's OpenReview form takes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from referee.reports.plain import clean
from referee.reports.values import on_form
from referee.schemas.review import FieldValue, Review
from referee.schemas.venue import FormField, VenueForm
from referee.venues import values as venue_values

_CUT = " […]"


def openreview_object(review: Review, form: VenueForm) -> dict[str, FieldValue]:
    """The venue's exact field names with the values its platform stores, in the form's order.

    Values that were put in only because the form demands one are included; attestations, boxes of the discussion and
    empty fields are left out. Text longer than a field takes is cut between points, where not even one fits between
    words, and ends in ``[…]``.

    Args:
        review: The review.
        form: The form it is on.

    Raises:
        DataError: The review is not on this form, or holds a value that a field does not take.
    """
    review = on_form(review, form)
    forced = {entry.field: entry.value for entry in review.forced}
    values = {
        field.name: _fitted(field, forced.get(field.name, review.fields.get(field.name)))
        for field in form.reviewer_fields
    }
    return venue_values.openreview_object(form, values)


def cut_boxes(review: Review, form: VenueForm) -> list[FormField]:
    """The boxes whose text is longer than the form takes, and is cut in the file to paste."""
    bounded = [field for field in form.reviewer_fields if field.kind == "text" and field.max_chars is not None]
    return [field for field in bounded if str(_fitted(field, review.fields.get(field.name))).endswith(_CUT)]


def to_json(value: Mapping[str, FieldValue]) -> str:
    """The object as indented JSON in UTF-8 text, with a line break at the end."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _fitted(field: FormField, value: FieldValue) -> FieldValue:
    if field.kind != "text" or not isinstance(value, str):
        return value
    text = clean(value).strip()
    if field.max_chars is None or len(text) <= field.max_chars:
        return text
    if field.max_chars <= len(_CUT):
        return text[: field.max_chars]
    head = text[: field.max_chars - len(_CUT)]
    if "\n\n" in head:  # whole points as long as one fits
        return head.rsplit("\n\n", 1)[0] + _CUT
    return (head.rsplit(None, 1)[0] if any(map(str.isspace, head)) else head) + _CUT
