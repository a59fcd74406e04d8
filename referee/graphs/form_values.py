"""The values of a form in its order, and the reason for each that is empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from referee.schemas.review import ScoreRecord
from referee.schemas.venue import VenueForm


def form_values(
    form: VenueForm,
    texts: Mapping[str, str],
    choices: Mapping[str, Any],
    scores: Iterable[ScoreRecord],
    *,
    no_text: str,
    no_tick: str = "nothing was ticked, or options that exclude each other",
) -> tuple[dict[str, Any], dict[str, str]]:
    """Every field of the form in its order, and the reason for each null.

    Args:
        form: The venue's form.
        texts: Text fields by name.
        choices: What was ticked, by name.
        scores: What became of each score.
        no_text: Why a text field is empty.
        no_tick: Why a choice or checklist is empty.
    """
    settled = {record.field: record for record in scores}
    fields: dict[str, Any] = {}
    nulls: dict[str, str] = {}
    for field in form.fields:
        name = field.name
        fields[name], reason = None, no_text
        if field.attestation:
            reason = "only a person can declare this"
        elif field.stage == "discussion":
            reason = "filled after the authors' reply"
        elif name in settled:
            fields[name], reason = settled[name].value, settled[name].null_reason
        elif field.kind == "score":
            reason = "no score was composed"
        elif field.kind != "text":
            fields[name], reason = choices.get(name) or None, no_tick
        else:
            fields[name] = texts.get(name, "").strip() or None
        if fields[name] is None:
            nulls[name] = reason
    return fields, nulls


def number_in(fields: Mapping[str, Any], name: str | None) -> int | float | None:
    """The number in a field, if it holds one."""
    value = fields.get(name) if name else None
    return value if isinstance(value, int | float) else None
