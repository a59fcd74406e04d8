"""Refined prompts as they are kept: every version of a guideline's steps, what was criticised, what was refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field, model_validator

from referee.errors import VenueError
from referee.schemas.base import Frozen
from referee.schemas.usage import Usage
from referee.schemas.venue import Guideline, VenueForm
from referee.venues.prompts import SectionPrompt, section_prompts

Ended = Literal["rounds", "stable", "failed"]
Origin = Literal["stored", "written", "revised", "built"]
Stage = Literal["write", "criticise", "revise"]


class PromptVersion(Frozen):
    """The steps for a guideline after a round; round 0 are those that refinement began with.

    ``origin``: stored, they ship with referee; written, by a model from the guideline; revised, by a model; built, by
    code, because no model wrote any. ``covers`` are the points of the guideline that they hold.
    """

    round: int = Field(ge=0)
    steps: tuple[str, ...] = Field(min_length=1)
    digest: str
    origin: Origin
    covers: tuple[str, ...] = ()
    model: str = ""
    call_id: str = ""

    @model_validator(mode="after")
    def _check(self) -> PromptVersion:
        if steps_digest(self.steps) != self.digest:
            raise ValueError(f"the steps of round {self.round} are not those their digest stands for")
        return self


class Criticism(Frozen):
    """What the supervisor found in one round, by dimension; ``new`` are those it had not raised in earlier ones."""

    round: int = Field(ge=1)
    findings: dict[str, tuple[str, ...]]
    new: tuple[str, ...] = ()
    echoes: int = Field(default=0, ge=0, description="findings left out: they only repeated the prompt")
    digest: str
    model: str
    call_id: str


class Refusal(Frozen):
    """A revision that lost points of its guideline: it was not taken."""

    round: int = Field(ge=1)
    steps: tuple[str, ...]
    digest: str
    lost: tuple[str, ...] = Field(min_length=1)
    model: str
    call_id: str


class RoundFailure(Frozen):
    """A call of a round that ended without a usable reply; the steps stayed as they were."""

    round: int = Field(ge=0)
    stage: Stage
    kind: str
    message: str
    hint: str = ""


class RefinedGuideline(Frozen):
    """One guideline's history. ``points`` are what code cut it into.

    ``ended``: all rounds were made; the supervisor had nothing new (stable); or the provider turned a call down.
    """

    guideline_id: str
    points: tuple[str, ...]
    versions: tuple[PromptVersion, ...] = Field(min_length=1)
    criticisms: tuple[Criticism, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    failures: tuple[RoundFailure, ...] = ()
    rounds: int = Field(ge=0, description="rounds that were begun")
    ended: Ended

    @property
    def current(self) -> PromptVersion:
        """The steps that are used."""
        return self.versions[-1]

    def after_round(self, number: int) -> PromptVersion:
        """The steps as they stood after a round: those of an earlier one where that round changed nothing."""
        return [version for version in self.versions if version.round <= number][-1]


class RefinedPrompts(Frozen):
    """What refining a venue's prompts with one model ended in.

    ``key`` stands for everything it was made of: guidelines, stored steps, prompts, models, rounds. ``model`` wrote
    the steps, ``supervisor`` criticised them.
    """

    schema_version: Literal[1] = 1
    venue: str
    key: str
    model: str
    supervisor: str
    rounds: int = Field(ge=1)
    until_stable: bool = False
    prompts: dict[str, str] = Field(description="digest by prompt and version")
    guidelines: tuple[RefinedGuideline, ...]
    refined_at: str
    run_id: str
    usage: Usage = Usage()
    reused: bool = Field(default=False, description="taken from the store: no call was made")

    def guideline(self, guideline_id: str) -> RefinedGuideline:
        """The history of one guideline; raises ``KeyError`` where it was not refined."""
        for refined in self.guidelines:
            if refined.guideline_id == guideline_id:
                return refined
        raise KeyError(guideline_id)

    def digests(self) -> dict[str, str]:
        """The digest of the steps in use, by a name that stands for venue, guideline and round."""
        return {f"refined/{self.venue}/{g.guideline_id}@v{g.current.round}": g.current.digest for g in self.guidelines}


def steps_digest(steps: Sequence[str]) -> str:
    """SHA-256 (hex) of the steps, in their order."""
    return digest_of(list(steps))


def digest_of(data: object) -> str:
    """SHA-256 (hex) of plain data, by its canonical JSON."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def refinable(form: VenueForm) -> tuple[Guideline, ...]:
    """The guidelines whose steps reviewers of sections are given; those about the review's form go to nobody there."""
    wanted = {prompt.guideline_id for prompt in section_prompts(form) if not prompt.is_about_the_review}
    return tuple(guideline for guideline in form.guidelines if guideline.id in wanted)


def refinement_key(
    form: VenueForm,
    *,
    model: str,
    supervisor: str,
    prompts: Mapping[str, str],
    rounds: int,
    until_stable: bool,
    lean: Iterable[str],
    temperature: float,
) -> str:
    """The digest of everything that decides what refinement ends in: a changed guideline has another one."""
    stored = {prompt.guideline_id: list(prompt.steps) for prompt in section_prompts(form)}
    guidelines = [[g.id, g.text, g.words, stored[g.id]] for g in refinable(form)]
    return digest_of(
        {
            "venue": [form.id, form.name],
            "guidelines": guidelines,
            "models": [model, supervisor],
            "prompts": dict(prompts),
            "rounds": rounds,
            "until_stable": until_stable,
            "lean": sorted(lean),
            "temperature": temperature,
        }
    )


def refined_section_prompts(form: VenueForm, refined: RefinedPrompts) -> tuple[SectionPrompt, ...]:
    """The venue's prompts with the refined steps in place of the stored ones.

    A guideline that nobody has mapped to kinds of sections keeps the line that quotes it: by it the prompt is mapped.

    Raises:
        VenueError: A guideline that sections are read for was not refined.
    """
    steps = {g.guideline_id: g.current.steps for g in refined.guidelines}
    missing = [guideline.id for guideline in refinable(form) if guideline.id not in steps]
    if missing:
        raise VenueError(
            f"the refined prompts of {refined.venue!r} lack the guideline {missing[0]!r}.",
            hint=f"Refine them again: referee venue refine {refined.venue}.",
            ids={"venue": refined.venue},
        )
    return tuple(_replaced(prompt, steps.get(prompt.guideline_id)) for prompt in section_prompts(form))


def _replaced(prompt: SectionPrompt, steps: tuple[str, ...] | None) -> SectionPrompt:
    if steps is None or steps == prompt.steps:
        return prompt
    rule = () if prompt.section_types else prompt.steps[:1]
    return SectionPrompt(prompt.id, prompt.guideline_id, (*rule, *steps), prompt.section_types)
