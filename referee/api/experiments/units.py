"""The units of a plan: what decides each review, what it will cost, and whether it lies in the store already."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from referee.api.experiments.models import OpenModels
from referee.api.own_prompts import require_room
from referee.errors import ContextTooLong, PaperParseError, PromptError, SettingsError
from referee.experiments.arms import Arm
from referee.experiments.plan_file import nearest
from referee.experiments.prompt_texts import prompt_changes
from referee.experiments.units import Unit, UnitStore
from referee.graphs.job import Job
from referee.graphs.strategies import STRATEGIES
from referee.prompts import Prompt, active, chosen_prompts
from referee.runs import Event, Progress
from referee.schemas.estimate import ReviewEstimate
from referee.schemas.paper import Paper
from referee.schemas.paper_cut import PaperCut
from referee.schemas.venue import VenueForm
from referee.secrets import scrub
from referee.settings import SERVER_KEY, Settings, changed_settings
from referee.venues import venue_digest
from referee.venues.refined import RefinedPrompts
from referee.web import server_of

_PROMPT = "version of prompt "
_GROUPS = ("review.", "models.", "embedder")
_NAMED_APART = {"strategy", "preset", "rounds", "prompt_versions"}


@dataclass(frozen=True)
class PreparedUnit:
    """A unit with what is needed to make it. ``plan`` is None where it is there already, or cannot be made."""

    unit: Unit
    paper: Paper
    form: VenueForm
    settings: Settings
    plan: ReviewEstimate | None = None
    is_there: bool = False
    refined: RefinedPrompts | None = None


def prompts_of(units: Iterable[PreparedUnit]) -> dict[str, str]:
    """The prompts that these units may use: digest by prompt and version."""
    found = {}
    for unit in units:
        own = {prompt.digest: prompt.version for prompt in chosen_prompts(unit.settings.prompts).values()}
        for key, digest in unit.unit.identity.items():
            if key.startswith(_PROMPT):
                name, _, version = key.removeprefix(_PROMPT).partition("@")
                found[f"{name}@{own.get(digest, version)}"] = digest
    return found


def settings_of(arm: Arm, settings: Settings) -> Settings:
    """The settings of an arm. Where it names a model, roles that the settings name are not taken over.

    Raises:
        SettingsError: The strategy or a key is unknown, a value is not usable, or a step cannot be left out.
    """
    if arm.strategy not in STRATEGIES:
        raise SettingsError(f"arm {arm.name!r}: there is no strategy {arm.strategy!r}.", hint=_near(arm.strategy))
    for key in arm.settings:
        if not key.startswith(_GROUPS):
            raise SettingsError(
                f"arm {arm.name!r} sets {key!r}, which decides nothing about a review.",
                hint="An arm's settings are those of review, models and the embedder; limits go under [budget].",
            )
    _check_key_stays(arm, settings)
    overrides = arm.overrides()
    if arm.model is not None:
        settings = settings.model_copy(update={"models": settings.models.model_copy(update={"roles": {}})})
    elif arm.model_for:
        overrides["models.roles"] = {**settings.models.roles, **arm.model_for}
    if arm.prompts:
        overrides["prompts"] = {**settings.prompts, **arm.prompts}
    if arm.ablate:
        overrides["review.ablate"] = list(arm.ablate)
    try:
        return changed_settings(settings, overrides)
    except SettingsError as error:
        raise SettingsError(f"arm {arm.name!r}: {error.message}", hint=error.hint) from error


def _check_key_stays(arm: Arm, settings: Settings) -> None:
    """A plan may come from elsewhere: the key goes to an address that it names only where the user named it as well.

    Raises:
        SettingsError: There is a key for servers, and the user bound it to other addresses or to none.
    """
    if "models.key_hosts" in arm.settings:
        raise SettingsError(
            f"arm {arm.name!r} sets 'models.key_hosts', which says where your key may go.",
            hint="Take it out of the plan; set it in referee.toml or the environment where you trust the address.",
        )
    named = arm.settings.get("models.base_url")
    bound = {server_of(address) for address in (settings.models.base_url, *settings.models.key_hosts) if address}
    if named is not None and os.environ.get(SERVER_KEY, "").strip() and server_of(str(named)) not in bound:
        raise SettingsError(
            f"arm {arm.name!r} names the server {scrub(str(named))!r}, to which {SERVER_KEY} would be sent.",
            hint=f"If the key is for that server, run `export REFEREE_MODELS__KEY_HOSTS={scrub(str(named))}`, or name "
            f"the server by --base-url. Else unset {SERVER_KEY}.",
        )


async def prepared_units(
    arms: Sequence[tuple[Arm, VenueForm]],
    papers: Mapping[str, Mapping[str, Paper]],
    seeds: Sequence[int],
    *,
    settings: Settings,
    opened: OpenModels,
    store: UnitStore,
    progress: Progress,
) -> tuple[list[PreparedUnit], dict[str, str]]:
    """Every unit, and the papers that no strategy can review, with the reason; ``opened`` opens what is not yet open.

    ``papers`` are by name, and by the copy of a planted one.

    Raises:
        SettingsError: An arm cannot be run, two arms ask for the same reviews, or a cost limit stands and a model's
            price is unknown.
        ModelUnavailable: A server cannot be reached.
    """
    units: list[PreparedUnit] = []
    unusable: dict[str, str] = {}
    same = _Same(seeds)
    for arm, form in arms:
        settled = settings_of(arm, settings)
        models = await opened.of(settled)
        copies = [(name, twin, paper) for name, own in papers.items() for twin, paper in own.items()]
        with active(_chosen(arm, settled)):
            require_room(models)
            for name, twin, paper in copies:
                progress(Event("stage", f"planning arm {arm.name!r} for paper {name!r}"))
                try:
                    job = Job(paper, form, settled, models, progress, arm.refined)
                    units += await _of_paper(arm, name, twin, job, same, store)
                except PaperParseError as error:
                    unusable[name] = error.message
    return units, unusable


def _chosen(arm: Arm, settings: Settings) -> dict[str, Prompt]:
    try:
        return chosen_prompts(settings.prompts)
    except PromptError as error:
        raise SettingsError(f"arm {arm.name!r}: {error.message}", hint=error.hint) from error


async def _of_paper(arm: Arm, paper: str, twin: str, job: Job, same: _Same, store: UnitStore) -> list[PreparedUnit]:
    identity = _identity(arm, job)
    found = [
        Unit(paper, arm.name, seed, {**identity, "seed": str(seed)}, twin=twin) for seed in same.seeds(arm, identity)
    ]
    there = [store.review(unit) is not None for unit in found]
    plan, problem, unread = (None, "", None) if all(there) else await _planned(arm, job)
    return [
        PreparedUnit(unit, job.paper, job.form, job.settings, is_there=True, refined=job.refined)
        if is_there
        else PreparedUnit(
            replace(unit, problem=problem, unread=unread), job.paper, job.form, job.settings, plan, refined=job.refined
        )
        for unit, is_there in zip(found, there, strict=True)
    ]


async def _planned(arm: Arm, job: Job) -> tuple[ReviewEstimate | None, str, PaperCut | None]:
    """The strategy's own estimate, or why this model cannot review this paper, and how little of it would be read."""
    try:
        plan = await STRATEGIES[arm.strategy].plan(job)
        refusal = plan.refusal
        return (plan, "", None) if refusal is None else (None, refusal.message, refusal.cut)
    except ContextTooLong as error:
        return None, error.message, None


def _identity(arm: Arm, job: Job) -> dict[str, str]:
    """All that decides a review but the seed. Settings at their defaults are left out, so that a later version of
    referee with one setting more still finds the units of this one.
    """
    strategy = STRATEGIES[arm.strategy]
    review = job.settings.review.model_dump(mode="json", exclude_defaults=True, exclude=_NAMED_APART)
    models = {name: getattr(job.settings.models, name) for name in ("temperature", "context_tokens", "reading_tokens")}
    try:
        of_strategy = strategy.inputs(job)
    except SettingsError as error:
        raise SettingsError(f"arm {arm.name!r}: {error.message}", hint=error.hint) from error
    return {
        "paper": job.paper.paper_id,
        "venue form": venue_digest(job.form),
        "strategy": arm.strategy,
        "rounds": str(arm.rounds),
        **{f"model for {role}": job.models[role].spec.id for role in strategy.roles},
        **{f"{_PROMPT}{prompt.id}@{_version(prompt)}": prompt.digest for prompt in strategy.prompts(job)},
        "settings of the review": json.dumps(review, sort_keys=True),
        "settings of the models": json.dumps(models, sort_keys=True),
        "embedder": job.settings.embedder,
        **of_strategy,
    }


def _version(prompt: Prompt) -> str:
    """A prompt of the user's own is known by its text alone: under another name its reviews are not made again."""
    return "own" if prompt.is_own else prompt.version


class _Same:
    """Which arms are the same.

    Those that name prompts of one text are a null test, and reviewed apart: the seeds of the second go on where those
    of the first end, so its reviews are further ones by the same prompt.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = tuple(seeds)
        self._arms: dict[str, list[Arm]] = {}

    def seeds(self, arm: Arm, identity: Mapping[str, str]) -> tuple[int, ...]:
        """The seeds of the arm's reviews of a copy of a paper.

        Raises:
            SettingsError: It is the same as another arm, and no null test.
        """
        arms = self._arms.setdefault(json.dumps(dict(identity), sort_keys=True), [])
        if arms and not is_null_test(arms[0], arm):
            unused = sorted(unused_prompts(arm, identity) | unused_prompts(arms[0], identity))
            why = f": their reviews do not use prompt {', '.join(map(repr, unused))}" if unused else ""
            raise SettingsError(
                f"arms {arms[0].name!r} and {arm.name!r} ask for the same reviews{why}.",
                hint=f"Name a prompt of strategy {arm.strategy!r} or another strategy: the reviews use "
                f"{', '.join(used_prompts(identity))}."
                if unused
                else "Let them differ in something, or remove one; --repeat says how much an arm differs from itself.",
            )
        arms.append(arm)
        return tuple(seed + (len(arms) - 1) * (max(self._seeds) + 1) for seed in self._seeds)


def is_null_test(first: Arm, second: Arm) -> bool:
    """Whether two arms with the same reviews name prompts of one text: somebody wants to see what chance does."""
    if not (first.prompts and second.prompts):
        return False
    return not any(change.diff for change in prompt_changes(first, second))


def used_prompts(identity: Mapping[str, str]) -> list[str]:
    """The prompts that decide a review."""
    return sorted(key.removeprefix(_PROMPT).partition("@")[0] for key in identity if key.startswith(_PROMPT))


def unused_prompts(arm: Arm, identity: Mapping[str, str]) -> set[str]:
    """The prompts that an arm names, and that its reviews do not use."""
    return set(arm.prompts) - set(used_prompts(identity))


def _near(strategy: str) -> str:
    return nearest(strategy, list(STRATEGIES))
