"""The boxes of a compiled venue: the page's own, those of a venue that the user names, or four boxes for text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.schemas.venue import Aspect, Fact, FormField, Option, Source, VenueForm
from referee.venues.page.page_types import FieldDraft, FormDraft

_ATTESTED = re.compile(
    r"\b(?:code of conduct|acknowledge(?:ment)?|certif(?:y|ication)|attest\w*|declaration|i (?:have|agree|confirm|will)"
    r"|author identity|conflicts? of interest)\b",
    re.IGNORECASE,
)
_LONGEST_ASKS = 600
_FEWEST = {"score": 2, "choice": 2, "flag": 1}
_BOXES = {
    "summary": ("Summary", "Summarise what the submission does and claims."),
    "strengths": ("Strengths", "Say what is good about the submission, with reasons."),
    "weaknesses": ("Weaknesses", "Say what is wrong with the submission, where, and what would settle it."),
    "questions": ("Questions", "Ask the authors what could change your judgement."),
}


@dataclass(frozen=True)
class FormBoxes:
    """Fields with the sources they cite; ``origin`` says in a sentence where they come from."""

    fields: tuple[FormField, ...]
    overall: str | None
    accept_at: float | None
    origin: str
    sources: Mapping[str, Source]
    unknown: tuple[str, ...] = ()


def drafted_fields(draft: FormDraft, paper_type: str = "") -> tuple[FieldDraft, ...]:
    """The boxes of the page for one type of paper, each name once."""
    taken: dict[str, FieldDraft] = {}
    for field in draft.fields:
        if field.paper_type in ("", paper_type):
            taken.setdefault(field.name, field)
    return tuple(taken.values())


def page_boxes(drafts: Sequence[FieldDraft], aspects: Mapping[str, Aspect], fact: Fact) -> FormBoxes:
    """The boxes the page shows. A form without a box for text gets four, and says so.

    Args:
        drafts: What code read from the page; at least one.
        aspects: What unclear scores measure, by field name.
        fact: How sure the page is.
    """
    fields = [_field(draft, aspects.get(draft.name, draft.aspect), fact) for draft in drafts]
    unknown = ["which fields the form requires, and the platform's own names for them"]
    if not any(field.kind == "text" and not field.attestation for field in fields):
        fields = [*_text_boxes(tuple(field.name for field in fields)), *fields]
        unknown.append("the text fields: the page shows none, so four usual ones were added")
    overall = [field for field in fields if field.kind == "score" and field.aspect == "overall"]
    if not any(field.kind == "score" for field in fields):
        unknown.append("scores and their scales: the page shows none, and none is invented")
    elif len(overall) != 1:
        several = f"; it calls {len(overall)} of them overall" if overall else ""
        unknown.append(f"which score is the overall rating: the page does not say{several}")
    if len(overall) == 1:
        unknown.append("which value of the overall rating leans to acceptance")
    name = overall[0].name if len(overall) == 1 else None
    origin = f"The form was read from the page: {len(drafts)} fields."
    return FormBoxes(tuple(fields), name, None, origin, {}, tuple(unknown))


def borrowed_boxes(lender: VenueForm) -> FormBoxes:
    """The boxes of a venue that the user named, marked as borrowed."""
    note = f"borrowed from the form of {lender.id}, as the user asked"
    keys = {key: f"{lender.id}: {key}" for field in lender.fields for key in field.fact.sources}
    fields = tuple(
        field.model_copy(
            update={
                "fact": Fact(confidence="memory", sources=tuple(keys[key] for key in field.fact.sources), note=note)
            }
        )
        for field in lender.fields
    )
    sources = {keys[key]: lender.sources[key] for key in keys}
    origin = f"The form is borrowed from {lender.id} ({lender.name}): whether the venue uses it is not known."
    return FormBoxes(fields, lender.overall, lender.accept_at, origin, sources, ("the form: it is borrowed",))


def plain_boxes() -> FormBoxes:
    """Four boxes for text and no score: what is left where the page shows no form and none is borrowed."""
    unknown = (
        "the form: the page shows none, so there are four usual boxes for text",
        "scores and their scales: none is invented",
    )
    origin = "The page shows no form: four text boxes, no score."
    return FormBoxes(_text_boxes(()), None, None, origin, {}, unknown)


def _text_boxes(taken: Sequence[str]) -> tuple[FormField, ...]:
    fact = Fact(confidence="memory", note="added by referee: the page shows no box for text")
    return tuple(
        FormField(name=name, title=title, kind="text", asks=asks, fact=fact)
        for name, (title, asks) in _BOXES.items()
        if name not in taken
    )


def _field(draft: FieldDraft, aspect: Aspect, fact: Fact) -> FormField:
    """One box. A scale with fewer than two values is none: the box takes text."""
    options = tuple({option.value: Option(value=option.value, label=option.label) for option in draft.options}.values())
    kind = draft.kind if len(options) >= _FEWEST.get(draft.kind, 0) else "text"
    if kind == "score" and any(isinstance(option.value, str) for option in options):
        kind = "choice"
    return FormField(
        name=draft.name,
        title=draft.title,
        kind=kind,
        asks=_asks(draft),
        options=options if kind != "text" else (),
        aspect=aspect if kind == "score" or (kind == "choice" and aspect != "other") else None,
        attestation=bool(_ATTESTED.search(draft.title)),
        stage=draft.stage,
        fact=fact,
    )


def _asks(draft: FieldDraft) -> str:
    """The page's own words on the box, whole sentences as far as they go."""
    words = " ".join(draft.words.split()) or draft.title or draft.name
    if len(words) <= _LONGEST_ASKS:
        return words
    cut = words[:_LONGEST_ASKS]
    return cut[: cut.rfind(". ") + 1] or f"{cut.rpartition(' ')[0]} ..."
