"""A panel asks every judge in every repeat, and a judge's failure is its own."""

from __future__ import annotations

import pytest

from referee.errors import BudgetExceeded, ModelUnavailable, ReplyInvalid, SettingsError
from referee.evals.judging import Panel, paid, silence, total_usage
from referee.llm.models import check_models, judge_role, open_models
from referee.prompts import RenderedPrompt
from referee.schemas.usage import Usage
from referee.settings import load_settings
from referee.testing import ScriptedModel
from tests.support import FakeServer

from .runs_of import Verdict, panel_of

PROMPT = RenderedPrompt("my/tone", "v1", "0", "Judge.", "<review>It is sound.</review>")


def verdict(score: int) -> dict[str, object]:
    return {"reason": "so", "score": score}


async def test_all_judges_answer_in_all_repeats_in_a_fixed_order() -> None:
    door = ScriptedModel({"judge": [verdict(1), verdict(2)], "judge-2": [verdict(3), verdict(4)]})
    said = await panel_of(door, judges=2, repeats=2).ask(PROMPT, Verdict, max_output_tokens=50, unit="a")
    assert [(one.judge, one.repeat, one.value.score) for one in said if one.value] == [
        ("model-judge", 0, 1),
        ("model-judge", 1, 2),
        ("model-judge-2", 0, 3),
        ("model-judge-2", 1, 4),
    ]
    assert [asked.sample for asked in door.history] == [0, 1, 0, 1]
    assert all(one.call_id and not one.error for one in said)


async def test_a_judge_that_fails_leaves_the_others_standing() -> None:
    invalid = ReplyInvalid("no valid reply", usage=Usage(calls=3, input_tokens=30).model_dump())
    door = ScriptedModel({"judge": [invalid], "judge-2": [verdict(3)]})
    first, second = await panel_of(door, judges=2).ask(PROMPT, Verdict, max_output_tokens=50, unit="a")
    assert (first.value, first.error, first.usage.calls) == (None, "no valid reply", 3)
    assert second.value == Verdict(reason="so", score=3)
    assert silence([first, second]) == ""
    assert total_usage([first, second]).calls == 4
    record = first.score(None)
    assert (record.value, record.reason, record.calls) == (None, "no valid reply", ())
    assert second.score(3.0, "because").reason == "because"


async def test_a_panel_in_silence_says_why() -> None:
    door = ScriptedModel({"judge": ModelUnavailable("down"), "judge-2": ModelUnavailable("down")})
    said = await panel_of(door, judges=2).ask(PROMPT, Verdict, max_output_tokens=50, unit="a")
    assert silence(said) == "no judge gave a usable reply: down"


async def test_the_end_of_the_budget_is_no_reply() -> None:
    door = ScriptedModel({"judge": [verdict(1)], "judge-2": BudgetExceeded("no money")})
    with pytest.raises(BudgetExceeded):
        await panel_of(door, judges=2).ask(PROMPT, Verdict, max_output_tokens=50, unit="a")
    assert door.left() == {}, "the other judge was heard out"


async def test_steps_made_once_ask_the_first_judge() -> None:
    door = ScriptedModel({"judge": [verdict(1)], "judge-2": [verdict(2)]})
    panel = panel_of(door, judges=2, repeats=3)
    assert (await panel.ask_once(PROMPT, Verdict, max_output_tokens=50, unit="a")).value.score == 1
    assert (await panel.ask_once(PROMPT, Verdict, max_output_tokens=50, unit="a", role="judge-2")).value.score == 2
    assert panel.ids == ("model-judge", "model-judge-2")
    assert Panel(door).ids == ("judge",), "a role without a model's name stands for itself"


def test_an_error_without_usage_has_cost_nothing() -> None:
    assert paid(ModelUnavailable("down")) == Usage()


def test_judges_are_roles_of_their_own() -> None:
    assert [judge_role(number) for number in (1, 2, 3)] == ["judge", "judge-2", "judge-3"]
    settings = load_settings({"models.base_url": "http://127.0.0.1:1/v1"}, env={})
    specs = check_models(settings, judges=["a", "b"])
    assert {role: spec.name for role, spec in specs.items()} == {"judge": "a", "judge-2": "b"}


@pytest.mark.parametrize(("chosen", "name"), [({}, "local"), ({"models.default": "local:qwen3-4b"}, "qwen3-4b")])
def test_without_names_the_settings_judge_is_meant(chosen: dict[str, str], name: str) -> None:
    assert check_models(load_settings(chosen, env={}), judges=[])["judge"].name == name
    named = load_settings({**chosen, "models.roles": {"judge": "local:qwen3-1.7b"}}, env={})
    assert check_models(named, judges=[])["judge"].name == "qwen3-1.7b"


def test_a_review_does_not_look_at_the_judge() -> None:
    settings = load_settings({"models.roles": {"judge": "openai:some-model"}}, env={})
    assert "judge" not in check_models(settings)
    with pytest.raises(SettingsError, match="needs a key"):
        check_models(settings, judges=[])


@pytest.mark.parametrize("judges", [["m", "m"], ["m", "openai:m"], ["a", "m", " m"]])
def test_a_judge_named_twice_is_refused_however_it_is_written(judges: list[str]) -> None:
    settings = load_settings({"models.base_url": "http://127.0.0.1:1/v1"}, env={})
    with pytest.raises(SettingsError, match="is named twice") as caught:
        check_models(settings, judges=judges)
    assert "--repeats" in caught.value.hint


@pytest.mark.parametrize("role", ["juge", "judge-2"])
def test_a_role_that_nobody_plays_is_refused_with_the_nearest(role: str) -> None:
    settings = load_settings({"models.roles": {role: "local"}}, env={})
    with pytest.raises(SettingsError, match="there is no role") as caught:
        check_models(settings, judges=[])
    assert "Did you mean 'judge'?" in caught.value.hint


async def test_only_the_judges_are_opened() -> None:
    with FakeServer(models=["a", "b"], context_tokens=9000) as server:
        settings = load_settings({"models.base_url": server.base_url}, env={})
        models = await open_models(settings, lambda event: None, judges=["a", "b"])
        assert list(models.by_role) == ["judge", "judge-2"]
        assert models["judge-2"].context_tokens == 9000
        await models.aclose()
