"""The refined steps of a venue inside a run: what decides them, what they will cost, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from pydantic import BaseModel

from referee.agents import guideline_guard, prompt_writer, supervisor
from referee.errors import RunError, RunPaused
from referee.graphs.refinement.given import PINNED, pin
from referee.graphs.running import run_machine
from referee.llm.catalogue import chat_model_key
from referee.llm.dialects import reply_schema
from referee.llm.door import Door
from referee.llm.models import Model, Models, check_models
from referee.llm.spec import ModelSpec
from referee.prompts import Prompt, RenderedPrompt, load_prompt, prompt_digests
from referee.runs import Event, Progress, RunFolder
from referee.schemas.estimate import ReviewEstimate, total_cost
from referee.schemas.usage import Usage
from referee.schemas.venue import Guideline, VenueForm
from referee.settings import Settings
from referee.venues.prompts import guideline_points, known_guidelines, section_prompts
from referee.venues.refined import (
    RefinedPrompts,
    find_measured,
    find_refined,
    read_refined,
    refinable,
    refined_files,
    refinement_key,
    store_refined,
)
from referee.venues.steps_file import read_steps, steps_text

ROLES = (prompt_writer.ROLE, supervisor.ROLE)
_PROMPTS = (prompt_writer.PROMPT, supervisor.PROMPT, prompt_writer.REVISE_PROMPT, guideline_guard.PROMPT)
_ROOM = "refinement/"
# What a typical criticism adds to the prompt of the revision, and what typical replies have.
_FINDINGS_TOKENS, _STEPS_TOKENS, _ANSWER_TOKENS = 160, 220, 45


@dataclass(frozen=True)
class Refinement:
    """One venue's prompts with one set of settings: the fixed data of a refinement.

    ``only`` names guidelines where not all are refined. ``measured`` is the digest of how versions are measured, where
    they are. ``given`` are steps to begin with, by guideline; with ``pause`` it stops after each round for a person.
    """

    form: VenueForm
    settings: Settings
    rounds: int
    until_stable: bool = False
    only: tuple[str, ...] = ()
    measured: str = ""
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pause: bool = False

    @cached_property
    def guidelines(self) -> tuple[Guideline, ...]:
        """Those that are refined."""
        return tuple(one for one in refinable(self.form) if not self.only or one.id in self.only)

    @cached_property
    def models(self) -> dict[str, str]:
        """The model's id by role, without loading or asking any.

        Raises:
            SettingsError: A name is not usable, or a key is missing.
        """
        return {role: _resolved(spec).id for role, spec in self._specs.items()}

    @cached_property
    def lean(self) -> frozenset[str]:
        """The roles that are asked in the short form."""
        return frozenset(role for role, spec in self._specs.items() if spec.is_local)

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The prompts it may use."""
        return [load_prompt(name) for name in _PROMPTS]

    @property
    def key(self) -> str:
        """The digest of everything that decides what comes out."""
        return self._key(self.until_stable)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its own key, then that of a refinement that differs only in whether it could end early."""
        return (self.key, self._key(not self.until_stable))

    def _key(self, until_stable: bool) -> str:
        return refinement_key(
            self.form,
            model=self.models[prompt_writer.ROLE],
            supervisor=self.models[supervisor.ROLE],
            prompts=prompt_digests(self.prompts),
            rounds=self.rounds,
            until_stable=until_stable,
            lean=self.lean,
            temperature=self.settings.models.temperature,
            only=self.only,
            measured=self.measured,
            given=self.given,
        )

    @cached_property
    def _specs(self) -> dict[str, ModelSpec]:
        known = check_models(self.settings)
        return {role: known[role] for role in ROLES}


def stored_refinement(refinement: Refinement, *, either: bool) -> RefinedPrompts | None:
    """What was refined earlier under the same key, if anything was; ``either``: whether or not it could end early."""
    venue, model = refinement.form.id, refinement.models[prompt_writer.ROLE]
    if not refined_files(venue, model):  # mostly; keys take longer
        return None
    found = find_refined(venue, model, refinement.keys if either else (refinement.key,))
    return found.model_copy(update={"reused": True}) if found else None


def plan_refinement(refinement: Refinement, models: Models) -> ReviewEstimate:
    """Calls and tokens of a refinement that is not stored: at most so many calls, since a round may end early."""
    writer, critic = models[prompt_writer.ROLE], models[supervisor.ROLE]
    guidelines, stored = refinement.guidelines, _stored_steps(refinement.form)
    written = [guideline for guideline in guidelines if guideline.id not in known_guidelines()]
    rounds, lean = refinement.rounds, refinement.lean
    first = sum(_tokens(writer, _writing(refinement, g), prompt_writer.steps_model("writer" in lean)) for g in written)
    revising = sum(
        _tokens(writer, _revising(refinement, g, stored[g.id]), prompt_writer.steps_model("writer" in lean))
        + _FINDINGS_TOKENS
        for g in guidelines
    )
    criticising = sum(
        _tokens(critic, _criticising(refinement, g, stored[g.id]), supervisor.criticism_model("supervisor" in lean))
        for g in guidelines
    )
    points = {g.id: guideline_points(g) for g in guidelines}
    checking = sum(_tokens(critic, *_checking(refinement, g, stored[g.id])) for g in guidelines if points[g.id])
    # The steps that a guideline begins with are checked beside those of each round.
    checks = (rounds + 1) * sum(bool(found) for found in points.values())
    calls = {
        prompt_writer.ROLE: len(written) + rounds * len(guidelines),
        supervisor.ROLE: rounds * len(guidelines) + checks,
    }
    tokens_in = {
        prompt_writer.ROLE: first + rounds * revising,
        supervisor.ROLE: rounds * criticising + (rounds + 1) * checking,
    }
    tokens_out = {
        prompt_writer.ROLE: calls[prompt_writer.ROLE] * _STEPS_TOKENS,
        supervisor.ROLE: rounds * len(guidelines) * _FINDINGS_TOKENS
        + (rounds + 1) * sum(map(len, points.values())) * _ANSWER_TOKENS,
    }
    costs = [models[role].cost(tokens_in[role], tokens_out[role]) for role in ROLES]
    return ReviewEstimate(
        strategy="refinement",
        models={role: models[role].spec.id for role in ROLES},
        calls=sum(calls.values()),
        input_tokens=sum(tokens_in.values()),
        output_tokens=sum(tokens_out.values()),
        cost_usd=total_cost(costs),
        notes=tuple(dict.fromkeys(note for role in ROLES for note in models[role].notes)),
    )


async def refine_in_run(
    refinement: Refinement,
    run: RunFolder,
    door: Door,
    *,
    reuse: bool,
    either: bool,
    store: bool = True,
    progress: Progress,
) -> RefinedPrompts:
    """The refined prompts of a run: those it began with, else those in the store, else refined now and stored.

    Args:
        refinement: What is refined.
        run: Its folder keeps the prompts, so that a resumed run goes by the same ones.
        door: The run's way to models, with its ledger and budget.
        reuse: Whether the store is looked into.
        either: Whether prompts that could end early, or could not, are taken as well.
        store: Whether what is refined now is stored, for reviews to go by.
        progress: Called with each event.

    Raises:
        RunError: The prompts in the run folder are others than those the run began with.
        RefereeError: What a node recorded as its failure.
    """
    if (run.path / PINNED).is_file():
        return _pinned(refinement, run)
    refined = stored_refinement(refinement, either=either) if reuse else None
    if refined is None:
        progress(Event("stage", f"refining the prompts of {refinement.form.id}"))
        refined = await _round_by_round(refinement, run, door)
        if store:
            store_refined(refined)
    else:
        progress(Event("note", f"prompts refined on {refined.refined_at[:10]} are used; no call is made for them"))
    pin(refined, run)
    return refined


def measured_refinement(form: VenueForm, settings: Settings) -> tuple[Refinement, RefinedPrompts] | None:
    """What was measured last for this venue and these models and kept a version, if it is still of the same venue."""
    asked = Refinement(form, settings, 1)
    for found in find_measured(form.id, asked.models[prompt_writer.ROLE]):
        assert found.measured is not None
        made = replace(
            asked, rounds=found.rounds, until_stable=found.until_stable, only=found.only, measured=found.measured.digest
        )
        if made.key == found.key:
            return made, found.model_copy(update={"reused": True})
    return None


async def _round_by_round(refinement: Refinement, run: RunFolder, door: Door) -> RefinedPrompts:
    """All rounds, or one more than a person has seen: earlier rounds are made again from the ledger, at no cost.

    Raises:
        RunPaused: There are further rounds, and a person is to read the steps first.
    """
    edited = {0: refinement.given} if refinement.given else {}
    names = [guideline.id for guideline in refinement.guidelines]
    seen = 0
    while (file := run.path / steps_name(seen + 1)).is_file():
        seen += 1
        edited[seen] = read_steps(file, names)
    rounds = min(seen + 1, refinement.rounds) if refinement.pause else refinement.rounds
    refined = await _refined(refinement, run, door, rounds=rounds, edited=edited)
    if rounds == refinement.rounds:
        return refined
    head = [f"# Steps of {refinement.form.id} after round {rounds} of {refinement.rounds}"]
    now = {one.guideline_id: one.current.steps for one in refined.guidelines}
    file = run.write(steps_name(rounds), steps_text(now, head))
    raise RunPaused(
        f"paused after round {rounds} of {refinement.rounds}: the steps are in {str(file)!r}.",
        hint=f"Edit them, then go on: --resume {run.path}, with --pause to stop after the next round too.",
        ids={"run": str(run.path)},
    )


def steps_name(number: int) -> str:
    """The file in a run folder with the steps after a round, for a person to edit."""
    return f"steps.v{number}.md"


async def _refined(
    refinement: Refinement,
    run: RunFolder,
    door: Door,
    *,
    rounds: int,
    edited: Mapping[int, Mapping[str, tuple[str, ...]]],
) -> RefinedPrompts:
    from referee.graphs.refinement.machine import RefinementContext, build_refinement_graph, initial_state

    form, guidelines = refinement.form, refinement.guidelines
    context = RefinementContext(
        form=form,
        door=door,
        guidelines=guidelines,
        stored={prompt.guideline_id: prompt for prompt in section_prompts(form)},
        shipped=known_guidelines(),
        rounds=rounds,
        until_stable=refinement.until_stable,
        lean=refinement.lean,
        edited=edited,
    )
    state = await run_machine(build_refinement_graph, context, initial_state(g.id for g in guidelines))
    by_id = {refined.guideline_id: refined for refined in state["refined"]}
    return RefinedPrompts(
        venue=form.id,
        key=refinement.key,
        model=refinement.models[prompt_writer.ROLE],
        supervisor=refinement.models[supervisor.ROLE],
        rounds=refinement.rounds,
        until_stable=refinement.until_stable,
        only=refinement.only,
        prompts=prompt_digests(refinement.prompts),
        guidelines=tuple(by_id[guideline.id] for guideline in guidelines),
        refined_at=datetime.now(UTC).isoformat(timespec="seconds"),
        run_id=run.record.run_id,
        usage=sum((r.usage for r in door.ledger.records if r.prompt.startswith(_ROOM)), Usage()),
    )


def _pinned(refinement: Refinement, run: RunFolder) -> RefinedPrompts:
    refined = read_refined(run.path / PINNED)
    known = {name: digest for name, digest in run.record.prompts.items() if name.startswith("refined/")}
    if refined.key not in refinement.keys or refined.digests() != known:
        raise RunError(
            f"{str(run.path / PINNED)!r} does not hold the prompts that the run began with.",
            hint="Start a new run without --resume.",
            ids={"run": str(run.path)},
        )
    return refined


def _resolved(spec: ModelSpec) -> ModelSpec:
    """The embedded model under its full name, as it stands in records."""
    return ModelSpec(spec.provider, chat_model_key(spec.name)) if spec.is_local else spec


def _stored_steps(form: VenueForm) -> Mapping[str, tuple[str, ...]]:
    return {prompt.guideline_id: prompt.steps for prompt in section_prompts(form)}


def _tokens(model: Model, prompt: RenderedPrompt, reply: type[BaseModel]) -> int:
    tokens = model.count(prompt.system) + model.count(prompt.user)
    if model.spec.is_local:  # the embedded model's grammar takes no room in its prompt
        return tokens
    return tokens + model.count(json.dumps(reply_schema(reply)))


def _writing(refinement: Refinement, guideline: Guideline) -> RenderedPrompt:
    return prompt_writer.render_writing(guideline, venue_name=refinement.form.name, lean="writer" in refinement.lean)


def _criticising(refinement: Refinement, guideline: Guideline, steps: tuple[str, ...]) -> RenderedPrompt:
    return supervisor.render_criticising(steps, guideline, venue_name=refinement.form.name)


def _checking(
    refinement: Refinement, guideline: Guideline, steps: tuple[str, ...]
) -> tuple[RenderedPrompt, type[BaseModel]]:
    points = guideline_points(guideline)
    rendered = guideline_guard.render_covering(points, steps, guideline, venue_name=refinement.form.name)
    return rendered, guideline_guard.covered_model(guideline_guard.point_ids(points))


def _revising(refinement: Refinement, guideline: Guideline, steps: tuple[str, ...]) -> RenderedPrompt:
    return prompt_writer.render_revising(
        steps,
        {},
        guideline,
        venue_name=refinement.form.name,
        lean="writer" in refinement.lean,
    )
