"""Two forms side by side: what one has and the other has not, one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.schemas.venue import FormField, VenueForm

_SHOWN = 160


def venue_difference(first: VenueForm, second: VenueForm) -> list[str]:
    """Lines for a person: ``-`` only the first has it, ``+`` only the second, ``~`` both, but not alike.

    Name, overall rating, fields (kind, options, what they ask), guidelines and the rule on language models are
    compared. Where facts come from, and how sure they are, is not. Empty for forms that ask the same.
    """
    return [
        *_changed("name", first.name, second.name),
        *_changed("overall", first.overall, second.overall),
        *_changed("leans to acceptance from", first.accept_at, second.accept_at),
        *_fields(first, second),
        *_guidelines(first, second),
        *_changed("rule on language models", first.llm_policy.status, second.llm_policy.status),
        *_changed("rule on language models, in words", first.llm_policy.sentence, second.llm_policy.sentence),
    ]


def _fields(first: VenueForm, second: VenueForm) -> Iterator[str]:
    ours, theirs = ({field.name: field for field in form.fields} for form in (first, second))
    for mark, field in _only(ours, theirs):
        yield f"{mark} field {field.name} ({field.kind}{_scale(field)})"
    for name in [name for name in ours if name in theirs]:
        a, b = ours[name], theirs[name]
        yield from _changed(f"field {name}, kind", a.kind, b.kind)
        yield from _changed(f"field {name}, options", _options(a), _options(b))
        yield from _changed(f"field {name}, aspect", a.aspect, b.aspect)
        yield from _changed(f"field {name}, required", a.required, b.required)
        yield from _changed(f"field {name}, asks", a.asks, b.asks)
    common = [[name for name in form if name in ours and name in theirs] for form in (ours, theirs)]
    yield from _changed("order of the fields", *(", ".join(names) for names in common))


def _guidelines(first: VenueForm, second: VenueForm) -> Iterator[str]:
    ours, theirs = ({guideline.id: guideline for guideline in form.guidelines} for form in (first, second))
    for mark, guideline in _only(ours, theirs):
        yield _short(f"{mark} guideline {guideline.id} ({guideline.kind}): {guideline.text}")
    for name in [name for name in ours if name in theirs]:
        yield from _changed(f"guideline {name}, kind", ours[name].kind, theirs[name].kind)
        yield from _changed(f"guideline {name}", ours[name].text, theirs[name].text)


def _only(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from (("-", item) for name, item in ours.items() if name not in theirs)
    yield from (("+", item) for name, item in theirs.items() if name not in ours)


def _changed(what: str, first: Any, second: Any) -> Iterator[str]:
    if first != second:
        yield f"~ {what}: {_short(_said(first))} -> {_short(_said(second))}"


def _scale(field: FormField) -> str:
    values = [option.value for option in field.options]
    return f", {_ends(values)}" if values else ""


def _ends(values: Sequence[int | float | str]) -> str:
    numbers = [value for value in values if not isinstance(value, str)]
    return f"{min(numbers):g}-{max(numbers):g}" if len(numbers) == len(values) else f"{len(values)} options"


def _options(field: FormField) -> str:
    return "; ".join(f"{o.value}: {o.label}" if o.label else f"{o.value}" for o in field.options)


def _said(value: Any) -> str:
    if value is None or value == "":
        return "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
