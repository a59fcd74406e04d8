"""The metrics by name: those that ship, and those of installed packages under the entry point ``referee.metrics``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from referee.errors import EvaluationError, SettingsError
from referee.evals.metric import NEEDS, Metric

GROUP = "referee.metrics"

# Name to module; each module holds its metric under METRIC. The order is that of the columns.
BUILT_IN: Mapping[str, str] = {
    "constructiveness": "referee.evals.quality.constructiveness",
    "adherence": "referee.evals.quality.adherence",
    "topic_coverage": "referee.evals.quality.topic_coverage",
    "semantic_similarity": "referee.evals.quality.semantic_similarity",
    "depth": "referee.evals.quality.depth",
    "factual_correctness": "referee.evals.quality.factual_correctness",
}


def metric_names() -> tuple[str, ...]:
    """All names that can be asked for: the built-in ones in the order of their columns, then others by name."""
    return (*BUILT_IN, *sorted(name for name in _others() if name not in BUILT_IN))


def find_metrics(names: Iterable[str] | None = None) -> tuple[Metric, ...]:
    """The metrics of these names, in this order; without names the built-in ones.

    Raises:
        SettingsError: A name is unknown or stands there twice; the hint offers the nearest.
        EvaluationError: A package registers something that is no metric, or a name that is taken.
    """
    wanted = [name.strip() for name in names] if names is not None else list(BUILT_IN)
    if not wanted:
        raise SettingsError("no metric was named.", hint=f"Metrics: {', '.join(metric_names())}.")
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    if twice:
        raise SettingsError(f"metric {twice[0]!r} is named twice.", hint="Name each once.")
    return tuple(_found(name) for name in wanted)


def _found(name: str) -> Metric:
    others = _others()
    if name in BUILT_IN and name in others:
        raise EvaluationError(
            f"package {_package(others[name])!r} registers a metric {name!r}, which referee has itself.",
            hint="Give that metric another name in the package, or remove the package.",
        )
    if name in BUILT_IN:
        metric: Metric = import_module(BUILT_IN[name]).METRIC
        return metric
    if name in others:
        return _loaded(others[name])
    near = difflib.get_close_matches(name, metric_names(), n=1, cutoff=0.4)
    offer = f"Did you mean {near[0]!r}? " if near else ""
    raise SettingsError(f"there is no metric {name!r}.", hint=f"{offer}Metrics: {', '.join(metric_names())}.")


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Metric:
    """A third party's metric; checked, because nobody here has read it."""
    try:
        loaded = point.load()
    except (ImportError, AttributeError) as error:
        raise EvaluationError(
            f"metric {point.name!r} of package {_package(point)!r} cannot be loaded: {error}.",
            hint=f"Mend or remove that package; the entry point is {point.value!r}.",
        ) from error
    metric = loaded() if isinstance(loaded, type) else loaded
    problem = _problem(metric, point.name)
    if problem:
        raise EvaluationError(
            f"metric {point.name!r} of package {_package(point)!r} is no metric: {problem}.",
            hint="See docs/eval.md for what a metric is.",
        )
    found: Metric = metric
    return found


def _problem(metric: object, name: str) -> str:
    if not isinstance(metric, Metric):
        lacks = [part for part in ("name", "version", "needs", "prompts", "measure", "rescore") if _lacks(metric, part)]
        return f"it has no {' and no '.join(lacks)}"
    if metric.name != name:
        return f"it calls itself {metric.name!r}"
    unknown = sorted(set(metric.needs) - NEEDS)
    return f"it needs {unknown[0]!r}, which is none of {', '.join(sorted(NEEDS))}" if unknown else ""


def _lacks(metric: object, part: str) -> bool:
    return not hasattr(metric, part)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
