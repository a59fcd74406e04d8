"""A review as a layout's reader found it, and how it becomes a case."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from referee.data.entries import finite
from referee.data.keys import Author, iso_date
from referee.data.one_text import OneText, read_one_text
from referee.data.prose import canonical_text, cleaned, is_prose, left_out_boxes, plain_name
from referee.data.ratings import box_of_confidence, box_of_rating, confidence, off_form_scores, rating
from referee.errors import DataError
from referee.schemas.case import CaseOrigin, FieldText, ReviewCase
from referee.schemas.venue import VenueForm
from referee.venues.names import VenueForms, year_of
from referee.venues.values import rescaled

RATING_UNREAD = "rating_unread"
CONFIDENCE_UNREAD = "confidence_unread"
SCORES_OFF_FORM = "scores_off_form"
BOXES_NOT_IN_TEXT = "boxes_not_in_text"
VENUE_NAMED = "venue_named"
"""What a record names as its venue, in ``extra``, where no form is known by it and another was given for it."""
DATE_UNREAD = "date_unread"
YEAR_UNREAD = "year_unread"
"""In ``extra`` what stands where a year should, and is none."""
SAME_COLUMNS = "columns_of_one_name"
"""In ``extra`` the columns that are not read, as an earlier one has the same name but for capitals and blanks."""
SCALE_OVERRIDE = "scale_override"
"""What a case says in ``extra`` where its rating was read on another scale than the form's: ``1-10``."""
ONE_BOX = "review"
SCORES_IN_TEXT = "scores_in_text"
"""The names of the scores that a case has from its text, and nowhere else, in ``extra``."""
LINES_TAKEN_OUT = "lines_taken_out"
"""The lines that were taken out of a case's text, as they state scores or are headings, in ``extra``."""
UNUSED_LINES = "score_lines_unused"
"""In ``extra`` the lines of a text that look like a score and could not be used: ``line`` and ``reason`` of each."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A review before its values are read.

    Attributes:
        paper_id: The data's id of the paper.
        author: Who wrote it.
        fields: By the data's own names, values as they stand there.
        text: The prose, where the data hold it as one text; empty where it is to be composed of the fields.
        review_id: The data's id of the review; empty where there is none.
        identity: What the id is made of where there is none: the record, or what tells it from the others.
        rating: Where the data hold it beside the fields.
        confidence: Like ``rating``.
        platform: The venue's id on OpenReview.
        scale: Lowest and highest overall rating, where the record says that it is on another scale than its form.
        date: A text, or milliseconds since 1970.
        extra: Columns that nothing reads.
    """

    paper_id: str
    author: Author
    fields: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    review_id: str = ""
    identity: object = None
    paper_title: str = ""
    conference: object = None
    year: object = None
    platform: str = ""
    scale: tuple[int, int] | None = None
    rating: object = None
    confidence: object = None
    decision: object = None
    date: object = None
    extra: Mapping[str, object] = field(default_factory=dict)


def case_of(draft: Draft, origin: CaseOrigin, forms: VenueForms) -> ReviewCase:
    """The case of a draft.

    A rating that the venue's form does not offer is kept as the number it is, and ``extra`` says so; one that is no
    number is null, and ``extra`` says why.

    Raises:
        DataError: The paper has no id, or a value is of a kind that no case can hold.
    """
    if not draft.paper_id.strip():
        raise DataError("the record names no paper.", hint="A paper's id stands in paper_id or forum_id.")
    place = forms.place(draft.conference, draft.year, draft.platform)
    form = place.form if place.form is None or draft.scale is None else rescaled(place.form, *draft.scale)
    draft, from_text = _with_text_read(draft, form)
    overall = rating(draft.fields, form, draft.rating)
    sure = confidence(draft.fields, place.form, draft.confidence)
    date = iso_date(draft.date)
    notes: dict[str, object] = {
        "kind_rule": draft.author.rule,
        VENUE_NAMED: place.unknown,
        SCALE_OVERRIDE: f"{draft.scale[0]}-{draft.scale[1]}" if draft.scale else "",
        "rating_off_form": overall.off_form,
        "confidence_off_form": sure.off_form,
        RATING_UNREAD: overall.unread,
        CONFIDENCE_UNREAD: sure.unread,
        DATE_UNREAD: "" if date or draft.date in (None, "") else str(draft.date),
        YEAR_UNREAD: "" if year_of(draft.year) or draft.year in (None, "") else str(draft.year),
        SCORES_OFF_FORM: off_form_scores(draft.fields, place.form),
        **from_text,
    }
    extra = {name: value for name, value in draft.extra.items() if value not in (None, "", [], {})}
    decision = draft.decision if isinstance(draft.decision, str) else None
    text = cleaned(draft.text)
    if not text:
        text = canonical_text(draft.fields, place.form)
        notes[BOXES_NOT_IN_TEXT] = left_out_boxes(draft.fields, text, place.form)
    try:
        return ReviewCase(
            case_id=draft.review_id or made_id(draft),
            paper_id=draft.paper_id.strip(),
            paper_title=draft.paper_title.strip(),
            venue=place.venue,
            year=place.year,
            source=draft.author.source,
            kind=draft.author.kind,
            text=text,
            fields={name: field_text(value) for name, value in draft.fields.items()},
            rating=overall.value,
            confidence=sure.value,
            decision=(decision or "").strip() or None,
            date=date,
            origin=origin,
            extra={
                **{name: finite(value) for name, value in extra.items()},
                **{name: note for name, note in notes.items() if note},
            },
        )
    except ValidationError as error:
        raise DataError(f"the record is no review: {describe(error)}.") from error


def _with_text_read(draft: Draft, form: VenueForm | None) -> tuple[Draft, dict[str, object]]:
    """The draft with what its one text states beside the prose, and what is noted of that.

    Whoever wrote the review: a rule for one class alone would change what the classes are compared by. Values of the
    data's own columns stay.
    """
    held = [name for name, value in draft.fields.items() if is_prose(name) and value not in (None, "", [])]
    box = held[0] if not draft.text and len(held) == 1 and plain_name(held[0]) == ONE_BOX else ""
    text = draft.fields[box] if box else draft.text
    read = read_one_text(cleaned(text), form, parted=not held or bool(box)) if isinstance(text, str) else None
    if read is None:
        return draft, {}
    fields = {name: value for name, value in draft.fields.items() if name != box}
    found = _not_in_columns(read, draft, form)
    boxes = dict(read.boxes) if read.boxes else {box: read.text} if box else {}
    if box and read.boxes and read.outside:
        boxes[box] = read.outside
    return replace(draft, text=read.text, fields={**fields, **boxes, **found}), {
        SCORES_IN_TEXT: [*found],
        LINES_TAKEN_OUT: [*read.lines],
        UNUSED_LINES: [{"line": one.line, "reason": one.reason} for one in read.unused],
    }


def _not_in_columns(read: OneText, draft: Draft, form: VenueForm | None) -> dict[str, object]:
    """The scores of a text for which the data have no value of their own."""
    fields = draft.fields
    held = {plain_name(name) for name, value in fields.items() if value not in (None, "", [])}
    named = {"": draft.rating, **fields}.get(box_of_rating(fields, form) or "")
    if draft.rating not in (None, "") or named not in (None, ""):
        held.add(plain_name(form.overall) if form is not None and form.overall else "rating")
    sure = {"": draft.confidence, **fields}.get(box_of_confidence(fields, form) or "")
    if draft.confidence not in (None, "") or sure not in (None, ""):
        held |= {plain_name(f.name) for f in form.fields if f.aspect == "confidence"} if form else {"confidence"}
    return {name: value for name, value in read.scores.items() if plain_name(name) not in held}


def made_id(draft: Draft) -> str:
    """An id of the paper, the source and the record's digest: the same wherever in a set the record stands."""
    record = json.dumps(draft.identity, sort_keys=True, ensure_ascii=False, default=str)
    digest = hashlib.sha256(record.encode()).hexdigest()[:12]
    return f"{draft.paper_id.strip()}/{draft.author.source}/{digest}"


def field_text(value: object) -> FieldText:
    """A field's value as a case holds it: text, a number, a list of texts, or null; flags become ``true``/``false``."""
    value = finite(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in value]
    return json.dumps(value, ensure_ascii=False)


def describe(error: ValidationError) -> str:
    """The first thing that is wrong, with its place."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
