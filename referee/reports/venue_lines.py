"""What a person is told of a compiled venue, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from referee.schemas.venue import FormField, VenueForm
from referee.venues.page import GuidelinePage
from referee.venues.page_places import LEFT_OUT, page_lines, place_counts
from referee.venues.statements import Statement

_LONGEST, _MOST = 100, 15


def compile_lines(
    form: VenueForm, page: GuidelinePage, paper_type: str, statements: Sequence[Statement], notes: Iterable[str]
) -> Iterator[str]:
    """Page, paper types, what became of each statement, the form, the rule on language models, what stays unknown."""
    yield f"Page: {page.title or '(without a title)'} (main text: {page.extractor}, language: {page.language or '?'})"
    if page.paper_types:
        yield f"Paper types: {', '.join(page.paper_types)}; taken: {paper_type}"
    yield from _statements(form, statements)
    yield from form_lines(form, notes)


def form_lines(form: VenueForm, notes: Iterable[str] = ()) -> Iterator[str]:
    """The form, the rule on language models, what stays unknown, and what else somebody should know."""
    named = ", ".join(f"{field.name} ({_nature(field)})" for field in form.fields)
    yield f"Form: {named}"
    yield f"  overall rating: {form.overall or 'none'}"
    yield f"Language models in reviewing: {form.llm_policy.status}. {form.llm_policy.sentence}"
    yield from (f"Unknown: {item}" for item in form.provenance.unknown)
    yield from (f"Note: {note}" for note in (*form.provenance.notes, *notes))


def place_lines(form: VenueForm, page: GuidelinePage) -> Iterator[str]:
    """How much of the page went into the form, and the first of its lines that were left out."""
    lines = page_lines(form, page)
    counts = place_counts(lines)
    boxes, rule, out = counts["box"], counts["rule"], counts[LEFT_OUT]
    yield (
        f"Of the page's {len(lines)} lines: {counts['criterion']} hold a criterion, {boxes} a box or its scale, "
        f"{rule} the rule on language models; {out} were left out"
    )
    words_out = [line.words for line in lines if not line.went_to]
    yield from (f"  - {words if len(words) <= _LONGEST else f'{words[:_LONGEST]}...'}" for words in words_out[:_MOST])
    if len(words_out) > _MOST:
        yield f"  ... and {len(words_out) - _MOST} more"


def _statements(form: VenueForm, statements: Sequence[Statement]) -> Iterator[str]:
    counts = Counter(one.fate for one in statements)
    kinds = Counter(guideline.kind for guideline in form.guidelines)
    yield (
        f"Statements: {len(statements)} cut from the page = {counts['kept']} criteria "
        f"({kinds['subjective']} subjective, {kinds['objective']} objective) + {counts['merged']} merged "
        f"+ {counts['dropped']} dropped"
    )
    reasons = Counter(one.reason for one in statements if one.fate == "dropped")
    yield from (f"  dropped, {reason}: {count}" for reason, count in reasons.most_common())
    if divided := sum(bool(one.parts) for one in statements if one.fate == "kept"):
        yield f"  {divided} of the criteria ask for two things: each is two rules"
    own = sum(one.fate == "kept" and one.text == one.words for one in statements)
    if own:
        yield f"  {own} of the criteria are in the page's own words, not paraphrased"


def _nature(field: FormField) -> str:
    values = [option.value for option in field.options]
    numbers = [value for value in values if not isinstance(value, str)]
    if field.kind == "score" and numbers:
        return f"score {min(numbers):g}-{max(numbers):g}"
    return field.kind if not values else f"{field.kind}, {len(values)} options"
