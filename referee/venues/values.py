"""Values of form fields: read what people, models and notes write, check it, and write what the platform stores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from referee.errors import DataError
from referee.schemas.review import FieldValue
from referee.schemas.venue import FormField, Option, VenueForm

# "6: label", "5 = label", "3 good", "5. label", "4.5": a number, then a separator or the end.
LEADING_NUMBER = re.compile(r"([+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)(?:\.?$|\s*[:=]|\.\s|\s+(?=[^0-9]+$))")
_MISSING = frozenset({"", "n/a", "na", "not applicable"})


def parse_score(field: FormField, raw: object) -> int | float | None:
    """The score that ``raw`` states, as the form's own value (``4`` becomes ``4.0`` where the form has reals).

    Takes numbers, and strings that hold a number (``"4"``), a number and a label (``"6: label"``, ``"3 good"``,
    ``"5 = label"``) or the whole label alone (``"Weak Accept"``). A number followed by a blank and more digits
    (``"6 out of 10"``, ``"3 or 4"``) is not read.

    Returns:
        The value, or None for null, the empty string and "N/A".

    Raises:
        DataError: ``raw`` states no score that the field offers.
    """
    if raw is None:
        return None
    if isinstance(raw, str):
        return _score_from_text(field, raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _refused(field, raw)
    return _number(_offered(field, raw, raw))


def check_field(field: FormField, value: object) -> FieldValue:
    """The value as the form has it: a score or option of its own, a checklist in its order, text unchanged.

    Null, blank text and an empty checklist become null; whether the form demands a value is the caller's question
    (``empty_required``).

    Raises:
        DataError: The value is not one that the field takes.
    """
    if value is None:
        return None
    match field.kind:
        case "score":
            return parse_score(field, value)
        case "text":
            return _text(field, value)
        case "choice":
            return _choice(field, value)
        case "flag":
            return _checklist(field, value)


def wire_value(field: FormField, value: object) -> FieldValue:
    """What the venue's field on OpenReview holds for this value: a number, ``"3: label"``, an option, or a list.

    Raises:
        DataError: The value is not one that the field takes.
    """
    checked = check_field(field, value)
    if not field.as_string or checked is None or isinstance(checked, list):
        return checked
    option = next(option for option in field.options if option.value == checked)
    if isinstance(option.value, str):
        return option.value
    if field.string_shape == "label":
        return option.label
    separator = ": " if field.string_shape == "colon" else " "
    return f"{_shown_value(option)}{separator}{option.label}"


def openreview_object(form: VenueForm, values: Mapping[str, object]) -> dict[str, FieldValue]:
    """One flat object from the venue's exact field names to what its platform stores, in the form's order.

    Attestations and boxes of the discussion stage are left out: a person answers the ones, the others come later.
    Fields without a value are left out too, as the platform stores nothing for them.

    Raises:
        DataError: A name is not one of the form's, or a value is not one that its field takes.
    """
    unknown = sorted(set(values) - {field.name for field in form.fields})
    if unknown:
        raise DataError(
            f"the form of {form.id!r} has no field {unknown[0]!r}.",
            hint=f"Its fields are {', '.join(field.name for field in form.fields)}.",
            ids={"venue": form.id, "field": unknown[0]},
        )
    wired = {field.name: wire_value(field, values.get(field.name)) for field in form.reviewer_fields}
    return {name: value for name, value in wired.items() if value is not None}


def rescaled(form: VenueForm, low: int, high: int) -> VenueForm:
    """The form with whole numbers from ``low`` to ``high`` as its overall scale, without labels and without a bar.

    Raises:
        DataError: The form has no overall rating, or the scale is empty.
    """
    if form.overall is None or low >= high:
        why = "has no overall rating" if form.overall is None else f"cannot be rated from {low} to {high}"
        raise DataError(f"form {form.id!r} {why}.", hint="Write FORM=LOW-HIGH, as neurips-2025=1-10.")
    options = tuple(Option(value=value) for value in range(low, high + 1))
    fields = tuple(
        f.model_copy(update={"options": options, "as_string": False}) if f.name == form.overall else f
        for f in form.fields
    )
    return form.model_copy(update={"fields": fields, "accept_at": None})


def empty_required(form: VenueForm, values: Mapping[str, object]) -> tuple[str, ...]:
    """The boxes that the form demands of a reviewer and that hold nothing yet, in the form's order.

    Boxes whose rule is unknown (``required`` null) are not among them.
    """
    demanded = [field for field in form.reviewer_fields if field.required]
    return tuple(field.name for field in demanded if check_field(field, values.get(field.name)) is None)


def _score_from_text(field: FormField, raw: str) -> int | float | None:
    text = " ".join(raw.split())
    by_label = [o for o in field.options if _same(o.label, text) or _same(f"{_shown_value(o)} {o.label}", text)]
    if len(by_label) == 1:
        return _number(by_label[0])
    if text.casefold() in _MISSING:
        return None
    found = LEADING_NUMBER.match(text)
    if found is None:
        raise _refused(field, raw)
    return _number(_offered(field, float(found[1]), raw))


def _offered(field: FormField, number: float, raw: object) -> Option:
    for option in field.options:
        if not isinstance(option.value, str) and option.value == number:
            return option
    raise _refused(field, raw)


def _number(option: Option) -> int | float:
    if isinstance(option.value, str):
        raise DataError(f"option {option.value!r} is no score.", hint="Ask for scores of score fields only.")
    return option.value


def _text(field: FormField, value: object) -> str | None:
    if not isinstance(value, str):
        raise DataError(
            f"field {field.name!r} takes text, not {_shown(value)}.", hint="Give a string.", ids={"field": field.name}
        )
    if field.max_chars is not None and len(value) > field.max_chars:
        raise DataError(
            f"the text of field {field.name!r} has {len(value)} characters; the form takes {field.max_chars}.",
            hint="Shorten it.",
            ids={"field": field.name},
        )
    return value if value.strip() else None


def _choice(field: FormField, value: object) -> FieldValue:
    if isinstance(value, str) and not value.strip():
        return None
    return _option(field, value).value


def _checklist(field: FormField, value: object) -> list[str] | None:
    ticks = [value] if isinstance(value, str) else value
    if not isinstance(ticks, list | tuple):
        raise _refused(field, value)
    chosen = {_option(field, tick).value for tick in ticks}
    options = [option for option in field.options if option.value in chosen]
    alone = next((option for option in options if option.exclusive), None)
    if alone is not None and len(options) > 1:
        raise DataError(
            f"field {field.name!r} ticks {_shown(alone.value)} and something else.",
            hint="That option stands alone: keep it or the others.",
            ids={"field": field.name},
        )
    return [str(option.value) for option in options] or None


def _option(field: FormField, value: object) -> Option:
    for option in field.options:
        if isinstance(value, str) and (_same(str(option.value), value) or _same(option.label, value)):
            return option
        if isinstance(value, int | float) and not isinstance(value, bool) and option.value == value:
            return option
    raise _refused(field, value)


def _same(label: str, text: str) -> bool:
    """Equal but for case, blanks and a full stop at the end."""
    left, right = (" ".join(t.split()).rstrip(".").casefold() for t in (label, text))
    return bool(left) and left == right


def _refused(field: FormField, raw: object) -> DataError:
    offered = ", ".join(_shown_value(option) for option in field.options) or "none"
    return DataError(
        f"field {field.name!r} does not take {_shown(raw)}.",
        hint=f"Its values are {offered}.",
        ids={"field": field.name},
    )


def _shown_value(option: Option) -> str:
    return option.value if isinstance(option.value, str) else f"{option.value:g}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
