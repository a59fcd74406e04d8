"""A form, its guidelines and its rule on language models as text: for prompts, for a person, against another form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from referee.schemas.venue import Fact, FormField, Option, VenueForm

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


def render_form(form: VenueForm, *, brief: bool = False, without: Collection[str] = ()) -> str:
    """The boxes a reviewer fills, in the form's order: name, what each asks, the options with the venue's labels.

    Attestations and boxes of the discussion stage are left out: they are not the reviewer's to fill at this point.

    Args:
        form: The venue's form.
        brief: One line a field, with the first sentence of what it asks and the bare labels: about half the tokens,
            for models that read slowly.
        without: Aspects of scores that nobody is asked for.
    """
    head = f"Review form of {form.name}. Fill the fields below, in this order."
    asked = (field for field in form.reviewer_fields if field.kind != "score" or field.aspect not in without)
    numbered = enumerate(asked, start=1)
    if brief:
        return "\n".join([head, *(_brief_field(number, field) for number, field in numbered)])
    return "\n\n".join([head, *(_field(form, number, field) for number, field in numbered)])


def render_guidelines(
    form: VenueForm, *, brief: bool = False, steps: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> str:
    """What the venue asks of a review, one line for each guideline, with its id in brackets; empty where none is.

    Args:
        form: The venue's form.
        brief: The guidelines' names alone, as one list.
        steps: What a reviewer does for a guideline, by its id: told beneath it, or beneath the list.
    """
    if not form.guidelines:
        return ""
    told = {
        g.id: [f"  {number}. {step}" for number, step in enumerate(steps.get(g.id, ()), 1)] for g in form.guidelines
    }
    if brief:
        names = ", ".join(guideline.id.replace("-", " ") for guideline in form.guidelines) + "."
        return "\n".join([names, *(line for lines in told.values() for line in lines)])
    lines = [line for g in form.guidelines for line in (f"- [{g.id}] {g.text}", *told[g.id])]
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


def describe_venue(form: VenueForm) -> str:
    """The whole venue file as plain text; each fact with its confidence in brackets."""
    return "\n\n".join(
        [_described_head(form), _described_fields(form), _described_guidelines(form), _described_sources(form)]
    )


def _described_head(form: VenueForm) -> str:
    overall = "no overall rating"
    if form.overall:
        overall = f"overall rating: {form.overall}"
        if form.accept_at is not None:
            overall += f", {form.accept_at:g} and above lean to acceptance"
    lines = [f"{form.name} ({form.id})", *_cautions(form), overall, f"checked {form.provenance.checked.isoformat()}"]
    if form.provenance.venue_id:
        lines.append(f"{form.provenance.platform or 'platform'} id: {form.provenance.venue_id}")
    return "\n".join([*lines, "", "Rule on language models", *_indented(render_policy(form))])


def _cautions(form: VenueForm) -> Iterator[str]:
    """What somebody must know before they trust the rest: what nobody read, and that no rule is known."""
    if unread := render_unread(form):
        yield unread
    if form.llm_policy.status == "unknown":
        yield "UNKNOWN whether reviewers may use language models: ask the venue before a tool reads its papers."


def render_unread(form: VenueForm) -> str:
    """How much of the form and its guidelines is from memory, in a line for a person; empty where nothing is."""
    parts = (("fields", form.fields), ("guidelines", form.guidelines))
    counts = [(name, sum(item.fact.confidence == "memory" for item in items), len(items)) for name, items in parts]
    unread = [f"{count} of {size} {name}" for name, count, size in counts if count]
    if not unread:
        return ""
    return f"FROM MEMORY, unverified: {', '.join(unread)}. Compare with the venue's pages before you trust them."


def _described_fields(form: VenueForm) -> str:
    lines = ["Form"]
    for field in form.fields:
        lines.append(f"  {field.name}  ({_traits(field)}) {_footing(field.fact)}")
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


def _described_guidelines(form: VenueForm) -> str:
    lines = ["Guidelines (in our words)"]
    lines += [f"  {g.id} ({g.kind}) {_footing(g.fact)}\n      {g.text}" for g in form.guidelines]
    return "\n".join(lines)


def _described_sources(form: VenueForm) -> str:
    lines = ["Sources"]
    lines += [f"  {key}: {', '.join(filter(None, (s.title, s.url, s.date)))}" for key, s in form.sources.items()]
    for title, items in (("Unknown", form.provenance.unknown), ("Notes", form.provenance.notes)):
        lines += ["", title, *(f"  - {item}" for item in items)] if items else []
    return "\n".join(lines)


def _footing(fact: Fact) -> str:
    return f"[{fact.confidence}{': ' + ', '.join(fact.sources) if fact.sources else ''}]"


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in text.splitlines()]


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
        *_field_changes(first, second),
        *_guideline_changes(first, second),
        *_changed("rule on language models", first.llm_policy.status, second.llm_policy.status),
        *_changed("rule on language models, in words", first.llm_policy.sentence, second.llm_policy.sentence),
    ]


def _field_changes(first: VenueForm, second: VenueForm) -> Iterator[str]:
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


def _guideline_changes(first: VenueForm, second: VenueForm) -> Iterator[str]:
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
        yield f"~ {what}: {_short(_plain_value(first))} -> {_short(_plain_value(second))}"


def _scale(field: FormField) -> str:
    values = [option.value for option in field.options]
    return f", {_range(values)}" if values else ""


def _range(values: Sequence[int | float | str]) -> str:
    numbers = [value for value in values if not isinstance(value, str)]
    return f"{min(numbers):g}-{max(numbers):g}" if len(numbers) == len(values) else f"{len(values)} options"


def _options(field: FormField) -> str:
    return "; ".join(f"{o.value}: {o.label}" if o.label else f"{o.value}" for o in field.options)


def _plain_value(value: Any) -> str:
    if value is None or value == "":
        return "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
