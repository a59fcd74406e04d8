"""The arms of a plan: who reviews, for which venue, with which model, prompts, rounds of refinement and settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from referee.errors import SettingsError
from referee.experiments.plan import ArmPart, Common, Compare, Plan
from referee.experiments.plan_file import nearest
from referee.graphs.strategies import DEFAULT, STRATEGIES
from referee.settings import PromptChoices, PromptText
from referee.venues.refined import RefinedPrompts


@dataclass(frozen=True)
class Arm:
    """One way to review; ``model`` is None where the settings name it, ``refined`` where steps are those that ship."""

    name: str
    strategy: str
    venue: str
    model: str | None = None
    model_for: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    prompts: PromptChoices = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ablate: tuple[str, ...] = ()
    refined: RefinedPrompts | None = field(default=None, repr=False)

    def overrides(self) -> dict[str, Any]:
        """The arm as dotted keys of the settings, without ``ablate`` and the prompts."""
        rounds = {"review.preset": "full", "review.rounds": self.rounds} if self.rounds else {"review.preset": "quick"}
        return {
            "review.strategy": self.strategy,
            "models.default": self.model,
            "models.roles": self.model_for or None,
            **rounds,
            **self.settings,
        }


def arms_of(plan: Plan) -> tuple[Arm, ...]:
    """The arms in the order of the plan.

    Raises:
        SettingsError: There is both a grid and a list or neither, a list of the grid is empty, an arm has no venue, or
            two arms have one name.
    """
    if plan.grid is not None and plan.arms is not None:
        raise SettingsError("a plan has a grid or a list of arms, not both.", hint="Remove [grid] or [[arms]].")
    if plan.grid is None and not plan.arms:
        raise SettingsError("the plan has no arm.", hint="Give a [grid], or one [[arms]] for each way to review.")
    arms = tuple(_listed(plan, part) for part in plan.arms) if plan.arms else tuple(_of_grid(plan))
    names = [arm.name for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SettingsError(
            f"two arms are called {twice!r}.",
            hint="Name each once, and no value of the grid twice; --repeat says how much an arm differs from itself.",
        )
    return arms


def strategy_of_prompts(plan: Plan) -> str | None:
    """The strategy to which all prompts of the plan belong, where the plan names no strategy; else None."""
    parts: tuple[ArmPart | Common, ...] = (*(plan.arms or ()), plan.common)
    if (plan.grid is not None and plan.grid.strategies) or any(part.strategy for part in parts):
        return None
    tables = [*(part.prompts for part in parts), *((plan.grid.prompts if plan.grid else None) or ())]
    named = {name.removeprefix("review/").removesuffix("-brief") for table in tables for name in table}
    return next(iter(named)) if len(named) == 1 and named <= set(STRATEGIES) else None


def chosen_arms(arms: Sequence[Arm], names: Sequence[str]) -> tuple[Arm, ...]:
    """The arms of these names, in the order of the plan; without names all.

    Raises:
        SettingsError: A name is no arm.
    """
    known = [arm.name for arm in arms]
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no arm {name!r} in the plan.", hint=nearest(name, known))
    return tuple(arm for arm in arms if not names or arm.name in names)


def pairs_of(compare: Compare, arms: Sequence[Arm], chosen: Sequence[Arm] | None = None) -> tuple[tuple[str, str], ...]:
    """Which arms are compared, first less second: as the plan says, else each with every one before it.

    Args:
        compare: What the plan says.
        arms: All arms of the plan.
        chosen: Those that are run; by default all.

    Raises:
        SettingsError: A name is no arm, an arm is compared with itself, or both a baseline and pairs are given.
    """
    names = [arm.name for arm in arms]
    if compare.baseline is not None and compare.pairs:
        raise SettingsError("a plan compares with a baseline or in pairs, not both.", hint="Remove one of the two.")
    for name in (*([compare.baseline] if compare.baseline is not None else ()), *(n for p in compare.pairs for n in p)):
        if name not in names:
            raise SettingsError(f"{name!r} is no arm that could be compared.", hint=nearest(name, names))
    if same := next((first for first, second in compare.pairs if first == second), None):
        raise SettingsError(f"arm {same!r} is compared with itself.", hint="Name two arms.")
    there = names if chosen is None else [arm.name for arm in chosen]
    if compare.baseline is not None:
        pairs = [(name, compare.baseline) for name in names if name != compare.baseline]
    else:
        all_pairs = [(names[later], names[earlier]) for later in range(len(names)) for earlier in range(later)]
        pairs = list(compare.pairs) or all_pairs
    return tuple((first, second) for first, second in pairs if first in there and second in there)


def _listed(plan: Plan, part: ArmPart) -> Arm:
    common = plan.common
    return Arm(
        name=part.name,
        strategy=part.strategy or common.strategy or strategy_of_prompts(plan) or DEFAULT,
        venue=_venue(part.venue or common.venue, part.name),
        model=part.model or common.model,
        model_for={**common.model_for, **part.model_for},
        rounds=common.rounds if part.rounds is None else part.rounds,
        prompts={**common.prompts, **part.prompts},
        settings={**common.settings, **part.settings},
        ablate=tuple(sorted(set(part.ablate))),
    )


def _of_grid(plan: Plan) -> Iterator[Arm]:
    grid, common = plan.grid, plan.common
    assert grid is not None
    for name, values in grid:
        if values is not None and not values:
            raise SettingsError(f"the grid is empty: {name!r} lists nothing.", hint="Name one value at least.")
    strategies = grid.strategies or (common.strategy or strategy_of_prompts(plan) or DEFAULT,)
    venues = grid.venues or (_venue(common.venue, "the grid"),)
    models: tuple[str | None, ...] = grid.models or (common.model,)
    rounds = grid.rounds or (common.rounds,)
    prompts = grid.prompts or ({},)
    named = dict(zip(map(repr, prompts), _prompt_names(prompts), strict=False))
    varied = [len(values) > 1 for values in (strategies, venues, models, rounds, prompts)]
    for combination in product(strategies, venues, models, rounds, prompts):
        strategy, venue, model, number, versions = combination
        told = (
            strategy,
            venue,
            model or "",
            f"{number} round{'' if number == 1 else 's'}",
            named[repr(versions)],
        )
        yield Arm(
            name=", ".join(text for text, varies in zip(told, varied, strict=True) if varies) or strategy,
            strategy=strategy,
            venue=venue,
            model=model,
            model_for=dict(common.model_for),
            rounds=number,
            prompts={**common.prompts, **versions},
            settings=dict(common.settings),
        )


def _prompt_names(tables: Sequence[PromptChoices]) -> Iterator[str]:
    """What each table of prompts is called: a file by its stem, and a number where two have one; a version with its id.

    Where all tables name one and the same prompt, a version stands alone.
    """
    files = dict.fromkeys(
        (value.file, value.text) for table in tables for value in table.values() if isinstance(value, PromptText)
    )
    stems = [Path(file).stem for file, _ in files]
    names = {
        one: stem if stems.count(stem) == 1 else f"{stem}-{stems[: n + 1].count(stem)}"
        for n, (one, stem) in enumerate(zip(files, stems, strict=True))
    }
    is_one = len({prompt for table in tables for prompt in table}) == 1
    for table in tables:
        parts = [
            names[value.file, value.text] if isinstance(value, PromptText) else value if is_one else f"{prompt}@{value}"
            for prompt, value in table.items()
        ]
        yield " ".join(dict.fromkeys(parts)) or "stored prompts"


def _venue(venue: str | None, arm: str) -> str:
    if not venue:
        raise SettingsError(f"no venue is named for {arm!r}.", hint="Name it in the plan (common.venue) or by --venue.")
    return venue
