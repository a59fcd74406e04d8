"""Continuations through the door: sampled apart, without the prefix, at the temperature that was asked for."""

from __future__ import annotations

import asyncio

import pytest

from referee.api.detection.continuing import DoorGenerator, generator_models
from referee.errors import EvaluationError
from referee.evals.detection.protocols import TextGenerator
from referee.llm.limits import Limits
from referee.llm.models import Model
from referee.llm.providers import parse_model
from referee.llm.wire import Wire
from referee.testing import Asked, ScriptedModel

PREFIX = "The paper measures three things"


def model() -> Model:
    spec = parse_model("m", "http://127.0.0.1:9/v1")
    wire = Wire(spec, key="k", timeout_s=1.0)
    return Model(spec, wire, Limits(1, None, None), 8_000, {}, lambda text: len(text.split()), temperature=0.0)


def continued(scripted: ScriptedModel, **changes: float) -> list[str]:
    opened = generator_models(model())["generator"]
    generator: TextGenerator = DoorGenerator(scripted, opened)
    given = {"seed": 40, "temperature": 0.7, "max_tokens": 8, **changes}
    return list(asyncio.run(generator.continuations(PREFIX, 3, **given)))  # type: ignore[arg-type]


def test_continuations_are_drawn_apart_without_the_prefix_and_cut() -> None:
    def written(asked: Asked) -> dict[str, str]:
        return {"text": f"{PREFIX} and number {asked.sample} is one of many more words"}

    scripted = ScriptedModel({"detect/continue": written})
    assert continued(scripted) == [f"and number {number} is one of" for number in (40, 41, 42)]
    assert {(asked.role, PREFIX in asked.user, "6 words" in asked.user) for asked in scripted.history} == {
        ("generator", True, True)
    }


def test_another_temperature_than_the_models_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"samples at temperature 0\.7"):
        continued(ScriptedModel({"*": {"text": "x"}}), temperature=1.0)


def test_its_identity_names_the_model() -> None:
    assert DoorGenerator(ScriptedModel(), model()).identity.name == "m@127.0.0.1:9"
