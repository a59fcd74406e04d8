"""What a person is told of a compiled venue, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from referee.api.compiling import Compiled
from referee.schemas.venue import FormField


def compile_lines(compiled: Compiled) -> Iterator[str]:
    """Page, paper types, statements and their fates, the form, the rule on language models, what stays unknown."""
    form, page = compiled.form, compiled.page
    yield f"Page: {page.title or '(without a title)'} (main text: {page.extractor}, language: {page.language or '?'})"
    if page.paper_types:
        yield f"Paper types: {', '.join(page.paper_types)}; taken: {compiled.paper_type}"
    yield from _statements(compiled)
    named = ", ".join(f"{field.name} ({_nature(field)})" for field in form.fields)
    yield f"Form: {named}"
    yield f"  overall rating: {form.overall or 'none'}"
    yield f"Language models in reviewing: {form.llm_policy.status}. {form.llm_policy.sentence}"
    yield from (f"Unknown: {item}" for item in form.provenance.unknown)
    yield from (f"Note: {note}" for note in (*form.provenance.notes, *compiled.notes))


def _statements(compiled: Compiled) -> Iterator[str]:
    fates = compiled.fates
    counts = Counter(fate.fate for fate in fates)
    kinds = Counter(guideline.kind for guideline in compiled.form.guidelines)
    yield (
        f"Statements: {len(fates)} cut from the page = {counts['kept']} criteria ({kinds['subjective']} subjective, "
        f"{kinds['objective']} objective) + {counts['merged']} merged + {counts['dropped']} dropped"
    )
    reasons = Counter(fate.reason for fate in fates if fate.fate == "dropped")
    yield from (f"  dropped, {reason}: {count}" for reason, count in reasons.most_common())
    own = sum(fate.fate == "kept" and fate.text == fate.words for fate in fates)
    if own:
        yield f"  {own} of the criteria are in the page's own words, not paraphrased"


def _nature(field: FormField) -> str:
    values = [option.value for option in field.options]
    numbers = [value for value in values if not isinstance(value, str)]
    if field.kind == "score" and numbers:
        return f"score {min(numbers):g}-{max(numbers):g}"
    return field.kind if not values else f"{field.kind}, {len(values)} options"
