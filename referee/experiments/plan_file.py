"""Plans in: a TOML file, the name of a plan that ships, or plain data; unknown keys are refused with the nearest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from referee.errors import SettingsError
from referee.evals.registry import PRESETS
from referee.experiments.plan import PARTS, ArmPart, Papers, Plan
from referee.experiments.tracking import LOCAL, is_address
from referee.nearest import did_you_mean
from referee.schemas.foreign import Unreadable, toml_table
from referee.secrets import scrub
from referee.settings import read_choices
from referee.web import server_of

ABLATIONS = ("card", "retrieval", "chunks", "cross", "check", "merge", "quota", "second-model", "example", "scores")
"""Plans that each take one step of ``sections`` out, or do it another way."""

READY = ("table2", "planted", "ablation", *ABLATIONS)
"""The plans that ship, by name."""

SECOND = "SECOND"
"""Stands in a plan for the second model that is given beside it."""

MOST_REPEATS = 100

_FOLDER = "ready"
_OWN_MLFLOW, _MLFLOW_SECRETS = "MLFLOW_TRACKING_URI", ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD")


@dataclass(frozen=True)
class Given:
    """What is said beside the plan and goes over it; None and empty leave the plan's own.

    ``arms`` names those that are run; the others are left out, with their comparisons. ``repeat`` is how often every
    arm reviews each paper, in place of the plan's seeds.
    """

    arms: Sequence[str] = ()
    strategies: Sequence[str] = ()
    venue: str | None = None
    models: Sequence[str] = ()
    papers: Sequence[str | Path] = ()
    metrics: Sequence[str] | None = None
    judges: Sequence[str] = ()
    references: str | Path | None = None
    embedder: str | None = None
    mlflow: str | None = None
    planted: str | Path | None = None
    repeat: int | None = None


@dataclass(frozen=True)
class LoadedPlan:
    """A plan, and the folder that its paths are beside."""

    plan: Plan
    folder: Path

    def path(self, text: str) -> Path:
        """A path of the plan, as seen from the working folder."""
        return self.folder / text


def load_plan(source: str | Path | Mapping[str, Any], given: Given | None = None) -> LoadedPlan:
    """Read a plan.

    Args:
        source: A file, one of ``READY``, or the data of a plan, whose paths are beside the working folder. A file of
            that name goes first.
        given: What goes over it.

    Raises:
        SettingsError: There is no such plan, it is not valid TOML, a key is unknown, or a value is not usable.
    """
    if isinstance(source, Mapping):
        return _with(LoadedPlan(_validated(_with_prompts(source, Path()), "the plan"), Path()), given or Given())
    path = Path(source)
    name, folder = path.stem, path.parent
    if path.is_file():
        text = _read(path)
    elif str(source) in READY:
        text = (resources.files("referee.experiments") / _FOLDER / f"{source}.toml").read_text(encoding="utf-8")
        folder = Path()
    else:
        raise _no_plan(str(source))
    try:
        data = toml_table(text, f"plan {str(source)!r}")
    except Unreadable as error:
        raise SettingsError(error.message, hint="Mend it.") from error
    data = {"name": name, **_with_prompts(data, folder)}
    return _with(LoadedPlan(_validated(data, f"plan {str(source)!r}"), folder), given or Given())


def _with_prompts(data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The plan's data with the files of prompts read, which stand beside it; whatever is no table is left alone."""

    def read(part: Any) -> Any:
        chosen = part.get("prompts") if isinstance(part, Mapping) else None
        if isinstance(chosen, list | tuple):
            return {**part, "prompts": [read_choices(one, folder) if isinstance(one, dict) else one for one in chosen]}
        return {**part, "prompts": read_choices(chosen, folder)} if isinstance(chosen, dict) else part

    arms = data.get("arms")
    return {
        **{key: read(value) for key, value in data.items()},
        **({"arms": [read(arm) for arm in arms]} if isinstance(arms, list | tuple) else {}),
    }


def nearest(name: str, known: Sequence[str], cutoff: float = 0.4) -> str:
    """The hint for a name that is not known."""
    return f"{did_you_mean(name, known, cutoff=cutoff)}There are: {', '.join(known)}."


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"plan {str(path)!r} cannot be read: {error}.", hint="Give a TOML file.") from error


def _no_plan(source: str) -> SettingsError:
    return SettingsError(
        f"there is no plan {source!r}.", hint=f"Give a TOML file, or one of the plans that ship: {', '.join(READY)}."
    )


def _validated(data: Mapping[str, Any], origin: str) -> Plan:
    try:
        return Plan.model_validate(dict(data))
    except ValidationError as error:
        raise _refusal(error, origin) from error


def _refusal(error: ValidationError, origin: str) -> SettingsError:
    """The first problem: an unknown key with the nearest, or a value with what is wrong with it."""
    first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), error.errors()[0])
    loc = [str(step) for step in first["loc"]]
    key = ".".join(loc)
    if first["type"] != "extra_forbidden":
        value = scrub(repr(first.get("input"))[:80])
        return SettingsError(
            f"{origin}: {key!r} has an unusable value {value}: {first['msg'].lower()}.",
            hint="See docs/experiments.md for what a plan holds.",
        )
    table = loc[0] if len(loc) > 1 else ""
    known = list(PARTS[table].model_fields)
    where = f"the table {table!r}" if table else "a plan"
    return SettingsError(f"{origin} sets {key!r}, which is no key of {where}.", hint=nearest(loc[-1], known))


def _with(loaded: LoadedPlan, given: Given) -> LoadedPlan:
    """The plan with what is said beside it; given paths are beside the working folder, so they become absolute."""
    plan = loaded.plan
    papers = plan.papers
    if given.papers:
        papers = Papers(files=tuple(str(Path(path).absolute()) for path in given.papers))
    if given.planted:
        papers = Papers(files=papers.files if given.papers else (), planted=str(Path(given.planted).absolute()))
    if given.repeat is not None and not 1 <= given.repeat <= MOST_REPEATS:
        raise SettingsError(
            f"an arm cannot review a paper {given.repeat} times.",
            hint=f"Give --repeat 1 to {MOST_REPEATS}; from 2 on the result says how much an arm differs from itself.",
        )
    metrics = tuple(given.metrics) if given.metrics is not None else plan.measure.metrics
    measure = plan.measure.model_copy(
        update={
            "metrics": metrics or (PRESETS["planted"] if papers.planted else ()),
            "judges": tuple(given.judges) or plan.measure.judges,
            "embedder": given.embedder or plan.measure.embedder,
            "references": str(Path(given.references).absolute()) if given.references else plan.measure.references,
        }
    )
    tracking = plan.tracking.model_copy(update={"mlflow": given.mlflow or _tracked(plan.tracking.mlflow, loaded)})
    arms = _grid_with(plan, given) if plan.grid is not None else _common_with(plan, given)
    seeds = plan.seeds if given.repeat is None else tuple(range(given.repeat))
    update = {"papers": papers, "measure": measure, "tracking": tracking, "seeds": seeds}
    return LoadedPlan(arms.model_copy(update=update), loaded.folder)


def _tracked(named: str | None, loaded: LoadedPlan) -> str | None:
    """A folder of the plan stands beside it.

    Raises:
        SettingsError: It is an address, and MLflow would send a log-in there that is for another one.
    """
    secret = next((name for name in _MLFLOW_SECRETS if os.environ.get(name)), None)
    elsewhere = named is not None and server_of(named) != server_of(os.environ.get(_OWN_MLFLOW, ""))
    if secret and named is not None and elsewhere and named.lower().startswith(("http:", "https:")):
        raise SettingsError(
            f"the plan logs to {scrub(named)!r}, to which MLflow would send {secret}.",
            hint=f"If that is your server, name it by --mlflow or {_OWN_MLFLOW}. Else unset {secret}.",
        )
    return named if named is None or named == LOCAL or is_address(named) else str(loaded.path(named))


def _grid_with(plan: Plan, given: Given) -> Plan:
    assert plan.grid is not None
    update: dict[str, Any] = {}
    if given.strategies:
        update["strategies"] = tuple(given.strategies)
    if given.models:
        update["models"] = tuple(given.models)
    if given.venue:
        update["venues"] = (given.venue,)
    return plan.model_copy(update={"grid": plan.grid.model_copy(update=update)})


def _common_with(plan: Plan, given: Given) -> Plan:
    wants_second = any(SECOND in _models(part) for part in plan.arms or ())
    if given.strategies or len(given.models) > 1 + wants_second:
        what = "--strategy" if given.strategies else f"more than {'two' if wants_second else 'one'} --model"
        raise SettingsError(f"{what} goes with a grid, and this plan lists its arms.", hint="Change its arms instead.")
    if wants_second and len(given.models) < 2:
        raise SettingsError(
            f"plan {plan.name!r} compares two models, and {len(given.models)} is named.",
            hint="Give --model twice: the first model, then the second.",
        )
    update: dict[str, Any] = {}
    if given.models:
        update["model"] = given.models[0]
    if given.venue:
        update["venue"] = given.venue
    arms = tuple(_with_second(part, given.models[1]) for part in plan.arms or ()) if wants_second else plan.arms
    return plan.model_copy(update={"common": plan.common.model_copy(update=update), "arms": arms})


def _models(part: ArmPart) -> tuple[str | None, ...]:
    return (part.model, *part.model_for.values())


def _with_second(part: ArmPart, second: str) -> ArmPart:
    roles = {role: second if model == SECOND else model for role, model in part.model_for.items()}
    return part.model_copy(update={"model": second if part.model == SECOND else part.model, "model_for": roles})
