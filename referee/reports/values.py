"""What a field of a review shows: its label, its value, or why it has none."""

from __future__ import annotations

from referee.errors import DataError
from referee.evidence.listing import listed
from referee.reports.plain import one_line
from referee.schemas.review import FieldValue, Review, ScoreRecord
from referee.schemas.venue import FormField, Option, OptionValue, VenueForm


def on_form(review: Review, form: VenueForm) -> Review:
    """The review with its points numbered, as every output prints it; one of an older run is made so.

    Raises:
        DataError: The review was not written on this form.
    """
    unknown = sorted(set(review.fields) - {field.name for field in form.fields})
    if review.venue == form.id and not unknown:
        return listed(review, form, stored=True)
    cause = f"it has the field {unknown[0]!r}" if unknown else f"it was written for {review.venue!r}"
    raise DataError(
        f"review {review.review_id!r} is not on the form of {form.id!r}: {cause}.",
        hint=f"Load the form of {review.venue!r}.",
        ids={"review": review.review_id, "venue": form.id},
    )


def title_of(field: FormField) -> str:
    """The field's title on the form, or its name in words."""
    return one_line(field.title) or field.name.replace("_", " ").strip().capitalize()


def labelled(field: FormField, value: FieldValue) -> str:
    """A score or option with the venue's label (``4: Borderline accept``); ticks joined by semicolons."""
    if isinstance(value, list):
        return "; ".join(_option(field, item) for item in value)
    return "" if value is None else _option(field, value)


def empty_reason(field: FormField, review: Review) -> str:
    """Why the field holds nothing."""
    if field.attestation:
        return "left to you, see below"
    given = review.nulls.get(field.name, "") or (score_of(field, review) or _NOTHING).null_reason
    return one_line(given) or "no reason recorded"


def score_of(field: FormField, review: Review) -> ScoreRecord | None:
    """How the field's score came about, where that is on the record."""
    return next((record for record in review.scores if record.field == field.name), None)


def is_empty(value: FieldValue) -> bool:
    """Whether a value is null, blank text or a checklist without a tick."""
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


_NOTHING = ScoreRecord(field="", stated=None, value=None)


def _option(field: FormField, value: OptionValue) -> str:
    option = next((o for o in field.options if o.value == value), Option(value=value))
    shown = option.value if isinstance(option.value, str) else f"{option.value:g}"
    label = option.label.strip()
    if not label or label.startswith(shown):
        return one_line(label or shown)
    return one_line(f"{shown}: {label}")


def quotation_counts(review: Review) -> tuple[int, int, int]:
    """How many quotations of a review are in the paper, how many of those in similar words, and how many are not."""
    statuses = [e.status for p in review.points if p.outcome != "merged_into" for e in p.evidence]
    found = [status for status in statuses if status != "not_found"]
    return len(found), found.count("fuzzy"), len(review.dropped) + len(statuses) - len(found)
