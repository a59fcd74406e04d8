"""What a search for better prompts is measured by and on: checked before anything is paid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from referee.data.planted import KEYS, PLANTED
from referee.errors import DataError, SettingsError, VenueError
from referee.evals.metric import Metric
from referee.evals.registry import PRESETS, find_metrics
from referee.experiments.halving import (
    FEWEST_DEVELOPMENT,
    FEWEST_HELD_OUT,
    HELD_OUT_SHARE,
    held_out_count,
    power_line,
    taken_in_order,
)
from referee.experiments.papers import PlanPaper, find_papers, same_content
from referee.experiments.plan import Papers, Plan
from referee.experiments.plan_file import LoadedPlan, nearest
from referee.graphs.strategies import STRATEGIES, default_strategy
from referee.llm.models import check_models
from referee.nearest import did_you_mean
from referee.schemas.paper import Paper
from referee.schemas.venue import VenueForm
from referee.settings import Settings
from referee.venues.refined import refinable

ALIASES = {"coverage": "topic_coverage"}
_OF_CLEAN_TWINS = frozenset({"false_alarms"})


def objective_of(name: str, *, references: bool, planted: bool) -> Metric:
    """The metric that decides, by its name in the registry or its short name.

    Args:
        name: As it was asked for.
        references: Whether human reviews of the papers are given.
        planted: Whether a folder of planted papers is.

    Raises:
        SettingsError: There is no such metric, it cannot say which review is better, or it needs what is not given.
    """
    if name in _OF_CLEAN_TWINS:
        raise SettingsError(
            f"metric {name!r} cannot be an objective: it is of reviews of clean twins alone.",
            hint="Take planted_recall, and look at this one afterwards: referee eval.",
        )
    found = find_metrics([ALIASES.get(name, name)])
    if len(found) > 1 or name in PRESETS:
        raise SettingsError(f"{name!r} is a set of metrics, and one decides.", hint="Name one metric of it.")
    (metric,) = found
    if metric.better is None:
        raise SettingsError(
            f"metric {metric.name!r} cannot be an objective: neither more nor less of it is better.",
            hint="Take one that says which way is better, as planted_recall, coverage or factual_correctness.",
        )
    if metric.scope != "review" or metric.name in PRESETS["detection"]:
        raise SettingsError(
            f"metric {metric.name!r} cannot be an objective: it is not of one review of a paper, or it is a detector.",
            hint="Take a metric of single reviews, as planted_recall, coverage or factual_correctness.",
        )
    if "references" in metric.needs and not references:
        raise SettingsError(
            f"metric {metric.name!r} compares with human reviews, and none are given: no paper could be scored.",
            hint="Give a set of human reviews with --references (papers by file name or digest).",
        )
    if metric.name in PRESETS["planted"] and not planted:
        raise SettingsError(
            f"metric {metric.name!r} needs planted papers with their keys, and none are given.",
            hint="Give the folder that `referee plant` wrote, with planted/ and keys/: --planted DIR.",
        )
    return metric


def strategy_of(name: str | None, settings: Settings) -> str:
    """The strategy that reviews: the one named, else the default for the model.

    Raises:
        SettingsError: It is unknown, or its reviews go by no steps.
    """
    if name is None or name == "auto":
        return default_strategy(embedded=check_models(settings)["writer"].is_local)
    if name not in STRATEGIES:
        raise SettingsError(f"there is no strategy {name!r}.", hint=nearest(name, list(STRATEGIES)))
    if not STRATEGIES[name].takes_steps:
        usable = ", ".join(one for one in STRATEGIES if STRATEGIES[one].takes_steps)
        raise SettingsError(
            f"strategy {name!r} goes by no steps: no version of them could change its reviews.",
            hint=f"Take one of: {usable}.",
        )
    return name


def guidelines_of(form: VenueForm, names: Sequence[str]) -> tuple[str, ...]:
    """The guidelines that are refined, in the form's order; empty for all.

    Raises:
        VenueError: One of them is no guideline that a section is read for.
    """
    known = [guideline.id for guideline in refinable(form)]
    for name in names:
        if name not in known:
            raise VenueError(
                f"venue {form.id!r} has no guideline {name!r} that could be refined.",
                hint=f"{did_you_mean(name, known)}There are: {', '.join(known) or 'none'}.",
                ids={"venue": form.id},
            )
    return tuple(name for name in known if name in names)


def split_papers(
    papers: Sequence[str | Path], held_out: str | Path | None, seed: int
) -> tuple[dict[str, PlanPaper], dict[str, PlanPaper]]:
    """The development papers and those held out, each in the order in which they are taken.

    Args:
        papers: Files, folders or patterns.
        held_out: A folder or pattern of other papers, or the share of ``papers`` that is held out, as text.
        seed: Decides the order, and which papers are held out by a share.

    Raises:
        DataError: Papers cannot be found, one is there twice, or there are too few.
        SettingsError: The share is not between 0 and 1.
    """
    share = _share(held_out)
    apart = () if share is not None else _found([str(held_out)])
    own = _found([*map(str, papers), *([] if share is not None else [str(held_out)])])
    by_name = {paper.name: paper for paper in own}
    order = taken_in_order({paper.name: paper.digest for paper in own}, seed)
    named = {paper.name for paper in apart}
    count = held_out_count(len(order), share) if share is not None else 0
    kept_back = {name for name in order if name in named} if share is None else set(order[:count])
    development = {name: by_name[name] for name in order if name not in kept_back}
    last = {name: by_name[name] for name in order if name in kept_back}
    _require_enough(len(development), len(last))
    return development, last


def require_keys(planted: Path, development: Iterable[str], held_out: Iterable[str]) -> None:
    """See that papers of both sides have a key.

    Raises:
        DataError: None of one side has.
    """
    for side, names in (("development", list(development)), ("held-out", list(held_out))):
        if not any((planted / KEYS / f"{name}.json").is_file() for name in names):
            raise DataError(
                f"none of the {len(names)} {side} papers has a key in {str(planted / KEYS)!r}: none could be scored.",
                hint=f"Give the papers of {str(planted / PLANTED)!r}, whose names are those of the keys.",
            )


def refuse_same(development: Mapping[str, Paper], held_out: Mapping[str, Paper]) -> None:
    """See that no paper is there twice, by what stands in it: least of all on both sides.

    Raises:
        DataError: Two files hold the same paper.
    """
    twice = same_content({**development, **held_out})
    if twice is None:
        return
    sides = {"held-out" if name in held_out else "development" for name in twice}
    where = "one for development, one held out" if len(sides) == 2 else f"both {sides.pop()}"
    raise DataError(
        f"papers {twice[0]!r} and {twice[1]!r} hold the same paper ({where}).",
        hint="Keep one: a paper that versions were chosen on says nothing new about them.",
    )


def _share(held_out: str | Path | None) -> float | None:
    """The share, or None where papers are named; a number that no file is called by is a share."""
    if held_out is None:
        return HELD_OUT_SHARE
    try:
        share = float(str(held_out))
    except ValueError:
        return None
    if Path(held_out).exists():
        return None
    if not 0 < share < 1:
        raise SettingsError(
            f"{str(held_out)!r} is no share of papers that could be held out.",
            hint="Give a number between 0 and 1, as 0.25, or a folder of other papers.",
        )
    return share


def _found(files: Sequence[str]) -> tuple[PlanPaper, ...]:
    return find_papers(LoadedPlan(Plan(papers=Papers(files=tuple(files))), Path()))


def _require_enough(development: int, held_out: int) -> None:
    if development >= FEWEST_DEVELOPMENT and held_out >= FEWEST_HELD_OUT:
        return
    raise DataError(
        f"{development} development and {held_out} held-out papers are too few: with less than {FEWEST_DEVELOPMENT} "
        f"and {FEWEST_HELD_OUT} no rise can be told from noise.",
        hint=f"Give more papers: {power_line(6)}; {power_line(20)}.",
    )
