"""What the file for the form says in a text box that the form demands and the review leaves empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.evidence import split_sentences
from referee.evidence.point_fields import field_roles
from referee.schemas.review import Forced
from referee.schemas.venue import FormField, VenueForm


def forced_texts(form: VenueForm, fields: Mapping[str, Any], nulls: Mapping[str, str]) -> tuple[Forced, ...]:
    """One sentence for each demanded text box without a text: that nothing was found, and what was looked for.

    The platform refuses a form with such a box empty. A box whose rule is unknown counts as optional; attestations and
    boxes of the discussion are left to people.

    Args:
        form: The venue's form.
        fields: The review's values.
        nulls: Why a value is null; the reason that goes on the record.
    """
    return tuple(
        Forced(field=field.name, value=_sentence(field), reason=nulls.get(field.name, "the review gives none"))
        for field in form.reviewer_fields
        if field.kind == "text" and field.required and not str(fields.get(field.name) or "").strip()
    )


def _sentence(field: FormField) -> str:
    title = " ".join(field.title.split()) or field.name.replace("_", " ").strip()
    asks = next(iter(split_sentences(field.asks)), "").rstrip(".")
    end = "" if asks.endswith(("?", "!")) else "."
    if not field_roles(field):
        return f"Nothing that was found could be written under “{title}”; the box asks: {asks}{end}"
    return f"No point about {title.lower()} was found; the paper was read for what this box asks: {asks}{end}"
