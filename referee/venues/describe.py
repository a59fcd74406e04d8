"""A venue for a person to read: form, guidelines, rule on language models, and how sure each fact is."""

from __future__ import annotations

from referee.schemas.venue import Fact, FormField, VenueForm
from referee.venues.render import render_policy


def describe_venue(form: VenueForm) -> str:
    """The whole venue file as plain text; each fact with its confidence in brackets."""
    return "\n\n".join([_head(form), _fields(form), _guidelines(form), _sources(form)])


def _head(form: VenueForm) -> str:
    overall = "no overall rating"
    if form.overall:
        overall = f"overall rating: {form.overall}"
        if form.accept_at is not None:
            overall += f", {form.accept_at:g} and above lean to acceptance"
    lines = [f"{form.name} ({form.id})", overall, f"checked {form.provenance.checked.isoformat()}"]
    if form.provenance.venue_id:
        lines.append(f"{form.provenance.platform or 'platform'} id: {form.provenance.venue_id}")
    return "\n".join([*lines, "", "Rule on language models", *_indented(render_policy(form))])


def _fields(form: VenueForm) -> str:
    lines = ["Form"]
    for field in form.fields:
        lines.append(f"  {field.name}  ({_traits(field)}) {_sure(field.fact)}")
        lines += [f"      note: {field.fact.note}"] if field.fact.note else []
        for option in field.options:
            told = option.label not in ("", option.value)
            lines.append(f"      {option.value}: {option.label}" if told else f"      {option.value}")
    return "\n".join(lines)


def _traits(field: FormField) -> str:
    required = {True: "required", False: "optional", None: "required or not: unknown"}[field.required]
    traits = [field.kind, required]
    if field.attestation:
        traits.append("a person's to declare")
    if field.as_string:
        traits.append("stored as text")
    if field.stage == "discussion":
        traits.append("after the discussion")
    return ", ".join(traits)


def _guidelines(form: VenueForm) -> str:
    lines = ["Guidelines (in our words)"]
    lines += [f"  {g.id} ({g.kind}) {_sure(g.fact)}\n      {g.text}" for g in form.guidelines]
    return "\n".join(lines)


def _sources(form: VenueForm) -> str:
    lines = ["Sources"]
    lines += [f"  {key}: {', '.join(filter(None, (s.title, s.url, s.date)))}" for key, s in form.sources.items()]
    for title, items in (("Unknown", form.provenance.unknown), ("Notes", form.provenance.notes)):
        lines += ["", title, *(f"  - {item}" for item in items)] if items else []
    return "\n".join(lines)


def _sure(fact: Fact) -> str:
    return f"[{fact.confidence}{': ' + ', '.join(fact.sources) if fact.sources else ''}]"


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]
