"""A form, its guidelines and its rule on language models as text: for prompts, and for the terminal."""

from __future__ import annotations

import re

from referee.schemas.venue import FormField, Option, VenueForm

_FIRST_SENTENCE = re.compile(r".+?[.?!](?=\s|$)")
_KINDS = {
    "text": "free text",
    "score": "one score from the list",
    "choice": "one option from the list",
    "flag": "a checklist: every option that applies",
}
_CONFIDENCE = {
    "raw": "seen in raw review notes",
    "config": "from the review platform's configuration",
    "official": "from the venue's own page",
    "secondary": "from third-party code, data or report",
    "paper": "from a publication",
    "memory": "from memory, unverified",
}


def render_form(form: VenueForm, *, brief: bool = False) -> str:
    """The boxes a reviewer fills, in the form's order: name, what each asks, the options with the venue's labels.

    Attestations and boxes of the discussion stage are left out: they are not the reviewer's to fill at this point.

    Args:
        form: The venue's form.
        brief: One line a field, with the first sentence of what it asks and the bare labels: about half the tokens,
            for models that read slowly.
    """
    head = f"Review form of {form.name}. Fill the fields below, in this order."
    numbered = enumerate(form.reviewer_fields, start=1)
    if brief:
        return "\n".join([head, *(_brief_field(number, field) for number, field in numbered)])
    return "\n\n".join([head, *(_field(form, number, field) for number, field in numbered)])


def render_guidelines(form: VenueForm, *, brief: bool = False) -> str:
    """What the venue asks of a review, one line for each guideline, with its id in brackets; empty where none is.

    ``brief`` gives the guidelines' names alone, as one list.
    """
    if not form.guidelines:
        return ""
    if brief:
        return ", ".join(guideline.id.replace("-", " ") for guideline in form.guidelines) + "."
    lines = [f"- [{guideline.id}] {guideline.text}" for guideline in form.guidelines]
    return "\n".join([f"What {form.name} asks of a review:", *lines])


def render_policy(form: VenueForm) -> str:
    """Two lines for a person: the venue's rule on language models, then whom it binds, its source and its footing.

    A note of the file, where there is one, is the third line.
    """
    policy = form.llm_policy
    sources = "; ".join(_source(form, key) for key in policy.fact.sources) or "none"
    dated = f"dated {policy.date}" if policy.date else "date unknown"
    text = (
        f"{form.name}, language models in reviewing: {policy.status.upper()}. {policy.sentence}\n"
        f"Binds: {policy.applies_to}; {dated}. Source: {sources}. "
        f"Footing: {_CONFIDENCE[policy.fact.confidence]}; checked {form.provenance.checked.isoformat()}."
    )
    return f"{text}\nNote: {policy.fact.note}" if policy.fact.note else text


def _field(form: VenueForm, number: int, field: FormField) -> str:
    lines = [f"{number}. {field.name} ({_nature(field)})", f"   {field.asks}"]
    lines += [f"   - {_option(option)}" for option in field.options]
    if field.name == form.overall and form.accept_at is not None:
        lines.append(f"   This is the overall rating; {form.accept_at:g} and above lean to acceptance.")
    return "\n".join(lines)


def _brief_field(number: int, field: FormField) -> str:
    asks = _FIRST_SENTENCE.match(field.asks)
    line = f"{number}. {field.name} ({field.kind}): {asks.group() if asks else field.asks}"
    if not field.options:
        return line
    return f"{line} Options: {'; '.join(_option(o.model_copy(update={'means': ''})) for o in field.options)}."


def _nature(field: FormField) -> str:
    parts = [_KINDS[field.kind]]
    if field.required is not None:
        parts.append("required" if field.required else "optional")
    if field.max_chars is not None:
        parts.append(f"at most {field.max_chars} characters")
    return "; ".join(parts)


def _option(option: Option) -> str:
    text = option.value if isinstance(option.value, str) else f"{option.value:g}"
    text += f" = {option.label}" if option.label else ""
    text += f" ({option.means})" if option.means else ""
    return f"{text} [only by itself]" if option.exclusive else text


def _source(form: VenueForm, key: str) -> str:
    source = form.sources[key]
    return f"{source.title} <{source.url}>" if source.url else source.title
