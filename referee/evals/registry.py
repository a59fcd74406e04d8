"""The metrics by name: those that ship, and those of installed packages under the entry point ``referee.metrics``.

A preset stands for the names of one kind: ``quality`` (ReviewEval's, mostly judged), ``points`` (PRAIB's judged
points), ``assertions`` (what is right and material, counted with the paper before the judge), ``certificates`` (what
code finds in the paper, without a judge), ``factors`` (what the detection benchmark lets a model judge, no detector),
``behaviour`` (PRAIB's, without a model), ``agreement`` (with people's reviews of the same paper), ``known_recall``
(known errors of the papers that a review names), ``detection`` (detectors of AI reviews; ``referee detect score``
brings their models), ``planted`` (what reviews make of planted errors; ``--planted`` brings the keys).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import chain

from referee.errors import EvaluationError, SettingsError
from referee.evals.detection import DETECTORS
from referee.evals.metric import NEEDS, Better, Metric, Range
from referee.nearest import did_you_mean

GROUP = "referee.metrics"

# Module to the metrics in it, under METRIC or METRICS. The order is that of the columns.
_QUALITY: Mapping[str, tuple[str, ...]] = {
    "quality.constructiveness": ("constructiveness",),
    "quality.adherence": ("adherence",),
    "quality.topic_coverage": ("topic_coverage",),
    "quality.semantic_similarity": ("semantic_similarity",),
    "quality.depth": ("depth",),
    "quality.factual_correctness": ("factual_correctness",),
}
_POINTS: Mapping[str, tuple[str, ...]] = {
    "quality.usefulness": ("usefulness",),
}
_ASSERTIONS: Mapping[str, tuple[str, ...]] = {
    "quality.assertions": ("assertions",),
}
_CERTIFICATES: Mapping[str, tuple[str, ...]] = {
    "measures.certified": ("sourced_share", "refuted_share"),
}
_FACTORS: Mapping[str, tuple[str, ...]] = {
    "quality.genericness": ("genericness",),
}
_BEHAVIOUR: Mapping[str, tuple[str, ...]] = {
    "measures.length": ("tokens", "words", "characters"),
    "measures.diversity": ("ttr", "ttr_words", "mattr_100"),
    "measures.ease": ("fre", "fkg", "fre_clean", "fkg_clean", "words_per_sentence", "syllables_per_word"),
    "measures.pointing": ("xref", "xref_ext", "xref_targets", "xref_density"),
    "measures.citing": ("citations", "citations_verified", "citations_informal"),
    "measures.engagement": ("mathematics",),
    "measures.scores": ("rating", "confidence", "rating_rank"),
    "measures.items": (
        *("strengths", "weaknesses", "weaknesses_per_strength", "strength_chars", "weakness_chars"),
        *("strengths_chars", "weaknesses_chars"),
    ),
    "measures.repetition": (
        *("fidelity_rouge_l", "fidelity_contained", "fidelity_jaccard"),
        *("redundancy_rouge_l", "redundancy_jaccard", "redundancy_contained"),
    ),
}
_AGREEMENT: Mapping[str, tuple[str, ...]] = {
    "measures.rating_error": ("rating_difference", "rating_distance"),
}
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "planted.known": ("known_recall_5", "known_recall_10", "known_recall_published"),
}
_PLANTED: Mapping[str, tuple[str, ...]] = {
    "planted.metrics": ("planted_recall", "false_alarms"),
}
PRESETS: Mapping[str, tuple[str, ...]] = {
    preset: tuple(chain.from_iterable(modules.values()))
    for preset, modules in (
        ("quality", _QUALITY),
        ("points", _POINTS),
        ("assertions", _ASSERTIONS),
        ("certificates", _CERTIFICATES),
        ("factors", _FACTORS),
        ("behaviour", _BEHAVIOUR),
        ("agreement", _AGREEMENT),
        ("known_recall", _KNOWN),
        ("detection", DETECTORS),
        ("planted", _PLANTED),
    )
}
BUILT_IN: Mapping[str, str] = {
    name: f"referee.evals.{module}"
    for modules in (
        _QUALITY,
        _POINTS,
        _ASSERTIONS,
        _CERTIFICATES,
        _FACTORS,
        _BEHAVIOUR,
        _AGREEMENT,
        _KNOWN,
        DETECTORS,
        _PLANTED,
    )
    for module, names in modules.items()
    for name in names
}


def metric_names() -> tuple[str, ...]:
    """All names that can be asked for: the built-in ones in the order of their columns, then others by name."""
    return (*BUILT_IN, *sorted(name for name in _others() if name not in BUILT_IN))


def find_metrics(names: Iterable[str] | None = None) -> tuple[Metric, ...]:
    """The metrics of these names and presets, in this order; without names those of the preset ``quality``.

    Raises:
        SettingsError: A name is unknown or stands there twice; the hint offers the nearest.
        EvaluationError: A package registers something that is no metric, or a name that is taken.
    """
    asked = [name.strip() for name in names] if names is not None else ["quality"]
    wanted = [name for one in asked for name in PRESETS.get(one, (one,))]
    if not wanted:
        raise SettingsError("no metric was named.", hint=_offer())
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    if twice:
        raise SettingsError(f"metric {twice[0]!r} is named twice.", hint="Name each once.")
    return tuple(_found(name) for name in wanted)


def better_of(names: Iterable[str]) -> dict[str, Better]:
    """By metric, which way is better."""
    return {metric.name: metric.better for metric in find_metrics(names)}


def judged_ranges(names: Iterable[str]) -> dict[str, Range]:
    """By metric that a judge decides, its lowest and highest value; one that is not installed is left out."""
    installed = [_found(name) for name in names if name in BUILT_IN or name in _others()]
    return {metric.name: metric.range for metric in installed if "judge" in metric.needs}


def unit_of(name: str) -> str:
    """The unit of a metric's values; empty where it has none or is not installed."""
    return _found(name).unit if name in BUILT_IN or name in _others() else ""


def counted_by(name: str) -> str:
    """The matcher and cap by which a metric counts; empty for one that counts by none or is not installed."""
    known = name in BUILT_IN or name in _others()
    return getattr(_found(name), "counted_by", "") if known else ""


def apart(names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The metrics in groups of those that may stand in one table, each with what its numbers are counted by.

    The first group are those that are not counted by a matcher, under the empty text; it may be absent.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(counted_by(name), []).append(name)
    return [(rule, tuple(held)) for rule, held in sorted(groups.items(), key=lambda group: group[0] != "")]


def variants_of(names: Iterable[str]) -> frozenset[str]:
    """Those of the metrics that are variants of another."""
    return frozenset(metric.name for metric in find_metrics(names) if metric.variant_of)


def _found(name: str) -> Metric:
    others = _others()
    if name in BUILT_IN and name in others:
        raise EvaluationError(
            f"package {_package(others[name])!r} registers a metric {name!r}, which referee has itself.",
            hint="Give that metric another name in the package, or remove the package.",
        )
    if name in BUILT_IN:
        return _shipped(name)
    if name in others:
        return _loaded(others[name])
    near = did_you_mean(name, (*PRESETS, *metric_names()), cutoff=0.4)
    hint = f"{near}Presets: {', '.join(PRESETS)}." if near else _offer()
    raise SettingsError(f"there is no metric {name!r}.", hint=hint)


def _offer() -> str:
    return f"Presets: {', '.join(PRESETS)}. Metrics: {', '.join(metric_names())}."


def _shipped(name: str) -> Metric:
    module = import_module(BUILT_IN[name])
    held: tuple[Metric, ...] = getattr(module, "METRICS", None) or (module.METRIC,)
    return next(metric for metric in held if metric.name == name)


def _others() -> dict[str, EntryPoint]:
    return _installed(tuple(sys.path))


@cache
def _installed(_path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Found once for a search path: looking through all packages takes a twentieth of a second."""
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
