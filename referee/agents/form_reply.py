"""A reply that fills a venue's form: its shape, built from the form's data and bounded by a context, and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from referee.agents.asking import list_of, one_of
from referee.errors import DataError
from referee.evidence.point_fields import field_roles
from referee.evidence.sentences import without_broken_end
from referee.schemas.base import Frozen
from referee.schemas.venue import FormField, Option, OptionValue, VenueForm
from referee.venues import parse_score

Choice = str | list[str]
"""What is ticked in a choice, or in a checklist."""


class StatedScore(Frozen):
    """What a model says of a score.

    ``value`` is an option of the field, null where it was left open. ``supports`` and ``opposes`` are the ids, of
    evidence or of points, that it names for and against it.
    """

    value: int | float | None
    reason: str
    supports: tuple[str, ...] = ()
    opposes: tuple[str, ...] = ()


class FormValues(Frozen):
    """A review's values by the form's own names."""

    texts: dict[str, str] = Field(default_factory=dict)
    scores: dict[str, StatedScore] = Field(default_factory=dict)
    choices: dict[str, Choice] = Field(default_factory=dict)


@dataclass(frozen=True)
class Lengths:
    """How long a review may be: characters of a text field, a reason and a quotation; items of evidence, and how many
    of them a score may cite. ``brief`` also shortens the form in the prompt.

    ``points``, ``lead`` and ``programs`` bound a review as a list of points: how many there are, the text of a box
    beside them, and how many programs a reply may hold.
    """

    text: int
    reason: int
    quote: int
    items: int
    cited: int
    points: int = 0
    lead: int = 0
    programs: int = 0
    brief: bool = False


WIDE = Lengths(text=7000, reason=400, quote=500, items=24, cited=6, points=60, lead=2000, programs=5)
FULL = Lengths(text=4000, reason=400, quote=400, items=12, cited=4, points=28, lead=1500, programs=5)
MEDIUM = Lengths(text=1800, reason=250, quote=300, items=8, cited=4, points=10, lead=800)
BRIEF = Lengths(text=480, reason=100, quote=200, items=3, cited=2, brief=True)

OPEN = "open"
"""What a reply says where it leaves a score open."""

BY_RULE = frozenset({"confidence", "expertise"})
"""Aspects of scores that no model is asked for, or whose answer does not count."""
_FOR_POINTS = frozenset({"strengths", "weaknesses", "questions", "remarks", "changes"})
# What a point takes on average, in characters, with the JSON around it.
_POINT_CHARS = 1_000
_PROGRAM_CHARS = 900

# A reply may take at most this share of the context; the paper needs the rest.
_REPLY_SHARE = 0.25


def lengths_for(form: VenueForm, context_tokens: int) -> Lengths:
    """The longest bounds whose reply leaves most of the context to the paper."""
    room = context_tokens * _REPLY_SHARE
    fitting = (w for w in (WIDE, FULL, MEDIUM) if max(output_tokens(form, w), review_tokens(form, w)) <= room)
    return next(fitting, BRIEF)


def output_tokens(form: VenueForm, lengths: Lengths) -> int:
    """The most tokens a reply can need: its bounded characters at three to a token, and the JSON around them."""
    texts = sum(lengths.text for f in form.reviewer_fields if f.kind == "text")
    others = sum(lengths.reason + 120 for f in form.reviewer_fields if f.kind != "text")
    evidence = lengths.items * (lengths.quote + lengths.reason + 80)
    return (texts + others + evidence) // 3 + 256


def asked_fields(form: VenueForm) -> tuple[FormField, ...]:
    """The fields that the reply fills itself: no boxes that hold points alone, and no score that a rule gives."""
    return tuple(
        field
        for field in form.reviewer_fields
        if not (field.kind == "text" and not _FOR_POINTS.isdisjoint(field_roles(field)))
        and not (field.kind == "score" and field.aspect in BY_RULE)
    )


def review_tokens(form: VenueForm, lengths: Lengths) -> int:
    """The most tokens a reply can need, at three characters to a token."""
    fields = sum(lengths.lead if field.kind == "text" else lengths.reason + 120 for field in asked_fields(form))
    return (fields + lengths.points * _POINT_CHARS + lengths.programs * _PROGRAM_CHARS) // 3 + 256


@lru_cache(maxsize=64)
def reply_model(form: VenueForm, lengths: Lengths, sentences: tuple[str, ...] = ()) -> type[BaseModel]:
    """The reply's shape for one form: evidence first, then texts, then scores and choices in the form's order.

    Args:
        form: The venue's form.
        lengths: The bounds.
        sentences: Ids of the paper's sentences; where given, evidence names one instead of quoting.
    """
    fields = sorted(form.reviewer_fields, key=_reply_order)
    slugs = slugs_of(form)
    texts = tuple(slugs[f.name] for f in fields if f.kind == "text")
    evidence = list_of(_evidence_model(texts, lengths, sentences))
    about = "claims about the paper, each with the passage that shows it"
    shape: dict[str, Any] = {"quoted_evidence": (evidence, Field(max_length=lengths.items, description=about))}
    for field in fields:
        shape[slugs[field.name]] = field_shape(field, lengths)
    return create_model("SingleReviewReply", __config__=ConfigDict(extra="ignore"), **shape)


def slugs_of(form: VenueForm) -> dict[str, str]:
    """Field name to property name: some forms' names hold commas and colons, which not all providers take."""
    return _slugs(tuple(f.name for f in form.reviewer_fields))


def offered(field: FormField) -> dict[str, OptionValue]:
    """What a model may choose: value and label in one text, mapped back to the value."""
    return {_option_text(option): option.value for option in field.options}


def sorted_values(form: VenueForm, reply: BaseModel) -> tuple[FormValues, tuple[str, ...]]:
    """The values of a reply whose properties are the form's fields, and the notes of ``whole_texts``."""
    data = reply.model_dump()
    texts, notes = whole_texts(
        reply, {f.name: slugs_of(form)[f.name] for f in form.reviewer_fields if f.kind == "text"}
    )
    scores, choices = stated_scores(form, data, supports="evidence"), ticked_choices(form, data)
    return FormValues(texts=texts, scores=scores, choices=choices), notes


def whole_texts(reply: BaseModel, slugs: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The texts of a reply, without a sentence that their bound broke off, and a note for each that lost one.

    Args:
        reply: The reply; its model holds the bounds.
        slugs: The reply's property by field.
    """
    texts: dict[str, str] = {}
    notes: list[str] = []
    for name, slug in slugs.items():
        text: str = getattr(reply, slug)
        limit = next(m.max_length for m in type(reply).model_fields[slug].metadata if hasattr(m, "max_length"))
        texts[name] = without_broken_end(text, limit)
        if texts[name] != text:
            notes.append(f"{name} ran into its limit of {limit} characters; its unfinished last sentence was left out")
    return texts, tuple(notes)


def stated_scores(form: VenueForm, data: Mapping[str, Any], *, supports: str = "supports") -> dict[str, StatedScore]:
    """What a reply says of the scores it was asked for; ``supports`` is the property with the ids it names for one."""
    slugs = slugs_of(form)
    return {
        f.name: StatedScore(
            value=chosen_number(f, said["value"]),
            reason=said["reason"],
            supports=tuple(said[supports]),
            opposes=tuple(said.get("opposes", ())),
        )
        for f in form.reviewer_fields
        if f.kind == "score" and (said := data.get(slugs[f.name])) is not None
    }


def chosen_number(field: FormField, value: str) -> int | float | None:
    """The number behind a reply's option; null where the score was left open."""
    number = None if value == OPEN else offered(field)[value]
    assert not isinstance(number, str), "a score field holds numbers"
    return number


def ticked_choices(form: VenueForm, data: Mapping[str, Any]) -> dict[str, Choice]:
    """The options behind a reply's choices and checklists."""
    slugs = slugs_of(form)
    return {
        f.name: chosen_options(f, data[slugs[f.name]]) for f in form.reviewer_fields if f.kind in ("choice", "flag")
    }


def chosen_options(field: FormField, value: Choice) -> Choice:
    """The options behind a reply; a checklist that says both "none of these" and something else says nothing."""
    options = offered(field)
    if isinstance(value, str):
        return str(options[value])
    chosen = list(dict.fromkeys(options[item] for item in value))
    alone = {option.value for option in field.options if option.exclusive}
    contradictory = len(chosen) > 1 and alone.intersection(chosen)
    return [] if contradictory else [str(item) for item in chosen]


@lru_cache(maxsize=64)
def _slugs(names: tuple[str, ...]) -> dict[str, str]:
    slugs = {name: re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") for name in names}
    if len(set(slugs.values())) != len(slugs):
        slugs = {name: f"{slug}_{number}" for number, (name, slug) in enumerate(slugs.items(), start=1)}
    return slugs


def _reply_order(field: FormField) -> tuple[int, int]:
    """Texts first; scores after them, the overall and the confidence last; checklists at the end."""
    kind = {"text": 0, "score": 1}.get(field.kind, 2)
    return kind, {"overall": 1, "confidence": 2, "expertise": 2}.get(field.aspect or "", 0)


def _evidence_model(texts: tuple[str, ...], lengths: Lengths, sentences: tuple[str, ...]) -> type[BaseModel]:
    shape: dict[str, Any] = {
        "claim": (str, Field(min_length=1, max_length=lengths.reason, description="one merit or one defect"))
    }
    if sentences:
        shape["sentence"] = (one_of(sentences), Field(description="the number of the sentence that shows it"))
    else:
        shape["quote"] = (str, Field(min_length=1, max_length=lengths.quote, description="copied letter by letter"))
    shape["bears_on"] = (one_of(texts), Field(description="the text field this belongs to"))
    return create_model("QuotedEvidence", __config__=ConfigDict(extra="ignore"), **shape)


def field_shape(field: FormField, lengths: Lengths) -> tuple[Any, Any]:
    """The type and bounds of one field of the form in a reply."""
    if field.kind == "text":
        limit = min(lengths.text, field.max_chars or lengths.text)
        return str, Field(max_length=limit, description=field.asks)
    if field.kind == "score":
        return _score_model(field, lengths), Field(description=field.asks)
    options = one_of(tuple(offered(field)))
    if field.kind == "choice":
        return options, Field(description=field.asks)
    most = 2 if lengths.brief else len(field.options)
    return list_of(options), Field(max_length=most, description=field.asks)


@lru_cache(maxsize=64)
def _score_model(field: FormField, lengths: Lengths) -> type[BaseModel]:
    ids = list_of(one_of(tuple(f"E{number}" for number in range(1, lengths.items + 1))))
    return create_model(
        "Score",
        __config__=ConfigDict(extra="ignore"),
        reason=(str, Field(max_length=lengths.reason)),
        evidence=(ids, Field(max_length=lengths.cited, description="ids of quoted_evidence, E1 is the first")),
        value=(score_value(field), Field()),
    )


def score_value(field: FormField) -> Any:
    """The type of a score's value: one of the field's options, however it is written: '4', 4 and '4: accept'."""
    options = offered(field)

    def canonical(raw: Any) -> Any:
        if raw in options or isinstance(raw, bool) or not isinstance(raw, int | float | str):
            return raw
        try:
            value = parse_score(field, raw)
        except DataError:
            return raw
        return next((text for text, option in options.items() if option == value), raw)

    return Annotated[one_of(tuple(options)), BeforeValidator(canonical)]


def _option_text(option: Option) -> str:
    value = option.value if isinstance(option.value, str) else f"{option.value:g}"
    return f"{value}: {option.label}" if option.label and option.label != value else value
