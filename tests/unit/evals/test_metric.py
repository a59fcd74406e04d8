"""Outcomes of a metric: a value with what led to it, or a reason."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from referee.errors import EvaluationError, SettingsError
from referee.evals import registry
from referee.evals.metric import Foreseeing, Known, Load, Metric, failed, not_applicable, scored
from referee.evals.registry import BUILT_IN, PRESETS, find_metrics, judged_ranges, metric_names
from referee.schemas.usage import Usage

from .runs_of import Words, case


def test_a_score_holds_what_led_to_it() -> None:
    found = scored(Words(), case("a", source="gpt"), 0.75, parts={"f1": 0.5}, details={"n": 4}, usage=Usage(calls=2))
    assert (found.case_id, found.paper_id, found.source, found.metric, found.version) == (
        "a",
        "p1",
        "gpt",
        "words",
        "1",
    )
    assert (found.status, found.value, found.parts, found.details, found.usage.calls) == (
        "scored",
        0.75,
        {"f1": 0.5},
        {"n": 4},
        2,
    )


@pytest.mark.parametrize("outcome", [not_applicable, failed])
def test_what_has_no_value_has_a_reason(outcome: object) -> None:
    found = outcome(Words(), case("a"), "the review is empty")  # type: ignore[operator]
    assert (found.value, found.reason) == (None, "the review is empty")
    with pytest.raises(ValidationError, match="needs a reason"):
        outcome(Words(), case("a"), "")  # type: ignore[operator]


def test_a_metric_is_told_by_its_parts() -> None:
    class Foresees(Words):
        def load(self, case: object, known: Known) -> Load:
            return Load(judged=known.references)

    assert isinstance(Words(), Metric)
    assert not isinstance(object(), Metric)
    assert not isinstance(Words(), Foreseeing)
    assert isinstance(Foresees(), Foreseeing)


@dataclass
class Own(Words):
    """A metric of another package."""

    name: str = "own"


PLUGIN = SimpleNamespace(OWN=Own(), Own=Own, STRANGE=Own(needs=frozenset({"luck"})), NOTHING=object())


def install(monkeypatch: pytest.MonkeyPatch, **named: str) -> None:
    points = {name: EntryPoint(name, value, registry.GROUP) for name, value in named.items()}
    monkeypatch.setattr(registry, "_others", lambda: points)
    monkeypatch.setitem(__import__("sys").modules, "my_metrics", PLUGIN)


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_what_ships_is_there_under_its_own_name(name: str) -> None:
    (metric,) = find_metrics([name])
    assert isinstance(metric, Metric)
    assert metric.name == name


def test_without_names_the_preset_quality_is_meant() -> None:
    assert tuple(metric.name for metric in find_metrics()) == PRESETS["quality"]


def test_presets_and_names_stand_side_by_side() -> None:
    found = [metric.name for metric in find_metrics(["depth", "behaviour"])]
    assert found == ["depth", *PRESETS["behaviour"]]
    assert tuple(BUILT_IN) == tuple(name for preset in PRESETS.values() for name in preset)


@pytest.mark.parametrize(
    ("names", "said", "next_step"),
    [
        (["dept"], "no metric 'dept'", "Did you mean 'depth'?"),
        (["depth", "depth"], "'depth' is named twice", "once"),
        ([], "no metric was named", "constructiveness"),
        (
            ["xyz123"],
            "no metric 'xyz123'",
            "Presets: quality, points, assertions, certificates, factors, behaviour, agreement, known_recall, "
            "detection, planted.",
        ),
    ],
)
def test_a_name_that_cannot_be_meant_is_refused(names: list[str], said: str, next_step: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        find_metrics(names)
    assert next_step in caught.value.hint


@pytest.mark.parametrize("value", ["my_metrics:OWN", "my_metrics:Own"])
def test_a_metric_of_another_package_is_found(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    install(monkeypatch, own=value)
    assert find_metrics(["own"])[0].name == "own"
    assert metric_names()[-1] == "own"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("own", "my_metrics:MISSING", "cannot be loaded"),
        ("own", "no_such_package:X", "cannot be loaded"),
        ("own", "my_metrics:NOTHING", "has no name"),
        ("other", "my_metrics:OWN", "calls itself 'own'"),
        ("own", "my_metrics:STRANGE", "needs 'luck'"),
        ("depth", "my_metrics:OWN", "which referee has itself"),
    ],
)
def test_what_is_no_metric_is_refused_by_its_package(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    install(monkeypatch, **{name: value})
    with pytest.raises(EvaluationError, match=said) as caught:
        find_metrics([name])
    assert caught.value.hint


def test_the_ends_of_a_scale_are_known_of_what_a_judge_decides_and_is_installed() -> None:
    named = ["depth", "words", "semantic_similarity", "usefulness", "assertions", "xyz123"]
    assert judged_ranges(named) == {"depth": (0.0, 1.0), "usefulness": (1, 5), "assertions": (0.0, None)}
