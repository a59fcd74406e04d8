"""A venue's review form and rules, as data. Code never knows that a venue has a 'soundness' box."""

from __future__ import annotations

from datetime import date
from functools import cached_property
from typing import Literal

from pydantic import Field, StrictFloat, StrictInt, StrictStr, model_validator

from referee.schemas.base import Frozen

FieldKind = Literal["text", "score", "choice", "flag"]
FactConfidence = Literal["raw", "config", "official", "secondary", "paper", "memory"]
Aspect = Literal[
    "overall",
    "confidence",
    "soundness",
    "presentation",
    "contribution",
    "novelty",
    "significance",
    "reproducibility",
    "expertise",
    "other",
]
LlmPolicyStatus = Literal["forbidden", "restricted", "disclose", "allowed", "unknown"]
OptionValue = StrictInt | StrictFloat | StrictStr


class Source(Frozen):
    """Where a fact was read: an official page, a raw note, a platform configuration, a third party's table."""

    title: str
    url: str = ""
    date: str = Field(default="", description="when the source was published or retrieved, as precisely as known")


class Fact(Frozen):
    """How sure a statement of the file is, and the keys of ``sources`` it rests on.

    raw: seen in raw notes; config: the platform's own code or test configuration; official: the venue's page;
    secondary: third-party code, data or report; paper: a publication's table; memory: unverified.
    """

    confidence: FactConfidence
    sources: tuple[str, ...] = ()
    note: str = ""


class Option(Frozen):
    """One value a field may take, with the venue's label for it.

    ``means`` says in our own words what a short label stands for. An ``exclusive`` option of a checklist ("none of
    these") cannot be ticked beside another.
    """

    value: OptionValue
    label: str = ""
    means: str = ""
    exclusive: bool = False


class FormField(Frozen):
    """One box of the form.

    ``kind``: ``text`` is free text; ``score`` takes one ordered ``options`` value; ``choice`` takes one unordered
    option; ``flag`` takes any number of its options (a checklist). ``required`` is null where the form's rule is
    unknown. ``attestation`` marks what only a person may declare (code of conduct, acknowledgements): never filled.
    ``stage`` is ``discussion`` for boxes that are filled after the authors' reply.
    """

    name: str = Field(min_length=1)
    title: str = ""
    kind: FieldKind
    asks: str = Field(description="what the field wants from a reviewer, in our own words")
    options: tuple[Option, ...] = ()
    required: bool | None = None
    aspect: Aspect | None = None
    attestation: bool = False
    stage: Literal["review", "discussion"] = "review"
    max_chars: int | None = Field(default=None, ge=1)
    as_string: bool = Field(default=False, description="the venue stores '3: label' or the label, not the number")
    string_shape: Literal["colon", "space", "label"] = Field(
        default="colon", description="how as_string writes a value: '3: good', '3 good' or 'good'"
    )
    fact: Fact

    @model_validator(mode="after")
    def _check(self) -> FormField:
        if self.kind in ("score", "choice", "flag") and not self.attestation and not self.options:
            raise ValueError(f"field {self.name!r} of kind {self.kind!r} needs options")
        if self.kind == "score":
            if any(isinstance(o.value, str) for o in self.options):
                raise ValueError(f"score field {self.name!r} has an option that is no number")
            if self.aspect is None:
                raise ValueError(f"score field {self.name!r} needs an aspect")
        values = [o.value for o in self.options]
        if len(set(values)) != len(values):
            raise ValueError(f"field {self.name!r} offers a value twice")
        if self.as_string and any(not o.label for o in self.options):
            raise ValueError(f"field {self.name!r} is stored as a string, so every option needs a label")
        if self.kind != "flag" and any(o.exclusive for o in self.options):
            raise ValueError(f"field {self.name!r} takes one option only, so none of them can be exclusive")
        return self


class Guideline(Frozen):
    """One thing the venue asks of a review. Objective ones a program can check; subjective ones need judgement."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    text: str
    kind: Literal["subjective", "objective"]
    words: str = Field(default="", description="the page's own words it was read from; empty where nobody kept them")
    fact: Fact


class LlmPolicy(Frozen):
    """The venue's rule on language models in reviewing: a status, the rule in one sentence, whom it binds."""

    status: LlmPolicyStatus
    sentence: str
    applies_to: str
    date: str = ""
    fact: Fact


class FormProvenance(Frozen):
    """When the file was checked, by what, and what stays unknown."""

    checked: date
    platform: str = ""
    venue_id: str = Field(default="", description="the venue's id on the platform, YYYY and Month left as they stand")
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class VenueForm(Frozen):
    """A venue-year's review form, its guidelines and its rule on language models.

    ``id`` is conference-year (``neurips-2025``). ``overall`` names the field that holds the overall rating, or is null
    for venues without one; ``accept_at`` is the lowest overall value that leans to acceptance.
    """

    schema_version: Literal[1] = 1
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    name: str
    year: int | None = None
    fields: tuple[FormField, ...] = Field(min_length=1)
    overall: str | None = None
    accept_at: float | None = None
    guidelines: tuple[Guideline, ...] = ()
    llm_policy: LlmPolicy
    sources: dict[str, Source]
    provenance: FormProvenance

    @model_validator(mode="after")
    def _check(self) -> VenueForm:
        names = [f.name for f in self.fields]
        if len(set(names)) != len(names):
            raise ValueError(f"venue {self.id!r} has a field twice")
        if self.overall is not None:
            field = next((f for f in self.fields if f.name == self.overall), None)
            if field is None or field.kind != "score":
                raise ValueError(f"venue {self.id!r}: overall {self.overall!r} is not one of its score fields")
            if self.accept_at is not None and self.accept_at not in [o.value for o in field.options]:
                raise ValueError(f"venue {self.id!r}: accept_at {self.accept_at!r} is not a value of {self.overall!r}")
        ids = [g.id for g in self.guidelines]
        if len(set(ids)) != len(ids):
            raise ValueError(f"venue {self.id!r} has a guideline id twice")
        facts = [f.fact for f in self.fields] + [g.fact for g in self.guidelines] + [self.llm_policy.fact]
        missing = sorted({key for fact in facts for key in fact.sources} - set(self.sources))
        if missing:
            raise ValueError(f"venue {self.id!r} cites sources it does not list: {', '.join(missing)}")
        return self

    def __hash__(self) -> int:
        """By its id, so that what is built from a form can be kept for the next call; equal forms are equal in all."""
        return hash(self.id)

    def field(self, name: str) -> FormField:
        """The field of that name; raises ``KeyError`` where the form has none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)

    @cached_property
    def attestations(self) -> tuple[FormField, ...]:
        """What only a person may declare."""
        return tuple(f for f in self.fields if f.attestation)

    @cached_property
    def reviewer_fields(self) -> tuple[FormField, ...]:
        """The boxes a reviewer fills before the discussion, without the attestations, in the form's order."""
        return tuple(f for f in self.fields if not f.attestation and f.stage == "review")
