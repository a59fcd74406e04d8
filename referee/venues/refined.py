"""Refined prompts: every version of a guideline's steps with what was criticised and refused, and where they are kept.

The file holds what was refined or used last; what another key had left there lies beside it under that key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from referee.errors import VenueError
from referee.runs.files import write_atomically
from referee.schemas.base import Frozen
from referee.schemas.foreign import Unreadable, json_value
from referee.schemas.refinement import Measured
from referee.schemas.usage import Usage
from referee.schemas.venue import Guideline, VenueForm
from referee.venues.prompts import SectionPrompt, section_prompts
from referee.venues.registry import user_venue_dir

Ended = Literal["rounds", "stable", "failed"]
Origin = Literal["stored", "written", "revised", "built", "edited"]
Stage = Literal["write", "criticise", "revise", "check"]


class PromptVersion(Frozen):
    """The steps for a guideline after a round; round 0 are those that refinement began with.

    ``origin``: stored, they ship with referee; written, by a model from the guideline; revised, by a model; built, by
    code, because no model wrote any; edited, by a person, whose words nobody has checked. ``covers`` are the points of
    the guideline that they serve; null where nobody was asked.
    """

    round: int = Field(ge=0)
    steps: tuple[str, ...] = Field(min_length=1)
    digest: str
    origin: Origin
    covers: tuple[str, ...] | None = None
    model: str = ""
    call_id: str = ""

    @model_validator(mode="after")
    def _check(self) -> PromptVersion:
        if steps_digest(self.steps) != self.digest:
            raise ValueError(f"the steps of round {self.round} are not those their digest stands for")
        return self


class Coverage(Frozen):
    """Which points of the guideline the steps of a digest serve, by a model: ``words`` of a step, by point.

    That the words stand there, code has seen. ``unfound`` are points that the model called served by words that no
    step holds: they count as not served. ``lean``: the embedded model says so, whose word is worth little.
    ``call_id`` is empty where the words of an earlier answer still stood and nothing was left to ask.
    """

    digest: str
    words: dict[str, str]
    unfound: tuple[str, ...] = ()
    lean: bool = False
    model: str = ""
    call_id: str = ""


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
    coverages: tuple[Coverage, ...] = ()
    failures: tuple[RoundFailure, ...] = ()
    rounds: int = Field(ge=0, description="rounds that were begun")
    ended: Ended
    kept: int | None = Field(default=None, ge=0, description="the round that measurement chose; the last by default")

    @property
    def current(self) -> PromptVersion:
        """The steps that are used."""
        return self.versions[-1] if self.kept is None else self.after_round(self.kept)

    @property
    def is_edited(self) -> bool:
        """Whether a person changed the steps that are used."""
        return self.current.origin == "edited"

    def after_round(self, number: int) -> PromptVersion:
        """The steps as they stood after a round: those of an earlier one where that round changed nothing."""
        return [version for version in self.versions if version.round <= number][-1]


class RefinedPrompts(Frozen):
    """What refining a venue's prompts with one model ended in.

    ``key`` stands for everything it was made of: guidelines, stored steps, prompts, models, rounds. ``model`` wrote
    the steps, ``supervisor`` criticised them. ``only`` names the guidelines that were refined, where not all were.
    ``measured`` says how the versions did on papers, where they were measured.
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
    only: tuple[str, ...] = ()
    measured: Measured | None = None

    @property
    def is_for_use(self) -> bool:
        """Whether reviews may go by it: not where it was measured and no version was kept."""
        return self.measured is None or bool(self.measured.selection.kept)

    def at(self, number: int) -> RefinedPrompts:
        """The same with the steps of that round in use."""
        return self.model_copy(
            update={"guidelines": tuple(g.model_copy(update={"kept": number}) for g in self.guidelines)}
        )

    def guideline(self, guideline_id: str) -> RefinedGuideline:
        """The history of one guideline; raises ``KeyError`` where it was not refined."""
        for refined in self.guidelines:
            if refined.guideline_id == guideline_id:
                return refined
        raise KeyError(guideline_id)

    def digests(self) -> dict[str, str]:
        """The digest of the steps in use, by a name that stands for venue, guideline and round."""
        return {
            f"refined/{self.venue}/{g.guideline_id}@v{g.current.round}{'-edited' * g.is_edited}": g.current.digest
            for g in self.guidelines
        }


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
    only: Sequence[str] = (),
    measured: str = "",
    given: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The digest of everything that decides what refinement ends in: a changed guideline has another one."""
    stored = {prompt.guideline_id: list(prompt.steps) for prompt in section_prompts(form)}
    guidelines = [[g.id, g.text, g.words, stored[g.id]] for g in refinable(form)]
    # Left out where they say nothing, so that what was stored before there were such still is found.
    begun = {name: list(steps) for name, steps in (given or {}).items()}
    extra = (("only", list(only)), ("measured", measured), ("given", begun))
    more = {name: value for name, value in extra if value}
    return digest_of(
        {
            **more,
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
    wanted = refined.only or [guideline.id for guideline in refinable(form)]
    missing = [name for name in wanted if name not in steps]
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
    return replace(prompt, steps=(*rule, *steps))


_KEY_CHARS = 12


def prompts_dir() -> Path:
    """The folder of refined prompts; it need not exist. ``REFEREE_CONFIG_DIR`` moves it."""
    return user_venue_dir().parent / "prompts"


def refined_path(venue: str, model: str, root: Path | None = None) -> Path:
    """The file of one venue and model."""
    return (prompts_dir() if root is None else root) / venue / f"{model_slug(model)}.json"


def model_slug(model: str) -> str:
    """A model's id as a file name."""
    return re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-.") or "model"


def find_refined(venue: str, model: str, keys: Iterable[str], root: Path | None = None) -> RefinedPrompts | None:
    """What is stored under the first of these keys that something is stored under.

    Raises:
        VenueError: The file that holds it is damaged.
    """
    path = refined_path(venue, model, root)
    for key in keys:
        for file in (path, _aside(path, key)):
            if file.is_file() and (stored := read_refined(file)).key == key:
                return stored
    return None


def refined_files(venue: str, model: str, root: Path | None = None) -> list[Path]:
    """The files of one venue and model: that used last, and those moved aside."""
    path = refined_path(venue, model, root)
    return sorted({*path.parent.glob(f"{path.stem}.json"), *path.parent.glob(f"{path.stem}@*.json")})


def find_measured(venue: str, model: str, root: Path | None = None) -> list[RefinedPrompts]:
    """What was measured for a venue and model and kept a version, the newest first; whether it still fits is not asked.

    Raises:
        VenueError: A file is damaged.
    """
    files = refined_files(venue, model, root)
    kept = [one for one in map(read_refined, files) if one.measured is not None and one.is_for_use]
    return sorted(kept, key=lambda one: one.refined_at, reverse=True)


def store_refined(refined: RefinedPrompts, root: Path | None = None) -> Path:
    """Write the prompts as those used last of their venue and model; others are moved aside and not lost.

    Raises:
        VenueError: The folder cannot be written.
    """
    path = refined_path(refined.venue, refined.model, root)
    text = refined_json(refined)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            _keep(path, refined.key)
        write_atomically(path, text)
    except OSError as error:
        raise VenueError(
            f"the refined prompts of {refined.venue!r} cannot be stored in {str(path.parent)!r}: "
            f"{error.strerror or error}.",
            hint="Make room or mend its rights; REFEREE_CONFIG_DIR moves the folder.",
            ids={"venue": refined.venue},
        ) from error
    return path


def list_refined(venue: str, root: Path | None = None) -> list[RefinedPrompts]:
    """The prompts used last of each model for a venue, the newest first.

    Raises:
        VenueError: A file is damaged.
    """
    folder = (prompts_dir() if root is None else root) / venue
    files = [path for path in sorted(folder.glob("*.json")) if "@" not in path.name] if folder.is_dir() else []
    return sorted((read_refined(path) for path in files), key=lambda refined: refined.refined_at, reverse=True)


def choose_refined(venue: str, model: str | None = None, root: Path | None = None) -> RefinedPrompts:
    """The refined prompts of a venue by the model's id or its name; without a model those refined last.

    Raises:
        VenueError: There are none, or none of that model; the message lists what there is.
    """
    stored = list_refined(venue, root)
    chosen = [r for r in stored if model is None or model in _names(r.model)]
    if chosen:
        return chosen[0]
    there = ", ".join(sorted(refined.model for refined in stored))
    if stored:
        raise VenueError(
            f"the prompts of {venue!r} were not refined with model {model!r}.",
            hint=f"There are refined prompts of: {there}.",
            ids={"venue": venue},
        )
    raise VenueError(
        f"the prompts of {venue!r} were not refined yet.",
        hint=f"Refine them: referee venue refine {venue} --model {model or 'M'}.",
        ids={"venue": venue},
    )


def read_refined(path: Path) -> RefinedPrompts:
    """Read one file of refined prompts; steps that were changed in it by hand are taken, as edited ones.

    Raises:
        VenueError: It is damaged, or is from another version.
    """
    try:
        return RefinedPrompts.model_validate(_with_edits(json_value(path.read_bytes(), "the file")), strict=False)
    except (ValidationError, Unreadable) as error:
        first = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"it {error.reason}"
        raise VenueError(
            f"the refined prompts in {str(path)!r} cannot be used: {first}.",
            hint="Remove the file and refine again.",
        ) from error


def _with_edits(data: object) -> object:
    """The data of a file in which versions whose steps are not those of their digest are edited ones."""
    if not isinstance(data, dict) or not isinstance(data.get("guidelines"), list):
        return data
    for guideline in data["guidelines"]:
        versions = guideline.get("versions") if isinstance(guideline, dict) else None
        for version in versions if isinstance(versions, list) else ():
            steps = version.get("steps") if isinstance(version, dict) else None
            if isinstance(steps, list) and steps_digest(steps) != version.get("digest"):
                version.update(digest=steps_digest(steps), origin="edited", covers=None, model="", call_id="")
    return data


def refined_json(refined: RefinedPrompts) -> str:
    """The text of a file of refined prompts."""
    return refined.model_copy(update={"reused": False}).model_dump_json(indent=2) + "\n"


def _keep(path: Path, key: str) -> None:
    """Move the file aside unless it was stored under this key; one that nobody can read stays beside it too."""
    try:
        there = read_refined(path)
    except VenueError:
        path.replace(path.with_name(f"{path.name}.damaged"))
        return
    if there.key != key:
        path.replace(_aside(path, there.key))


def _aside(path: Path, key: str) -> Path:
    return path.with_name(f"{path.stem}@{key[:_KEY_CHARS]}.json")


def _names(model: str) -> tuple[str, ...]:
    """What a person may call a model: its id, its name without provider or server, its file name."""
    name = model.partition("@")[0]
    return (model, name, name.partition(":")[2] or name, model_slug(model))
